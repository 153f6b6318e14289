"""Keys and signatures in minisign's format: ed25519, so that minisign and we read what the other wrote.

In: the text of a key file or a signature, and what was signed.  Out: keys, signatures, or why not.
Always: no byte of a signature file can be changed unnoticed: what is not signed has one accepted form (a first line that minisign
writes by itself, canonical base64).
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from smart_context.errors import KeyInvalid

UNTRUSTED = "untrusted comment: "
TRUSTED = "trusted comment: "
COMMENT = "signature from minisign secret key"
_COMMENTS = frozenset({COMMENT, "signature from rsign secret key"})
_LEGACY, _HASHED = b"Ed", b"ED"  # what is signed: the text itself, or its BLAKE2b
_SCRYPT, _PLAIN = b"Sc", b"\0\0"
_CHECK = b"B2"
_SECRET = 2 + 2 + 2 + 32 + 8 + 8 + 8 + 64 + 32
# 2^17 blocks of 1 KiB: 128 MB and less than a second. minisign reads the limits from the file.
_OPERATIONS, _MEMORY = 1 << 22, 1 << 27
_MOST_MEMORY = 1 << 30
_EXPIRES = re.compile(r"expires:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A trusted key. expires: an RFC 3339 time in UTC from the file's comment, or ""."""

    key_id: bytes
    key: bytes
    expires: str = ""

    @property
    def name(self) -> str:
        """The id as minisign shows it."""
        return self.key_id[::-1].hex().upper()


@dataclass(frozen=True, slots=True)
class SecretKey:
    """What signs: the seed of an ed25519 key, and its public half."""

    seed: bytes
    public: PublicKey


@dataclass(frozen=True, slots=True)
class Signature:
    """A signature that fits its text. comment: the trusted one."""

    key: PublicKey
    comment: str


def new_secret_key(seed: bytes, key_id: bytes, expires: str = "") -> SecretKey:
    """Return the key that a random seed of 32 bytes and a random id of 8 make."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()
    return SecretKey(seed, PublicKey(key_id, public, expires))


def public_text(key: PublicKey) -> str:
    """Return the file of a public key."""
    expires = f" expires:{key.expires}" if key.expires else ""
    return f"{UNTRUSTED}minisign public key {key.name}{expires}\n{_encoded(_LEGACY + key.key_id + key.key)}\n"


def read_public(text: str) -> PublicKey:
    """Read the file of a public key, or its second line alone. Raises: KeyInvalid."""
    comment, data = _file(text, 2 + 8 + 32, "public key")
    if data[:2] != _LEGACY:
        raise KeyInvalid("not a public key of minisign", reason="it is for another kind of signature")
    return PublicKey(data[2:10], data[10:], _expiry(comment))


def secret_text(key: SecretKey, passphrase: str, salt: bytes) -> str:
    """Return the file of a secret key; without a passphrase it is not encrypted."""
    kept = key.public.key_id + key.seed + key.public.key
    kept += hashlib.blake2b(_LEGACY + kept, digest_size=32).digest()
    if passphrase:
        limits = _OPERATIONS.to_bytes(8, "little") + _MEMORY.to_bytes(8, "little")
        head = _LEGACY + _SCRYPT + _CHECK + salt + limits
        kept = _mixed(kept, passphrase, salt, _OPERATIONS, _MEMORY)
    else:
        head = _LEGACY + _PLAIN + _CHECK + bytes(32 + 8 + 8)
    what = "minisign encrypted secret key" if passphrase else "minisign secret key"
    expires = f" expires:{key.public.expires}" if key.public.expires else ""
    return f"{UNTRUSTED}{what}{expires}\n{_encoded(head + kept)}\n"


def is_encrypted(text: str) -> bool:
    """Whether the file of a secret key needs a passphrase. Raises: KeyInvalid."""
    return _file(text, _SECRET, "secret key")[1][2:4] == _SCRYPT


def read_secret(text: str, passphrase: str) -> SecretKey:
    """Read the file of a secret key. Raises: KeyInvalid."""
    comment, data = _file(text, _SECRET, "secret key")
    if data[:2] != _LEGACY or data[4:6] != _CHECK or data[2:4] not in {_SCRYPT, _PLAIN}:
        raise KeyInvalid("not a secret key of minisign", reason="it is of a kind that is not known")
    kept = data[54:]
    if data[2:4] == _SCRYPT:
        operations, memory = int.from_bytes(data[38:46], "little"), int.from_bytes(data[46:54], "little")
        kept = _mixed(kept, passphrase, data[6:38], operations, memory)
        if hashlib.blake2b(_LEGACY + kept[:72], digest_size=32).digest() != kept[72:]:
            raise KeyInvalid("cannot use the secret key", reason="the passphrase is wrong")
    # Where there is no passphrase, minisign writes no check sum either.
    key = new_secret_key(kept[8:40], kept[:8], _expiry(comment))
    if key.public.key != kept[40:72]:
        raise KeyInvalid("cannot use the secret key", reason="it is damaged")
    return key


def sign(key: SecretKey, data: bytes, comment: str) -> str:
    """Return the signature file of data, prehashed; `comment` is signed too."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(key.seed)
    signature = private.sign(hashlib.blake2b(data).digest())
    both = private.sign(signature + comment.encode())
    first = _encoded(_HASHED + key.public.key_id + signature)
    return f"{UNTRUSTED}{COMMENT}\n{first}\n{TRUSTED}{comment}\n{_encoded(both)}\n"


