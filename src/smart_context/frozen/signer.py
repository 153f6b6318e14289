"""Say who signed a cache, and what proves it, for people to read.

In: a cache directory, and the keys that are trusted: a public key of minisign, a folder of them, or none.  Out: a `Signer`.
Always: only a signature that was checked by a trusted key names its signer; any other says what is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from smart_context.cache import folder
from smart_context.errors import CacheInvalid, ContextError, KeyInvalid
from smart_context.frozen import keys, minisign, sign
from smart_context.frozen.minisign import PublicKey


@dataclass(frozen=True, slots=True)
class Signer:
    """Who signed. key: its id, as minisign shows it.  proof: the file of the key that the signature was checked by.

    why: what does not fit, or what is missing.
    """

    state: Literal["unsigned", "fits", "unproved", "broken"]
    key: str = ""
    proof: str = ""
    why: str = ""


def of(cache: str | os.PathLike[str], trusted: str, *, now: str) -> Signer:
    """Check the signature of a cache.

    Raises: CacheMissing, CacheInvalid where the cache itself is not valid, IoError.
    """
    text = folder.read(cache, _signature)
    if text is None:
        return Signer("unsigned")
    try:
        key = minisign.signed_by(text)
    except KeyInvalid as error:
        return Signer("broken", why=error.in_one_line)
    try:
        known = dict(_named(trusted))
    except ContextError as error:
        return Signer("unproved", key, why=error.in_one_line)
    proof = next((name for name, each in known.items() if each.name == key), "")
    if not proof:
        return Signer("unproved", key, why="that key is not among the trusted ones")
    try:
        sign.check(cache, [known[proof]], now=now)
    except CacheInvalid as error:
        return Signer("broken", key, proof, f"{error.member}: {error.why}")
    return Signer("fits", key, proof)


def _signature(opened: folder.Folder) -> str | None:
    try:
        return sign.signature_of(opened).decode("utf-8", "replace")
    except CacheInvalid:
        return None


def _named(trusted: str) -> Iterator[tuple[str, PublicKey]]:
    """The trusted keys, each by the name of its file."""
    if not trusted:
        return
    if not os.path.isdir(trusted):
        yield os.path.basename(trusted), keys.public(trusted)[0]
        return
    for name in sorted(os.listdir(trusted)):
        if name.endswith(".pub"):
            yield name, keys.public(os.path.join(trusted, name))[0]
