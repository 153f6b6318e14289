"""`context eval`: how well search answers, on a collection or on your own folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from smart_context.cli import Command
from smart_context.cli.options import json_option
from smart_context.cli.show import ProgressBar, json_of

if TYPE_CHECKING:
    from smart_context.api import App
    from smart_context.find.evaluate import Evaluation, Query

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("eval", cls=Command)
@click.argument("folder", type=_FOLDER)
@click.option(
    "--questions", type=_FILE, help="Questions about the files of FOLDER: lines of JSON, or question, tab, path."
)
@click.option(
    "--worst", type=click.IntRange(0, 1000), default=5, show_default=True, help="Queries to show that went worst."
)
@json_option
def eval_(folder: Path, questions: Path | None, worst: int, as_json: bool) -> None:
    """Measure how well search answers.

    FOLDER is a collection (corpus.jsonl, queries.jsonl, qrels.tsv), or any folder of documents together with --questions. It is indexed
    into a temporary index and asked through the same path as `context search`; nothing is kept. Where a model for ranking by meaning
    is prepared, everything is embedded and asked by meaning alone (semantic) and by both (hybrid) too.

    \b
    Examples:
      context eval scifact
      context eval ~/Documents --questions questions.tsv --worst 10
    """
    from smart_context.find import evaluate

    with tempfile.TemporaryDirectory(prefix="context-eval-") as scratch:
        if questions is None:
            if not evaluate.is_collection(folder):
                raise click.UsageError(f"{folder} is no collection; give a file of questions with --questions")
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


def measure(documents: Path, data: Path, asked: Sequence[Query], name: Callable[[str], str]) -> list[Evaluation]:
    """Index documents into a new index, and ask all queries by every method there is."""
    import os

    from smart_context.api import App
    from smart_context.find import evaluate
    from smart_context.meaning import place
    from smart_context.settings import config

    root = documents.resolve()
    model = place.model(config.load().semantic)
    plain = config.load({}, {"HOME": str(data.parent)})
    semantic = replace(plain.semantic, enabled=model is not None, model_dir=str(model or ""))
    settings = replace(plain, roots=(str(root),), data_dir=str(data), semantic=semantic)
    with App(settings) as app:
        with ProgressBar("indexing") as bar:
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
    """The documents that `searchFiles` finds, best first: as many pages as that many different ones need."""
    found: dict[str, None] = {}
    offset = 0
    while len(found) < count:
        answer = app.search_files(query, k=count, offset=offset)
        for item in answer["items"]:
            found[name(Path(item["path"]).relative_to(root).as_posix())] = None
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
