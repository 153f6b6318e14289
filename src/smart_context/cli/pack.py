"""The command `pack`: passages that answer a question, within a budget."""

from __future__ import annotations

import sys

import click

from smart_context.cli import say
from smart_context.cli.cache import print_bytes
from smart_context.cli.program import Command
from smart_context.cli.show import DIFFERENT
from smart_context.errors import UsageError


@click.command(cls=Command)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
@click.option("--query", help="The question.")
@click.option("--budget", metavar="TOKENS", help="How many tokens the answer may have, headings included.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    show_default=True,
    help="Markdown to paste, or JSON to parse.",
)
@click.option(
    "--tokens",
    "counting",
    default="bytes4",
    show_default=True,
    metavar="RULE",
    help="How tokens are counted: bytes4, as resolve does, or o200k or cl100k, as OpenAI's models do, with the extra [tokens].",
)
@click.option(
    "--budget-report",
    "questions",
    metavar="FILE",
    help="Ask the questions of this file instead; exit 8 if one does not find its document within its budget.",
)
def pack(cache: str, query: str | None, budget: str | None, style: str, counting: str, questions: str | None) -> None:
    """Print the passages that answer a question within a token budget.

    \b
    Examples:
      context pack --cache docs.cache --query "how do I deploy" --budget 4000
      context pack --cache docs.cache --query "how do I deploy" --budget 4000 --format json
      context pack --cache docs.cache --budget-report questions.toml

    Each passage comes with its document, lines and version. The same cache, question and budget give the same bytes, on
    every machine. A file of questions is TOML:

    \b
      [[question]]
      query = "how do I deploy"
      budget = 4000
      expect = "guides/deploy.md"
    """
    if questions is not None:
        if query is not None or budget is not None:
            raise UsageError("--budget-report asks the questions of its file; leave out --query and --budget")
        _report(cache, questions, counting, as_json=style == "json")
        return
    if query is None or budget is None:
        raise UsageError("--query and --budget are needed, or --budget-report")
    from smart_context.cache import names, resolve
    from smart_context.cache.pack import pack as stage

    asked = names.as_text(query)
    resolve.check(asked, 0)
    packed = stage.packed(cache, asked, resolve.budget_of(budget), counting=counting)
    print_bytes(stage.FORMATS[style](packed))
    if not packed.excerpts:
        say("nothing in the cache matches the question" if not packed.documents_matching else "nothing fits the budget")


def _report(cache: str, questions: str, counting: str, *, as_json: bool) -> None:
    from smart_context.cache import api
    from smart_context.cache.pack import report
    from smart_context.cli.layout import columns, table
    from smart_context.cli.show import ProgressBar
    from smart_context.model import Progress
    from smart_context.plain import line as safe

    asked = report.read(questions)
    outcomes = []
    with api.open_cache(cache) as opened, ProgressBar("asking") as bar:
        for done, question in enumerate(asked, 1):
            outcomes.append(report.outcome(question, lambda query, budget: opened.pack(query, budget, tokens=counting)))
            bar(Progress(done, len(asked), question.name))
    failed = [one for one in outcomes if one.result != "found"]
    if as_json:
        print_bytes(report.to_json(outcomes))
    else:
        rows = [
            (
                one.result,
                *map(safe, (one.question.name, one.question.expect)),
                str(one.tokens_used),
                str(one.question.budget),
            )
            for one in outcomes
        ]
        head = ("result", "question", "document", "tokens", "budget")
        click.echo("\n".join(table(head, rows, left=range(3), names=(1, 2), room=columns(sys.stdout))))
    say(f"{len(outcomes) - len(failed)} of {len(outcomes)} questions find their document")
    if failed:
        raise click.exceptions.Exit(DIFFERENT)
