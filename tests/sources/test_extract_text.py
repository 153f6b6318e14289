"""Plain text, Markdown, notebooks, CSV, HTML, XML and RTF, in any encoding and any state of repair."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smart_context.model import Extracted, Limits, Part, Skipped, Unit
from smart_context.sources.extract import Job, Meter, Refused, delimited, encoding, extract, html, markup, rtf, text

READERS = {"text": text, "csv": delimited, "html": html, "xml": markup, "rtf": rtf}


def read(data: bytes, name: str, limits: Limits | None = None) -> Extracted:
    found = extract(data, name, limits or Limits())
    assert isinstance(found, Extracted), found
    return found


def words(found: Extracted) -> list[str]:
    return " ".join(unit.text for unit in found.units).split()


# --- encodings ---------------------------------------------------------------------------------------------------

SENTENCE = "Größe und Maß: naïve façade, 5 €"


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_text_is_read_in_the_encoding_it_is_in(codec):
    lines = "\n".join([SENTENCE] * 30)
    assert encoding.decode(lines.encode(codec)) == lines


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_its_mark_is_known_by_its_zeros(codec):
    assert encoding.decode("plain words in wide letters".encode(codec)) == "plain words in wide letters"


@pytest.mark.parametrize(
    ("codec", "sample"),
    [
        ("cp1251", "Быстрая коричневая лиса перепрыгивает через ленивую собаку, и это все знают. "),
        ("shift_jis", "これは日本語の文章です。いろはにほへと散りぬるを。東京都に住んでいます。"),
        ("gb18030", "这是一个中文句子，用来检查编码是否能被正确识别出来，我们继续写一些文字。"),
    ],
)
def test_other_scripts_are_guessed(codec, sample):
    assert encoding.decode((sample * 8).encode(codec)) == sample * 8


@pytest.mark.parametrize("words", ["café", "résumé d'été", "El niño", "São Paulo não", "Price: 5€", "“it’s” – naïve"])
def test_a_few_western_words_are_enough(words):
    assert encoding.decode(words.encode("cp1252")) == words


def test_a_declared_encoding_is_believed_unless_the_bytes_disagree():
    assert encoding.decode("žluťoučký".encode("iso8859-2"), "ISO-8859-2") == "žluťoučký"
    assert encoding.decode("žluťoučký".encode(), "us-ascii-no-such") == "žluťoučký"


def test_latin_1_means_what_browsers_take_it_for():
    assert encoding.decode(b"\x93quoted\x94", "iso-8859-1") == "“quoted”"


def test_a_few_broken_bytes_do_not_change_the_encoding():
    assert encoding.decode("é".encode() * 50 + b"\xff" + "ü".encode() * 50) == "é" * 50 + "�" + "ü" * 50


def test_lines_end_in_newlines_and_control_characters_go():
    assert encoding.decode(b"a\r\nb\rc\x00d\x1b[31me\x07") == "a\nb\nc de "
    assert encoding.decode("red \x9b31m text".encode()) == "red  31m text"  # a terminal would take it for ESC [


@pytest.mark.parametrize("plain", ["a", "é", "数"])
@pytest.mark.parametrize(
    ("odd", "kept"), [("\x00", " "), ("\x1b[1m", ""), ("\x80", " "), ("\x85", "\x85"), ("\ud800", " "), ("\t", "\t")]
)
def test_what_is_no_text_is_taken_out_of_any_script(plain, odd, kept):
    assert encoding.clean(f"{plain}{odd}{plain}") == f"{plain}{kept}{plain}"


@given(st.binary(max_size=400), st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "rot13", "no such"]))
def test_every_input_gives_clean_text(data, declared):
    found = encoding.decode(data, declared)
    assert not any((char < " " and char not in "\t\n") or "\ud800" <= char <= "\udfff" for char in found)


def test_a_long_file_is_cut_with_a_note():
    found = read(b"0123456789\n" * 10, "a.txt", Limits(max_text_chars=25))
    assert (found.units[0].text, found.notes) == ("0123456789\n0123456789\n012", ("cut at 25 characters",))


# --- text, code, Markdown, notebooks -----------------------------------------------------------------------------


def test_text_is_its_lines():
    assert read(b"one\ntwo\n", "a.txt") == Extracted("text", "", (Unit((), "one\ntwo\n", divisible="lines"),))


def test_blank_text_has_no_units():
    assert read(b" \n\n", "a.txt").units == ()


def test_markdown_has_a_unit_a_heading_at_its_own_line():
    source = "intro\n\n# First #\nbody\n```\n# no heading\n```\nSecond\n------\nmore\n"
    found = read(source.encode(), "a.md")
    assert [(unit.heading, unit.first, unit.text) for unit in found.units] == [
        ("", 1, "intro\n"),
        ("First", 3, "# First #\nbody\n```\n# no heading\n```"),
        ("Second", 8, "Second\n------\nmore\n"),
    ]
    assert found.title == "First"


def test_front_matter_gives_the_title_and_no_heading():
    found = read(b"---\ntitle: 'The Plan'\nx: 1\n---\n# Other\n", "a.md")
    assert (found.title, [unit.heading for unit in found.units]) == ("The Plan", ["", "Other"])


@given(st.text(alphabet="ab#=-` \n", max_size=80))
def test_the_units_of_markdown_joined_are_the_file(source):
    units = read(f"x{source}".encode(), "a.md").units
    lines = f"x{source}".split("\n")
    for unit in units:
        block = unit.text.split("\n")
        assert lines[unit.first - 1 : unit.first - 1 + len(block)] == block


def test_a_notebook_is_its_cells_and_what_they_printed():
    cells = [
        {"cell_type": "markdown", "source": ["# Load\n", "the data"]},
        {"cell_type": "code", "source": "print(1)", "outputs": [{"text": ["1\n"]}, {"data": {"text/plain": "ok"}}]},
    ]
    found = read(json.dumps({"cells": cells}).encode(), "a.ipynb")
    assert words(found) == ["#", "Load", "the", "data", "print(1)", "1", "ok"]


def test_a_broken_notebook_is_text():
    assert read(b'{"cells": [', "a.ipynb").units[0].text == '{"cells": ['


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.json", r'{"a": "zur\u00fcck\nbadger\tstoat"}', '{"a": "zurück badger stoat"}'),
        ("a.jsonl", '{"a": "\\ud83e\\udda1 \\u6771\\u4eac"}\n{"b": 1}', '{"a": "🦡 東京"}\n{"b": 1}'),
        ("a.properties", r"title=Zur\u00FCck\nbadger", "title=Zurück badger"),
        ("a.json", r'["C:\\new\\table", "\\\nx", "\/", "\"q\""]', r'["C:\\new\\table", "\\ x", "\/", "\"q\""]'),
        ("a.json", r'["\u0022, \u005c, \u000a\u000dx, \ud800, \u12"]', r'["\", \\,   x, �, \u12"]'),
        ("a.py", r"print('zur\u00fcck\nbadger')", r"print('zur\u00fcck\nbadger')"),
        ("a.txt", r"C:\new\table", r"C:\new\table"),
    ],
)
def test_json_and_properties_are_read_without_the_escapes_of_letters_and_spaces(name, source, expected):
    text = "\n".join(unit.text for unit in read(source.encode(), name).units)
    assert text == expected


def test_json_that_was_valid_is_valid_when_read():
    value = ["".join(map(chr, range(160, 400))), '\n\t\r \\n \\\\ "🦡"\\']
    text = read(json.dumps(value, indent=1).encode(), "a.json").units[0].text
    assert json.loads(text) == [value[0], '    \\n \\\\ "🦡"\\']


PICTURE = "iVBORw0KGgo" + "AAAA+/9" * 400


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        ("a.md", "one\n![x](data:image/png;base64,{}==) two\nthree", "one\n![x](data:image/png;base64,…) two\nthree"),
        ("a.md", "[i]: <data:image/jpeg;base64,{}>", "[i]: <data:image/jpeg;base64,…>"),
        ("a.json", '{{"a": "data:image\\/png;base64,{}\\/x", "b": 1}}', '{{"a": "data:image\\/png;base64,…", "b": 1}}'),
        ("a.css", "a {{ src: url(data:font/woff2;charset=utf-8;base64,{}) }}", "a {{ src: url(data:font/woff2;charset=utf-8;base64,…) }}"),
        ("a.txt", "data:text/plain;base64,{}", "data:text/plain;base64,{}"),  # words of a text, whatever they are
        ("a.txt", "base64 {} alone", "base64 {} alone"),  # no data URL
    ],
)  # fmt: skip
def test_the_data_of_an_embedded_picture_is_no_text(name, source, expected):
    found = read(source.format(PICTURE).encode(), name)
    assert "".join(unit.text for unit in found.units) == expected.format(PICTURE)


def test_a_short_embedded_picture_stays():
    source = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
    assert read(source.encode(), "a.txt").units[0].text == source


# --- CSV ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "heading"),
    [
        ("name;city\nAnna;Ulm\n", "name, city"),
        ('"first name",city\nAnna,Ulm\n', "first name, city"),
        ("1,2\n3,4\n", ""),
        ("alone\n", ""),
        (
            f"name;{'x' * 290};jane.doe@example.org\n",
            f"name, {'x' * 290}",
        ),  # whole cells: half an address is not told from a word
    ],
)
def test_a_header_row_is_the_heading(source, heading):
    (unit,) = read(source.encode(), "a.csv").units
    assert (unit.text, unit.heading, unit.divisible) == (source, heading, "lines")


# --- HTML --------------------------------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head><title> The  Page </title><meta name=description content="what it is">
<style>p{color:red}</style><script>var hidden = 1</script></head><body>before<h1>One</h1><p>first <b>bold</b>ly</p>
<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table><template>ghost</template><h2>Two</h2>x<br>y
<h1>One</h1><img alt="a cat"><pre>k = 1
  l = 2</pre>&lt;end&gt; &amp; &eacute;</body></html>"""


