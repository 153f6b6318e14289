"""Words that hold nothing are left out before detectors look, and nothing else is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smart_context.redact import words


def test_a_word_with_any_sign_of_a_detector_is_kept():
    for sign in words.SIGNS:
        words.forget()
        for word in (sign, f"x{sign}", f"{sign}y".upper()):
            assert sign in words.of(f"some words {word} and others").low


@given(
    st.lists(
        st.sampled_from(["plain", "Pass", "x@y", "données", "key=1", "A1" * 9, "data)", "the", "q" * 60, "tokenizer"])
    )
)
def test_words_met_before_are_as_when_they_are_new(found):
    text = " ".join(found)
    words.forget()
    new = words.of(text)
    assert words.of(text) == new
    every = list(dict.fromkeys(found))
    assert [word for word in every if word in new.unique] == list(new.unique)
    for sign in words.SIGNS:
        assert (sign in new.low) == any(sign in word.lower() for word in every)
    assert list(filter(words.may_be_token, every)) == list(filter(words.may_be_token, new.unique))
