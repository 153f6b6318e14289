"""Which files are copies of others: the same compiled and in Python."""

from __future__ import annotations

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
    return copies.first_near(one, [other]) == 0


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


def representatives(files: list[Marked]) -> list[int | None]:
    """The file that stands for each, as a search finds them."""
    folds = fold.Folds()
    for file in files:
        if not folds.is_copy(file):
            folds.stand(file)
    return [folds.representative(file) for file in files]


@pytest.mark.usefixtures("_in_both_ways")
def test_the_first_of_many_copies_stands_for_the_others():
    rnd = random.Random(21)
    words = [f"word{number}" for number in range(400)]
    texts = [" ".join(rnd.sample(words, size)) for size in (10, 30, 90, 250, 380, 390, 395) for _ in range(12)]
    texts += [f"{text} more" for text in texts[::2]] + [f"{text} and more" for text in texts[::3]] + ["", "one note"]
    rnd.shuffle(texts)
    files = [Marked(at, *astuple(copies.marks([text]))) for at, text in enumerate(texts)]
    expected: list[int] = []
    for file in files:
        standing = (files[at] for at in dict.fromkeys(expected))
        first = next((one for one in standing if one.same == file.same != b"" or are_near(file.like, one.like)), file)
        expected.append(first.file_id)
    assert representatives(files) == expected
    assert [file.file_id for file in fold.apart(files)] == list(dict.fromkeys(expected))
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
        for file in files[:half]:
            if not folds.is_copy(file):
                folds.stand(file)
        return [folds.representative(file) for file in files], list(fold.apart(files)), fold.are_apart(files)

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
