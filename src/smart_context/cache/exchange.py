"""Exchange two directories in one step, where the system can.

In: two names.  Out: whether they were exchanged.
Always: either both names are exchanged or nothing has changed.
"""

from __future__ import annotations

import errno
import os
import sys

_LINUX_EXCHANGE = 2  # RENAME_EXCHANGE
_MAC_SWAP = 2  # RENAME_SWAP
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def names(folder: int, name: str, other_folder: int, other_name: str) -> bool:
    """Exchange what two names stand for; False where system or file system cannot. Raises: OSError."""
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    call = getattr(library, "renameatx_np" if sys.platform == "darwin" else "renameat2", None)
    if call is None:
        return False
    flag = _MAC_SWAP if sys.platform == "darwin" else _LINUX_EXCHANGE
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    if call(folder, os.fsencode(name), other_folder, os.fsencode(other_name), flag) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), name)
