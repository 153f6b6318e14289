"""`context eval`: how well search answers, on a collection or on your own files, with questions or without."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smart_context import plain
from smart_context.cli import layout, results, say
from smart_context.cli.options import json_option, settings_options
from smart_context.cli.program import Command
from smart_context.cli.show import ProgressBar, home, json_of, waiting
from smart_context.data import replace

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.find.evaluate import Evaluation, Query
    from smart_context.find.known_items import Outcome
    from smart_context.settings.config import Settings

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_MOST_WORST = 1000


@click.command("eval", cls=Command)
@click.argument("folder", type=_FOLDER, required=False)
@click.option(
    "--questions", type=_FILE, help="Questions about the files of FOLDER: lines of JSON, or question, tab, path."
)
@click.option(
    "--worst",
    type=click.IntRange(0, _MOST_WORST),
    default=5,
    show_default=True,
    help="How many of the worst queries to show.",
)
@click.option(
    "--sample",
    type=click.IntRange(1, 10_000),
    default=30,
    show_default=True,
    help="Files to take sentences and names from, where there are no questions.",
)
@settings_options
@json_option
def eval_(
    folder: Path | None, questions: Path | None, worst: int, sample: int, settings: Settings, as_json: bool
) -> None:
    """Measure how well search answers, on your own files or on a collection.

    Without questions, sentences and names are taken from indexed files below FOLDER (default: all roots) and asked for in several ways;
    what is not found is listed. The sample is the same each time. A folder that is not indexed is read into a temporary index.

    With --questions, or where FOLDER is a collection (corpus.jsonl, queries.jsonl, qrels.tsv), everything is read into a temporary index.
    Where a model for ranking by meaning is prepared, it is asked by meaning alone (semantic) and by both (hybrid) too.

    \b
    Examples:
      context eval
      context eval ~/Documents --sample 100 --worst 20
      context eval ~/Documents --questions questions.tsv --worst 10
      context eval scifact
    """
    from smart_context.find import evaluate

    if questions is None and (folder is None or not evaluate.is_collection(folder)):
        outcomes = known_items(folder, sample, settings)
        if as_json:
            click.echo(json_of({"folder": str(folder or ""), **known_summary(outcomes, worst)}))
        else:
            _show_known(outcomes, worst)
        return
    if folder is None:
        raise click.UsageError("name the folder that the questions are about")
    with tempfile.TemporaryDirectory(prefix="context-eval-") as scratch:
        if questions is None:
            documents = Path(scratch) / "documents"
            documents.mkdir()
            names = evaluate.lay_out(folder, documents)
            results = measure(documents, Path(scratch) / "data", evaluate.judged(folder), names.__getitem__)
        else:
            results = measure(folder, Path(scratch) / "data", evaluate.questions(questions, folder), str)
    if as_json:
        click.echo(json_of({"folder": str(folder), "methods": [summary(one, worst) for one in results]}))
    else:
        for one in results:
            _show(one, worst)


def known_items(folder: Path | None, sample: int, settings: Settings) -> list[Outcome]:
    """Ask for what is known to be in the index, or in a temporary one of a folder that is not indexed."""
    from smart_context.api import App

    if folder is None:
        with App(settings) as app:
            return _probed(app, (), sample)
    root = str(folder.resolve())
    own = replace(settings, roots=(*settings.roots, root))
    with App(own) as app:
        if app.has_index() and app.index.record.stamps(root):
            return _probed(app, (root,), sample)
    with (
        tempfile.TemporaryDirectory(prefix="context-eval-") as scratch,
        App(replace(own, roots=(root,), data_dir=scratch, engine="")) as app,
    ):
        with ProgressBar("indexing", at_once=True) as bar:
            app.index_here(root, full=False, on_progress=bar)
        return _probed(app, (root,), sample)


def _probed(app: App, folders: tuple[str, ...], sample: int) -> list[Outcome]:
    from smart_context.errors import NotFound
    from smart_context.find import known_items

    with waiting("choosing what to ask for"):
        asked = app.probes(folders, sample)
    if not asked:
        raise NotFound("there is no indexed file to ask for", hint="read some in with: context index FOLDER")
    with ProgressBar("asking") as bar:
        return known_items.run(
            asked,
            lambda query: first_files(app, query, folders, known_items.FIRST),
            app.index.record,
            app.redactor,
            bar,
        )


def known_summary(outcomes: Sequence[Outcome], worst: int) -> dict[str, Any]:
    """The results of probes, ready for JSON: by kind of query, and what was not found first."""
    from smart_context.find import known_items

    missed = _missed(outcomes)
    return {
        "files": len({one.probe.path for one in outcomes}),
        "ways": [
            {
                "way": way,
                "asked": len(of_way),
                "first": sum(one.rank == 1 for one in of_way),
                "first_five": sum(one.rank > 0 for one in of_way),
                "same_elsewhere": sum(one.twin for one in of_way),
            }
            for way in known_items.WAYS
            for of_way in [[one for one in outcomes if one.probe.way == way]]
        ],
        "missed": [
            {
                "way": one.probe.way,
                "query": one.probe.query,
                "file": one.probe.path,
                "rank": one.rank or None,
                "shown_first": one.found[0] if one.found else None,
                "same_elsewhere": one.twin,
            }
            for one in missed[:worst]
        ],
        "missed_total": len(missed),
    }


def _missed(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """What was not found first: the real misses before those where another file answers as well, the farthest first."""
    wrong = [one for one in outcomes if one.rank != 1]
    return sorted(wrong, key=lambda one: (one.twin, -(one.rank or 100), one.probe.path, one.probe.way))


def _show_known(outcomes: Sequence[Outcome], worst: int) -> None:
    summed = known_summary(outcomes, worst)
    rows = [
        (way["way"], *(f"{way[name]:,}" for name in ("asked", "first", "first_five", "same_elsewhere")))
        for way in summed["ways"]
    ]
    head = ("asked by", "times", "found first", "in first five", "another as good")
    room = layout.columns(sys.stdout)
    click.echo("\n".join(layout.table(head, rows, room=room)))
    for one in _missed(outcomes)[:worst]:
        where = f"place {one.rank} of the first {len(one.found)}" if one.rank else "not in the first five"
        told = [f"  {plain.line(one.probe.query)}", f"      {_place(one.probe.path, room)}: {where}"]
        if one.found:
            also = ", which has the same" if one.twin else ""
            told.append(f"      shown first: {_place(one.found[0], room)}{also}")
        click.echo(layout.fitted("\n".join(told), room))
    if summed["missed_total"] > worst:
        more = summed["missed_total"] - worst
        say(f"{more:,} more were not found first; see them with --worst {min(summed['missed_total'], _MOST_WORST)}")


def _place(path: str, room: int) -> str:
    return layout.shortened_path(home(results.place(path)), room - 8) if room else results.place(path)


def measure(documents: Path, data: Path, asked: Sequence[Query], name: Callable[[str], str]) -> list[Evaluation]:
    """Index documents into a new index, and ask all queries by every method there is."""
    import os

    from smart_context.api import App
    from smart_context.find import evaluate
    from smart_context.meaning import place
    from smart_context.settings import config

    root = documents.resolve()
    model = place.model(config.load().semantic)
    bare = config.load({}, {"HOME": str(data.parent)})
    semantic = replace(bare.semantic, enabled=model is not None, model_dir=str(model or ""))
    settings = replace(bare, roots=(str(root),), data_dir=str(data), engine="", semantic=semantic)
    with App(settings) as app:
        with ProgressBar("indexing", at_once=True) as bar:
            app.index_folder(str(root), on_progress=bar)

        def asking(method: str) -> Evaluation:
            with ProgressBar(f"asking ({method})") as bar:
                return evaluate.run(asked, lambda query, count: _ask(app, root, query, count, name), method, bar)

        results = [asking("lexical")]  # nothing is embedded yet
        if model is None:
            return results
        with ProgressBar("embedding") as bar:
            app.embed(workers=os.cpu_count() or 1, on_progress=bar)
        for method in ("semantic", "hybrid"):
            if meaning := app.extra.meaning():
                meaning.alone = method == "semantic"
                results.append(asking(method))
        return results


def _ask(app: App, root: Path, query: str, count: int, name: Callable[[str], str]) -> list[str]:
    return [name(Path(path).relative_to(root).as_posix()) for path in first_files(app, query, (), count)]


def first_files(app: App, query: str, folders: tuple[str, ...], count: int) -> list[str]:
    """The files that `searchFiles` finds, best first: as many pages as that many different ones need."""
    found: dict[str, None] = {}
    offset = 0
    while len(found) < count:
        answer = app.search_files(query, k=count, offset=offset, roots=folders, all_copies=True)
        for item in answer["items"]:
            found[item["path"]] = None
        offset += count
        if len(answer["items"]) < count:
            break
    return list(found)[:count]


def summary(one: Evaluation, worst: int) -> dict[str, Any]:
    """An evaluation, ready for JSON."""
    return {
        "method": one.method,
        **one.figures(),
        "worst": [
            {
                "query": bad.query.text,
                "ndcg@10": round(bad.ndcg, 4),
                "recall@100": round(bad.recall, 4),
                "why": bad.why(),
            }
            for bad in one.worst(worst)
        ],
    }


def _show(one: Evaluation, worst: int) -> None:
    figures = one.figures()
    click.echo("  ".join(f"{name} {value}" for name, value in {"method": one.method, **figures}.items()))
    for bad in one.worst(worst):
        click.echo(f"  {bad.ndcg:.2f}  {' '.join(bad.query.text.split())[:100]}")
        click.echo(f"        {bad.why()}")
