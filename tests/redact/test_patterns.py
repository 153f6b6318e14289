"""Patterns of a configuration: hostile ones are refused or bounded, and what they match is hidden."""

from __future__ import annotations

import importlib
import pkgutil
import re
from contextlib import suppress

import pytest

import smart_context
from smart_context import later, redact
from smart_context.errors import ConfigError
from smart_context.redact import ambiguity, gate, patterns


@pytest.mark.parametrize(
    "pattern",
    [
        "(", "[a-", "a*", "", "x?", "a" * 2000, "(?=secret)*", "(a+)+$", "(?:x|y*)*z", "(a|a)*b", "(x+x+)+y", r"(\w+\s?)+!", "([a-z]+)*@", r"^(\d+)+$", ".*foo.*bar",
        r"\w+\w+@", "(?:x?){30}x{30}", "(a{1,100}){1,100}c", "(?:(?:a?){20}){20}b", "(?:(?:(?:a{1,30}){1,30}){1,30})b", "(.*)(.*)(.*)x", r"(?i)(a|A)+x(b+)+y", "((a+)b?)+c",
        "(?:a(b)|c)++", "(?>a(b)?)c", "(?:a{0,9999}){1,9999}x", "(" * 450 + "a" + ")*" * 450,
    ],
)  # fmt: skip
def test_a_bad_pattern_is_a_configuration_error(pattern):
    with pytest.raises(ConfigError) as caught:
        redact.Redactor([pattern])
    assert caught.value.code == "config"


@pytest.mark.parametrize(
    ("pattern", "text", "hidden"),
    [
        (r"[A-Z]{3}-\d+", "id ABC-123456 end", "ABC-123456"),
        (r"(?i)project\s+\w+", "the Project  Phönix is", "Project  Phönix"),
        (r"(a{1,3}b)+", "x aabab x", "aabab"),
        (r"(a++b)+c", "x aabc x", "aabc"),
        (r"((ab)*c){2,}", "x abcabc x", "abcabc"),
        (r"\(\d+\)+", "f (12)) x", "(12))"),
        (r"EMP-.*", "by EMP-" + "x" * 5000, "EMP-" + "x" * 5000),
        (r".*confidential", "a line that is confidential", "a line that is confidential"),
        (r"(?:[a-z0-9-]+\.)+corp\.example", "see a.b-c.corp.example now", "a.b-c.corp.example"),
        (r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)", "SSN 123-45-6789.", "123-45-6789"),
        (r"(?s)<<.*?>>", "a <<b\nc>> d", "<<b\nc>>"),
        (r"(?P<q>['\"]).{1,20}?(?P=q)", "say 'hello' x", "'hello'"),
        (r"[а-я]+\s+№\d+", "см. дело  №12", "дело  №12"),
    ],
)
def test_an_ordinary_pattern_hides_what_it_matches(pattern, text, hidden):
    assert redact.Redactor([pattern]).clean(text) == text.replace(hidden, "[redacted:custom]")


@pytest.mark.parametrize("pattern", ["(?s).", "(?s).+", "(?s).{1,3}", r"[\s\S]", r"\w|\W"])
def test_a_pattern_for_everything_hides_everything_as_one(pattern):
    text = "Some words, nora@example.org\n\n" * 2000
    assert redact.Redactor([pattern]).clean(text) == "[redacted:custom]"


def test_a_pattern_for_every_other_letter_is_bounded_in_spans(monkeypatch):
    monkeypatch.setattr(gate, "MAX_SPANS", 1000)
    spans = redact.Redactor(["a"]).spans("ab" * 5000)
    assert len(spans) == 1000
    assert (spans[-1].start, spans[-1].end) == (1998, 10000)


def test_a_repetition_that_something_follows_gets_an_end_and_the_last_one_none():
    assert patterns.compiled(r"a+b*").pattern == "a{1,1001}b*"
    assert patterns.compiled(r"[+*]+x(\(*)").pattern == r"[+*]{1,1001}x(\(*)"
    assert patterns.compiled(r"(?:a+b)+c").pattern == "(?:a{1,101}b){1,31}c"


@pytest.mark.parametrize(
    ("pattern", "most"),
    [("abc", 10), (r"\w{1,50}@", 60), (r"\d{3}-\d{4}", 10), (r"(?:a|b){1,9}c", 30), (r"\w{1,9}\w{1,9}@", 200)],
)
def test_steps_of_harmless_patterns_are_few(pattern, most):
    assert ambiguity.steps(pattern) <= most


def test_steps_multiply_only_where_a_character_can_belong_to_either():
    assert ambiguity.steps(r"\w{1,100}@\d{1,100}x") < 1000 < ambiguity.steps(r"\w{1,100}\d{1,100}x")


