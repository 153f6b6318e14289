"""Each default, choice and cap has one place: where it is declared, not in the stage that uses it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import smart_context
from smart_context import defaults
from smart_context.settings import config

PACKAGE = Path(smart_context.__file__).parent
# Of these names other things are called, too.
OTHERS = {"workers", "timeout"}
SET = {name.rpartition(".")[2] for name in config.settings()} - OTHERS | {
    "k",
    "style",
    "max_chars",
    "poll",
    "sweep",
    "max_concurrent",
}
DECLARE = ("settings/", "defaults.py", "model.py")


def own_defaults(nodes: list[ast.AST]) -> Iterator[str]:
    """Parameters and fields that are named as a setting and have a number or a word of their own."""
    for node in nodes:
        pairs: list[tuple[str, ast.expr | None]] = []
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            args = [*node.args.posonlyargs, *node.args.args]
            pairs += [
                (a.arg, d) for a, d in zip(args[len(args) - len(node.args.defaults) :], node.args.defaults, strict=True)
            ]
            pairs += [(a.arg, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            pairs.append((node.target.id, node.value))
        for name, value in pairs:
            own = isinstance(value, ast.Constant) and not isinstance(value.value, bool) and bool(value.value)
            if name in SET and (own or isinstance(value, ast.BinOp)):
                yield name


def test_each_default_and_each_choice_has_one_place():
    found: set[str] = set()
    styles: list[str] = []
    for path in sorted(PACKAGE.rglob("*.py")):
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
        if not path.relative_to(PACKAGE).as_posix().startswith(DECLARE):
            found |= {f"{path.relative_to(PACKAGE)}: {name}" for name in own_defaults(nodes)}
        styles += [
            path.name
            for node in nodes
            if isinstance(node, ast.Tuple | ast.List)
            and [getattr(e, "value", None) for e in node.elts] == list(defaults.STYLES)
        ]
    assert found == set()
    assert styles == ["defaults.py"]
