"""Patterns of a configuration: hostile ones are refused or bounded, and what they match is hidden."""

from __future__ import annotations

import pytest

from smart_context import redact
from smart_context.errors import ConfigError
from smart_context.redact import ambiguity, gate, patterns


@pytest.mark.parametrize(
    "pattern",
    [
        "(", "[a-", "a*", "", "x?", "a" * 2000, "(?=secret)*", "(a+)+$", "(?:x|y*)*z", "(a|a)*b", "(x+x+)+y", r"(\w+\s?)+!", "([a-z]+)*@", r"^(\d+)+$", ".*foo.*bar",
        r"\w+\w+@", "(?:x?){30}x{30}", "(a{1,100}){1,100}c", "(?:(?:a?){20}){20}b", "(?:(?:(?:a{1,30}){1,30}){1,30})b", "(.*)(.*)(.*)x", r"(?i)(a|A)+x(b+)+y", "((a+)b?)+c",
        "(?:a{0,9999}){1,9999}x", "(" * 450 + "a" + ")*" * 450,
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
