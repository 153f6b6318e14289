"""Import modules from memory: in the jail no file can be opened, and most modules are never needed.

In: a package, and which of its modules.  Out: an importer that has their code.
Always: an import runs the code that the file had when it was kept; a module whose bytecode is missing or stale is compiled when it is imported.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER, cache_from_source
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from importlib.abc import Loader

_HEAD = 16  # bytes of a .pyc before the code: magic number, flags, and the source's time and size
_BY_TIME = bytes(4)


class Kept:
    """A finder and loader of modules in memory, without the base classes of importlib, which load a dozen modules."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes, bool]] = {}

    def keep(self, package: ModuleType, wanted: Callable[[str], bool] = lambda _name: True) -> list[str]:
        """Keep the modules of a package that are not imported yet, each once; return their names.

        Raises: OSError where the package is not a folder of files.
        """
        kept = []
        held = {name for finder in sys.meta_path if isinstance(finder, Kept) for name in finder._files}
        with os.scandir(package.__path__[0]) as entries:
            sources = [entry for entry in entries if entry.name.endswith(".py") and entry.name != "__init__.py"]
        for source in sources:
            name = f"{package.__name__}.{source.name[:-3]}"
            if name not in sys.modules and wanted(source.name[:-3]):
                if name not in held:
                    self._files[name] = _code(source.path, source.stat())
                kept.append(name)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)
        return kept

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """The spec of a kept module; None for others."""
        return ModuleSpec(fullname, cast("Loader", self)) if fullname in self._files else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Make the module object in the default way."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run a module's code."""
        path, data, is_compiled = self._files.pop(module.__name__)
        code: CodeType = marshal.loads(data[_HEAD:]) if is_compiled else compile(data, path, "exec", dont_inherit=True)  # noqa: S302
        exec(code, module.__dict__)  # noqa: S102


def _code(source: str, info: os.stat_result) -> tuple[str, bytes, bool]:
    """A module's path, and its bytecode if that is up to date, else its source; and which of the two."""
    try:
        with open(cache_from_source(source), "rb") as file:
            data = file.read()
        fits = (int(info.st_mtime) & 0xFFFFFFFF).to_bytes(4, "little") + (info.st_size & 0xFFFFFFFF).to_bytes(
            4, "little"
        )
        if data[:_HEAD] == MAGIC_NUMBER + _BY_TIME + fits:
            return source, data, True
    except (OSError, NotImplementedError):
        pass
    with open(source, "rb") as file:
        return source, file.read(), False