def test_html_has_a_unit_a_heading():
    found = read(PAGE.encode(), "a.html")
    assert found.title == "The Page"
    assert [(unit.pointer, unit.text) for unit in found.units] == [
        ((), "The Page\nwhat it is\nbefore"),
        ((Part("section", "One"),), "One\nfirst boldly\na\tb\nc\td"),
        ((Part("section", "Two"),), "Two\nx\ny"),
        ((Part("section", "One", 2),), "One\na cat\nk = 1\nl = 2\n<end> & é"),
    ]


def test_html_in_a_declared_encoding_is_read():
    source = '<html><head><meta charset="iso-8859-2"></head><body>žluťoučký</body></html>'
    assert words(read(source.encode("iso8859-2"), "a.html")) == ["žluťoučký"]


def test_sections_and_plain_text_of_a_fragment():
    assert html.sections("<p>a<p>b<h3>H</h3>c") == [("", "a\nb"), ("H", "c")]
    assert html.plain("<p>a<p>b<h3>H</h3>c") == "a\nb\nH\nc"


@pytest.mark.parametrize("tag", ["div", "span", "b id=1", "table><tr><td", "font color=red", "ul><li"])
def test_depth_costs_nothing_and_loses_nothing(tag):
    depth = 20_000
    closing = "".join(f"</{name.split()[0]}>" for name in reversed(tag.split("><")))
    found = read(f"<html><body>{f'<{tag}>' * depth}deep{closing * depth}<p>after".encode(), "a.html")
    assert words(found) == ["deep", "after"]


