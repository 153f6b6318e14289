"""The system calls that a reading process may still make, as a program for the kernel.

In: the architecture and the process's own number.  Out: the instructions of a seccomp filter (classic BPF).
Always: a call that is not listed fails: with ENOSYS, as on a kernel without it, if it is newer than this table, else with EPERM.
A call through the ABI of another architecture ends the process.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

# name: its numbers on x86_64 and aarch64; -1 where it does not exist
_ALLOWED: dict[str, tuple[int, int]] = {
    # on descriptors that it has
    "read": (0, 63), "readv": (19, 65), "pread64": (17, 67), "lseek": (8, 62), "write": (1, 64), "writev": (20, 66),
    "close": (3, 57), "fstat": (5, 80), "poll": (7, -1), "ppoll": (271, 73), "sendto": (44, 206), "sendmsg": (46, 211),
    "recvfrom": (45, 207), "recvmsg": (47, 212), "shutdown": (48, 210),
    # memory
    "brk": (12, 214), "munmap": (11, 215), "mremap": (25, 216), "madvise": (28, 233),
    # signals, its own threads, its end
    "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "sigaltstack": (131, 132),
    "restart_syscall": (219, 128), "futex": (202, 98), "sched_yield": (24, 124), "set_robust_list": (273, 99),
    "rseq": (334, 293), "membarrier": (324, 283), "exit": (60, 93), "exit_group": (231, 94),
    # clocks, and facts about itself
    "time": (201, -1), "gettimeofday": (96, 169), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "nanosleep": (35, 101), "times": (100, 153), "getrusage": (98, 165),
    "getrlimit": (97, 163), "setrlimit": (160, 164), "getrandom": (318, 278), "getcpu": (309, 168), "uname": (63, 160),
    "sysinfo": (99, 179), "sched_getaffinity": (204, 123), "getpid": (39, 172), "getppid": (110, 173), "gettid": (186, 178),
    "getuid": (102, 174), "geteuid": (107, 175), "getgid": (104, 176), "getegid": (108, 177),
}  # fmt: skip
_MAPS = {"mmap": (9, 222), "mprotect": (10, 226)}  # not executable
_SIGNALS = {"kill": (62, 129), "tgkill": (234, 131)}  # to itself
_LIMITS = {"prlimit64": (302, 261)}  # its own
_CONTROL = {"fcntl": (72, 25)}  # copies and flags of descriptors; neither locks nor owners
_NEWEST = 470  # calls with higher numbers came later than this table

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_PROT_EXEC = 4
_FCNTL = (0, 1, 2, 3, 1030)  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC

_LOAD, _RETURN = 0x20, 0x06
_IF_EQUAL, _IF_BITS, _IF_GREATER = 0x15, 0x45, 0x25
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _KILL, _FAIL = 0x7FFF0000, 0x80000000, 0x00050000

_Code = list[bytes]


def program(machine: str, pid: int) -> bytes | None:
    """The filter for a process, or None on an architecture that is not in the table."""
    if machine not in _ARCHITECTURES:
        return None
    column, architecture = _ARCHITECTURES[machine]

    def numbers(calls: dict[str, tuple[int, int]]) -> Iterable[int]:
        return (each[column] for each in calls.values() if each[column] >= 0)

    code = [_op(_LOAD, _ARCHITECTURE), _op(_IF_EQUAL, architecture, 1, 0), _op(_RETURN, _KILL), _op(_LOAD, _NUMBER)]
    for number in numbers(_ALLOWED):
        code += _when(number, [_op(_RETURN, _ALLOW)])
    for number in numbers(_MAPS):
        code += _when(number, _unless_bits(2, _PROT_EXEC))
    for number in numbers(_SIGNALS):
        code += _when(number, _if_one_of(0, (pid,)))
    for number in numbers(_LIMITS):
        code += _when(number, _if_one_of(0, (0,)))
    for number in numbers(_CONTROL):
        code += _when(number, _if_one_of(1, _FCNTL))
    code += [_op(_IF_GREATER, _NEWEST, 0, 1), _fail(errno.ENOSYS), _fail(errno.EPERM)]
    return b"".join(code)


def _when(number: int, then: _Code) -> _Code:
    return [_op(_IF_EQUAL, number, 0, len(then)), *then]


def _unless_bits(argument: int, bits: int) -> _Code:
    return [_argument(argument), _op(_IF_BITS, bits, 0, 1), _fail(errno.EPERM), _op(_RETURN, _ALLOW)]


def _if_one_of(argument: int, values: tuple[int, ...]) -> _Code:
    tests = [step for value in values for step in (_op(_IF_EQUAL, value, 0, 1), _op(_RETURN, _ALLOW))]
    return [_argument(argument), *tests, _fail(errno.EPERM)]


def _argument(number: int) -> bytes:
    # The lower 32 bits, which come first on both (little-endian) architectures; the kernel uses no more of these arguments.
    return _op(_LOAD, _ARGUMENTS + 8 * number)


def _fail(code: int) -> bytes:
    return _op(_RETURN, _FAIL | code)


def _op(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)
