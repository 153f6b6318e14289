"""Freeze texts into a cache, with where they come from.

In: texts in the order in which a search gave them, and what was asked.  Out: a v0 cache with `freeze.json` beside its manifest.
Always: the cache is complete or not there, as a build leaves it. Its version follows from paths below roots, pointers and texts alone.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smart_context import __version__
from smart_context.access.roots import shown
from smart_context.cache import build, document
from smart_context.errors import InvalidQuery, SameId
from smart_context.frozen import ids, provenance
from smart_context.frozen.collect import Text
from smart_context.frozen.provenance import Provenance, Question, Source

if TYPE_CHECKING:
    from smart_context.cache.build import Built
    from smart_context.model import OnProgress


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions under which texts were found. rules: of redaction, "" for none."""

    question: Question
    whole_files: bool
    rules: str


def documents(texts: Sequence[Text]) -> list[tuple[build.Document, Source]]:
    """Return the document of each text, and what `freeze.json` says of it. Raises: SameId."""
    names = ids.of_places([(text.path, text.pointer) for text in texts])
    seen: dict[str, str] = {}
    out = []
    for name, text in zip(names, texts, strict=True):
        if name in seen:
            raise SameId(name, seen[name], text.place)  # the same path below two roots
        seen[name] = text.place
        source = shown(text.path)
        content = _valid(text.content)
        version = document.version_of(content.encode())
        row = Source(name, version, source, text.sha256, text.pointer or "", text.score, text.kind)
        out.append((build.Document(name, source, content), row))
    return out


def cache(
    texts: Sequence[Text],
    target: str | os.PathLike[str],
    how: Conditions,
    *,
    created_at: str,
    force: bool = False,
    on_progress: OnProgress | None = None,
) -> Built:
    """Freeze texts at a target; `force` replaces an old cache. Raises: InvalidQuery when there is nothing, SameId, IoError."""
    if not texts:
        raise InvalidQuery("the question finds nothing, so nothing is frozen", hint="ask for less, or index more")
    made = documents(texts)
    readers = tuple(sorted({(text.kind, text.reader) for text in texts}))
    origin = Provenance(
        created_at, __version__, how.question, how.whole_files, how.rules, readers, tuple(row for _, row in made)
    )
    return build.of_documents(
        [one for one, _ in made],
        target,
        created_at=created_at,
        force=force,
        beside={provenance.NAME: provenance.to_json(origin)},
        on_progress=on_progress,
    )


def _valid(text: str) -> str:
    """Text without half surrogates, which a document cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
