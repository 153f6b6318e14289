"""Which files are copies of others: the same however many are compared, and by what."""

from __future__ import annotations

import importlib
import random
from contextlib import nullcontext
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiled import both, in_python
from smart_context.engine.facts import Marked
from smart_context.find import fold
from smart_context.text import copies


def are_near(one: bytes, other: bytes) -> bool:
    return copies.are_near(copies.number(one), copies.number(other))


@pytest.fixture(params=["compiled", "python"])
def _in_both_ways(request):
    """As it is compiled, then as where there was no compiler."""
    with in_python(copies) if request.param == "python" else nullcontext():
        yield


@pytest.mark.usefixtures("_in_both_ways")
def test_files_are_apart_where_no_two_of_them_are_copies():
    rnd = random.Random(3)
    words = [f"word{number}" for number in range(900)]
    texts = [rnd.sample(words, size) for size in (20, 30, 60, 200, 700) for _ in range(12)]
    files = [Marked(number, *astuple(copies.marks([" ".join(text)]))) for number, text in enumerate(texts)]
    few = [file for file in files if not any(are_near(file.like, other.like) for other in files[: file.file_id])]
    assert fold.are_apart(few)
    assert len(few) > 40
    for number in (13, 26, 38, 50):
        near = " ".join([*texts[number][1:], "another"])
        copy = Marked(1000, *astuple(copies.marks([near])))
        is_copy = any(are_near(copy.like, file.like) for file in few)
        assert fold.are_apart([*few, copy]) is not is_copy
        assert fold.are_apart([copy, *few]) is not is_copy


@pytest.mark.usefixtures("_in_both_ways")
def test_the_file_that_stands_for_others_is_the_same_however_many_are_compared_at_once(monkeypatch):
    importlib.import_module("numpy")  # without it, files are compared one by one
    rnd = random.Random(12)
    words = [f"word{number}" for number in range(200)]
    texts = [" ".join(rnd.sample(words, size)) for size in (20, 60, 190, 195, 195, 198)] + ["", "one note"]
    folds = fold.Folds()
    for at, text in enumerate(texts):
        folds.stands_for(Marked(at, *astuple(copies.marks([text]))))
    others = [f"{text} more" for text in texts] + texts + [" ".join(rnd.sample(words, 190)) for _ in range(20)]
    files = [Marked(100 + at, *astuple(copies.marks([text]))) for at, text in enumerate(others)]
    expected = [folds._found(file) for file in files]
    assert len(files) * len(texts) > fold._LOOKS
    assert folds.like(files) == expected
    monkeypatch.setattr(fold, "_LOOKS", 0)
    assert folds.like(files) == expected
    assert len(set(expected)) > 3


@pytest.mark.usefixtures("_in_both_ways")
def test_files_are_apart_however_many_of_them_are_compared_at_once(monkeypatch):
    importlib.import_module("numpy")
    rnd = random.Random(11)
    words = [f"word{number}" for number in range(160)]
    texts = [" ".join(rnd.sample(words, 140 if at % 3 else 25)) for at in range(50)]
    texts += [f"{text} more" for text in texts[::7]]
    files = [Marked(at, *astuple(copies.marks([text]))) for at, text in enumerate(texts)]
    some = [files[at : at + size] for size in (3, 20, 50) for at in range(0, 57 - size, 3)]
    found = [fold.are_apart(few) for few in some]
    monkeypatch.setattr(fold, "_LOOKS", 0)
    assert [fold.are_apart(few) for few in some] == found
    monkeypatch.setattr(fold, "_LOOKS", 10000)
    assert [fold.are_apart(few) for few in some] == found
    assert {True, False} == set(found)


@pytest.mark.usefixtures("_in_both_ways")
def test_many_files_that_have_much_in_common_are_apart_until_one_is_a_copy():
    rnd = random.Random(5)
    words = [f"word{number}" for number in range(900)]
    texts = [rnd.sample(words, 650) for _ in range(100)]
    files = [Marked(number, *astuple(copies.marks([" ".join(text)]))) for number, text in enumerate(texts)]
    assert fold.are_apart(files)
    for number in (0, 50, 99):
        copy = Marked(1000, *astuple(copies.marks([" ".join([*texts[number][1:], "another"])])))
        assert are_near(copy.like, files[number].like)
        assert not fold.are_apart([*files, copy])
        assert not fold.are_apart([copy, *files])


