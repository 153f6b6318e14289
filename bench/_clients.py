"""Clients of several search nodes, each with a token and questions whose right answer is known.

In: nodes' ports, tokens with the folders that they may see, files by the word that only they have.  Out: a `Tally`: what was answered, and what went wrong when.
Always: every answer is checked; a client whose node does not take its question asks another node once, as a proxy in front would.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load import WEIGHTS, WORDS, Link, meta

_PATIENCE = 40.0  # seconds for an answer


@dataclass(frozen=True)
class Reader:
    """A token, the folders that it may see, and the words that only files in and outside of these have."""

    token: str
    folders: tuple[Path, ...]
    own: Sequence[tuple[str, Path]]
    others: Sequence[tuple[str, Path]]


@dataclass
class Tally:
    """What the clients met. answered: (second, milliseconds); wrong, errors: (second, what)."""

    began: float = field(default_factory=time.monotonic)
    answered: list[tuple[float, float]] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[float, str]] = field(default_factory=list)
    errors: list[tuple[float, str]] = field(default_factory=list)
    elsewhere: list[tuple[float, str]] = field(default_factory=list)

    def now(self) -> float:
        """Seconds since the beginning."""
        return round(time.monotonic() - self.began, 2)


async def client(ports: Sequence[int], number: int, reader: Reader, until: float, every: float, tally: Tally) -> None:
    """Ask until the end, with pauses of random length."""
    rnd = random.Random(number)
    links: dict[int, Link] = {}
    order = [ports[(number + turn) % len(ports)] for turn in range(len(ports))]
    await asyncio.sleep(rnd.random() * every)
    while time.monotonic() < until:
        tool, arguments, check = _question(rnd, reader)
        at, began = tally.now(), time.perf_counter()
        answer = await _asked(order, links, reader.token, tool, arguments, tally)
        if answer is not None:
            what = check(answer)
            if what == "right":
                tally.answered.append((at, round((time.perf_counter() - began) * 1000, 1)))
                tally.kinds[f"{tool}, {'shown' if answer.get('items') or answer.get('path') else 'nothing shown'}"] += 1
            elif what.startswith("error "):
                tally.errors.append((at, what))
            else:
                tally.wrong.append(
                    (at, f"{what}: {tool} {arguments} by {[str(f) for f in reader.folders]}: {answer}"[:600])
                )
        await asyncio.sleep(rnd.uniform(0, 2 * every))
    for link in links.values():
        link.close()


async def finds(port: int, reader: Reader, word: str, path: Path) -> bool:
    """Whether a node finds a file by its word."""
    links: dict[int, Link] = {}
    answer = await _asked([port], links, reader.token, "searchFiles", {"query": word}, Tally())
    for link in links.values():
        link.close()
    return answer is not None and _checked(answer, path, reader) == "right"


async def _asked(
    order: Sequence[int], links: dict[int, Link], token: str, tool: str, arguments: dict[str, Any], tally: Tally
) -> dict[str, Any] | None:
    params = {"name": tool, "arguments": arguments, "_meta": meta("bench")}
    headers = f"authorization: Bearer {token}\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
    why = ""
    for turn, port in enumerate(order):
        at = tally.now()
        try:
            async with asyncio.timeout(_PATIENCE):
                if port not in links:
                    links[port] = await Link.to(port)
                status, body = await links[port].ask(
                    headers, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
                )
        except (OSError, asyncio.IncompleteReadError, ValueError, TimeoutError) as error:
            if port in links:
                links.pop(port).close()
            why = type(error).__name__
            if turn + 1 < len(order):
                tally.elsewhere.append((at, why))
            continue
        if status != 200:
            tally.errors.append((at, f"HTTP {status}: {body[:120]}"))
            return None
        return _result(body)
    tally.errors.append((tally.now(), f"no node: {why}"))
    return None


def _result(body: str) -> dict[str, Any]:
    lines = re.findall(r"^data: (.*)$", body, re.MULTILINE)
    frame = json.loads(lines[-1] if lines else body)
    if "error" in frame:
        return {"code": str(frame["error"].get("message"))}
    result = frame["result"]
    found = (
        json.loads(result["content"][0]["text"]) if not result.get("structuredContent") else result["structuredContent"]
    )
    if result.get("isError"):
        inner = found.get("error", found)
        return {"code": inner.get("code", "?"), "message": inner.get("message", "")}
    return dict(found)


def _question(rnd: random.Random, reader: Reader) -> tuple[str, dict[str, Any], Any]:
    """A tool, its arguments, and what says of the answer "right", "error …", or what is wrong with it."""
    draw = rnd.random()
    word, path = rnd.choice(reader.own if draw < 0.8 else reader.others)
    if draw < 0.6:
        return "searchFiles", {"query": word}, lambda answer: _checked(answer, path, reader)
    if draw < 0.7:
        words = " ".join(rnd.choices(WORDS, WEIGHTS, k=2))
        return "searchFiles", {"query": words}, lambda answer: _checked(answer, None, reader)
    if draw < 0.8:
        return "openFile", {"path": str(path)}, lambda answer: _opened(answer, word)
    if draw < 0.9:
        return "searchFiles", {"query": word}, lambda answer: _nothing(answer, word, reader)
    return "openFile", {"path": str(path)}, _refused


def _checked(answer: dict[str, Any], path: Path | None, reader: Reader) -> str:
    if "code" in answer:
        return _error(answer)
    paths = [item["path"] for item in answer["items"]]
    if not all(any(one.startswith(f"{folder}/") for folder in reader.folders) for one in paths):
        return "forbidden root"
    if not paths or (path is not None and paths != [str(path)]):
        return "wrong answer"
    return "right"


def _nothing(answer: dict[str, Any], word: str, reader: Reader) -> str:
    if "code" in answer:
        return _error(answer)
    if answer["items"]:
        seen = _checked(answer, None, reader)
        return seen if seen == "forbidden root" else "wrong answer"
    # Nothing of a file that it may not see is told; the question itself may be repeated.
    return "forbidden root" if word in json.dumps(answer.get("suggestions", "")) else "right"


def _opened(answer: dict[str, Any], word: str) -> str:
    if "code" in answer:
        return _error(answer)
    return "right" if word in answer["preview"] else "wrong answer"


def _refused(answer: dict[str, Any]) -> str:
    if answer.get("code") == "FORBIDDEN":
        return "right"
    return _error(answer) if "code" in answer else "forbidden root"


def _error(answer: dict[str, Any]) -> str:
    return f"error {answer['code']}: {answer.get('message', '')}"[:160]
