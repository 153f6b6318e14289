"""The ranking index: what is put in is found, counted and taken out; what is damaged is refused."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context.engine import entry
from smart_context.engine.expression import AnyOf, Everything, Filters, Group, Sequence, Term
from smart_context.engine.local.ranking import Ranking, narrowed
from smart_context.engine.local.ranking.view import View
from smart_context.engine.model import RankedFile, RankedSegment
from smart_context.errors import SearchFailed
from smart_context.text import languages

ALL = Filters()


def file(file_id: int, path: str, title: str = "", years: tuple[str, ...] = ()) -> RankedFile:
    return RankedFile(file_id, path, Path(path).suffix, title, years)


@pytest.fixture
def ranking(tmp_path: Path) -> Ranking:
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    opened.add(
        file(1, "/r/a/report 2021.pdf", "Yearly Report", ("2021",)),
        [RankedSegment(11, "Costs", "rent and wages"), RankedSegment(12, "", "income from rents")],
    )
    opened.add(
        file(2, "/r/b/plan.txt"), [RankedSegment(21, "", "Die Krankenversicherungsbeiträge für die Praxis sind hoch")]
    )
    opened.commit(1)
    opened.reload()
    return opened


def ids(ranking: Ranking, wanted, filters=ALL) -> set[int]:
    found = {hit.segment_id for hit in ranking.view().matches(wanted, filters).top(100)}
    assert ranking.view().count(wanted, filters) == len(found)
    return found


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Term("rent"), {11, 12}),
        (Term("report"), {11, 12}),  # the file's name
        (Term("year"), {11, 12}),  # its title
        (Term("cost"), {11}),  # a heading
        (Term("nowhere"), set()),
        (Sequence(("rent", "and", "wage")), {11}),
        (Sequence(("wage", "rent")), set()),
        (Sequence(("cost", "rent")), set()),  # no phrase reaches from a heading into the text
        (Sequence(("rent",)), {11, 12}),
        (Sequence(()), set()),
        (AnyOf(("incom", "wage")), {11, 12}),
        (AnyOf(("user", "nowhere")), set()),
        (Group(must=(Term("rent"), Term("incom"))), {12}),
        (Group(should=(Term("wage"), Term("incom"))), {11, 12}),
        (Group(must=(Term("rent"),), must_not=(Term("wage"),)), {12}),
        (Group(must_not=(Term("rent"),)), {21}),
        (Group(), set()),
        (Everything(), {11, 12, 21}),
    ],
)
def test_an_expression_finds_the_segments_that_match(ranking, wanted, expected):
    assert ids(ranking, wanted) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(exts=(".pdf",)), {11, 12}),
        (Filters(exts=(".pdf", ".txt")), {11, 12, 21}),
        (Filters(years=("2021",)), {11, 12}),
        (Filters(years=("2022",)), set()),
        (Filters(folders=("/r",)), {11, 12, 21}),
        (Filters(folders=("/r/b/",)), {21}),
        (Filters(folders=("/r/bb",)), set()),
        (Filters(exts=(".txt",), folders=("/r/a",)), set()),
    ],
)
def test_filters_bind(ranking, filters, expected):
    assert ids(ranking, Everything(), filters) == expected


def test_a_filter_of_few_values_and_one_of_many_pass_the_same_with_the_same_scores(tmp_path):
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    for number in range(1, 61):
        text = " ".join(["rent"] * (number % 7 + 1) + ["wages"] * (number % 3))
        opened.add(
            file(number, f"/r/{number % 12}/f.{number % 11}", "", (str(2000 + number % 10),)),
            [RankedSegment(number, "", text)],
        )
    opened.commit(1)
    opened.reload()
    view = opened.view()
    wanted = Group(should=(Term("rent"), Term("wage")))
    for most in (1, 2, 3, 8, 9, 11):
        filters = [
            Filters(exts=tuple(f".{n}" for n in range(most))),
            Filters(years=tuple(str(2000 + n) for n in range(most))),
            Filters(folders=tuple(f"/r/{n}" for n in range(most))),
            Filters(files=tuple(range(1, most + 1))),
        ]
        for few in filters:
            # Values that nothing has make it a filter of many.
            many = Filters(
                exts=few.exts and (*few.exts, *(f".x{n}" for n in range(20))),
                years=few.years and (*few.years, *(str(1900 + n) for n in range(20))),
                folders=few.folders and (*few.folders, *(f"/x/{n}" for n in range(20))),
                files=few.files and (*few.files, *range(900, 920)),
            )
            found = view.matches(wanted, few).top(100)
            assert found
            assert found == view.matches(wanted, many).top(100)


@given(
    st.sets(st.integers(1900, 2099), max_size=200) | st.sampled_from([range(1900, 2100), range(1980, 2031)]),
    st.integers(1895, 2105),
)
def test_a_year_finds_the_files_that_name_it_however_many_others_they_name(years, year):
    kept = entry.year_keys(tuple(map(str, sorted(years))))
    assert (not set(entry.keys_of_year(str(year))).isdisjoint(kept)) == (year in years)
    assert len(kept) <= len(years)


def test_a_file_that_names_every_year_has_one_key_for_each_century():
    assert entry.year_keys(tuple(map(str, range(1900, 2100)))) == ["19**", "20**"]
    assert entry.year_keys(tuple(map(str, range(1989, 2001)))) == ["1989", "199*", "2000"]


@pytest.mark.parametrize(
    "rare", [0, 3, 500]
)  # segments of a term whose files are looked at, rather than asked for by a query
def test_what_some_folders_have_is_counted_there_alone(tmp_path, monkeypatch, rare):
    monkeypatch.setattr(narrowed, "_RARE", rare)
    texts = {n: f"word{n % 4} {'shared ' * (n % 3)} only{n} Mietvertrag{'sentwurf' * (n % 2)}" for n in range(1, 25)}
    folder = {n: f"/r/{n % 6}" for n in texts}
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    for number, text in texts.items():
        opened.add(
            file(number, f"{folder[number]}/f{number}.txt"), [RankedSegment(number, "", f"der die das und {text}")]
        )
    opened.commit(1)
    opened.delete([7, 13])
    opened.commit(2)
    opened.reload()
    view = opened.view()
    for some in ((1,), (1, 2), (0, 3, 4, 5), (9,)):
        here = view.within(tuple(f"/r/{n}" for n in some))
        alive = [n for n in texts if n % 6 in some and n not in (7, 13)]
        assert here.segments == len(alive)
        for term in view.terms(""):
            holding = [hit.segment_id for hit in view.matches(Term(term), ALL).top(100)]
            assert here.having(term) == len(set(holding).intersection(alive)), term
            assert (term in here.terms(term)) == bool(set(holding).intersection(alive))
        compounds = {n % 2 for n in alive}
        assert len(here.compounds("mietvertrag")) == len(compounds)


def test_folders_that_have_everything_are_the_index_itself(ranking):
    view = ranking.view()
    assert view.within(("/r",)) is view
    assert view.within(("/r/a", "/r/b")) is view
    assert view.within(("/r/a",)) is not view


def test_what_is_added_again_replaces_and_what_is_deleted_is_gone(ranking):
    ranking.add(file(1, "/r/a/report.pdf"), [RankedSegment(31, "", "new text")])
    ranking.delete([2])
    assert ids(ranking, Everything()) == {11, 12, 21}  # not before the commit
    ranking.commit(2)
    ranking.reload()
    assert ids(ranking, Everything()) == {31}
    assert (ranking.generation, ranking.view().segments, ranking.file_ids()) == (2, 1, {1})
    assert ids(ranking, Term("rent")) == set()


def test_a_reader_sees_the_last_commit_when_it_reloads(ranking, tmp_path):
    reader = Ranking.open(tmp_path / "ranking", writable=False)
    assert reader.view().segments == 3
    ranking.delete([1])
    ranking.commit(2)
    assert reader.view().segments == 3
    reader.reload()
    assert (reader.view().segments, reader.generation) == (1, 2)
    with pytest.raises(SearchFailed):
        reader.delete([1])


def test_what_was_not_committed_is_forgotten_at_close(ranking, tmp_path):
    ranking.delete([1, 2])
    ranking.close()
    again = Ranking.open(tmp_path / "ranking", writable=True)
    assert (again.generation, again.view().segments) == (1, 3)


def test_merging_changes_nothing_that_is_found(ranking):
    for n in range(3, 40):
        ranking.add(file(n, f"/r/c/{n}.txt"), [RankedSegment(100 + n, "", "rent")])
        ranking.commit(n)
    ranking.delete(range(3, 39))
    ranking.commit(40)
    ranking.merge()
    ranking.add(file(50, "/r/c/50.txt"), [RankedSegment(150, "", "rent")])  # writing goes on after a merge
    ranking.commit(41)
    ranking.reload()
    assert ids(ranking, Term("rent")) == {11, 12, 139, 150}
    assert ranking.generation == 41


def test_counts_and_lengths_are_of_live_segments(ranking):
    assert ranking.view().average_length == pytest.approx((3 + 3 + 7) / 3)
    assert ranking.view().languages == ("en", "de")
    ranking.delete([2])
    ranking.commit(2)
    ranking.reload()
    assert ranking.view().average_length == 3.0
    assert ranking.view().languages == ("en",)


def test_only_fields_that_are_scored_take_room_for_their_lengths(tmp_path):
    sizes = []
    for many in (1, 1001):
        with closing(Ranking.open(tmp_path / f"{many}", writable=True)) as index:
            texts = [RankedSegment(number, "", "amber birch") for number in range(1, many + 1)]
            index.add(RankedFile(1, "/r/a.txt", ".txt", "", ("2021",)), texts)
            index.commit(1)
        sizes.append(sum(file.stat().st_size for file in (tmp_path / f"{many}").glob("*.fieldnorm")))
    assert sizes[1] - sizes[0] < 3 * 1000 + 100


@pytest.mark.parametrize("name", ["meta.json", "generation.json"])
@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"format": 99}'])
def test_a_damaged_index_is_refused_with_a_hint(ranking, tmp_path, name, content):
    ranking.close()
    (tmp_path / "ranking" / name).write_bytes(content)
    for writable in (True, False):
        with pytest.raises(SearchFailed) as caught:
            Ranking.open(tmp_path / "ranking", writable=writable)
        assert caught.value.hint


def test_a_reader_creates_nothing(tmp_path):
    with pytest.raises(SearchFailed):
        Ranking.open(tmp_path / "none", writable=False)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_not_text_are_no_trouble(tmp_path):
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    opened.add(
        file(1, "/r/bad\udcff/na\udcfeme\n.txt", "ti\udcfdtle"), [RankedSegment(1, "he\udcfcad", "text \x00 here")]
    )
    opened.commit(1)
    opened.reload()
    assert ids(opened, Term("text"), Filters(folders=("/r/bad\udcff",))) == {1}


def test_a_phrase_that_goes_on_in_the_next_segment_is_found_where_it_begins(ranking):
    texts = ["we read the annual", "report of the year and", "then", "rest", "flour", "butter", "with salt"]
    pointers = ["page 3", "page 4 lines 1-20", "page 4 lines 21-40", "attachment 'a' lines 1-9"]
    pointers += ["sheet 'A' rows 1-20", "sheet 'A' rows 21", "sheet 'A' rows 21"]  # one row in two segments
    numbered = enumerate(zip(texts, pointers, strict=True))
    ranking.add(file(3, "/r/c.pdf"), [RankedSegment(31 + n, "", text, pointer) for n, (text, pointer) in numbered])
    ranking.commit(2)
    ranking.reload()
    assert ids(ranking, Sequence(("annual", "report"))) == {31}
    assert ids(ranking, Sequence(("read", "the", "annual", "report", "of"))) == {31}
    assert ids(ranking, Sequence(("report", "of"))) == {32}
    assert ids(ranking, Sequence(("the", "annual"))) == {31}
    assert ids(ranking, Sequence(("year", "and", "then"))) == {32}
    assert ids(ranking, Sequence(("annual", "year"))) == set()
    assert ids(ranking, Sequence(("then", "rest"))) == set()  # another text, as the next row of a table is
    assert ids(ranking, Sequence(("flour", "butter"))) == set()
    assert ids(ranking, Sequence(("butter", "with", "salt"))) == {36}
    assert ids(ranking, Sequence(("annual", "report"), slop=1)) == set()
    assert ids(ranking, Group(must=(Term("read"),), must_not=(Sequence(("annual", "report")),))) == set()


def test_compounds_are_known_by_their_parts(ranking):
    assert ranking.view().compounds("kranken") == ["krankenversicherungsbeitrage"]
    assert ranking.view().compounds("versicherung") == ["krankenversicherungsbeitrage"]
    assert ranking.view().compounds("beitrag") == ["krankenversicherungsbeitrage"]
    assert ranking.view().compounds("ankenv") == []  # two letters before it are no word
    assert ranking.view().compounds("rent") == []


def test_terms_are_known_by_their_beginning_the_commonest_first(ranking):
    ranking.add(file(3, "/r/c.txt"), [RankedSegment(31, "", "a red rent")])
    ranking.commit(2)
    ranking.reload()
    assert ranking.view().terms("re") == ["rent", "report", "red"]


def test_closing_lets_a_merge_under_way_finish(tmp_path):
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    for i in range(8):  # so many parts are merged into one
        opened.add(file(i, f"/r/{i}.txt"), [RankedSegment(i, "", "rent")])
        opened.commit(i + 1)
    opened.close()
    again = Ranking.open(tmp_path / "ranking", writable=False)
    assert again.view()._searcher.num_segments == 1
    assert ids(again, Term("rent")) == set(range(8))


def test_closing_forgets_what_was_not_committed(ranking, tmp_path):
    ranking.delete([1])
    ranking.add(file(3, "/r/c.txt"), [RankedSegment(31, "", "rent")])
    ranking.close()
    assert ids(Ranking.open(tmp_path / "ranking", writable=True), Term("rent")) == {11, 12}


def test_scores_and_later_candidates_are_those_of_all_candidates(ranking):
    matches = ranking.view().matches(Group(should=(Term("rent"), Term("wage"))), ALL)
    every = matches.top(9)
    assert [c.segment_id for c in every] == [11, 12]
    assert matches.scores(9) == [c.score for c in every]
    assert (matches.scores(1), matches.top(9, 1), matches.top(1, 1)) == ([every[0].score], every[1:], [])


BINDING = (  # of the texts "word 10", "word 20" and so on
    Term("20"),
    Group(must_not=(Term("20"), Term("231"))),
    Group(must=(Term("word"),), must_not=(Group(should=(Term("51"), Term("225"))),)),
    Group(must_not=(Term("word"),)),
    Group(must=(Term("nowhere"),)),
    Group(must_not=(Term("nowhere"),)),
    Sequence(("word", "230")),
    AnyOf(("52", "53", "20")),
)


@pytest.mark.parametrize("commits", [1, 3])
def test_segments_are_found_by_their_numbers_as_by_looking_through_their_files(tmp_path, commits):
    ranking = Ranking.open(tmp_path / "ranking", writable=True)
    owners: dict[int, int] = {}

    def put(file_id: int, numbers: Iterable[int]) -> None:
        several = list(numbers)
        owners.update(dict.fromkeys(several, file_id))
        ranking.add(
            file(file_id, f"/r/{file_id % 2}/{file_id}.txt"), [RankedSegment(i, "", f"word {i}") for i in several]
        )

    for file_id in range(1, 10):
        put(file_id, range(10 * file_id, 10 * file_id + file_id))
        if commits > 1 and file_id % 3 == 0:
            ranking.commit(file_id)
    put(4, range(200, 206))  # of these two, older ones are gone, some from the same part
    put(8, range(210, 212))
    put(9, range(220, 224))
    put(9, range(224, 228))
    put(3, [230, 240, 231, 239])  # no numbers in a row
    put(2, range(250, 260))
    ranking.delete([6])
    ranking.commit(10)
    ranking.reload()
    owners[204] = 5  # never its file
    owners[999], owners[998] = 2, 77  # of a later commit
    view = ranking.view()
    for filters in (ALL, Filters(folders=("/r/1",)), Filters(files=(1,), exts=(".pdf",))):
        for size in (1, 2, 5, len(owners)):
            for start in range(0, len(owners), size):
                wanted = dict(list(owners.items())[start : start + size])
                own = replace(filters, files=tuple(set(wanted.values())))
                for required in (Everything(), *BINDING):
                    every = [c for c in view.all_of(required, own, wanted.keys()) if wanted[c.segment_id] == c.file_id]
                    assert sorted(view.those(wanted, filters, required)) == sorted(every)
    assert len(view.those(owners, ALL)) == 1 + 10 + 4 + 5 + 5 + 7 + 2 + 4
    assert len(view.within(("/r/0",)).those(owners, ALL)) == 10 + 5 + 2


def test_terms_found_one_by_one_and_as_a_set_are_found_with_the_same_scores(tmp_path, monkeypatch):
    opened = Ranking.open(tmp_path / "ranking", writable=True)
    for number in range(1, 61):
        text = " ".join(f"w{number % each}of{each}" for each in (2, 3, 5, 7))
        # The heading of a mixed word is among the other forms of words, too.
        opened.add(
            file(number, f"/r/{number}"), [RankedSegment(number, f"Part{number % 4}-b", f"rent {text} {text[:5]}")]
        )
    opened.commit(1)
    opened.delete([60])
    opened.commit(2)
    opened.reload()
    terms = [f"w{number}of{each}" for each in (2, 3, 5, 7, 11) for number in range(each)] + ["b", "part1", "nowhere"]
    every = [AnyOf((*terms[at : at + size],), 0.25) for size in (0, 1, 4, 30) for at in range(0, 24, 3)]
    wanted = [*every, *(Group(should=(Term("rent"), one)) for one in every)]
    wanted.append(Group((every[20],), (Term("rent"),), (every[9], every[10])))

    def found():
        view = View(opened.view().index, opened.view().folder)
        return [(view.count(one), view.matches(one, ALL).top(100)) for one in wanted]

    one_by_one = found()
    assert max(count for count, _ in one_by_one) == 59
    monkeypatch.setattr("smart_context.engine.local.ranking.unions.FEW", 0)
    assert found() == one_by_one


def test_the_terms_that_stand_somewhere_are_those_that_are_looked_up_one_by_one(tmp_path):
    ranking = Ranking.open(tmp_path / "ranking", writable=True)
    texts = {
        1: "Die Programme der Datei sind nicht in der Liste und werden von dem System nicht mehr geladen",
        2: "les programmes de la liste ne sont pas dans le fichier du système que vous avez choisi pour cela",
        3: "the programs of the list are not in the file of the system that you have chosen for this",
        4: "los programas de la lista no están en el archivo del sistema que usted ha elegido para esto",
    }
    for file_id, text in texts.items():
        ranking.add(file(file_id, f"/r/programs-{file_id}.txt"), [RankedSegment(file_id, "Liste", text)])
        ranking.commit(file_id)
    ranking.delete([4])
    ranking.commit(5)
    ranking.reload()
    stems = ("program", "programm", "list", "syst", "system", "sistem", "nowhere", "", "a")
    tags = ("", *(f"~{code}" for code in languages.CODES if code != "en"))
    every = [stem + tag for stem in stems for tag in tags]
    whole = ranking.view()
    for view in (whole, whole.within(("/r",)), View(whole.index, whole.folder, whole)):
        one_by_one = View(whole.index, whole.folder, whole)
        standing = view.standing(every)
        assert standing == [term for term in every if one_by_one.having(term)]
        assert list(map(view.having, every)) == list(map(one_by_one.having, every))
    assert {"program", "list", "programm~de", "list~de"} <= set(standing)
    assert "sistem~es" not in standing  # removed


def test_what_stands_at_the_end_of_a_part_is_found_without_looking_through_its_file_once_a_search_has_met_it(tmp_path):
    ranking = Ranking.open(tmp_path / "ranking", writable=True)
    for file_id in (1, 2):
        ranking.add(
            file(file_id, f"/r/{file_id}.txt"), [RankedSegment(10 * file_id + i, "", f"word {i}") for i in range(9)]
        )
        ranking.commit(file_id)
    ranking.reload()
    looked: list[Filters] = []

    class Looked(View):
        def all_of(self, wanted, filters, among=None):
            looked.append(filters)
            return super().all_of(wanted, filters, among)

    view = Looked(ranking.view().index, tmp_path / "ranking", ranking.view())
    wanted = {13: 1, 18: 1, 24: 2}
    found = sorted(view.those(wanted, ALL))
    assert [(one.segment_id, one.file_id) for one in found] == [(13, 1), (18, 1), (24, 2)]
    assert looked.pop().files == (1, 2)
    assert sorted(view.those(wanted, ALL)) == found
    assert not looked
    assert len(view.those({28: 2}, ALL)) == 1
    assert looked.pop().files == (2,)
    fresh = Looked(ranking.view().index, tmp_path / "ranking", ranking.view())
    fresh.matches(Term("8"), ALL).top(9)
    assert sorted(fresh.those(wanted, ALL)) == found
    assert not looked
