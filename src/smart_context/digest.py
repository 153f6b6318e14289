"""Hashes without loading OpenSSL before there is much to hash.

In: bytes.  Out: their SHA-256 in hex; BLAKE2b as `hashlib` has it.
Always: the same digest from either implementation. Loading OpenSSL takes as long as Python's own code needs for a few hundred kilobytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b
    from hashlib import sha256 as _sha256
else:
    from _blake2 import blake2b  # where hashlib has it from

    try:
        from _sha2 import sha256 as _sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256 as _sha256
        except ImportError:  # a Python built without its own
            from hashlib import sha256 as _sha256  # noqa: F401  # used below, where it is also replaced

__all__ = ["blake2b", "sha256"]

_before_openssl = 256 * 1024  # bytes of which SHA-256 is asked


def sha256(data: bytes | bytearray) -> str:
    """Return the SHA-256 of the bytes in hex."""
    global _before_openssl, _sha256  # noqa: PLW0603  # which implementation serves is a fact about the process
    if _before_openssl > 0:
        _before_openssl -= len(data)
        if _before_openssl <= 0:
            from hashlib import sha256 as openssl

            _sha256 = openssl
    return _sha256(data).hexdigest()
