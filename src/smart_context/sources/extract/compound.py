"""Read the streams of an OLE compound file, the container of DOC, PPT and MSG.

In: the bytes of the file.  Out: its streams by path.
Always: a stream that is absent or damaged is b"" or as much as could be read; nothing but `Refused` is raised.
"""

from __future__ import annotations

import io
import struct
from collections import defaultdict
from types import TracebackType

import olefile  # type: ignore[import-untyped]  # it ships no types

from smart_context.sources.extract import Buffer, Job, Refused
from smart_context.sources.extract.encoding import clean, codec
from smart_context.sources.extract.properties import About, day_of_filetime

_LARGEST = 256 * 1024 * 1024


class Compound:
    """An open compound file. Paths are tuples of names; case does not matter."""

    def __init__(self, data: Buffer) -> None:
        self._data = data
        if not isinstance(data, bytes):
            data.seek(0)
        try:
            # Given bytes, the library takes a short file's content for a path.
            self._ole = olefile.OleFileIO(io.BytesIO(data) if isinstance(data, bytes) else data)
            paths = [tuple(path) for path in self._ole.listdir(streams=True, storages=False)]
        except Exception as error:  # hostile bytes in a third-party parser
            raise Refused("damaged", f"not a readable compound file: {error}") from error
        self._by_key = {_key(path): path for path in paths}
        self._below: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for path in paths:
            for depth in range(len(path) - 1):
                self._below[path[:depth]].add(path[depth])

    @classmethod
    def of(cls, data: Buffer, job: Job) -> Compound:
        """Open a file, unless it was opened to tell its kind.

        Raises:
            Refused: it is not a readable compound file.
        """
        return job.opened if isinstance(job.opened, Compound) and job.opened._data is data else cls(data)

    def __enter__(self) -> Compound:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ole.close()

    def __contains__(self, path: tuple[str, ...]) -> bool:
        return _key(path) in self._by_key

    def storages(self, storage: tuple[str, ...]) -> list[tuple[str, ...]]:
        """The storages that stand in a storage, by name."""
        return [(*storage, name) for name in sorted(self._below.get(storage, ()))]

    def read(self, *path: str) -> bytes:
        """A stream's bytes."""
        found = self._by_key.get(_key(path))
        if found is None:
            return b""
        try:
            with self._ole.openstream(list(found)) as stream:
                content: bytes = stream.read(_LARGEST)
                return content
        except Exception:  # noqa: BLE001 — hostile bytes in a third-party parser
            return b""

    def replaced(self, stream: bytes, *path: str) -> bytes:
        """The whole file with another content of the same length in a stream.

        Raises:
            Refused: the file is too damaged to be written.
        """
        try:
            self._ole.write_stream(list(self._by_key[_key(path)]), stream)
            self._ole.fp.seek(0)
            content: bytes = self._ole.fp.read()
            return content
        except Exception as error:  # hostile bytes in a third-party parser
            raise Refused("damaged", f"not a readable compound file: {error}") from error

    def about(self) -> About:
        """What the file's property set says."""
        return _about(self.read("\x05SummaryInformation"))


def _key(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in path)


_TITLE, _AUTHOR, _CREATED, _SAVED = 2, 4, 12, 13  # numbers of properties


def _about(summary: bytes) -> About:
    try:
        start = struct.unpack_from("<L", summary, 44)[0]
        count = struct.unpack_from("<L", summary, start + 4)[0]
        places = {}
        for number in range(min(count, 100)):
            name, place = struct.unpack_from("<LL", summary, start + 8 + 8 * number)
            places[name] = start + place
        page = struct.unpack_from("<H", summary, places[1] + 4)[0] if 1 in places else 1252
    except struct.error:
        return About()
    days = [summary[places[name] + 4 : places[name] + 12] for name in (_SAVED, _CREATED) if name in places]
    return About(
        _text(summary, places.get(_TITLE), page),
        _text(summary, places.get(_AUTHOR), page),
        next((found for raw in days if (found := day_of_filetime(raw))), ""),
    )


def _text(summary: bytes, place: int | None, page: int) -> str:
    if place is None:
        return ""
    try:
        kind, size = struct.unpack_from("<LL", summary, place)
    except struct.error:
        return ""
    raw = summary[place + 8 : place + 8 + min(size, 1000)]
    encoding = "utf-16-le" if kind == 0x1F else codec("utf-8" if page == 65001 else f"cp{page}") or "cp1252"
    return " ".join(clean(raw.decode(encoding, "replace").partition("\0")[0]).split())
