"""The page for people on an index that is there: each letter typed, whole pages, pictures, and many people while a folder is indexed.

    python -m bench page FOLDER --data DIR [--people 50] [--seconds 60] [--every 60] [--out FILE]

FOLDER is indexed in DIR already. What one request costs is processor time of the server and its children; how long somebody waits is wall clock,
which says something on a quiet machine alone. Each of the people types a query letter by letter, reads, opens a result, and waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from bench import _server
from bench.load import _write
from smart_context.api import App
from smart_context.find.model import SearchRequest
from smart_context.model import OWNER
from smart_context.page import render, search
from smart_context.page.desk import Visit
from smart_context.page.search import LOOKED_AT
from smart_context.settings import config

_SEED = 11
_TURNS = 5
_REQUESTS = 500
_LETTER = 0.18  # seconds between two letters
_WORDS = re.compile(r"[a-z]{4,12}")
_PARTS = re.compile(r'(?:src|href)="(/static/[^"]+)"')
_SEE = re.compile(r'<h2 dir="auto"><a href="(/see\?[^"]+)"')


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench page")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--every", type=float, default=60, help="seconds between two queries of one person")
    parser.add_argument("--new-files", type=int, default=5000, help="in the folder that is indexed meanwhile")
    parser.add_argument("--out", type=Path, help="write the result here, as JSON")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _write(home / "new", args.new_files)
        rates = "".join(f"{name} = 0\n" for name in ("searchFiles", "searchAsTyped", "openFile", "showPage"))
        (home / "config.toml").write_text(
            f"[rate_limits]\n{rates}[index]\nat_start = false\n[watch]\nenabled = false\n"
        )
        common = ["--config", str(home / "config.toml"), "--data-dir", str(args.data)]
        roots = ["--root", str(args.folder), "--root", str(home / "new")]
        with _server.started([*common, *roots]) as (server, port):
            result = asyncio.run(_measure(server.pid, port, home / "new", args))
    print(json.dumps(result, indent=1))
    if args.out:
        args.out.write_text(json.dumps(result, indent=1) + "\n")


async def _measure(pid: int, port: int, new: Path, args: argparse.Namespace) -> dict[str, object]:
    queries = _queries(args.folder, args.queries)
    print(f"listening on {port}; {queries}", file=sys.stderr)
    link = Link(port)
    for query in queries[:3]:
        await link.get(f"/?q={quote(query)}")
    facts = re.findall(r"<dd>([\d\u202f]+)</dd>", (await link.get("/index"))[1])
    typed = [f"/?q={quote(query[:end])}&part=typed" for query in queries for end in range(1, len(query) + 1)]
    pictures = await _pictures(link, queries)
    result: dict[str, object] = {
        "python": platform.python_version(),
        "processors": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "segments": facts[1].replace("\u202f", "") if len(facts) > 1 else "",
        "typed": await _each(link, pid, typed),
        "pages_of_results": await _each(link, pid, [f"/?q={quote(query)}" for query in queries]),
        "searches_alone": await _searches(link, pid, queries),
        "beyond_the_search": await _beyond(link, pid, queries, args),
        "whole_page_bytes": await _bytes(link, queries),
        "seen": await _each(link, pid, await _results(link, queries)),
        "pictures": await _each(link, pid, pictures, may_lack=True) if pictures else None,
    }
    link.close()
    times: list[float] = []
    errors: list[int] = []
    indexing = asyncio.create_task(_index(port, new))
    until = time.monotonic() + args.seconds
    began = _server.cpu(pid)
    await asyncio.gather(
        *(_person(port, number, queries, until, args.every, times, errors) for number in range(args.people))
    )
    is_done = indexing.done()
    cpu = _server.cpu(pid) - began
    indexing.cancel()
    times.sort()
    return result | {
        "people": args.people,
        "people_asked": len(times),
        "people_errors": len(errors),
        "people_per_second": round(len(times) / args.seconds, 1),
        "people_p50_ms": _server.at(times, 0.5),
        "people_p95_ms": _server.at(times, 0.95),
        "people_p99_ms": _server.at(times, 0.99),
        "people_max_ms": _server.at(times, 1.0),
        "people_cpu_ms_each": round(1000 * cpu / max(1, len(times)), 1),
        "load_average_after": os.getloadavg()[0],
        "indexing_ended_before_the_people": is_done,
    }


def _queries(folder: Path, count: int) -> list[str]:
    """Two or three words that stand side by side in a file."""
    rnd = random.Random(_SEED)
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".txt", ".md", ".html", ""} and path.is_file())
    found: list[str] = []
    while len(found) < count:
        words = _WORDS.findall(rnd.choice(files).read_text("utf-8", "replace")[:20_000].lower())
        if len(words) > 20:
            at = rnd.randrange(len(words) - 3)
            found.append(" ".join(words[at : at + rnd.choice((2, 3))]))
    return found


async def _each(link: Link, pid: int, addresses: list[str], *, may_lack: bool = False) -> dict[str, object]:
    """Ask one after the other: wall clock of each, and processor time of all. may_lack: a page of a PDF may have no picture."""
    print(f"{len(addresses)} × {addresses[0][:60]}", file=sys.stderr)
    began, times = _cpu_of_all(pid), []
    for address in addresses:
        start = time.perf_counter()
        status, _ = await link.get(address)
        assert status == 200 or (may_lack and status == 404), (status, address)
        times.append((time.perf_counter() - start) * 1000)
    cpu = 1000 * (_cpu_of_all(pid) - began) / max(1, len(addresses))
    times.sort()
    shown = {"p50_ms": _server.at(times, 0.5), "p95_ms": _server.at(times, 0.95), "max_ms": _server.at(times, 1.0)}
    found: dict[str, object] = {"requests": len(addresses), "cpu_ms_each": round(cpu, 1), **shown}
    print(found, file=sys.stderr)
    return found


async def _searches(link: Link, pid: int, queries: list[str]) -> dict[str, object]:
    """The searches of the same pages by the tool, which shows as many results as a page counts."""
    began, times = _cpu_of_all(pid), []
    for query in queries:
        start = time.perf_counter()
        await link.call("searchFiles", {"query": query, "k": 60})
        times.append((time.perf_counter() - start) * 1000)
    times.sort()
    cpu = 1000 * (_cpu_of_all(pid) - began) / len(queries)
    return {
        "requests": len(queries),
        "cpu_ms_each": round(cpu, 1),
        "p50_ms": _server.at(times, 0.5),
        "p95_ms": _server.at(times, 0.95),
    }


async def _beyond(link: Link, pid: int, queries: list[str], args: argparse.Namespace) -> dict[str, object]:
    """What a page costs beyond its search, in processor time: making it of what was found, in this process, and the request itself."""
    settings = config.load({"roots": (str(args.folder),), "data_dir": str(args.data)}, {"HOME": str(args.data)})
    spent = {"search": 0.0, "page": 0.0}
    visit = Visit(OWNER, "", "", is_local=True)
    with App(settings) as app:
        for turn in range(_TURNS + 1):
            for query in queries:
                began = time.process_time()
                app.find(SearchRequest(query, LOOKED_AT))
                middle = time.process_time()
                found = search.view(app, search.SearchParameters(query), OWNER, lambda: None)
                render.page("search.html", view=found, asked=found.asked, may_freeze=True, visit=visit, form="")
                if turn:  # the first fills what is kept between searches
                    spent["search"] += middle - began
                    spent["page"] += time.process_time() - middle
    icon = render.static("icon.svg")
    began = _cpu_of_all(pid)
    for _ in range(_REQUESTS):
        await link.get(icon)
    request = 1000 * (_cpu_of_all(pid) - began) / _REQUESTS
    each = {name: 1000 * seconds / _TURNS / len(queries) for name, seconds in spent.items()}
    made = each["page"] - each["search"]
    told = {"search": each["search"], "made_of_it": made, "request_alone": request, "beyond_the_search": made + request}
    return {f"{name}_cpu_ms": round(value, 2) for name, value in told.items()}


async def _bytes(link: Link, queries: list[str]) -> dict[str, int]:
    """The largest page of results, with everything that a browser loads for it but pictures of pages."""
    pages = [(await link.get(f"/?q={quote(query)}"))[1] for query in queries]
    largest = max(pages, key=lambda page: len(page.encode()))
    parts = set(_PARTS.findall(largest))
    sizes = {address.partition("?")[0]: len((await link.get(address))[1].encode()) for address in sorted(parts)}
    return {"page": len(largest.encode()), **sizes, "all": len(largest.encode()) + sum(sizes.values())}


async def _results(link: Link, queries: list[str]) -> list[str]:
    pages = [(await link.get(f"/?q={quote(query)}"))[1] for query in queries]
    return [found[1].replace("&amp;", "&") for page in pages if (found := _SEE.search(page))]


async def _pictures(link: Link, queries: list[str]) -> list[str]:
    """Addresses of pictures that were not drawn yet."""
    found: dict[str, None] = {}
    for query in queries:
        page = (await link.get(f"/?q={quote(query)}&kind=.pdf"))[1]
        for address in _SEE.findall(page)[:3]:
            asked = parse_qs(urlsplit(address.replace("&amp;", "&")).query)
            kind, _, number = asked.get("pointer", [""])[0].partition(" ")
            if kind == "page" and number.isdigit():
                found[f"/picture?path={quote(asked['path'][0])}&page={number}"] = None
    return list(found)


async def _person(
    port: int, number: int, queries: list[str], until: float, every: float, times: list[float], errors: list[int]
) -> None:
    rnd = random.Random(number)
    link = Link(port)
    await asyncio.sleep(rnd.uniform(0, every / 2))

    async def ask(address: str) -> str:
        start = time.perf_counter()
        status, body = await link.get(address)
        times.append((time.perf_counter() - start) * 1000)
        if status != 200:
            errors.append(status)
        return body

    async def pause(seconds: float) -> None:
        await asyncio.sleep(max(0.0, min(seconds, until - time.monotonic())))

    while time.monotonic() < until:
        query = rnd.choice(queries)
        for end in range(1, len(query) + 1):
            if time.monotonic() >= until:
                link.close()
                return
            await ask(f"/?q={quote(query[:end])}&part=typed")
            await asyncio.sleep(_LETTER)
        page = await ask(f"/?q={quote(query)}&part=all")
        await pause(rnd.uniform(0, every / 4))
        if found := _SEE.search(page):
            await ask(found[1].replace("&amp;", "&"))
        await pause(rnd.uniform(every / 2, every))
    link.close()


async def _index(port: int, new: Path) -> None:
    link = Link(port)
    await link.call("indexFolder", {"root": str(new)})


def _cpu_of_all(pid: int) -> float:
    """Of a process and of those that it started, dead ones included."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rpartition(")")[2].split()
    own = sum(int(fields[number]) for number in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{pid}/task")
    started = {child for task in children.iterdir() for child in (task / "children").read_text().split()}
    return own + sum(_cpu_of_all(int(child)) for child in started)


class Link:
    """A connection that is kept, and opened again when it ends."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, address: str) -> tuple[int, str]:
        return await self._ask(f"GET {address} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n\r\n".encode())

    async def call(self, tool: str, arguments: dict[str, object]) -> str:
        """Call a tool without a session."""
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\naccept: application/json, text/event-stream\r\n"
            "content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n"
            f"mcp-name: {tool}\r\ncontent-length: {len(body)}\r\n\r\n"
        )
        status, text = await self._ask(head.encode() + body)
        assert status == 200, text
        return text

    async def _ask(self, request: bytes) -> tuple[int, str]:
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 24)
        reader, writer = self._streams
        writer.write(request)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        except asyncio.IncompleteReadError:
            self.close()
            return await self._ask(request)
        if "transfer-encoding: chunked" in head:
            parts = []
            while size := int(await reader.readline(), 16):
                parts.append(await reader.readexactly(size))
                await reader.readline()
            await reader.readline()
            body = b"".join(parts)
        else:
            body = await reader.readexactly(int(re.findall(r"content-length: (\d+)", head)[0]))
        return int(head.split(" ", 2)[1]), body.decode("utf-8", "replace")

    def close(self) -> None:
        if self._streams:
            self._streams[1].close()
        self._streams = None