def test_a_link_that_shows_nothing_is_no_part_of_a_heading_that_has_words():
    page = """<h3><div>Module</div><div><a href="edit.xml" title="Fix it here!"><span></span></a></div></h3> one
    <h3>Next &amp; last <a href="/edit" aria-label="Edit">#</a></h3> two <h3><div><a href="/" title="Fix it here!"></a></div> Page</h3>
    <p>three <a href="/" title="Up"></a><h3><div><a title="Home"></a></div><a title="Start"></a></h3>"""
    assert html.sections(page) == [("Module", "one"), ("Next & last #", "two"), ("Page", "three Up"), ("Home", "")]


def test_marks_beside_headings_and_titles_of_links_are_no_text():
    page = """<h2>Install<a class="headerlink" href="#install" title="Permalink to this heading">¶</a></h2>
    <h2>Use<a class="anchor" aria-label="Permalink: Use" href="#use"><svg><path/></svg></a></h2>
    <p>See <a href="#install" title="Go there">above</a> and <a href="/x" title="Other">there</a>,
    <abbr title="Portable Document Format">PDF</abbr> <a href="/" aria-label="Home"><svg></svg></a> <a href="#top"><img alt="Up"></a></p>"""
    assert html.sections(page) == [
        ("Install", ""),
        ("Use", "See above and there, Portable Document Format PDF Home Up"),
    ]


