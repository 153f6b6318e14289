"""Compile what is written in C: `_name.c` in a room of the package becomes `_name`, beside the Python that says the same.

In: every `src/smart_context/**/_*.c`.  Out: extension modules; in the wheel, or beside their sources for a checkout.
Always: a machine without a C compiler gets a package that answers the same, only slower: a module that is missing is not imported.

`python -m tools.compiled` compiles them for a checkout; `make` does so after a change.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import sysconfig
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent.parent
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
_FLAGS = (
    "-O3",
    "-std=c11",
    "-ffp-contract=off",  # numbers are those of Python to the last bit: a product and a sum are rounded each
    "-fvisibility=hidden",
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
)


class Compiled(BuildHookInterface[Any]):
    """Hatchling calls it before it builds."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile; into the checkout for an editable install, else into the wheel, which then is for this system alone."""
        root = Path(self.root)
        if version == "editable":
            every(root, root)
            return
        self._place = tempfile.TemporaryDirectory()
        made = every(root, Path(self._place.name))
        build_data["force_include"] |= {
            str(path): str(path.relative_to(Path(self._place.name, "src"))) for path in made
        }
        if made:
            build_data["pure_python"], build_data["infer_tag"] = False, True


def every(root: Path, target: Path) -> list[Path]:
    """Compile every source below `root` into the same place below `target`, several at a time; those that could be."""
    sources = sorted(Path(root, "src").rglob("_*.c"))
    outs = [target / source.relative_to(root).with_suffix(SUFFIX) for source in sources]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return [out for out, is_made in zip(outs, threads.map(_is_made, sources, outs), strict=True) if is_made]


def _is_made(source: Path, out: Path) -> bool:
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        _compile(source, out)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{source.name} was not compiled ({error}): the same is done in Python, more slowly", file=sys.stderr)  # noqa: T201
        out.unlink(missing_ok=True)
        return False
    return True


def _compile(source: Path, out: Path) -> None:
    linked = shlex.split(sysconfig.get_config_var("LDSHARED") or "")
    if not linked:
        raise OSError("Python does not say by what")
    more = shlex.split(os.environ.get("CFLAGS", ""))
    include = f"-I{sysconfig.get_path('include')}"
    fresh = out.with_name(f"{out.name}.new")  # a running program keeps the one that it has loaded
    subprocess.run([*linked, "-fPIC", *_FLAGS, *more, include, source, "-lm", "-o", fresh], check=True)
    fresh.replace(out)


if __name__ == "__main__":
    for path in every(ROOT, ROOT):
        print(path.relative_to(ROOT))  # noqa: T201
