"""A search node on a host whose link to the database is cut, and a database without room: said clearly, nothing half-written, and over by itself."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from conftest import PATIENCE
from machine import rest
from network import forwarded, other_host
from postgres_server import Server
from server_client import SERVE, Peer, text_of
from smart_context import engine, errors
from smart_context.access.roots import Roots
from smart_context.api import App
from smart_context.engine.model import NewFile
from smart_context.engine.port import Engine
from smart_context.index import indexer
from smart_context.model import Segment
from smart_context.settings import config
from unprivileged import NOBODY

OPTIONS = indexer.Options(workers=1)


def indexed(address: str, folder: Path, root: Path) -> int:
    with engine.at(folder, address).open(writable=True) as index:
        return indexer.run(index, Roots([str(root)]), str(root), OPTIONS).indexed


def said(peer: Peer, query: str) -> tuple[list[str], str]:
    """The names of what a search finds, and what is noted; or what is said of its error."""
    answer = json.loads(text_of(peer.call("searchFiles", {"query": query})))
    if "error" in answer:
        return [], answer["error"]["message"]
    return [Path(item["path"]).name for item in answer["items"]], " ".join(answer.get("notes", ()))


def test_a_node_whose_link_is_cut_says_so_and_takes_in_what_it_missed_when_it_is_back(
    postgres: Server, tmp_path: Path, tree
) -> None:
    root = tree({"rent.txt": "the rent of the harbour", "wages.txt": "wages and income"})
    name = f"cut_{os.getpid()}"
    address = postgres.address(name)
    engine.shared(tmp_path / "first", address).init()
    indexed(address, tmp_path / "first", root)
    with other_host() as host, forwarded(host, f"{postgres.home}/.s.PGSQL.5432") as port:
        env = {
            "SMART_CONTEXT_ENGINE": f"postgresql://tester@{host.here}:{port}/{name}",
            "SMART_CONTEXT_DATA_DIR": str(tmp_path / "node"),
        }
        with Peer([*host.under, *SERVE, "--root", str(root)], tmp_path, env) as peer:
            peer.initialize()
            assert until(peer, "rent", lambda answer: answer[0] and not answer[1]) == (["rent.txt"], "")
            host.cut()
            began = time.monotonic()
            found, note = said(peer, "rent")  # shown lately: from memory
            assert (found, note) == (
                ["rent.txt"],
                "the shared record does not answer; this is what was known of it before",
            )
            assert said(peer, "wages")[1].endswith(" does not answer")
            assert time.monotonic() - began < PATIENCE  # neither waited for a network that will not answer
            (root / "new.txt").write_text("the rent of the new wharf", encoding="utf-8")
            indexed(address, tmp_path / "first", root)
            host.mend()
            found, note = until(peer, "rent", lambda answer: len(answer[0]) == 2 and not answer[1])
            assert (sorted(found), note) == (["new.txt", "rent.txt"], "")


def until(peer: Peer, query: str, is_so) -> tuple[list[str], str]:
    late = time.monotonic() + PATIENCE
    while not is_so(answer := said(peer, query)):
        assert time.monotonic() < late, answer
        rest()
    return answer


@pytest.fixture
def small(postgres: Server, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A database whose tables lie on a disk of some megabytes, and that disk."""
    disk = postgres.home / f"small-{os.getpid()}"
    if os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small disk")
    disk.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk], capture_output=True, check=False)
    if made.returncode:
        disk.rmdir()
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode().strip()}")
    name = f"small_{os.getpid()}"
    try:
        os.chown(disk, NOBODY, NOBODY)
        postgres.sql("postgres", f"CREATE TABLESPACE {name} LOCATION '{disk}'")
        postgres.sql("postgres", f"CREATE DATABASE {name} TABLESPACE {name}")
        postgres.made.add(name)
        yield postgres.address(name), disk
        postgres.sql("postgres", f"DROP DATABASE {name} WITH (FORCE)", "CHECKPOINT", f"DROP TABLESPACE {name}")
    finally:
        postgres.made.discard(name)
        subprocess.run(["umount", "-l", disk], check=True)
        disk.rmdir()


def test_a_full_database_says_so_keeps_what_it_has_and_takes_the_rest_when_there_is_room(
    small: tuple[str, Path], tmp_path: Path, tree
) -> None:
    address, disk = small
    root = tree({"rent.txt": "the rent of the harbour"})
    engine.shared(tmp_path / "first", address).init()
    assert indexed(address, tmp_path / "first", root) == 1
    used = shutil.disk_usage(disk).used
    resize(disk, used + 400_000)
    place = engine.at(tmp_path / "first", address)
    with pytest.raises(errors.StorageFailed) as caught:
        put_large(place)
    assert "has no room left on its disk" in caught.value.message
    # The server itself writes some hundred kilobytes when somebody connects, if it has thrown away what it keeps for that.
    resize(disk, shutil.disk_usage(disk).used + 1_000_000)
    flags = {"roots": [str(root)], "data_dir": str(tmp_path / "node"), "engine": address}
    with App(config.load(flags, {"HOME": str(tmp_path)})) as app:
        assert [Path(item["path"]).name for item in app.search_files("rent")["items"]] == ["rent.txt"]
        assert app.search_files("large")["items"] == []
    resize(disk, 4 * used)
    put_large(place)
    with place.open() as index:
        assert len(index.record.file_ids()) == 9
        assert index.record.flaw() == ""


def test_a_database_too_full_for_anybody_to_connect_says_that_it_is_full(
    small: tuple[str, Path], tmp_path: Path
) -> None:
    address, disk = small
    engine.shared(tmp_path / "first", address).init()
    fill(disk)
    for kept in disk.rglob("pg_internal.init"):  # what the server throws away by itself now and then, and writes anew
        kept.unlink()
    rest = fill(disk)
    with pytest.raises(errors.Unreachable, match="has no room left on its disk"):
        put_large(engine.at(tmp_path / "first", address))
    rest.unlink()
    put_large(engine.at(tmp_path / "first", address))


def fill(disk: Path) -> Path:
    """Take all the room that is left, however much the server takes meanwhile: in a file."""
    rest = disk / "rest"
    with rest.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free == 0
    return rest


def resize(disk: Path, size: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


def put_large(place: Engine) -> None:
    """Write more than fits: texts that cannot be made smaller."""
    chance = random.Random(5)
    with place.open(writable=True) as index:
        for number in range(8):
            texts = [f"large {chance.getrandbits(16_000):x}" for _ in range(50)]
            segments = [Segment(seq, f"lines {seq + 1}-{seq + 1}", "", text) for seq, text in enumerate(texts)]
            index.put(NewFile(f"/r/{number}.txt", "/r", "text", number, 5, "ab", "ok"), segments, (), "")
        index.commit()