def test_navigation_is_no_text_unless_it_is_all_there_is():
    links = "<nav><ul><li><a href=/a>First chapter</a><li><a href=/b>Second chapter</a></ul></nav>"
    text = "<p>Once there was a text that is longer than the links around it, as texts are.</p>"
    related = "<div role=navigation><a href=/c>next</a></div>"
    assert (
        html.plain(links + text + related)
        == "Once there was a text that is longer than the links around it, as texts are."
    )
    assert html.plain(links + "<p>Contents</p>") == "First chapter\nSecond chapter\nContents"


def test_html_with_zero_bytes_is_read():
    source = b"<HTML><HEAD></HEAD>\r\n<BODY bgcolor=1\0\2\0>Good\0 morning</BODY></HTML>"
    assert words(read(source, "a.html")) == ["Good", "morning"]


def test_attributes_beyond_any_use_cost_nothing_and_lose_no_text():
    many = " ".join(f"a{n}='>'" for n in range(40_000))
    assert words(read(f"<html><body><p {many}>one</p><p title='x'>two".encode(), "a.html")) == ["one", "two"]


# --- XML ---------------------------------------------------------------------------------------------------------


def test_xml_keeps_its_lines_and_the_attributes_that_are_words():
    source = (
        '<?xml version="1.0"?>\n<doc id="x1">\n <p\n title="A title">one &amp;&#10;two</p><![CDATA[<raw>]]>\n</doc>'
    )
    (unit,) = read(source.encode(), "a.xml").units
    assert unit.text.split("\n") == ["", "", "", "A title one & two <raw>", ""]


def test_xml_that_has_settings_only_is_read_as_it_is_written():
    source = '<conf>\n <add key="zqhost" port="8080"/>\n</conf>'
    (unit,) = read(f"<?xml version='1.0'?>{source}".encode(), "web.config").units
    assert unit.text.split("\n")[1] == ' <add key="zqhost" port="8080"/>'
    assert not read(f"<?xml version='1.0'?>{LOL}<x>&b;</x>".encode(), "a.xml").units
    assert not read(b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="9"/></svg>', "a.svg").units


LOL = '<!DOCTYPE x [<!ENTITY a "lol"><!ENTITY b "&a;&a;"><!ENTITY e SYSTEM "file:///etc/passwd">]>'


def test_entities_are_not_expanded():
    assert words(read(f'<?xml version="1.0"?>{LOL}<x t="&b; &b;">start &b;&e; end</x>'.encode(), "a.xml")) == [
        "start",
        "end",
    ]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<server><id>x</id><password>hunter2x</password></server>", "x password: hunter2x"),
        ("<s:apiKey\n>q7Rk</s:apiKey>", "apiKey: q7Rk"),
        ('<property name="db.password" value="hunter2x"/>', "db.password db.password: hunter2x"),
        ('<property value="hunter2x" name="password"/>', "password: hunter2x password"),
        ('<entry key="password">hunter2x</entry>', "password: hunter2x"),
        ('<password value="hunter2x"/>', "password: hunter2x"),
        ('<login pwd="hunter two x"/>', "pwd: hunter two x"),
        ("<dict><key>password</key><string>hunter2x</string></dict>", "password: hunter2x"),
        ("<name>password</name>\n<value>hunter2x</value>", "password:\nhunter2x"),
        ("<p>the <code>password</code> is kept by the secretary</p>", "the password is kept by the secretary"),
        ("<keyword>ships</keyword><tokens><t>a</t></tokens><compass>b</compass>", "ships a b"),
    ],
)
def test_xml_keeps_the_name_of_what_may_be_a_secret_before_it(source, text):
    (unit,) = read(f"<?xml version='1.0'?>{source}".encode(), "a.xml").units
    assert [_one_space(line) for line in unit.text.strip().split("\n")] == text.split("\n")


