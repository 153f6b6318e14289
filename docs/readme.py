"""Run the commands that the README shows, and write down what they print: `python -m docs.readme [--check]`.

With `--check` nothing is written, and the exit status says whether the README is true.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
_BLOCK = re.compile(r"(?<=```console\n).*?(?=```)", re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)


def main() -> None:
    """Bring the README up to date, or check it."""
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        home, work = Path(place).resolve() / "home", Path(place).resolve() / "work"
        home.mkdir()
        shutil.copytree(ROOT / "examples/handbook", work / "examples/handbook")
        after = _BLOCK.sub(lambda block: "\n".join(_shown(c, home, work) for c in _COMMAND.findall(block[0])), before)
    if "--check" not in sys.argv:
        (ROOT / "README.md").write_text(after, encoding="utf-8")
    elif after != before:
        sys.exit("the README shows something else than its commands print; run `make docs`")


def _shown(command: str, home: Path, work: Path) -> str:
    """Run a command as a user would, and tell what it prints with the places of an example."""
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, "-m", "smart_context", *shlex.split(command)[1:]],
        cwd=work,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=True,
    )
    text = done.stdout.decode().rstrip("\n")
    text = text.replace(str(work), "/home/you/smart-context").replace(str(home), "/home/you")
    return f"$ {command}\n" + re.sub(r"in \d+\.\d s", "in 0.5 s", text) + "\n"


if __name__ == "__main__":
    main()