# Both columns of steps: what stands after a repetition can begin with what is repeated, or it cannot.
COUNTED = {
    "a": 1, "ab": 2, "a?": 1, "a{1,10}": 10, "a+": 2, "a*": 1, "a{3,}": 4, "ba+": 3, r"\bfoo\b": 5, "^a{1,5}$": 7,
    "a{1,10}a": 20, "a{1,10}b": 11, "a{2,10}a": 19, "a{0,10}a{0,10}b": 131, "a{0,10}b{0,10}c": 21,
    "[^a]{1,10}b": 20, "[^a]{1,10}a": 11, "[^ab]{1,10}[ab]": 11, "[a-c]{1,10}[c-f]": 20, "[a-c]{1,10}[d-f]": 11,
    "(?i)a{1,10}A": 20, "a{1,10}A": 11, r"\d{1,10}\w": 20, r"\d{1,10}\D": 11, r"\s{1,10}\S": 11, r"\W{1,10}\w": 11, ".{1,10}x": 20,
    r"[^\d]{1,10}\D": 20, r"[^\d]{1,10}\d": 11, "(a|b){1,10}a": 20, "(ab|cd)e": 5, "(a|ab)c": 4, "(a|a){1,5}b": 128,
    "(?:a{1,3}){1,3}b": 108, "(?:a{1,3}){1,31}b": ambiguity.ENOUGH, "x(?:ab?){1,4}b": 49,
    "a{1,10}+a": 11, "(?>a{1,10})a": 11, "(?=a{1,10})a": 11, "(a)?(?(1)b|c)d": 4, r"(a)\1{1,5}a": 11,
}  # fmt: skip


@pytest.mark.parametrize("pattern", COUNTED)
def test_the_steps_of_a_pattern_are_counted(pattern):
    assert ambiguity.steps(pattern) == COUNTED[pattern]


@pytest.mark.parametrize(
    ("pattern", "bounded"),
    [
        ("a*b", "a{0,1000}b"), ("a{2,}b", "a{2,1002}b"), ("a{,}b", "a{0,1000}b"), ("(ab*)*c", "(ab{0,100}){0,30}c"), ("a*?b", "a{0,1000}?b"),
        ("(ab)+c+d", "(ab){1,1001}c{1,1001}d"), ("((a+)b)+c", "((a{1,101})b){1,31}c"), ("(a)+(b)+c", "(a){1,1001}(b){1,1001}c"), ("(a+)b+c", "(a{1,1001})b{1,1001}c"),
        ("a*+b", "a{0,1000}+b"), ("x(a*)", "x(a*)"), (r"\*b*c", r"\*b{0,1000}c"), ("(?#a*)b*c", "(?#a*)b{0,1000}c"), ("(a)b*c", "(a)b{0,1000}c"),
    ],
)  # fmt: skip
def test_a_repetition_has_as_many_more_as_fit_where_it_stands(pattern, bounded):
    assert patterns._bounded(pattern) == bounded


@pytest.mark.parametrize("size", [1000, 1001])
def test_a_pattern_has_a_thousand_characters_at_most(size):
    if size == 1000:
        assert redact.Redactor(["a" * size]).clean("x" + "a" * size) == "x[redacted:custom]"
    else:
        with pytest.raises(ConfigError, match="…"):
            redact.Redactor(["a" * size])


def test_twenty_thousand_steps_at_a_place_are_taken_and_more_are_refused():
    redact.Redactor(["a{1,10000}a"])
    with pytest.raises(ConfigError):
        redact.Redactor(["a{1,10001}a"])


def test_a_pattern_has_a_length_and_its_error_says_so():
    for pattern in ("", "a" * 1001):
        with pytest.raises(ConfigError, match="must be 1 to"):
            patterns.compiled(pattern)


def test_no_pattern_of_ours_keeps_a_group_inside_of_something_possessive():
    # `re` of Python 3.11 raises SystemError then, on texts such as "a at e dot s.2".
    for module in pkgutil.walk_packages(smart_context.__path__, "smart_context."):
        if module.name.rpartition(".")[2].startswith("_"):
            continue
        with suppress(ImportError):  # of an extra that is not installed
            for name, value in vars(importlib.import_module(module.name)).items():
                for text in _texts(value):
                    assert not ambiguity.keeps_in_possessive(text), f"{module.name}.{name}"


def _texts(value):
    if isinstance(value, re.Pattern):
        return [value.pattern] if isinstance(value.pattern, str) else []
    if isinstance(value, later._Later):
        return [value._text]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _texts(one)]
    return [text for one in value.values() for text in _texts(one)] if isinstance(value, dict) else []
