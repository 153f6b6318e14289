"""Entries of manuals and definitions in code are told from the many places that only use a name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.text import explained

SENTENCE = "\nJoin one or more parts of a path."


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("os.path.join(path, *paths)" + SENTENCE, ["^ospathjoin", "^join"]),
        ("max_connections (integer)" + SENTENCE, ["^maxconnections"]),
        ("os.path.supports_names" + SENTENCE, ["^ospathsupportsnames", "^supportsnames"]),
        ("os.O_RDONLY\nos.O_APPEND" + SENTENCE, ["^osordonly", "^ordonly", "^osoappend", "^oappend"]),
        ("std::vector::at(size_t n)" + SENTENCE, ["^stdvectorat", "^at"]),
        ("class subprocess.Popen(args)", ["^subprocesspopen", "^popen"]),
        ("    def read(self, size: int = -1) -> bytes:", ["^read"]),
        ("PyObject *PyObject_Call(PyObject *callable)", ["^pyobjectcall"]),
        (".. function:: join(path, *paths)", ["^join"]),
        ("@functools.lru_cache(maxsize=128)\nDecorator to wrap a function with a cache.", ["^functoolslrucache", "^lrucache"]),
        ("@functools.lru_cache(maxsize=128)\n@other.one\ndef cached(a, b):\n    pass", ["^cached"]),
        ("--force-with-lease=<refname>", ["^--forcewithlease"]),
        ("--all\n--dry-run", ["^--all", "^--dryrun"]),
        ("first_name(a,\n  b)" + SENTENCE, ["^firstname"]),
        ("work_mem (integer)", ["^workmem"]),  # what explains it stands in the next part of the text
    ],
)  # fmt: skip
def test_an_entry_begins_with_what_it_explains(text, terms):
    assert both(lambda: explained.terms(text), explained) == (terms, terms)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Use os.path.join(a, b) to join them.",
        "os.path.join() puts parts of a path together.",
        "os.path.join(a, b)\nx = 1\n",
        "os.path.join()\tPurePath.joinpath()" + SENTENCE,
        "lru_cache() (in module functools)" + SENTENCE,
        "  os.path.join(path)" + SENTENCE,
        "if(a)" + SENTENCE,
        "self.close()" + SENTENCE,
        "Note\nThis is said in a sentence.",
        "However (as said above)" + SENTENCE,
        "printf(3)" + SENTENCE,
        "PyErr_Print()\nPyErr_Clear()\nPyErr_Fetch()\nand others",
        "PyErr_Print()\nPyErr_Clear()",
        "PyErr_Print (C function)\nPyErr_Clear (C function)\nand others",
        "\n".join(f"--option-{number}" for number in range(200)),
    ],
)  # fmt: skip
def test_what_uses_a_name_or_lists_many_explains_none(text):
    assert both(lambda: explained.terms(text), explained) == ([], [])


@pytest.mark.parametrize(
    ("name", "terms"),
    [
        ("asyncio.Barrier.abort", ["^asynciobarrierabort", "^barrierabort", "^abort"]),
        ("--dry-run", ["^--dryrun"]),
        ("max_connections", ["^maxconnections"]),
        ("...", []),
        ("/etc/sysctl.conf", ["^etcsysctlconf"]),
        ("cache.c", ["^cachec"]),
    ],
)
def test_a_name_is_asked_for_as_a_whole_first(name, terms):
    assert explained.asked(name) == terms


PIECES = ["\n", "\n", " ", "\t", "(", ")", ".", "::", "-", "--", "@", "*", "=", "<", "[", "_", "os", "A", "é", "字", "class", "def", "int", ".. a::", "1", " a b c d e", ";", "->", ":", "\ud800", "\0"]  # fmt: skip


DECLARING = ["abstract", "async", "attribute", "awaitable", "bool", "const", "class", "classmethod", "char", "coroutine", "def", "double", "decorator", "export", "extern", "exception", "enum", "final", "function", "func", "fn", "float", "gboolean", "gint", "guint", "gchar", "inline", "int", "interface", "long", "method", "module", "macro", "public", "private", "protected", "proc", "static", "staticmethod", "struct", "sub", "size_t", "ssize_t", "type", "trait", "unsigned", "virtual", "void"]  # fmt: skip


@pytest.mark.parametrize("word", DECLARING)
def test_every_word_that_declares_does_so_in_c_as_in_python(word):
    text = f"{word} class Name\n{word} name\n\t{word} other(a)\n"
    quickly, slowly = both(lambda: explained.terms(text), explained)
    assert quickly == slowly != []


# Lines that are nearly entries: what may declare, a name, what may follow it, and the end of a line.
LEADS = ["", "", "", " ", "@", "static ", "const  ", "unsigned", "class ", "\tdef ", "int *", "T *", "T  *", ".. c:function:: ", ".. ab::", ".. a:: ", ".. abcdefghijklmnopqrstu:: "]  # fmt: skip
NAMES = ["a", "os.path", "aB", "AB", "x_1", "é", "aé::B", "self.x", "return", "with-x", "--all", "--dry-run_é", "--_x", "a.b.c.d.e.f.g.h", "a.b.c.d.e.f.g.h.i", "a:b"]  # fmt: skip
THENS = ["", "", " ", "\t ", "(", " (", "(a, (b)", "(a)", "  (a)", "(3)", "(3p)", "(31x)", "(é)", "=", " <x>", "[", "(a\tb)", "-"]  # fmt: skip
ENDS = ["", ")", ") -> x", ":", ") {", ")¶ ", " : x", " one two three four", " one two"]
LINES = st.tuples(*map(st.sampled_from, (LEADS, LEADS, NAMES, THENS, ENDS))).map("".join)
OTHERS = st.sampled_from(
    ["", "A sentence of some five words.", "two words", "(two words)", "@a.b", "async def x():", "  class Y:", "def"]
)


@given(st.lists(LINES | OTHERS, max_size=24).map("\n".join))
def test_entries_are_told_in_c_as_in_python(text):
    quickly, slowly = both(lambda: explained.terms(text), explained)
    assert quickly == slowly


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_any_text_is_read_in_c_as_in_python(text):
    quickly, slowly = both(lambda: explained.terms(text), explained)
    assert quickly == slowly
