"""A page's text is the same read from the parser's own markup, in C and in Python, and by a walk over its tree."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from compiled import both
from smart_context.sources.extract import flow, html

PIECES = (
    *re.findall(r"<[^>]*>", "<p> </p> <b> </b> <i class='x'> </i> <h1> </h1> <h2 id=a> </h2> <ul> <li> </ul> <td> </td> <table> </table> <br> <hr/> <pre> </pre> <textarea> </textarea> <nav> </nav> <div> </div> <span> </span> <a> </a> <select> <option> </select> <datalist> </datalist> <svg> </svg> <math> </math> <x:y> </x:y> <noscript> </noscript> <head> <title> </title>"),
    "<div role=navigation>", "<ul role='navigation'>", "<a href='#x'>", "<a href='#y' title='said'>", "<a href=z title='said &amp; done'>",
    "<img alt='a &lt; b'>", "<input value='v' placeholder='p'>", "<input type=password value=no>", "<abbr title='long &quot;form&quot;'>",
    "<area alt=x>", "<object title=o>", "<p title='a > b'>", "<script>if (a < b) '</p>'</script>", "<style>p > a {}</style>",
    "<script><!-- <script> </script> --></script>", "<!-- > <p> -->", "<!-->", "<?pi -->", "<template><p>in</p></template>", "<iframe>a<b</iframe>",
    "<xmp><b></xmp>", "<svg><style><a></style></svg>", "<div a<b=1 'c>", "<![CDATA[x]]>",
    "<dl><dd>", "<section> <div>", "</div>\n</section>", "<th>", "<aside role=navigation>", "<a href='#x'>¶</a>", "<a title=said>#</a>", "<a href=x>1</a>",
    "¶", "word", " two  words ", "&amp;lt;", "&nbsp;", "\n\n", "\t", "&#11;x&#28;y", "&quot;", "é\u2003ü", "&#133;", "<", ">", "0",
    "<a href='#x'><img alt=chain></a>", "<a href='#x'><a title=t>!</a>", "<a title='&nbsp;'>-</a>", "<pre>\n a\t b \n\n&nbsp;c</pre>", "<td>\t<td> 1",
    "<svg aria-label=drawn><a>x</a></svg>", "<svg><script>1</script></svg>", "<math><script>a&amp;b</script></math>", "<style></style>", "<nav><script>ab</script>é&lt;</nav>",
    "<a href=x rel='of alt=' title=said>#</a>", "<img class=' title=' t\"=1>", '<input ="v" value=w>',
    "<h2>x <a href=e title=edit></a> y</h2>", "<h2>\u2003<a href=e title=edit></a><a aria-label=more>-</a></h2>",
    "<section role=navigation><section>in</section>out</section>", "<?pi x>", "中文", "😀", "\u3000", "&#8195;", "\x0c", "<h3><div>in</div> a <h4>",
)  # fmt: skip


PAGES = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


def by_tree(root, *, with_navigation: bool):
    page = html.Page(sections=[("", [])])
    walk = html.Walk(page, with_navigation=with_navigation)
    walk.over(root)
    return walk.left_out, page.sections


def by_markup(root, *, with_navigation: bool):
    page = html.Page(sections=[("", [])])
    return flow.read(root.html or "", page, with_navigation=with_navigation), page.sections


@given(PAGES, st.booleans())
def test_any_page_reads_the_same_from_its_markup_as_from_its_tree(markup, with_navigation):
    root = LexborHTMLParser(markup).root
    slow = by_tree(root, with_navigation=with_navigation)
    for quick in both(lambda: by_markup(root, with_navigation=with_navigation), flow):
        assert quick[0] is None or quick == slow


ODD = (*"<>/ ab\"'=#&;!-\t\n", "<a ", ' href="#', ' alt="', "&nbsp;", "<script>", "</script", "<!--", "<svg>", "</", "<h1>", "</h1>", "é", "😀", "\udc80", "\0")  # fmt: skip


@given(st.lists(st.sampled_from(ODD)).map("".join))
def test_markup_that_no_parser_wrote_is_read_somehow_or_left_to_the_tree(markup):
    page = html.Page(sections=[("", [])])
    assert (flow.read(markup, page, with_navigation=False) or 0) >= 0


@pytest.mark.parametrize("piece", PIECES)
def test_each_piece_reads_the_same_between_words(piece):
    root = LexborHTMLParser(f"<body><h1>Head</h1><p>before {piece} after</p><p>next</p>").root
    slow = by_tree(root, with_navigation=False)
    for quick in both(lambda: by_markup(root, with_navigation=False), flow):
        assert quick[0] is None or quick == slow


def test_an_ordinary_page_needs_no_walk_over_its_tree():
    page = (
        "<html><head><title>T</title><script>a<b</script></head><body><nav>menu</nav><h1>Head<a href='#h'>¶</a></h1>"
        "<p>One &amp; <a href='x' title='t'>two</a></p><pre>  a\n  b</pre><table><tr><td>1<td>2</table></body></html>"
    )
    root = LexborHTMLParser(page).root
    quick, in_python = both(lambda: by_markup(root, with_navigation=False), flow)
    assert (
        quick
        == in_python
        == by_tree(root, with_navigation=False)
        == (4, [("", []), ("Head", ["One & two", "  a", "  b", "1\t2"])])
    )