def check(text: str, data: bytes, keys: list[PublicKey]) -> Signature:
    """Return the signature if it is one of the data by one of the keys. Raises: KeyInvalid."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    head, both, comment = _parts(text)
    key = next((key for key in keys if key.key_id == head[2:10]), None)
    if key is None:
        raise KeyInvalid(f"it was made by the key {PublicKey(head[2:10], b'').name}, which is not the one given")
    public = Ed25519PublicKey.from_public_bytes(key.key)
    try:
        public.verify(head[10:], hashlib.blake2b(data).digest() if head[:2] == _HASHED else data)
        public.verify(both, head[10:] + comment.encode())
    except InvalidSignature:
        raise KeyInvalid("it does not fit what it signs") from None
    return Signature(key, comment)


def signed_by(text: str) -> str:
    """The id of the key that a signature names; nothing is checked. Raises: KeyInvalid for what is no signature."""
    return PublicKey(_parts(text)[0][2:10], b"").name


def expiry_in(comment: str) -> str:
    """Return the time that a comment says something ends at, or ""."""
    return _expiry(comment)


def _parts(text: str) -> tuple[bytes, bytes, str]:
    lines = text.split("\n")
    if len(lines) != 5 or lines[4] or not lines[2].startswith(TRUSTED):
        raise KeyInvalid("it is not a signature of minisign")
    if not lines[0].startswith(UNTRUSTED) or lines[0][len(UNTRUSTED) :] not in _COMMENTS:
        raise KeyInvalid("its first line is not minisign's own, and nothing would protect another")
    head, both = _decoded(lines[1], 74), _decoded(lines[3], 64)
    if head is None or both is None or head[:2] not in {_LEGACY, _HASHED}:
        raise KeyInvalid("it is not a signature of minisign")
    return head, both, lines[2][len(TRUSTED) :]


def _file(text: str, size: int, what: str) -> tuple[str, bytes]:
    lines = text.strip().split("\n")
    comment = lines[0] if lines[0].startswith(UNTRUSTED) else ""
    data = _decoded(lines[-1].strip(), size) if len(lines) == 1 + bool(comment) else None
    if data is None:
        raise KeyInvalid(f"not a {what} of minisign")
    return comment, data


def _mixed(kept: bytes, passphrase: str, salt: bytes, operations: int, memory: int) -> bytes:
    """Encrypt or decrypt: libsodium's scrypt, whose parameters follow from two limits."""
    blocks, lanes = _parameters(operations, memory)
    if not 1 <= lanes <= 64 or blocks > _MOST_MEMORY // 1024:
        raise KeyInvalid(
            "cannot use the secret key", reason="its passphrase asks for more memory or time than is allowed"
        )
    stream = hashlib.scrypt(
        passphrase.encode(), salt=salt, n=blocks, r=8, p=lanes, maxmem=blocks * 1024 + (1 << 25), dklen=len(kept)
    )
    return bytes(one ^ other for one, other in zip(kept, stream, strict=True))


def _parameters(operations: int, memory: int) -> tuple[int, int]:
    operations = max(operations, 32768)
    is_short = operations < memory // 32
    most = operations // 32 if is_short else memory // 1024
    bits = 1
    while bits < 63 and 1 << bits <= most // 2:
        bits += 1
    return 1 << bits, 1 if is_short else min(operations // 4 // (1 << bits), 0x3FFFFFFF) // 8


def _expiry(comment: str) -> str:
    found = _EXPIRES.search(comment)
    return found[1] if found else ""


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _decoded(text: str, size: int) -> bytes | None:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if len(data) == size and _encoded(data) == text else None
