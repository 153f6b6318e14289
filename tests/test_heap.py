"""What programs do so that their memory stays where it is."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Threads that allocate at the same time, then what the C library says of its heaps.
PROGRAM = """
import ctypes, sys, threading
from smart_context import heap
if sys.argv[1] == "one, by ctypes":
    heap.compiled = None
if sys.argv[1] != "each its own":
    heap.share()
    heap.give_back()
libc = ctypes.CDLL(None)
if not hasattr(libc, "malloc_info"):
    sys.exit(77)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(4)
def allocate():
    together.wait()
    for _ in range(1000):
        libc.malloc(2000)
    together.wait()
threads = [threading.Thread(target=allocate) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_info(0, ctypes.c_void_p.in_dll(libc, "stdout"))
libc.fflush(None)
"""


def heaps(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this C library does not tell of its heaps")
    assert done.returncode == 0, done.stderr
    return done.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
def test_all_threads_share_one_heap():
    if heaps("each its own") == 1:
        pytest.skip("this C library has one heap anyway")
    assert heaps("one") == heaps("one, by ctypes") == 1
