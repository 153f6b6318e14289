"""Years are numbers of their own."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from compiled import both
from smart_context.text import years

PLAINLY = re.compile(r"(?<![0-9A-Za-z])(?:19|20)[0-9]{2}(?![0-9A-Za-z])")


@given(st.text(alphabet="1290x _年-٣𝟏\n\0\ud800", max_size=40))
@example("2021")
@example("report_2021 x1999 19991 20202020 2021年")
def test_years_are_found_as_by_looking_at_each_character(text):
    quickly, slowly = both(lambda: years.named_in([text, text[1:]]), years)
    assert quickly == slowly == tuple(sorted({*PLAINLY.findall(text), *PLAINLY.findall(text[1:])}))
