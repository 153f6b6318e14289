"""What an index may know of a text: letters that are ours are in none."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from smart_context.text import whole

OURS = re.compile("[\U00010600-\U0001077f]+")


@given(
    st.text(
        alphabet="ab é漢\U00010400\U00010500\U000105ff\U00010600\U00010677\U0001077f\U00010780😀\ud800", max_size=12
    )
)
@example("\U0001077f")
@example("\U00010600" * 3)
def test_no_letter_that_is_ours_comes_from_a_text(text):
    plain = OURS.sub(" ", text)
    assert whole.masked(text, ()) == whole.head(text) == plain
    assert (
        whole.masked(f"{text}secret{text}", ((len(text), len(text) + 6, "secret"),)) == f"{plain} {whole.BREAK} {plain}"
    )
    assert whole.head(f"{text}[redacted:secret]{text}") == f"{plain} {whole.BREAK} {plain}"
