"""Freezing from Python and the command line: build of any format, compare and sign caches.

In: paths, queries, budgets, keys.  Out: data.
Always: the clock is read here and nowhere below.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Unpack

if TYPE_CHECKING:
    from smart_context.cache.build import BuildOptions, Built
    from smart_context.cache.verify import Verified
    from smart_context.frozen.diff import Difference
    from smart_context.frozen.minisign import PublicKey, SecretKey
    from smart_context.frozen.prune import Old
    from smart_context.frozen.sign import Signed
    from smart_context.model import OnProgress

_TIME = "%Y-%m-%dT%H:%M:%SZ"
_DAY = 24 * 60 * 60


def diff(
    old: str | os.PathLike[str], new: str | os.PathLike[str], *, query: str | None = None, budget: int = 0
) -> Difference:
    """Compare two caches; with a query, also what it selects from each within the budget.

    Raises: InvalidQuery, InvalidBudget, CacheMissing, CacheInvalid, IoError.
    """
    from smart_context.frozen import diff as stage

    return stage.caches(old, new, query=query, budget=budget)


def build_formats(
    sources: str | os.PathLike[str], cache: str | os.PathLike[str], formats: str, **how: Unpack[BuildOptions]
) -> Built:
    """Build a cache from files of any format that search reads: `all`, or extensions with commas between them.

    Raises: UsageError, SameId, IoError.
    """
    from smart_context.frozen import formats as stage

    return stage.cache(sources, cache, formats, created_at=time.strftime(_TIME, time.gmtime()), **how)


def old_caches(root: str | os.PathLike[str], *, keep: int, older_than: str | None) -> list[Old]:
    """Return the caches below a root that are neither among the newest to keep nor younger than an age (12h, 30d, 8w).

    Raises: UsageError, CacheMissing, IoError.
    """
    from datetime import UTC, datetime

    from smart_context.frozen import prune

    now = datetime.now(UTC)
    return prune.caches(root, keep=keep, before=now - prune.age(older_than) if older_than else now)


def make_key(
    secret: str | os.PathLike[str], public: str | os.PathLike[str], *, passphrase: str = "", days: int | None = None
) -> PublicKey:
    """Make a key for signing caches, which ends after so many days; its two files must not exist. Raises: IoError."""
    from smart_context.frozen import keys

    expires = "" if days is None else time.strftime(_TIME, time.gmtime(time.time() + days * _DAY))
    return keys.make(secret, public, passphrase=passphrase, expires=expires)


def sign_cache(
    cache: str | os.PathLike[str], key: SecretKey, *, force: bool = False, on_progress: OnProgress | None = None
) -> Verified:
    """Sign a cache; `force` replaces an old signature. Raises: CacheMissing, CacheInvalid, KeyInvalid, IoError."""
    from smart_context.frozen import sign

    now = time.time()
    at = time.strftime(_TIME, time.gmtime(now))
    return sign.cache(cache, key, now=at, timestamp=int(now), force=force, on_progress=on_progress)


def verify_signature(
    cache: str | os.PathLike[str], key: str | os.PathLike[str], *, on_progress: OnProgress | None = None
) -> Signed:
    """Verify a cache and its signature by a public key, or by one of a folder's.

    Raises: CacheMissing, CacheInvalid, KeyInvalid, IoError.
    """
    from smart_context.frozen import keys, sign

    now = time.strftime(_TIME, time.gmtime())
    return sign.check(cache, keys.public(key), now=now, on_progress=on_progress)