def _one_space(line):
    return " ".join(line.split())


def test_xml_reads_the_same_however_many_names_it_has():
    secret = '<x:api_key Label="a&amp;b">1</x:api_key><set name="token" value="v"/><p x="1" y="two words"/>'
    names = "".join(f'<n{number} a{number}="b"/>' for number in range(markup._MOST_NAMES + 1))
    alone = markup.plain(secret)
    assert alone == "api_key: a&b api_key: 1 token token: v two words"
    assert markup.plain(names + secret) == alone == markup.plain(secret)


def test_deep_and_broken_xml_is_read():
    assert words(read(b"<?xml version='1.0'?>" + b"<a>" * 50_000 + b"deep", "a.xml")) == ["deep"]
    assert words(read(b"<?xml version='1.0'?><a>one</b>two<c", "a.xml")) == ["one", "two<c"]


@pytest.mark.parametrize("piece", ["<!--", "<!DOCTYPE [", "<![CDATA[", '<a b="', "<?x", "<a '", "&#", "<!DOCTYPE ] "])
def test_unfinished_markup_is_read_in_one_pass(piece):
    read(b"<?xml version='1.0'?>" + piece.encode() * 50_000, "a.xml")


# --- RTF ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"{\rtf1\ansi one\par two\tab three}", ["one", "two\tthree"]),
        (r"{\rtf1\ansi caf\'e9 \u8364?5 \u-10179?\u-8704?}", ["café €5 😀"]),
        (r"{\rtf1{\fonttbl{\f0\fcharset204 Times;}{\f1\fcharset128 M;}}\f0\'cf\'f0\'e8 \f1\'83A}", ["При ア"]),
        (r"{\rtf1\uc2\u9731\'81\'40x{\uc0\u9731}y}", ["☃x☃y"]),
        (r"{\rtf1{\*\unknown gone}{\pict 89504e47}{\colortbl;\red1;}kept}", ["kept"]),
        (r'{\rtf1{\field{\*\fldinst HYPERLINK "http://x"}{\fldrslt link text}}}', ["link text"]),
        (r"{\rtf1 body{\footnote the note} more\par end}", ["body more", "the note", "end"]),
        (
            r"{\rtf1{\header top}{\shp{\*\shpinst{\sp{\sn x}{\sv 1}}{\shptxt in a box\par}}}{\shprslt twice}text}",
            ["text", "top", "in a box"],
        ),
        (r"{\rtf1{\upr{plain}{\*\ud{unicode}}}}", ["unicode"]),
        (r"{\rtf1 a\emdash b\~c\_d\-e \{f\} \\ g}", ["a—b c-de {f} \\ g"]),
        (r"{\rtf1\trowd a\cell b\cell\row c\cell d\cell\row}", ["a\tb", "c\td"]),
        ("{\\rtf1\\bin5 }}}}}kept}", ["kept"]),
        (r"{\rtf1 not closed {\b bold", ["not closed bold"]),
    ],
)
def test_rtf_gives_its_paragraphs(source, expected):
    (unit,) = read(source.encode("ascii"), "a.rtf").units
    assert unit.text.split("\n") == expected


def test_an_rtf_title_that_is_too_long_is_none():
    assert read(rb"{\rtf1{\info{\title " + b"a " * 499 + rb"b}}text}", "a.rtf").title == "a " * 499 + "b"
    assert read(rb"{\rtf1{\info{\title " + b"a " * 495 + rb"jane.doe@example.org}}text}", "a.rtf").title == ""


