"""Freeze what a search finds, and ask it again later.

In: a `CallerAccess` (the parts of an index that a caller may use), and a question or a frozen cache.  Out: a cache, or what changed since.
Always: nothing is asked before the target was checked; text that is not redacted is for the owner alone, and logged.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.access.roots import Place, Roots, parsed, shown
from smart_context.cache import build
from smart_context.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidQuery,
    IoError,
    NotFound,
    SameId,
    StorageFailed,
)
from smart_context.frozen import ask, collect, provenance
from smart_context.frozen import freeze as stage
from smart_context.frozen import replay as comparison
from smart_context.frozen.collect import Picked, Text
from smart_context.frozen.provenance import Provenance, Question
from smart_context.frozen.replay import Change
from smart_context.redact import Redactor

if TYPE_CHECKING:
    from smart_context.cache.build import Built
    from smart_context.engine.port import Index
    from smart_context.find.model import SearchPage, SearchRequest
    from smart_context.meaning.meaning import Meaning
    from smart_context.model import Caller, OnProgress, Stop
    from smart_context.settings.config import Settings


_NAME = re.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class CallerAccess:
    """What a caller may use of an index. may_show: refuses a path that the caller may not see. turn: waits for a turn to search."""

    index: Callable[[], Index]
    roots: Roots
    may_show: Callable[[str], Place]
    turn: Callable[[], AbstractContextManager[None]]
    redactor: Redactor
    meaning: Callable[[], Meaning | None]
    settings: Settings
    caller: Caller
    stop: Stop


@dataclass(frozen=True, slots=True)
class FreezeOptions:
    """How to freeze. picked: places to take instead of asking. force: replace an old cache."""

    picked: tuple[Picked, ...] | None = None
    whole_files: bool = False
    unredacted: bool = False
    force: bool = False


def freeze(
    allowed: CallerAccess,
    question: Question,
    target: str,
    how: FreezeOptions,
    *,
    created_at: str,
    on_progress: OnProgress,
) -> Built:
    """Write what a question finds, or what was picked, into a cache. Raises: as `App.freeze`."""
    question = ask.dated(question, created_at[: len("2024-03-31")])
    build.check_target(target, force=how.force)
    if how.unredacted and not allowed.caller.is_owner:
        raise Forbidden("only the owner may freeze text that is not redacted")
    if how.picked is None:
        folders = tuple(allowed.roots.inside(parsed(folder)).path for folder in question.folders)
        texts = _asked(allowed, question, folders, how)
        question = replace(question, folders=ask.relative(folders, allowed.roots))
    else:
        placed = [replace(one, path=allowed.may_show(shown(one.path)).path) for one in how.picked]
        with allowed.turn():
            allowed.index().refresh()
            texts = _texts(allowed, placed, how.unredacted)
        paths = tuple(sorted({shown(text.path) for text in texts}))
        question = replace(question, k=0, folders=(), paths=paths)
    if how.unredacted:
        _log_unredacted(allowed, question.query, len(texts))
    rules = "" if how.unredacted else allowed.redactor.identity()
    frozen = stage.Conditions(question, how.whole_files, rules)
    return stage.cache(texts, target, frozen, created_at=created_at, force=how.force, on_progress=on_progress)


def replay(allowed: CallerAccess, cache: str) -> tuple[Provenance, list[Change]]:
    """Ask a frozen cache's question again. Raises: as `App.replay`."""
    origin = provenance.read(cache)
    how = FreezeOptions(whole_files=origin.whole_files, unredacted=not origin.rules)
    if how.unredacted and not allowed.caller.is_owner:
        raise Forbidden("only the owner may replay a cache that is not redacted")
    if origin.question.paths:
        index = allowed.index()
        with allowed.turn():
            index.refresh()
            redactor = None if how.unredacted else allowed.redactor
            texts = ask.again(index.both(allowed.caller.key)[0], allowed.roots, origin, redactor)
    else:
        texts = _asked(allowed, origin.question, ask.absolute(origin.question.folders, allowed.roots), how)
    return origin, comparison.changes(origin, texts)


def freeze_search(
    allowed: CallerAccess,
    question: Question,
    name: str,
    *,
    whole_files: bool,
    created_at: str,
    picked: tuple[Picked, ...] = (),
) -> dict[str, object]:
    """Freeze a search, or what was picked of it, for a tool: under a name that is free, below the cache root.

    Raises: Forbidden, BadRequest, NotFound where nothing is found, Conflict where the name is taken, StorageFailed.
    """
    if not allowed.settings.cache.freeze or not allowed.settings.cache_root:
        raise Forbidden("this server freezes nothing", hint="the settings `cache.freeze` and `cache_root` allow it")
    root = os.path.realpath(allowed.settings.cache_root)
    seen = allowed.caller.roots is None or any(Path(root).is_relative_to(name) for name in allowed.caller.roots)
    if not (allowed.caller.is_owner and seen):  # a name that is taken would tell of a cache that it may not see
        raise Forbidden("this token may not write caches", hint="ask who runs the server")
    if not _NAME.fullmatch(name):
        raise BadRequest("'cache' is not a plain name", hint="use letters, digits, dots, hyphens and underscores")
    target = os.path.join(root, name)
    try:
        how = FreezeOptions(picked=picked or None, whole_files=whole_files)
        built = freeze(allowed, question, target, how, created_at=created_at, on_progress=lambda _step: None)
    except InvalidQuery as error:
        raise NotFound(error.message, hint=error.hint) from error
    except SameId as error:
        raise Conflict("two files would be one document", hint="narrow the search with `roots`") from error
    except IoError as error:
        if os.path.lexists(target):
            raise Conflict(f"there is a cache {name} already", hint="give it another name") from error
        raise StorageFailed("the cache could not be written", hint="the server's log has the reason") from error
    return {"cache": name, "cache_version": built.cache_version, "document_count": built.document_count}


def _asked(allowed: CallerAccess, question: Question, folders: tuple[str, ...], how: FreezeOptions) -> list[Text]:
    """The texts that a question finds, all from one state of the index."""
    from smart_context.find import search

    allowed.roots.check_any()
    index = allowed.index()
    with allowed.turn():
        index.refresh()

        def find(request: SearchRequest) -> SearchPage:
            request = replace(request, never_show=allowed.settings.index.never_show)
            return search.find(
                index,
                request,
                redactor=allowed.redactor,
                stop=allowed.stop,
                meaning=allowed.meaning(),
                within=None if allowed.caller.roots is None else allowed.roots.names,
                key=allowed.caller.key,
            )

        picked = ask.places(find, question, folders or allowed.roots.names, whole_files=how.whole_files)
        return _texts(allowed, picked, how.unredacted)


def _texts(allowed: CallerAccess, picked: list[Picked], unredacted: bool) -> list[Text]:
    redactor = None if unredacted else allowed.redactor
    return collect.texts(allowed.index().both(allowed.caller.key)[0], allowed.roots, picked, redactor)


def _log_unredacted(allowed: CallerAccess, query: str, count: int) -> None:
    from smart_context.access import audit
    from smart_context.access.audit import LoggedCall

    if log := audit.configured(allowed.settings, allowed.redactor.clean):
        log.write(LoggedCall("freeze --unredacted", allowed.caller.name, 0.0, query=query, counts={"results": count}))
