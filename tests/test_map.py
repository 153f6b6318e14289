"""ARCHITECTURE.md and CONTRIBUTING.md name files, functions, commands and targets: all of them are there, and the rooms use what the map says."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from smart_context.cli import COMMANDS
from test_architecture import GROUND, PACKAGE, ROOMS

ROOT = Path(__file__).parent.parent
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
VARIABLES = set(re.findall(r"^([A-Z_]+) \?=", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md")


@functools.cache
def files() -> set[str]:
    places = (PACKAGE, *(ROOT / name for name in ("tests", "tools", "docs", "bench")))
    return {path.as_posix() for place in places for path in place.rglob("*") if "__pycache__" not in path.parts}


@functools.cache
def sources() -> dict[Path, str]:
    return {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}


def spans(page: str) -> set[str]:
    text = re.sub(r"```.*?```", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def is_file(name: str) -> bool:
    """Whether a path leads somewhere from the top, or is the end of one in the package, the tests or the tools."""
    name = name.rstrip("/")
    return (ROOT / name).exists() or any(path.endswith((f"/{name}", f"/{name}.py")) for path in files())


def is_defined(module: str, name: str) -> bool:
    defined = re.compile(rf"^\s*(?:def|class) {name}\b|^{name}\b.*=", re.MULTILINE)
    return any(
        defined.search(text)
        for path, text in sources().items()
        if path.stem == module or (path.stem == "__init__" and path.parent.name == module)
    )


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page):
    named = [span for span in spans(page) if re.fullmatch(r"[\w.-]+(/[\w.-]+)*(/|\.\w+)|\w+(/\w+)+", span)]
    dotted = re.compile(r"[a-z_]+\.([A-Z]\w+|at)")
    assert [name for name in named if not dotted.fullmatch(name) and not is_file(name)] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_function_class_and_constant_that_a_page_names_is_there(page):
    missing = [
        span
        for span in spans(page)
        if (found := re.fullmatch(r"([a-z_]+)\.([A-Z]\w+|at)", span)) and not is_defined(*found.groups())
    ]
    constants = [span for span in spans(page) if re.fullmatch(r"[A-Z_]{4,}", span) and span not in VARIABLES]
    missing += [
        name for name in constants if not any(f"{name}:" in text or f"{name} =" in text for text in sources().values())
    ]
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_command_and_target_that_a_page_names_is_there(page):
    commands = {found[1] for span in spans(page) if (found := re.match(r"context ([a-z]+)", span))}
    targets = {found[1] for span in spans(page) if (found := re.fullmatch(r"make (?:\S+=\S+ )?([a-z]+).*", span))}
    assert (commands - set(COMMANDS), targets - TARGETS) == (set(), set())


def test_the_rooms_use_what_the_map_says():
    rows = re.findall(
        r"^\| `([a-z]+)/` \|.*\| ([^|]+) \|$", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE
    )
    told = {room: set(uses.split(", ")) - {"ground"} for room, uses in rows}
    assert told == {room: set(uses) for room, uses in ROOMS.items()}
    ground = re.search(r"^\| ground: ([^|]+) \|", (ROOT / "ARCHITECTURE.md").read_text("utf-8"), re.MULTILINE)
    assert {f"{name}.py" for name in re.findall(r"`(\w+)`", ground[1])} == set(GROUND)