def test_rtf_headings_are_sections():
    source = (
        rb"{\rtf1{\stylesheet{\s0 Normal;}{\s1 heading 1;}}{\info{\title My Plan}{\author Nobody}}"
        rb"before\par\pard\s1 Goals\par\pard\s0 text\par\pard\outlinelevel1 More\par\pard end\par}"
    )
    found = read(source, "a.rtf")
    assert found.title == "My Plan"
    assert [(unit.heading, unit.text) for unit in found.units] == [
        ("", "before"),
        ("Goals", "Goals\ntext"),
        ("More", "More\nend"),
    ]


class EveryWord(rtf._Reader):
    """Takes each control word as one that may say something."""

    def _token(self, match):
        if match.lastgroup in {"word", "number"}:
            self._word(match["word"].decode(), int(match["number"]) if match["number"] else None)
        else:
            super()._token(match)


RTF_WORDS = ["b", "fs20", "lang1031", "par", "tab", "u9731", "uc2", "f1", "s1", "pard", "plain", "pict", "info", "title", "footnote", "ud", "upr", "stylesheet", "fonttbl", "fcharset128", "outlinelevel0", "bin2", "ansicpg1251", "shptxt", "mac"]  # fmt: skip


@given(
    st.lists(
        st.sampled_from([*(f"\\{word} " for word in RTF_WORDS), *"{}{}", "{\\*", "x", "heading 1;", "\\'83", "A", "\n"])
    )
)
def test_control_words_that_say_nothing_are_passed_over(pieces):
    source = "".join(["{\\rtf1 ", *pieces]).encode()
    quickly, slowly = rtf._Reader(source, 0, 1000), EveryWord(source, 0, 1000)
    quickly.run()
    slowly.run()
    assert (quickly.title, quickly.sections) == (slowly.title, slowly.sections)


def test_rtf_nests_as_deep_as_it_likes():
    assert words(read(b"{\\rtf1 " + b"{" * 100_000 + b"x" + b"}" * 100_001, "a.rtf")) == ["x"]


# --- hostile bytes -----------------------------------------------------------------------------------------------

VALID = {
    "text": SENTENCE.encode("utf-16"),
    "csv": b"a,b\n1,2\n",
    "html": PAGE.encode(),
    "xml": f'<?xml version="1.0"?>{LOL}<x t="a b">start &b; end</x>'.encode(),
    "rtf": rb"{\rtf1\ansi{\fonttbl{\f0\fcharset128 M;}}{\stylesheet{\s1 heading 1;}}\uc1\u9731?\'83A{\footnote n}\bin3 xyz\par}",
}


@pytest.mark.parametrize("kind", sorted(READERS))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_readers_of_text_refuse_or_read_whatever_comes(kind, data):
    if data.draw(st.booleans()):
        source = data.draw(st.binary(max_size=300))
    else:
        raw = bytearray(VALID[kind])
        for _ in range(data.draw(st.integers(1, 6))):
            raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
        source = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    limits = Limits()
    try:
        found = READERS[kind].read(source, Job("a", limits, Meter(limits), kind=kind))
    except Refused:
        return
    assert isinstance(found, Extracted)


def test_what_is_not_text_is_not_read():
    assert isinstance(extract(bytes(range(256)) * 20, "a.txt", Limits()), Skipped)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("a.xml", "<?xml version='1.0'?><" + "a" * 200_000),
        ("a.xml", "<?xml version='1.0'?><a " + "b" * 200_000 + "=>"),
        ("a.xml", "<?xml version='1.0'?><a " + "b " * 100_000 + "=>"),
        ("a.md", "# " + " " * 200_000 + "x"),
        ("a.md", "# " + " #" * 100_000 + "x"),
        ("a.md", "---\ntitle: " + " " * 200_000 + "x\n---\n"),
        ("a.rtf", "{\\rtf1 " + "{\\footnote x" * 50_000),
        ("a.rtf", "{\\rtf1 " + "{\\*\\shptxt " * 50_000 + "\\par"),
        ("a.html", "<html>" + "".join(f"<b id={n}><p>x" for n in range(3000))),
        ("a.html", "<html>" + "<a '" * 50_000),
    ],
    ids=range(10),
)
def test_work_grows_with_the_length_of_the_text(name, source):
    read(source.encode(), name)
