"""Limit the use of a model: calls and tokens per day, and a pause after repeated failures.

In: the data directory, the limits, the time.  Out: permission to ask, or `RateLimited` or `LlmUpstream`.
Always: the counts hold across processes and restarts. A day is one of UTC.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path

from smart_context import flock
from smart_context.errors import LlmUpstream, RateLimited, StorageFailed

_NAME = "llm-usage.json"
_FAILURES = 5  # in a row, before the provider is left alone
_REST_SECONDS = 60.0
_MAX_REST_SECONDS = 900.0
_DAY_SECONDS = 86_400


@dataclass(slots=True)
class Usage:
    """What was used on a day, and how the provider last behaved."""

    day: str = ""
    calls: int = 0
    tokens: int = 0
    provider: str = ""
    failures: int = 0
    rests_until: float = 0.0


def enter(data_dir: Path, provider: str, calls_per_day: int, tokens_per_day: int, now: float) -> None:
    """Count a call that is about to be made. A limit of 0 is none.

    Raises: RateLimited when the day's share is used up, LlmUpstream while a dead provider is left alone.
    """
    with _kept(data_dir, provider, now) as usage:
        wait = usage.rests_until - now
        if wait > 0:
            raise LlmUpstream(
                f"the language model failed {usage.failures} times in a row and is left alone for now",
                hint=f"asked again in {max(1, round(wait))} seconds; `context llm check --send` tries it at once",
            )
        for what, used, most in (("calls", usage.calls, calls_per_day), ("tokens", usage.tokens, tokens_per_day)):
            if most and used >= most:
                raise RateLimited(
                    f"the day's {most:,} {what} to the language model are used up",
                    retry_after=_DAY_SECONDS - now % _DAY_SECONDS,
                    hint=f"the day ends at midnight UTC; the setting is `llm.{what}_per_day`",
                )
        usage.calls += 1


def spent(data_dir: Path, provider: str, tokens: int, now: float) -> None:
    """Count what an answered call used; the provider is alive."""
    with _kept(data_dir, provider, now) as usage:
        usage.tokens += max(0, tokens)
        usage.failures, usage.rests_until = 0, 0.0


def failed(data_dir: Path, provider: str, now: float) -> None:
    """Count a failure of the provider; after several in a row it is left alone, each time for longer."""
    with _kept(data_dir, provider, now) as usage:
        usage.failures += 1
        if usage.failures >= _FAILURES:
            rest = _REST_SECONDS * 2.0 ** min(usage.failures - _FAILURES, 10)
            usage.rests_until = now + min(rest, _MAX_REST_SECONDS)


def today(data_dir: Path, provider: str, now: float) -> Usage:
    """Return what was used today."""
    return _current(_read(data_dir / _NAME), provider, now)


@contextmanager
def _kept(data_dir: Path, provider: str, now: float) -> Iterator[Usage]:
    """Yield the usage to be changed; it is written back unless the block raises."""
    path = data_dir / _NAME
    try:
        os.makedirs(data_dir, mode=0o700, exist_ok=True)
        lock = os.open(data_dir / (_NAME + ".lock"), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        raise _unwritable(data_dir, error) from error
    try:
        flock.lock(lock)
        usage = _current(_read(path), provider, now)
        yield usage
        _write(path, usage)
    finally:
        os.close(lock)


def _current(usage: Usage, provider: str, now: float) -> Usage:
    day = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%d")
    if usage.day != day:
        usage.day, usage.calls, usage.tokens = day, 0, 0
    if usage.provider != provider or usage.rests_until > now + _MAX_REST_SECONDS:  # another one, or the clock went back
        usage.provider, usage.failures, usage.rests_until = provider, 0, 0.0
    return usage


def _read(path: Path) -> Usage:
    """Read the stored usage; an unreadable file counts as none."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Usage()
    if not isinstance(kept, dict):
        return Usage()
    usage = Usage()
    for each in fields(Usage):
        value, default = kept.get(each.name), getattr(usage, each.name)
        if type(value) is type(default) or (isinstance(default, float) and type(value) is int):
            setattr(usage, each.name, value)
    return usage


def _write(path: Path, usage: Usage) -> None:
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        beside.write_text(json.dumps(asdict(usage)), encoding="utf-8", newline="\n")
        os.replace(beside, path)
    except OSError as error:
        raise _unwritable(path.parent, error) from error


def _unwritable(folder: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"cannot count calls to the language model in {folder}", reason=error.strerror, hint="nothing was sent"
    )
