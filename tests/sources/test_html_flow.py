"""A page's text is the same read from the parser's own markup and by a walk over its tree."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

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
)  # fmt: skip


def both(markup: str, *, with_navigation: bool):
    root = LexborHTMLParser(markup).root
    slow, quick = html.Page(sections=[("", [])]), html.Page(sections=[("", [])])
    walk = html.Walk(slow, with_navigation=with_navigation)
    walk.over(root)
    left_out = flow.read(root.html or "", quick, with_navigation=with_navigation)
    return (walk.left_out, slow.sections), (left_out, quick.sections)


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.booleans())
def test_any_page_reads_the_same_from_its_markup_as_from_its_tree(markup, with_navigation):
    slow, quick = both(markup, with_navigation=with_navigation)
    assert quick[0] is None or quick == slow


@pytest.mark.parametrize("piece", PIECES)
def test_each_piece_reads_the_same_between_words(piece):
    slow, quick = both(f"<body><h1>Head</h1><p>before {piece} after</p><p>next</p>", with_navigation=False)
    assert quick[0] is None or quick == slow


def test_an_ordinary_page_needs_no_walk_over_its_tree():
    page = (
        "<html><head><title>T</title><script>a<b</script></head><body><nav>menu</nav><h1>Head<a href='#h'>¶</a></h1>"
        "<p>One &amp; <a href='x' title='t'>two</a></p><pre>  a\n  b</pre><table><tr><td>1<td>2</table></body></html>"
    )
    slow, quick = both(page, with_navigation=False)
    assert quick == slow == (4, [("", []), ("Head", ["One & two", "  a", "  b", "1\t2"])])
