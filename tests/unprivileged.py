"""Run the command as a user without rights, from a test that runs as root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

NOBODY = 65534

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")

# The interpreter may lie where nobody may read, so everything is imported before the rights are given up.
_SCRIPT = """
import os, sys, ctypes, shutil, unicodedata, time, fcntl
import smart_context.cli.cache, smart_context.cli.show, smart_context.cache.lowercase_tables
from smart_context.cache import build, resolve, inspect, verify, listing
os.setgroups([]); os.setresgid(65534, 65534, 65534); os.setresuid(65534, 65534, 65534)
from smart_context.cli import main
main()
"""


def run(work: Path, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Give everything below `work` to nobody, then run `context …` in it as nobody."""
    for folder, folders, files in os.walk(work):
        for path in [folder, *(os.path.join(folder, name) for name in folders + files)]:
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
    for outer in work.parents:  # pytest's folders are for their owner alone
        if outer.stat().st_uid == os.geteuid() and outer.stat().st_mode & 0o077 == 0 and "pytest" in str(outer):
            outer.chmod(0o711)
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT, *args], cwd=work, capture_output=True, timeout=300, check=False
    )
