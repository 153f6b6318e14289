"""SHA-256, without paying for a cryptographic library before there is much to hash.

In: bytes.  Out: their SHA-256 in hex.
Always: the same digest from either implementation. Loading OpenSSL takes as long as Python's own code needs for a few hundred kilobytes.
"""

from __future__ import annotations

try:
    from _sha2 import sha256 as _sha256  # type: ignore[import-not-found,unused-ignore]  # Python 3.12 and later
except ImportError:
    try:
        from _sha256 import sha256 as _sha256  # type: ignore[import-not-found,unused-ignore]
    except ImportError:  # a Python built without its own
        from hashlib import sha256 as _sha256  # noqa: F401  # used below, where it is also replaced

_before_openssl = 256 * 1024  # bytes


def sha256(data: bytes | bytearray) -> str:
    """Return the SHA-256 of the bytes in hex."""
    global _before_openssl, _sha256  # noqa: PLW0603  # which implementation serves is a fact about the process
    if _before_openssl > 0:
        _before_openssl -= len(data)
        if _before_openssl <= 0:
            from hashlib import sha256 as openssl

            _sha256 = openssl
    digest: str = _sha256(data).hexdigest()
    return digest
