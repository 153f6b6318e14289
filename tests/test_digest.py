"""Hashes are those of `hashlib`, whoever makes them."""

from __future__ import annotations

import hashlib
import subprocess
import sys

import pytest

from smart_context import digest

TEXTS = [b"", b"walrus", bytes(range(256)) * 5]


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_a_digest_is_that_of_hashlib(text):
    assert digest.sha256(text) == digest.sha256(bytearray(text)) == hashlib.sha256(text).hexdigest()
    assert digest.blake2b(text, digest_size=9).digest() == hashlib.blake2b(text, digest_size=9).digest()


@pytest.mark.parametrize("missing", [(), ("_sha2",), ("_sha256",), ("_sha2", "_sha256")], ids=str)
def test_much_text_and_a_python_without_hashes_of_its_own_give_the_same(missing):
    program = f"""
import sys
for name in {missing!r}:
    sys.modules[name] = None
from smart_context import digest
print(digest.sha256(b"walrus"), "hashlib" in sys.modules)
print(digest.sha256(b"ice" * 100_000), "hashlib" in sys.modules)
print(digest.sha256(b"walrus"))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    few, much = hashlib.sha256(b"walrus").hexdigest(), hashlib.sha256(b"ice" * 100_000).hexdigest()
    own = "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    assert done.stdout.split() == [few, str(own in missing), much, "True", few]
