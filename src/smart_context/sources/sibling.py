"""Fork a loaded reading process as its sibling, so that the new one need not load the readers again.

In: nothing.  Out: what `os.fork` gives, in both processes.
Always: the new process is a child of our parent, as if that had started it: it is waited for, signalled and ended there. It is forked before either of the two
has read a byte of a file, and shares nothing with us but what was loaded.
"""

from __future__ import annotations

import errno
import os
import signal
import sys

_CLONE = {"x86_64": 56, "aarch64": 220}
_CHILD_OF_OUR_PARENT = 0x00008000


def is_possible() -> bool:
    """Whether this system has it."""
    return sys.platform.startswith("linux") and os.uname().machine in _CLONE


def fork() -> int:
    """Fork; 0 in the new process, its pid in this one.

    Raises: OSError where the system does not allow it, or this process has several threads, of which the new one would have only one.
    """
    if len(os.listdir("/proc/self/task")) > 1:
        raise OSError(errno.EBUSY, "several threads")
    import ctypes

    python = ctypes.pythonapi  # as `os.fork` does it, but for the system call; the GIL is held
    system = ctypes.PyDLL(None, use_errno=True)
    flags = ctypes.c_long(_CHILD_OF_OUR_PARENT | signal.SIGCHLD)
    none = ctypes.c_long(0)
    python.PyOS_BeforeFork()
    pid = int(system.syscall(ctypes.c_long(_CLONE[os.uname().machine]), flags, none, none, none, none))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        why = ctypes.get_errno()
        raise OSError(why, os.strerror(why))
    return pid
