"""A tool is one row of `tool_table.py` and one verb; settings, servers, the command line and the documentation follow."""

from __future__ import annotations

import ast
import inspect
import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

import smart_context
from conftest import PATIENCE
from smart_context.api import App
from smart_context.cli import in_our_words
from smart_context.cli.program import cli
from smart_context.server.context_tools import Caches
from smart_context.server.tools import Work
from smart_context.settings import config
from smart_context.tool_table import PAGE_RATES, TABLE, Row, offered

ROOT = Path(__file__).parent.parent
PACKAGE = Path(smart_context.__file__).parent
OF_APP = offered("files", "freeze")
OF_CACHES = offered("pack", "caches")

ONE_MORE = """
import json
from smart_context import tool_table
from smart_context.data import replace

row = replace(tool_table.TABLE[0], name="few.roots", rate=7, seconds=45.0, command="context few", options={"least": "--few"})
tool_table.TABLE = (*tool_table.TABLE, row)

from smart_context.api import App
from smart_context.cli import in_our_words
from smart_context.server import early, search_tools
from smart_context.settings import config
from tools import reference

tools = search_tools.table(App(config.Settings()), str, config.Settings().timeout, "files")
print(json.dumps({
    "rate": config.settings()["rate_limits.few.roots"].default,
    "time": [config.settings()["timeouts.few.roots"].default, tools[-1].seconds],
    "listed": [early.listing(tools, names)["tools"][-1]["name"] for names in ("dotted", "underscore")],
    "command": in_our_words("see `few.roots` with `least`"),
    "documented": reference.tools().rpartition("## ")[2].partition("\\n")[0],
}))
"""


def parameters(verb: object, kind: object) -> list[str]:
    assert callable(verb)
    found = inspect.signature(verb).parameters.values()
    return [each.name for each in found if each.kind is kind and each.name != "self"]


def test_one_row_more_is_a_tool_more_everywhere():
    done = subprocess.run([sys.executable, "-c", ONE_MORE], cwd=ROOT, capture_output=True, timeout=PATIENCE, check=True)
    assert json.loads(done.stdout) == {
        "rate": 7,
        "time": [45.0, 45.0],
        "listed": ["few.roots", "few_roots"],
        "command": "see `context few` with `--few`",
        "documented": "`few.roots`",
    }


@pytest.mark.parametrize("row", OF_APP, ids=lambda row: row.name)
def test_a_verb_takes_the_arguments_of_its_schema_in_their_order_and_what_its_row_says_it_needs(row: Row):
    verb = getattr(App, row.verb)
    assert parameters(verb, inspect.Parameter.POSITIONAL_OR_KEYWORD) == list(row.takes["properties"])
    named = set(parameters(verb, inspect.Parameter.KEYWORD_ONLY))
    assert named & set(Work.__dataclass_fields__) == set(row.needs)
    optional = {each.name for each in inspect.signature(verb).parameters.values() if each.default is not each.empty}
    assert named - set(row.needs) <= optional  # what other faces say besides


@pytest.mark.parametrize("row", OF_APP, ids=lambda row: row.name)
def test_a_default_in_a_schema_is_that_of_the_verb(row: Row):
    taken = inspect.signature(getattr(App, row.verb)).parameters
    told = {name: kind["default"] for name, kind in row.takes["properties"].items() if "default" in kind}
    assert told == {name: taken[name].default for name in told}


def test_every_row_has_a_verb_and_a_name_of_its_own():
    assert [row for row in OF_CACHES if not callable(getattr(Caches, row.verb, None))] == []
    assert len({row.name.replace(".", "_") for row in TABLE}) == len(TABLE) == len(OF_APP) + len(OF_CACHES)


def test_settings_have_the_tables_names_and_no_others():
    rated = [row.name for row in TABLE if row.rate is not None]
    keys = [name for name in config.settings() if name.startswith(("rate_limits.", "timeouts."))]
    assert keys == [
        *(f"rate_limits.{name}" for name in (*rated, *PAGE_RATES)),
        "timeouts.default",
        *(f"timeouts.{name}" for name in rated if name != "indexFolder"),
    ]


@pytest.mark.parametrize("row", [row for row in TABLE if row.command], ids=lambda row: row.name)
def test_the_command_line_has_what_the_table_calls_its_own(row: Row):
    name = row.command.removeprefix("context ")
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    options = {option for param in command.params for option in param.opts}
    assert set(row.options) <= set(row.takes["properties"])
    assert set(row.options.values()) <= options
    assert in_our_words(f"`{row.name}`") == f"`{row.command}`"


def test_only_the_table_and_the_page_know_tools_by_name():
    names = {row.name for row in TABLE}
    texts = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    knowing = {
        path.relative_to(PACKAGE).parts[0]
        for path, text in texts.items()
        if any(name in text for name in names)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and node.value in names
    }
    assert knowing <= {"tool_table.py", "page"}
