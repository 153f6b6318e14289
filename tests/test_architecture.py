"""The rules of ARCHITECTURE.md that can be read off the source: who may import what, and who may touch the world."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import smart_context

PACKAGE = Path(smart_context.__file__).parent
MODULES = {path.relative_to(PACKAGE).as_posix(): ast.parse(path.read_bytes()) for path in PACKAGE.rglob("*.py")}
GROUND = ("errors.py", "model.py", "config.py", "config_read.py", "config_file.py", "toml_lines.py", "flock.py", "roots.py", "pointer.py")  # fmt: skip
CORE = ("sources", "search", "cache", "llm", "guard", "redact", "clients")
FACES = ("cli", "server")


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported, wherever the import stands, but for those that only the type checker sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{name.name}" for name in node.names)
        yield from imports(node)


def who_imports(*modules: str) -> set[str]:
    return {
        name
        for name, tree in MODULES.items()
        if any(found == module or found.startswith(f"{module}.") for found in imports(tree) for module in modules)
    }


def calls(tree: ast.AST, *functions: str) -> bool:
    return any(isinstance(node, ast.Call) and ast.unparse(node.func) in functions for node in ast.walk(tree))


def below(*folders: str) -> set[str]:
    return {name for name in MODULES if name.startswith(tuple(f"{folder}/" for folder in folders))}


@pytest.mark.parametrize(
    ("module", "allowed"),
    [
        ("sqlite3", {"search/record.py", "search/migrations.py"}),
        ("tantivy", below("search/ranking")),
        ("mcp", below("server")),
        ("mcp_types", below("server")),
        ("click", below("cli")),
        ("openai", below("llm")),
        ("onnxruntime", below("search/semantic")),
        ("lxml", below("sources/extract")),
        ("pypdfium2", below("sources/extract")),
        ("subprocess", {"sources/child.py", "search/writer.py", "clients/probe.py"}),
        ("pickle", set()),
        ("random", set()),
        ("locale", set()),
    ],
)
def test_a_library_is_known_where_the_map_says(module: str, allowed: set[str]) -> None:
    assert who_imports(module) <= allowed


def test_caches_and_search_never_import_each_other() -> None:
    assert not who_imports("smart_context.search") & below("cache")
    assert not who_imports("smart_context.cache") & below("search")


def test_the_core_knows_neither_the_verbs_nor_a_face() -> None:
    faces = who_imports("smart_context.api", *(f"smart_context.{face}" for face in FACES))
    assert not faces & (below(*CORE) | set(GROUND))


def test_one_face_never_imports_the_other_but_to_start_it() -> None:
    assert not who_imports("smart_context.cli") & below("server")
    assert who_imports("smart_context.server") & below("cli") == {"cli/serve.py", "cli/upkeep.py"}


def test_the_ground_knows_nothing_that_stands_on_it() -> None:
    assert not who_imports(*(f"smart_context.{folder}" for folder in CORE)) & set(GROUND)


def test_extractors_open_no_file_and_no_socket_and_start_no_process() -> None:
    extractors = below("sources/extract")
    assert not who_imports("os", "socket", "subprocess", "pathlib", "shutil", "tempfile") & extractors
    assert not {name for name in extractors if calls(MODULES[name], "open", "io.open")}


def test_only_the_configuration_reads_the_environment() -> None:
    readers = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Attribute) and node.attr in {"environ", "environb", "getenv"})
        or (isinstance(node, ast.keyword) and node.arg in {"envvar", "auto_envvar_prefix"})
    }
    # What a shell asks for, and what a terminal can show, is told before there is any configuration.
    assert readers == {"config.py", "cli/__init__.py"}


def test_every_exception_is_caught_only_at_an_outer_edge_and_around_the_parsers_of_others() -> None:
    catchers = {
        name
        for name, tree in MODULES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "Exception"
    }
    edges = {
        "cli/__init__.py",
        "server/__init__.py",
        "server/tools.py",
        "search/jobs.py",
        "search/writer_child.py",
        "sources/worker_child.py",
    }
    assert catchers - below("sources/extract") <= edges | {"search/semantic/encoder.py"}


def test_every_module_says_what_it_is_and_fits_on_a_few_screens() -> None:
    assert {name for name, tree in MODULES.items() if not ast.get_docstring(tree)} == set()
    lengths = {name: len((PACKAGE / name).read_bytes().splitlines()) for name in MODULES}
    assert {name: length for name, length in lengths.items() if length > 450} == {}
