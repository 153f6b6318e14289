"""A page whose tags are in order reads the same without a parser as with one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.sources.extract import html, orderly
from sources.test_html_flow import PIECES

ATTRIBUTES = (
    "", " class=x", " title='t'", ' title="a>b"', " title=''", " href='#a'", " href=b", " role=navigation", " ALT='&copy; &foo; AT&T'", ' value="v"', " type=hidden", " /",
    " title='<b>' title=second", " aria-label=\"it's\"", " x = y", " href='&#35;'", " title=a=b",
)  # fmt: skip
TEXTS = (
    "word ", "two  words", " ", "\n", "\t", "&amp;", "&lt;b&gt;", "&nbsp;", "&copy;", "&#8212;", "&#x3c;", "&#128;", "&#10;", "AT&T", "a & b", "&notit;", "&not", "&foo;", "&copy2", "&NewLine;",
    "é", "中文", "¶", "x > y", "x < y", "<!-- c -->", "<!--> -->", "<!-- a --!> b -->", "<script>if (a<b) {}</script>", "<script><!-- <script> </script></script>", "<style><!-- a>b --></style>",
    "<br>", "<hr/>", "<img alt=picture>", "<input value=v>", "<meta name=x>", "<wbr>", "</p>", "<p>", "<li>", "</div>", "<x-y>", "<svg class=a><path d='1'/></svg>", "<svg aria-label=drawn><g> <path></path></g></svg>",
    "<svg><path d=1/></svg>", "<svg/>", "<col>", "<td>", "<object>", "<textarea>",
)  # fmt: skip
NAMES = [
    "p",
    "b",
    "i",
    "a",
    "h1",
    "h2",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "div",
    "span",
    "abbr",
    "pre",
    "nav",
    "section",
    "aside",
    "form",
    "button",
    "label",
    "code",
    "article",
    "address",
    "x-y",
    "DIV",
    "nobr",
]


def _element(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.builds(
        lambda name, attributes, text, ends: f"<{name}{attributes}>{text}" + (f"</{name}>" if ends else ""),
        st.sampled_from(NAMES), st.sampled_from(ATTRIBUTES), inner, st.sampled_from([True] * 9 + [False]),
    )  # fmt: skip


def _table(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    cell = st.builds(lambda name, text, end: f"<{name}>{text}{end}", st.sampled_from(["td", "th"]), inner, st.sampled_from(["", "</td>"]))  # fmt: skip
    row = st.builds(lambda cells, end: f"<tr>{''.join(cells)}{end}", st.lists(cell, max_size=3), st.sampled_from(["", "</tr>", "</tr>\n"]))  # fmt: skip
    rows = st.builds(lambda rows, name: f"<{name}>{''.join(rows)}</{name}>", st.lists(row, max_size=3), st.sampled_from(["tbody", "thead", "table"]))  # fmt: skip
    first = st.sampled_from(["", "<caption>c</caption>", "<colgroup><col></colgroup>", "stray", "<col>"])
    return st.builds(lambda first, rows: f"<table>{first}{''.join(rows)}</table>", first, st.lists(rows | row, max_size=2))  # fmt: skip


BODIES = st.recursive(
    st.sampled_from((*TEXTS, *PIECES)) | st.sampled_from(TEXTS),
    lambda inner: st.lists(_element(inner) | _table(inner) | inner, max_size=4).map("".join),
    max_leaves=25,
)
HEADS = st.lists(
    st.sampled_from((
        "<title>A &amp; b</title>", "<title></title>", "<title>second</title>", "<meta name=description content='d &copy; AT&T'>", "<meta NAME=Keywords content=k content=no>", "<meta charset=utf-8>",
        "<meta name='' property='article:author' content=\"A &quot;B&quot;\">", "<meta name=date content=2020-01-02>", "<link rel=x>", "<script>a<b</script>", "<style>x</style>", "<!-- c -->", "\n", "text", "<p>", "<noscript></noscript>",
        "</meta>", "<meta name=author>",
    )),
    max_size=4,
).map("".join)  # fmt: skip
STARTS = st.sampled_from(["<!DOCTYPE html>", "", "<?xml version='1.0'?>\n<!doctype html>\n", "<!-- c -->\n", "<!DOCTYPE html><p>", "x"])  # fmt: skip
ENDS = st.sampled_from(["</body></html>", "</body>\n<!-- c --></html>\n", "", "</html>", "</body>x", "</body><p>"])


@given(STARTS, HEADS, BODIES, ENDS)
def test_any_page_reads_the_same_without_a_parser_as_with_one(start, head, body, end):
    markup = f"{start}<html lang=en><head>{head}</head>\n<body class=x>{body}{end}"
    quick, slow = both(lambda: html.parse(markup), orderly)
    assert quick == slow


AROUND = ("<p>before {} after</p><p>next</p>", "<pre>a {}\n b</pre>", "<ul><li>{}<li>b</ul>", "<table><tr><td>{}<td>2</table>", "<nav>{}</nav>c")  # fmt: skip


@pytest.mark.parametrize("around", AROUND)
def test_each_piece_reads_the_same_wherever_it_stands(around):
    elements = (f"<{name}{attributes}>in</{name}>" for name in NAMES for attributes in ATTRIBUTES)
    for piece in (*TEXTS, *PIECES, *elements):
        markup = f"<html><head></head><body>{around.format(piece)}</body></html>"
        quick, slow = both(lambda markup=markup: html.parse(markup), orderly)
        assert quick == slow, piece


@pytest.mark.parametrize("tag", ["<b>", "<div>", "<li>", "<span x>", "<x-y>", "<b-c>", "<!-- <b> -->", "<p title='<i>'></p>"])  # fmt: skip
@pytest.mark.parametrize("times", [1, 15, 17, 300, 401, 500])
def test_a_page_that_is_tamed_reads_the_same(tag, times):
    end = f"</{tag[1:-1].split()[0]}>" if tag[1] not in "!lp" else ""
    markup = f"<html><head></head><body>{tag * times}text<a title=t>-</a>{end * times}</body></html>"
    quick, slow = both(lambda: html.parse(markup), orderly)
    assert quick == slow


@pytest.mark.skipif(orderly.compiled is None, reason="nothing is compiled here")
def test_an_ordinary_page_needs_no_parser():
    page = (
        "<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>T &amp; U</title><script>a<b</script></head><body><nav>menu</nav>"
        "<h1>Head<a href='#h'>¶</a></h1><p>One &mdash; <a href='x' title='t'>two</a><ul><li>a<li>b</ul><pre>  a\n  b</pre><table><tr><td>1<td>2</table>"
        "<svg><path d='1'/></svg></body></html>"
    )
    assert orderly.parts(page) == (
        [("", "T &amp; U")],
        '<p><nav>menu</nav><h1>Head<a href="#">¶</a></h1>One — <a title="t">two</a><p>a<p>b<p><pre>  a\n  b</pre><td>1<td>2<p><svg><p></svg>',
    )


@given(st.lists(st.sampled_from((*"<>/ ab\"'=#&;!-\t\n", "<p", "<html", "<head>", "</head>", "<body>", "<title>", "<svg ", "&#", "<!--", "</", "é", "\udc80", "\0"))).map("".join))  # fmt: skip
def test_markup_that_breaks_off_is_read_the_same(markup):
    for page in (markup, f"<html><head></head><body>{markup}"):
        quick, slow = both(lambda page=page: html.parse(page), orderly)
        assert quick == slow
