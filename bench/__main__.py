"""Run one benchmark, or list them: `python -m bench NAME [ARGS]`. Each is a module beside this one with a `main(argv)`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    names = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        print("usage: python -m bench NAME [ARGS]\n" + "\n".join(f"  {name}" for name in names))
        raise SystemExit(0 if len(sys.argv) < 2 else 1)
    import_module(f"bench.{sys.argv[1]}").main(sys.argv[2:])


main()
