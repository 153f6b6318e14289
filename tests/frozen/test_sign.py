"""Signed caches: made here and by minisign, checked here and by minisign, and broken in every file."""

from __future__ import annotations

import json
import os
import resource
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from conftest import Run, Tree
from smart_context.cache import build
from smart_context.errors import CacheInvalid, ContextError, IoError, KeyInvalid
from smart_context.frozen import keys, minisign, sign

MINISIGN = shutil.which("minisign")
with_minisign = pytest.mark.skipif(not MINISIGN, reason="minisign is not installed")
NOW = "2026-06-01T00:00:00Z"
SOURCES = {"a.md": "alpha\n", "b/c.md": "beta\n", "empty.md": ""}


@pytest.fixture
def cache(tree: Tree, tmp_path: Path) -> Path:
    build.cache(tree(SOURCES), tmp_path / "cache", created_at="2026-01-01T00:00:00Z")
    (tmp_path / "cache" / "freeze.json").write_text('{"query":"alpha"}', encoding="utf-8")
    (tmp_path / "cache" / "odd\nname\\").write_text("x", encoding="utf-8")
    return tmp_path / "cache"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    keys.make(tmp_path / "me.key", tmp_path / "me.pub")
    return tmp_path / "me.key"


def signed(cache: Path, key: Path) -> list[minisign.PublicKey]:
    sign.cache(cache, keys.secret(key, ""), now=NOW, timestamp=1780272000, force=True)
    return keys.public(key.with_suffix(".pub"))


def minisigned(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MINISIGN), *map(str, arguments)], input=stdin, capture_output=True, text=True, check=False
    )


def test_a_signed_cache_verifies_and_says_by_whose_key(run: Run, cache: Path, key: Path) -> None:
    assert run("verify", "--cache", cache, "--key", key.with_suffix(".pub")).returncode == 5
    assert run("sign", "--cache", cache, "--key", key).returncode == 0
    done = run("verify", "--cache", cache, "--key", key.with_suffix(".pub"))
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["valid"], answer["key"]) == (0, True, keys.public(key.with_suffix(".pub"))[0].name)
    assert json.loads(run("verify", "--cache", cache).stdout).keys() == {"cache_version", "document_count", "valid"}
    again = run("sign", "--cache", cache, "--key", key)
    assert (again.returncode, again.stdout) == (6, b"")
    assert run("sign", "--cache", cache, "--key", key, "--force").returncode == 0


def test_the_list_is_what_sha256sum_checks(cache: Path, key: Path) -> None:
    signed(cache, key)
    done = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=cache, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len([file for file in cache.rglob("*") if file.is_file()]) - 2


def test_one_changed_byte_in_any_file_is_noticed(cache: Path, key: Path) -> None:
    known = signed(cache, key)
    files = sorted(file for file in cache.rglob("*") if file.is_file())
    assert len(files) == 9
    for file in files:
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            for bit in (1, 32):
                file.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
                with pytest.raises(ContextError) as error:
                    sign.check(cache, known, now=NOW)
                assert error.value.exit_status == 5, (file, at)
        file.write_bytes(whole)
    assert sign.check(cache, known, now=NOW).signature.key == known[0]


def test_a_file_that_came_or_went_is_noticed(cache: Path, key: Path) -> None:
    known = signed(cache, key)
    (cache / "more.txt").write_text("x", encoding="utf-8")
    with pytest.raises(CacheInvalid, match="failed verification") as error:
        sign.check(cache, known, now=NOW)
    assert (error.value.member, error.value.why) == ("more.txt", "is not among the files that were signed")
    (cache / "more.txt").unlink()
    (cache / "freeze.json").unlink()
    with pytest.raises(CacheInvalid) as error:
        sign.check(cache, known, now=NOW)
    assert (error.value.member, error.value.why) == ("freeze.json", "is signed, but missing")


@pytest.mark.parametrize("what", ["link", "fifo", "linked folder"])
def test_what_is_no_file_is_not_signed(cache: Path, key: Path, what: str) -> None:
    if what == "fifo":
        os.mkfifo(cache / "odd")
    else:
        (cache / "odd").symlink_to("/etc" if what == "linked folder" else "/etc/passwd")
    with pytest.raises(CacheInvalid) as error:
        signed(cache, key)
    assert error.value.member == "odd"
    assert not (cache / "SHA256SUMS").exists()


def test_a_broken_cache_is_not_signed(run: Run, cache: Path, key: Path) -> None:
    next((cache / "documents").iterdir()).write_text("{}", encoding="utf-8")
    assert run("sign", "--cache", cache, "--key", key).returncode == 5
    assert not (cache / "SHA256SUMS").exists()


def test_another_key_an_expired_one_and_none_are_refused_with_the_reason(
    cache: Path, key: Path, tmp_path: Path
) -> None:
    signed(cache, key)
    other = keys.make(tmp_path / "other.key", tmp_path / "other.pub", expires="2026-06-01T00:00:00Z")
    with pytest.raises(CacheInvalid) as error:
        sign.check(cache, [other], now=NOW)
    assert "which is not the one given" in error.value.why
    with pytest.raises(KeyInvalid, match="expired at 2026-06-01"):
        signed(cache, tmp_path / "other.key")
    sign.cache(cache, keys.secret(tmp_path / "other.key", ""), now="2026-05-31T00:00:00Z", timestamp=1, force=True)
    assert sign.check(cache, [other], now="2026-05-31T23:59:59Z")
    without_date = minisign.PublicKey(other.key_id, other.key)
    for known in (other, without_date):  # what was signed says when it ends, too
        with pytest.raises(CacheInvalid) as error:
            sign.check(cache, [known], now=NOW)
        assert "expired" in error.value.why


