"""Asking for what is known to be there: which sentences and names are taken from files, and how each went."""

from __future__ import annotations

import pytest

from searching import indexed
from smart_context import redact
from smart_context.find import known_items
from smart_context.find.known_items import Probe

WALL = "The harbour wall was built of grey stone in three long years."
GULLS = "The gulls of the harbour eat what the fishing boats throw over the wall."
LAMP = "The keeper of the lamp climbs the long stairs each evening at dusk."
KYOTO = "京都の図書館は午前九時に開きます。"
FILES = {
    # What a query would read as more than words is not asked, nor what is too short.
    "a/harbour.txt": f"{WALL} Short one. Who: the mason (his name is lost) AND his two sons built all of it by hand.",
    "b/kyoto.txt": f"{KYOTO}短い。",
    "b/letter.txt": f"Please write to jane.doe@example.com about the boats in the harbour today. {GULLS}",
    "c/empty.txt": "Nothing.",
    "c/odd (1).txt": f"Five words are here only. {LAMP}",
    "hidden/x.txt": "The keeper of nothing walks alone along the beach each evening at dusk.",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("known").resolve()
    for name, text in FILES.items():
        (place / "root" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "root" / name).write_text(text, encoding="utf-8")
    with indexed(place / "root", place / "data") as opened:
        yield opened


def probes(folder, count):
    record, _ = folder.index.both()
    found = known_items.probes(record, [str(folder.root)], redact.Redactor(), count, lambda path: "hidden" not in path)
    return [(one.way, one.query, one.path.removeprefix(f"{folder.root}/"), one.held) for one in found]


def test_a_sentence_of_each_file_and_its_name_are_asked_in_several_ways(folder):
    found = probes(folder, 9)
    assert {path for *_, path, _ in found} == FILES.keys() - {"hidden/x.txt"}
    of = {name: [(way, query, held) for way, query, path, held in found if path == name] for name in FILES}
    assert of["a/harbour.txt"] == [
        ("sentence", WALL, WALL),
        ("rare words", "harbour wall built grey stone three long years.", WALL),
        ("phrase", '"was built of grey stone"', WALL),
        ("name", "harbour.txt", "harbour.txt"),
        ("name, no ending", "harbour", "harbour.txt"),
    ]
    assert of["b/kyoto.txt"][:2] == [("sentence", KYOTO, KYOTO), ("phrase", '"書館は午前九時に"', KYOTO)]
    assert of["b/letter.txt"][0] == ("sentence", GULLS, GULLS)
    assert of["c/empty.txt"] == [("name", "empty.txt", "empty.txt"), ("name, no ending", "empty", "empty.txt")]
    assert of["c/odd (1).txt"] == [
        ("sentence", LAMP, LAMP),
        ("rare words", "keeper lamp climbs long stairs evening dusk.", LAMP),
        ("phrase", '"lamp climbs the long stairs"', LAMP),
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_so_many_files_are_asked_about_and_the_same_ones_each_time(folder, count):
    found, every = probes(folder, count), probes(folder, 9)
    assert len({path for *_, path, _ in found}) == count
    assert found == every[: len(found)]


@pytest.mark.parametrize(
    ("words", "is_asked"), [(5, False), (6, True), (30, True), (31, False)]
)  # more is no sentence that anybody types
def test_a_sentence_has_six_to_thirty_words(tree, tmp_path, words, is_asked):
    said = " ".join(f"walrus{'bcdfghjkmp'[n % 10]}{'bcdfghjkmp'[n // 10]}" for n in range(words))
    with indexed(tree({"a.txt": f"{said}."}), tmp_path / "data") as opened:
        assert ([query for way, query, *_ in probes(opened, 1) if way == "sentence"] == [f"{said}."]) is is_asked


def ran(folder, probe, found):
    told = []
    record, _ = folder.index.both()
    [outcome] = known_items.run([probe], lambda _query: found, record, redact.Redactor(), told.append)
    return outcome, told


def test_the_place_of_a_file_is_counted_among_the_first_five(folder):
    paths = [f"{folder.root}/{name}" for name in ("1", "2", "3", "4", "b/kyoto.txt", "6")]
    for at, rank in ((4, 5), (5, 0)):
        outcome, told = ran(folder, Probe("phrase", "x" * 61, paths[at], "x"), paths)
        assert (outcome.found, outcome.rank, outcome.twin) == (tuple(paths[:5]), rank, False)
        assert [(step.done, step.total, step.what) for step in told] == [(0, 1, "x" * 60)]
    assert ran(folder, Probe("phrase", "x", paths[0], "x"), [])[0].rank == 0
    assert ran(folder, Probe("phrase", "x", paths[0], "x"), paths)[0].rank == 1


def test_another_file_that_holds_the_sentence_or_has_the_name_answers_as_well(folder):
    letter, other = f"{folder.root}/b/letter.txt", f"{folder.root}/a/harbour.txt"
    assert ran(folder, Probe("sentence", GULLS, other, GULLS), [letter])[0].twin
    assert not ran(folder, Probe("sentence", GULLS, letter, GULLS), [letter])[0].twin  # it is the one that was meant
    assert not ran(folder, Probe("sentence", GULLS, letter, GULLS), [other])[0].twin
    assert not ran(folder, Probe("sentence", GULLS, other, GULLS), [f"{folder.root}/none"])[0].twin
    assert ran(folder, Probe("name", "letter.txt", other, "letter.txt"), [letter])[0].twin
    assert not ran(folder, Probe("name, no ending", "letter", other, "letter"), [letter])[0].twin
