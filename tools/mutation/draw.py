"""Draw small changes of a room's source.

In: a room, how many, a seed.  Out: `Mutant`s, in the order of the draw.
Always: the changes are cosmic-ray's. A place in the source is drawn first, then one change of it. What decides over a place is the text of its
line, so that an edit elsewhere in the module leaves the draw as it was. Nothing is drawn that `same` names, where no test could notice, and
nothing of tables that a command writes.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
# Decorators without which a function gives the same answers.
_SPEED = {"cache", "lru_cache", "cached_property", "final", "overload", "override"}
# Arguments that stop an author or save memory: the program does the same without them.
_GUARDS = {"dataclass": {"frozen", "slots"}, "zip": {"strict"}}
# What the largest families of changes look at; to show them all else takes most of the time.
_ONLY = {
    "core/ReplaceBinaryOperator": {"operator"},
    "core/ReplaceComparisonOperator": {"comparison"},
    "core/ReplaceUnaryOperator": {"factor", "not_test"},
}
_MADE = "Made by tools/"  # tables that a command writes: thousands of places, one test

Span = tuple[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where it is, the whole text of the module after it, and the line before and after, with its number among equal ones."""

    path: str
    line: int
    text: str
    change: str


def drawn(room: str, each: int, seed: int) -> tuple[int, list[Mutant]]:
    """Draw mutants of a room; how many places it has that could have been drawn, and the mutants in their order."""
    from cosmic_ray.plugins import get_operator, operator_names

    operators = {name: get_operator(name) for name in operator_names() if not get_operator(name).arguments()}
    places: dict[tuple[str, int, int], list[tuple[str, int]]] = {}
    keys: dict[tuple[str, int, int], str] = {}
    for path in sorted((ROOT / "src/smart_context" / room).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if _MADE in text.partition("\n")[0]:
            continue
        said = _lines_said(text)
        for start, operator, occurrence in _positions(path, operators):
            places.setdefault((name, *start), []).append((operator, occurrence))
            keys[name, *start] = f"{seed} {name} {said[start[0] - 1]} {start[1]}"
    found: list[Mutant] = []
    for place in sorted(places, key=lambda one: _number(keys[one])):
        if len(found) == each:
            break
        changes = sorted(places[place])
        mutant = _mutant(place[0], place[1], *changes[_number(keys[place] + " change") % len(changes)], operators)
        found += [mutant] if mutant else []
    return len(places), found


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest())


def _lines_said(text: str) -> list[str]:
    """Each line without its indent, and with how many before it were equal."""
    seen: Counter[str] = Counter()
    said = []
    for line in text.splitlines():
        said.append(f"{line.strip()} {seen[line.strip()]}")
        seen[line.strip()] += 1
    return said


def _positions(path: Path, operators: dict[str, Any]) -> Iterator[tuple[tuple[int, int], str, int]]:
    """Every change that can be made in a module and that could be noticed."""
    from cosmic_ray.ast import ast_nodes, get_ast_from_path

    silent = list(same(path.read_text(encoding="utf-8")))
    nodes = list(ast_nodes(get_ast_from_path(path)))
    for name, operator in operators.items():
        only = next((types for family, types in _ONLY.items() if name.startswith(family)), None)
        some = nodes if only is None else [node for node in nodes if node.type in only]
        spots = [start for node in some for start, _ in operator().mutation_positions(node)]
        for occurrence, start in enumerate(spots):
            if not any(begin <= start < end for begin, end in silent):
                yield start, name, occurrence


def same(text: str) -> Iterator[Span]:
    """The parts of a module whose change leaves the program as it was.

    Annotations and what only the type checker reads; `assert`; decorators that keep a result or speak to the type checker; `frozen=` and
    `slots=` of a dataclass, `strict=` of `zip`; what stands for a flag that the system does not have, in `getattr(os, …)`.
    """
    for node in ast.walk(ast.parse(text)):
        parts: list[ast.AST | None] = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            parts.append(node)
        if isinstance(node, ast.Assert):
            parts.append(node)
        if isinstance(node, ast.Call):
            parts += [one.value for one in node.keywords if one.arg in _GUARDS.get(_name(node), ())]
            parts += node.args[2:] if _name(node) == "getattr" and ast.unparse(node.args[0]) == "os" else []
        for part in parts:
            if part is not None:
                yield _span(part)
        for one in getattr(node, "decorator_list", ()):
            if _name(one) in _SPEED:
                (line, column), end = _span(one)
                yield (line, column - 1), end  # the sign before it


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _span(node: Any) -> Span:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def _mutant(path: str, line: int, operator: str, occurrence: int, operators: dict[str, Any]) -> Mutant | None:
    """The mutant; None where the change gives no other program, or none at all."""
    from cosmic_ray.mutating import mutate_code

    before = (ROOT / path).read_text(encoding="utf-8")
    after = mutate_code(before, operators[operator](), occurrence)
    try:
        if after is None or ast.dump(ast.parse(after)) == ast.dump(ast.parse(before)):
            return None
    except SyntaxError:
        return None
    was, now = before.splitlines(), after.splitlines()
    changed = [number for number, (a, b) in enumerate(zip(was, now, strict=False)) if a != b] or [line - 1]
    at = changed[0]
    before_it = [line.strip() for line in was[:at]].count(was[at].strip())
    which = f"  ({before_it + 1})" if before_it else ""
    return Mutant(path, at + 1, after, f"{was[at].strip()}  →  {now[at].strip()}{which}")