def test_a_folder_of_keys_finds_the_right_one(cache: Path, key: Path, tmp_path: Path) -> None:
    signed(cache, key)
    (tmp_path / "known").mkdir()
    with pytest.raises(KeyInvalid):
        keys.public(tmp_path / "known")
    keys.make(tmp_path / "other.key", tmp_path / "known" / "a.pub")
    shutil.copy(key.with_suffix(".pub"), tmp_path / "known" / "b.pub")
    assert (
        sign.check(cache, keys.public(tmp_path / "known"), now=NOW).signature.key
        == keys.public(key.with_suffix(".pub"))[0]
    )


def test_keys_are_private_and_never_overwritten(run: Run, tmp_path: Path) -> None:
    assert run("keygen", "--key", "k.key").returncode == 0
    assert stat.S_IMODE((tmp_path / "k.key").stat().st_mode) == 0o600
    before = (tmp_path / "k.key").read_bytes()
    assert run("keygen", "--key", "k.key", "--public", "new.pub").returncode == 6
    assert run("keygen", "--key", "new.key", "--public", "k.pub").returncode == 6
    assert (tmp_path / "k.key").read_bytes() == before
    assert not (tmp_path / "new.key").exists()
    assert not (tmp_path / "new.pub").exists()


def test_a_disk_that_fills_up_leaves_no_half_of_a_key(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, before[1]))
    try:
        with pytest.raises(IoError):
            keys.make(tmp_path / "k.key", tmp_path / "k.pub")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_a_new_passphrase_is_asked_for_on_a_terminal_alone(run: Run, tmp_path: Path) -> None:
    done = run("keygen", "--key", "k.key", "--passphrase")
    assert (done.returncode, done.stderr) == (
        1,
        b"error: the key needs a passphrase\nhint: give --passphrase-file FILE, or run this on a terminal\n",
    )
    assert not (tmp_path / "k.key").exists()


def test_a_passphrase_is_needed_and_must_be_right(run: Run, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("correct horse\n", encoding="utf-8")
    (tmp_path / "wrong").write_text("wrong\n", encoding="utf-8")
    assert run("keygen", "--key", "p.key", "--passphrase-file", "words").returncode == 0
    assert run("sign", "--cache", cache, "--key", "p.key").returncode == 1
    assert run("sign", "--cache", cache, "--key", "p.key", "--passphrase-file", "wrong").returncode == 5
    assert run("sign", "--cache", cache, "--key", "p.key", "--passphrase-file", "words").returncode == 0
    assert run("verify", "--cache", cache, "--key", "p.pub").returncode == 0


@pytest.mark.parametrize(
    "text", ["", "x", "untrusted comment: x\nRWQ=\n", "untrusted comment: x\n" + "A" * 56 + "\n", "a\nb\nc\n"]
)
def test_what_is_no_key_is_refused(run: Run, cache: Path, key: Path, tmp_path: Path, text: str) -> None:
    signed(cache, key)
    (tmp_path / "bad").write_text(text, encoding="utf-8")
    assert run("verify", "--cache", cache, "--key", "bad").returncode == 5
    assert run("sign", "--cache", cache, "--key", "bad", "--force").returncode == 5


def test_a_key_that_asks_for_too_much_memory_is_refused() -> None:
    key = minisign.new_secret_key(bytes(32), bytes(8))
    line = minisign.secret_text(key, "words", bytes(32)).split("\n")[1]
    data = bytearray(minisign.base64.b64decode(line))
    data[38:54] = (1 << 40).to_bytes(8, "little") * 2
    with pytest.raises(KeyInvalid):
        minisign.read_secret(minisign.base64.b64encode(data).decode(), "words")


@with_minisign
def test_minisign_verifies_what_we_signed(cache: Path, key: Path) -> None:
    signed(cache, key)
    done = minisigned("-V", "-m", cache / "SHA256SUMS", "-p", key.with_suffix(".pub"))
    assert done.returncode == 0, done.stderr
    (cache / "SHA256SUMS").write_text("changed", encoding="utf-8")
    assert minisigned("-V", "-m", cache / "SHA256SUMS", "-p", key.with_suffix(".pub")).returncode != 0


@with_minisign
@pytest.mark.parametrize("legacy", [(), ("-l",)])
def test_we_verify_what_minisign_signed_with_its_own_key_and_with_ours(
    cache: Path, key: Path, tmp_path: Path, legacy: tuple[str, ...]
) -> None:
    signed(cache, key)
    assert minisigned("-G", "-W", "-p", tmp_path / "its.pub", "-s", tmp_path / "its.key").returncode == 0
    for secret, public in ((tmp_path / "its.key", tmp_path / "its.pub"), (key, key.with_suffix(".pub"))):
        done = minisigned("-S", "-W", *legacy, "-s", secret, "-m", cache / "SHA256SUMS")
        assert done.returncode == 0, done.stderr
        assert sign.check(cache, keys.public(public), now=NOW)
    sign.cache(cache, keys.secret(tmp_path / "its.key", ""), now=NOW, timestamp=1, force=True)
    assert minisigned("-V", "-m", cache / "SHA256SUMS", "-p", tmp_path / "its.pub").returncode == 0


@with_minisign
def test_minisign_reads_our_encrypted_key(cache: Path, key: Path, tmp_path: Path) -> None:
    signed(cache, key)
    keys.make(tmp_path / "p.key", tmp_path / "p.pub", passphrase="correct horse")
    done = minisigned("-S", "-s", tmp_path / "p.key", "-m", cache / "SHA256SUMS", stdin="correct horse\n")
    assert done.returncode == 0, done.stderr
    assert sign.check(cache, keys.public(tmp_path / "p.pub"), now=NOW)
