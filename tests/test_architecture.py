"""The rules of ARCHITECTURE.md that can be read off the source: who may import what, and who may touch the world."""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import smart_context

PACKAGE = Path(smart_context.__file__).parent
MODULES = [path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")]
GROUND = (
    "errors.py",
    "data.py",
    "digest.py",
    "model.py",
    "pointer.py",
    "flock.py",
    "heap.py",
    "later.py",
    "closes.py",
    "launch.py",
    "regular.py",
    "defaults.py",
    "talk.py",
    "plain.py",
    "turns.py",
    "tool_schemas.py",
    "tool_table.py",
)
# Each room may use the ground and the rooms that stand before it in its row; no room uses one of another row.
ROOMS = {
    "settings": (),
    "access": ("settings",),
    "redact": (),
    "text": (),
    "sources": ("access",),
    "engine": ("access", "text"),
    "meaning": ("settings", "text", "engine", "index"),
    "index": ("settings", "access", "redact", "text", "sources", "engine"),
    "find": ("access", "redact", "text", "sources", "engine", "meaning"),
    "cache": ("access", "text"),
    "frozen": ("access", "redact", "text", "sources", "engine", "find", "cache"),
    "llm": ("settings", "access", "redact", "text", "find"),
    "clients": ("settings",),
}
FACES = ("cli", "page", "server")


@functools.cache
def trees() -> dict[str, ast.Module]:
    return {name: ast.parse((PACKAGE / name).read_bytes()) for name in MODULES}


@functools.cache
def imports(tree: ast.Module) -> frozenset[str]:
    return frozenset(_imports(tree))


@functools.cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def _imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever the import stands, but for those that only the type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from _imports(node)


def who_imports(*modules: str) -> set[str]:
    return {
        name
        for name, tree in trees().items()
        if any(found == module or found.startswith(f"{module}.") for found in imports(tree) for module in modules)
    }


def calls(tree: ast.Module, *functions: str) -> bool:
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) in functions for node in nodes(tree))


def below(*folders: str) -> set[str]:
    return {name for name in MODULES if name.startswith(tuple(f"{folder}/" for folder in folders))}


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("sqlite3", {"engine/local/record.py", "engine/local/migrations.py"}),
        ("tantivy", below("engine/local/ranking") | {"text/snowball.py"}),
        ("psycopg", below("engine/postgres")),
        ("procrastinate", below("engine/postgres")),
        ("mcp", below("server")),
        ("mcp_types", below("server")),
        ("click", below("cli")),
        ("cryptography", {"frozen/minisign.py"}),
        ("httpx2", below("llm", "server")),
        ("jwt", {"server/oauth.py", "server/oauth_keys.py"}),
        ("openai", set()),
        ("onnxruntime", {"meaning/runtime.py", "meaning/prepare.py"}),
        ("tomlkit", {"settings/write.py"}),
        ("prompt_toolkit", {"cli/screen.py"}),
        ("lxml", below("sources/extract")),
        ("pypdfium2", below("sources/extract")),
        (
            "subprocess",
            {"sources/child.py", "index/writer.py", "server/processes.py", "clients/probe.py", "launch.py"},
        ),
        ("pickle", set()),
        ("random", set()),
        ("locale", set()),
    ],
)
def test_a_library_is_known_where_the_map_says(module: str, allowed: set[str]) -> None:
    assert who_imports(module) <= allowed


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_uses_only_the_rooms_below_it(room: str) -> None:
    used = {
        name.split(".")[1]
        for path in below(room)
        for name in imports(trees()[path])
        if name.startswith("smart_context.") and name.split(".")[1] in {*ROOMS, *FACES, "api"}
    }
    assert used - {room} <= set(ROOMS[room])


def test_one_face_never_imports_the_other_but_to_start_it() -> None:
    assert not who_imports("smart_context.cli") & below("server", "page")
    assert who_imports("smart_context.server") & below("cli", "page") == {"cli/serving.py", "cli/ui.py"}
    assert who_imports("smart_context.page") & below("cli", "server") == {
        "cli/ui.py",
        "server/apps.py",
        "server/desk.py",
        "server/programs.py",
    }


def test_the_ground_knows_nothing_that_stands_on_it() -> None:
    assert not who_imports("smart_context.api", *(f"smart_context.{room}" for room in (*ROOMS, *FACES))) & set(GROUND)


def test_people_are_told_through_one_channel_and_no_state_is_found() -> None:
    speakers = {
        name
        for name, tree in trees().items()
        for node in nodes(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"sys.stderr", "sys.argv"}
    }
    entries = {"cli/__init__.py", "server/__init__.py", "sources/child.py", "server/wire.py"}
    assert speakers - below("cli") <= {"talk.py"} | entries
    assert not [name for name in below(*ROOMS) if calls(trees()[name], "print")]


def test_folders_are_stepped_into_by_one_module() -> None:
    steppers = {
        name
        for name, tree in trees().items()
        for node in nodes(tree)
        if "O_DIRECTORY" in (getattr(node, "attr", None), getattr(node, "value", None))
    }
    assert steppers == {"access/confined.py"}
    walkers = {"access/roots.py", "cache/place.py", "cache/folder.py", "cache/sources.py"}
    assert walkers <= who_imports("smart_context.access.confined")


def test_nobody_looks_behind_the_port() -> None:
    assert who_imports("smart_context.engine.local", "smart_context.engine.postgres") <= below("engine")


def test_every_folder_is_on_the_map() -> None:
    assert {name.split("/")[0] for name in MODULES if "/" in name} == {*ROOMS, *FACES}


def test_extractors_open_no_file_and_no_socket_and_start_no_process() -> None:
    extractors = below("sources/extract")
    assert not who_imports("os", "socket", "subprocess", "pathlib", "shutil", "tempfile") & extractors
    assert not {name for name in extractors if calls(trees()[name], "open", "io.open")}


def test_only_the_configuration_reads_the_environment() -> None:
    readers = {
        name
        for name, tree in trees().items()
        for node in nodes(tree)
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.keyword) and node.arg in {"envvar", "auto_envvar_prefix"})
    }
    # What a shell asks for, and what a terminal can show, is told before there is any configuration.
    assert readers == {"settings/config.py", "cli/__init__.py"}


def test_every_exception_is_caught_only_at_an_outer_edge_and_around_the_parsers_of_others() -> None:
    catchers = {
        name
        for name, tree in trees().items()
        for node in nodes(tree)
        if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "Exception"
    }
    edges = {
        "cli/__init__.py",
        "server/__init__.py",
        "server/tools.py",
        "index/jobs.py",
        "index/writer_child.py",
        "sources/worker_child.py",
    }
    assert catchers - below("sources/extract") <= edges | {"meaning/encoder.py"}


def test_every_module_says_what_it_is_and_fits_on_a_few_screens() -> None:
    assert {name for name, tree in trees().items() if not ast.get_docstring(tree)} == set()
    lengths = {name: len((PACKAGE / name).read_bytes().splitlines()) for name in MODULES}
    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_no_rule_of_the_linter_is_both_chosen_and_left_out():
    lint = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"][
        "lint"
    ]
    assert sorted(set(lint["select"]).intersection(lint["ignore"])) == []
