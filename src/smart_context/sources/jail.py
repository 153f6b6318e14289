"""Put a reading process in a jail, on Linux: it keeps its descriptors and memory, and can open nothing more.

In: nothing.  Out: the names of the layers in force.
Always: it cannot be undone, and a layer that the system lacks is left out and not named. Landlock forbids every file, TCP port and signal to other
processes (as far as the kernel's version supports it); seccomp forbids every system call that a reader does not need: opening, creating, changing or
removing a file, a connection, a program, a process, executable memory. Everything that a reader needs must be loaded before.
"""

from __future__ import annotations

import ctypes
import os
import sys

from smart_context.model import JAIL_LAYERS
from smart_context.sources import seccomp

_SET_NO_NEW_PRIVILEGES = 38
_CAPSET = {"x86_64": 126, "aarch64": 91}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _ALL_THREADS = 1, 1
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # the same on every architecture
_ASK_VERSION = 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def enter() -> tuple[str, ...]:
    """Put this process in the jail."""
    if not sys.platform.startswith("linux"):
        return ()
    libc = ctypes.CDLL(None, use_errno=True)
    machine = os.uname().machine
    if libc.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return ()
    _drop_capabilities(libc, machine)
    # In this order: seccomp forbids what Landlock is made with.
    found = {"landlock": _landlock(libc), "seccomp": _seccomp(libc, machine)}
    return tuple(layer for layer in JAIL_LAYERS if found[layer])


def _drop_capabilities(libc: ctypes.CDLL, machine: str) -> None:
    """Drop all capabilities, so that even root cannot raise its limits again."""
    if machine in _CAPSET:
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        libc.syscall(_CAPSET[machine], ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)()))


def _landlock(libc: ctypes.CDLL) -> bool:
    """Forbid everything that this kernel's Landlock can forbid, without exceptions."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    if version < 1:
        return False
    rights = 13 + (version >= 2) + (version >= 3) + (version >= 5)  # linking elsewhere, truncating, ioctl on devices
    rules = _Ruleset((1 << rights) - 1, 0b11 if version >= 4 else 0, 0b11 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    descriptor = libc.syscall(_CREATE_RULESET, ctypes.byref(rules), ctypes.c_size_t(size), 0)
    if descriptor < 0:
        return False
    try:
        return bool(libc.syscall(_RESTRICT_SELF, descriptor, 0) == 0)
    finally:
        os.close(descriptor)


def _seccomp(libc: ctypes.CDLL, machine: str) -> bool:
    code = seccomp.program(machine, os.getpid())
    if code is None or sys.byteorder != "little" or sys.maxsize < 2**32:
        return False
    held = ctypes.create_string_buffer(code, len(code))
    filter_ = _Program(len(code) // 8, ctypes.addressof(held))
    return bool(libc.syscall(_SECCOMP[machine], _SET_FILTER, _ALL_THREADS, ctypes.byref(filter_)) == 0)
