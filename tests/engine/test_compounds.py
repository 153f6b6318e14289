"""Long words are found by their parts, however many there are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both
from smart_context.engine.local.ranking import compounds
from smart_context.engine.local.ranking.compounds import Compounds

words = st.text("abäß𐘯", min_size=1, max_size=14)


def by_each(every: set[str], part: str) -> list[str]:
    """The first place of a part in each word, looked at one by one."""
    places = {word: word.find(part) for word in every}
    return sorted(word for word, at in places.items() if at == 0 or at >= 3)


@given(st.sets(words, max_size=400), st.lists(words, max_size=20))
def test_the_words_that_hold_a_part_are_those_of_looking_at_each(every, parts):
    def found() -> list[list[str]]:
        known = Compounds(every)
        return [known.holding(part) for part in some]

    some = [*parts, *(word[2:8] or word for word in sorted(every)[:20]), *sorted(every)[:20]]
    wanted = [by_each(every, part) for part in some]
    assert both(found, compounds) == (wanted, wanted)


def test_of_many_words_few_are_looked_through(monkeypatch):
    monkeypatch.setattr(compounds, "_BLOCKS", 64)
    every = {
        f"{front}{back}{number}" for number in range(40) for front in ("hafen", "küsten") for back in ("amt", "ort")
    }
    every |= {f"zoll{number:05}grenze" for number in range(9000)}
    known = Compounds(every)
    for part in ("hafen", "ort3", "zoll00017", "grenze", "küste", "fremd"):
        assert known.holding(part) == by_each(every, part)
    if compounds.compiled:
        assert len(known._blocks) <= 64
        assert len(list(known._may_hold(b"hafen"))) <= 3
        assert not list(known._may_hold(b"fremdwort"))


@pytest.mark.skipif(not compounds.compiled, reason="there is no compiler")
def test_what_is_no_list_of_blocks_is_refused():
    for wrong in (("a",), ["text"], [b"abcd", None]):
        with pytest.raises(TypeError):
            compounds.compiled.grams(wrong)
    assert compounds.compiled.grams([]) == b""