@pytest.mark.usefixtures("_in_both_ways")
def test_the_same_files_stand_for_themselves_however_many_are_compared_at_once(monkeypatch):
    rnd = random.Random(14)
    words = [f"word{number}" for number in range(300)]
    texts = [" ".join(rnd.sample(words, size)) for size in (10, 40, 150, 280, 290, 295) for _ in range(8)]
    texts += [f"{text} more" for text in texts[::3]] + texts[::5] + ["", ""]
    rnd.shuffle(texts)
    files = [Marked(at, *astuple(copies.marks([text]))) for at, text in enumerate(texts)]
    assert len(files) > fold._FEW
    at_once = list(fold.apart(files))
    monkeypatch.setattr(fold, "_FEW", 1000)
    assert list(fold.apart(files)) == at_once
    assert 10 < len(at_once) < len(files) - 10


def test_far_down_the_same_files_stand_for_others_as_where_each_is_compared_with_all(monkeypatch):
    rnd = random.Random(21)
    words = [f"word{number}" for number in range(400)]
    texts = [" ".join(rnd.sample(words, size)) for size in (10, 30, 90, 250, 380, 390, 395) for _ in range(12)]
    texts += [f"{text} more" for text in texts[::2]] + [f"{text} and more" for text in texts[::3]] + ["", "one note"]
    rnd.shuffle(texts)
    files = [Marked(at, *astuple(copies.marks([text]))) for at, text in enumerate(texts)]
    monkeypatch.setattr(fold, "_LOOKS", 10_000)
    one_by_one, by_pieces, compiled = fold.Folds(), fold.Folds(), fold.Folds()
    expected = [compiled.stands_for(file) for file in files]
    with in_python(copies):
        assert [one_by_one.stands_for(file) for file in files] == expected
        monkeypatch.setattr(fold, "_LOOKS", 7)
        assert [by_pieces.stands_for(file) for file in files] == expected
    assert by_pieces._having
    assert not one_by_one._having
    assert 20 < len(set(expected)) < len(files) - 20


_PLAIN = bytes(range(1, 65)) * 2  # a sketch
_CHANGES = st.lists(st.tuples(st.integers(0, copies.BINS - 1), st.integers(0, 3)), max_size=30)


def changed(changes: list[tuple[int, int]], empty: int) -> bytes:
    out = bytearray(_PLAIN[: copies.BINS - empty] + bytes(empty))
    for at, value in changes:
        out[at] = value
    return bytes(out)


_SKETCHES = st.builds(changed, _CHANGES, st.sampled_from([0, 0, 90, 100, 104, 108])) | st.binary(max_size=130)
_FILES = st.lists(st.tuples(st.sampled_from([b"", b"", b"a", b"b", b"cc"]), _SKETCHES), max_size=12)


@given(_FILES)
def test_what_is_compiled_tells_the_same_copies(marks):
    files = [Marked(at, same, like) for at, (same, like) in enumerate(marks)]
    half = len(files) // 2

    def told() -> object:
        folds = fold.Folds()
        stand = [folds.stands_for(file) for file in files[:half]]
        return stand, folds.like(files[half:]), list(fold.apart(files)), fold.are_apart(files)

    quickly, slowly = both(told, copies)
    assert quickly == slowly


@pytest.mark.skipif(copies.compiled is None, reason="not compiled here")
def test_marks_that_are_no_bytes_are_refused():
    for same, like in (([b""], []), ([None], [b""]), ("", [b""])):
        with pytest.raises(TypeError):
            copies.compiled.standing(same, like)
    assert copies.compiled.standing([b"x", b"x"], [None, _PLAIN]) == [True, False]
    with pytest.raises(TypeError):
        copies.compiled.first_near(None, [_PLAIN])
    assert copies.compiled.first_near(_PLAIN, [None, b"", _PLAIN]) == 2
