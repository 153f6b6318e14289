"""Build a cache from a folder of files of any format that search reads.

In: a sources folder, a target, which formats.  Out: a complete cache, as a build leaves it.
Always: Markdown is taken as a plain build takes it, to the byte; every other file is read in a confined process and written as Markdown, whole
and not redacted; its id is its path. A file that gives no text is left out, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Unpack

from smart_context import defaults
from smart_context.cache import build, sources
from smart_context.errors import UsageError
from smart_context.frozen import markdown
from smart_context.model import Extracted, Limits, Progress, Skipped
from smart_context.sources.walk import JUNK
from smart_context.sources.worker import Pool, Task
from smart_context.text import segment

if TYPE_CHECKING:
    from smart_context.cache.build import BuildOptions, Built, Document
    from smart_context.cache.sources import OnSkipped, Source
    from smart_context.model import OnProgress

ALL = "all"
_MARKDOWN = ".md"


def cache(
    source_dir: str | os.PathLike[str],
    target: str | os.PathLike[str],
    formats: str,
    *,
    created_at: str,
    **how: Unpack[BuildOptions],
) -> Built:
    """Build a cache of a folder; `formats` is `all`, or extensions with commas between them. Raises: UsageError, SameId, IoError."""
    is_taken = _taken(formats)
    skipped = how.get("on_skipped") or (lambda _path, _why: None)
    force = how.get("force", False)
    root = os.fspath(source_dir)
    with sources.Sources(root) as tree:
        build.check_target(target, force=force, sources=root)
        found, misnamed = tree.find(skipped, is_taken)
        kept = [one for one in found if _is_markdown(one.path) or not JUNK.intersection(one.path.split("/"))]
        if misnamed:
            raise sources.not_utf8(root, misnamed)
        documents = [*_as_they_are(tree, kept, root), *_read(tree, kept, skipped, how.get("on_progress"))]
    if how.get("fail_if_empty") and not documents:
        raise build.nothing_in(root)
    if on_left_out := how.get("on_left_out"):
        on_left_out(tree.left_out)
    return build.of_documents(documents, target, created_at=created_at, force=force)


def _taken(formats: str) -> Callable[[str], bool]:
    if formats == ALL:
        return lambda name: name != _MARKDOWN
    wanted = tuple(f".{one.lower().strip(' *.')}" for one in formats.split(",") if one.strip(" *."))
    if not wanted:
        raise UsageError(f"no format in {formats!r}", hint="give all, or extensions such as pdf,docx")
    return lambda name: _is_markdown(name) or (name.lower().endswith(wanted) and not name.startswith(wanted))


def _is_markdown(path: str) -> bool:
    return path.endswith(_MARKDOWN) and os.path.basename(path) != _MARKDOWN


def _as_they_are(tree: sources.Sources, found: list[Source], root: str) -> list[Document]:
    out, bad = [], []
    for one in found:
        if _is_markdown(one.path):
            try:
                out.append(build.Document(one.id, one.path, tree.read(one).decode()))
            except UnicodeDecodeError:
                bad.append(one.path)
    if bad:
        raise sources.not_utf8(root, bad)
    return out


def _read(
    tree: sources.Sources, found: list[Source], on_skipped: OnSkipped, on_progress: OnProgress | None
) -> list[Document]:
    others = [one for one in found if not _is_markdown(one.path)]
    tasks = [Task(one, one.path, _opening(tree, one)) for one in others]
    out = []
    with Pool(Limits(), jail=defaults.JAIL) as pool:
        for number, done in enumerate(pool.run(tasks), 1):
            source = done.key
            assert isinstance(source, sources.Source)
            if on_progress:
                on_progress(Progress(number, len(others), source.path))
            if isinstance(done.outcome, Skipped):
                on_skipped(source.path, f"{done.outcome.reason} {done.outcome.detail}".strip())
            elif isinstance(done.outcome, Extracted):
                if not done.outcome.units:
                    on_skipped(source.path, "no text")
                    continue
                out.append(build.Document(source.id, source.path, _markdown(done.outcome)))
    return out


def _opening(tree: sources.Sources, source: Source) -> Callable[[], int]:
    return lambda: tree.open(source)


def _markdown(found: Extracted) -> str:
    parts = [(one.pointer, one.heading, one.text) for one in segment.cut(found, defaults.SEGMENT_CHARS)]
    return markdown.whole(parts).encode("utf-8", "replace").decode()
