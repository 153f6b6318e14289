"""The files of tokens: who is let in with what they hold, what is refused, and that nobody else can read or write them."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from conftest import PATIENCE
from machine import held
from smart_context.access import tokens
from smart_context.errors import ConfigError, IoError, NotFound, Unreachable, UsageError
from smart_context.model import OWNER, Caller

MADE = "2026-05-01T12:00:00Z"
SOON = json.dumps(
    {"tokens": [{"name": "a", "sha256": "", "roots": None, "is_admin": False, "made": MADE, "ends": "soon"}]}
).encode()
posix = pytest.mark.skipif(sys.platform == "win32", reason="modes of files")


def add(place: Path, name: str, roots: tuple[str, ...] | None = None, *, is_admin: bool = False, ends: str = "") -> str:
    return tokens.add(place, name, roots, is_admin=is_admin, made=MADE, ends=ends)


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    path.chmod(0o600)


def test_a_token_stands_for_the_name_the_roots_and_the_rights_it_was_made_with(tmp_path: Path) -> None:
    known = tokens.Tokens(tmp_path, None)
    ada, bob = add(tmp_path, "ada", ("/a", "/b")), add(tmp_path, "bob", is_admin=True)
    assert known.caller(ada.encode()) == Caller("ada", ("/a", "/b"), False, ada)
    assert known.caller(bob.encode()) == Caller("bob", None, True, bob)
    assert known.caller(tokens.own(tmp_path, None).encode()) == OWNER
    assert known.caller(b"somebody else's") == "a valid bearer token is needed"
    assert known.caller(b"") == "a valid bearer token is needed"
    assert [token.startswith("sct_") and len(token) for token in (ada, bob)] == [47, 47]
    assert [(one.name, one.made) for one in tokens.kept(tmp_path)] == [("ada", MADE), ("bob", MADE)]


def test_tokens_are_listed_by_name_and_one_that_is_revoked_lets_nobody_in(tmp_path: Path) -> None:
    known = tokens.Tokens(tmp_path, None)
    given = {name: add(tmp_path, name) for name in ("cy", "ada", "bob")}
    tokens.revoke(tmp_path, "bob")
    assert [one.name for one in tokens.kept(tmp_path)] == ["ada", "cy"]
    callers = [known.caller(given[name].encode()) for name in ("ada", "bob", "cy")]
    assert [isinstance(caller, Caller) for caller in callers] == [True, False, True]
    with pytest.raises(NotFound):
        tokens.revoke(tmp_path, "bob")
    assert [one.name for one in tokens.kept(tmp_path)] == ["ada", "cy"]


def test_a_token_ends_at_its_moment(tmp_path: Path) -> None:
    ends = datetime(2026, 5, 1, 12, 0, 1, tzinfo=UTC)
    given = add(tmp_path, "ada", ends=ends.isoformat())
    for now, lets_in in ((ends.replace(second=0), True), (ends, False), (ends.replace(second=2), False)):
        found = tokens.Tokens(tmp_path, None, now=lambda now=now: now).caller(given.encode())  # type: ignore[misc]
        assert isinstance(found, Caller) is lets_in
    assert found == f"this token ended at {ends.isoformat()}; ask for a new one"


@pytest.mark.parametrize("name", ["a", "A.b_c@d-e", "0", "x" * 64])
def test_letters_digits_and_four_signs_name_a_token(tmp_path: Path, name: str) -> None:
    add(tmp_path, name)
    assert [one.name for one in tokens.kept(tmp_path)] == [name]


@pytest.mark.parametrize("name", ["", "x" * 65, ".a", "a b", "a/b", "ä", "a\n", OWNER.name])
def test_other_names_are_refused_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        add(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_is_given_once(tmp_path: Path) -> None:
    add(tmp_path, "ada")
    with pytest.raises(UsageError):
        add(tmp_path, "ada")
    assert [one.name for one in tokens.kept(tmp_path)] == ["ada"]


@pytest.mark.parametrize(
    "data",
    [b"not json", b"\xff", b"[]", b"{}", b'{"tokens": 1}', b'{"tokens": [{}]}', b'{"tokens": [{"roots": []}]}', SOON],
)
def test_what_is_no_list_of_tokens_is_told_lets_nobody_in_and_leaves_no_file_open(tmp_path: Path, data: bytes) -> None:
    given = add(tmp_path, "ada")
    told: list[str] = []
    known = tokens.Tokens(tmp_path, None, told.append)
    write(tmp_path / tokens.FILE, data)
    assert known.caller(given.encode()) == "a valid bearer token is needed"
    assert len(told) == 1
    assert "is not a list of tokens" in told[0]
    assert known.caller(tokens.own(tmp_path, None).encode()) == OWNER
    with pytest.raises(ConfigError):
        tokens.kept(tmp_path)
    before = held(str(tmp_path))
    with pytest.raises(ConfigError):
        add(tmp_path, "bob")
    assert held(str(tmp_path)) == before
    assert (tmp_path / tokens.FILE).read_bytes() == data


@posix
def test_what_others_can_read_is_not_trusted(tmp_path: Path) -> None:
    given = add(tmp_path, "ada")
    told: list[str] = []
    known = tokens.Tokens(tmp_path, None, told.append)
    (tmp_path / tokens.FILE).chmod(0o640)
    (tmp_path / tokens.OWN_FILE).chmod(0o604)
    assert known.caller(given.encode()) == "a valid bearer token is needed"
    assert len(told) == 2
    for read in (lambda: tokens.kept(tmp_path), lambda: tokens.own(tmp_path, None)):
        with pytest.raises(ConfigError):
            read()


@posix
def test_folders_and_files_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        add(tmp_path / "a", "ada")
        tokens.own(tmp_path / "b", None)
    finally:
        os.umask(old)
    folders = [tmp_path / "a", tmp_path / "b"]
    assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]
    files = [file for folder in folders for file in folder.iterdir()]
    assert sorted(file.name for file in files) == [tokens.OWN_FILE, tokens.FILE, f"{tokens.FILE}.lock"]
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_the_servers_own_token_is_made_once_and_another_may_be_chosen(tmp_path: Path) -> None:
    made = tokens.own(tmp_path, None)
    assert (made[:4], len(made)) == ("sct_", 47)
    assert tokens.own(tmp_path, None) == made
    chosen = tmp_path / "chosen"
    write(chosen, b" sixteen letters. \n")
    assert tokens.own(tmp_path, str(chosen)) == "sixteen letters."
    assert tokens.Tokens(tmp_path, str(chosen)).caller(b"sixteen letters.") == OWNER
    write(chosen, b"fifteen letters")
    with pytest.raises(ConfigError):
        tokens.own(tmp_path, str(chosen))


def test_a_token_of_the_server_that_cannot_be_read_is_an_error_from_the_start(tmp_path: Path) -> None:
    write(tmp_path / "umlaut", "ein sehr geheimes Zeichen: ä".encode())
    for name, error in (("absent", IoError), ("umlaut", ConfigError)):
        with pytest.raises(error):
            tokens.Tokens(tmp_path, str(tmp_path / name))


def test_a_place_where_nothing_can_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for act in (lambda: add(tmp_path / "file", "ada"), lambda: tokens.own(tmp_path / "file", None)):
        with pytest.raises(IoError):
            act()
    (tmp_path / tokens.FILE.replace(".json", ".new")).mkdir()  # where the new list would be written
    with pytest.raises(IoError):
        add(tmp_path, "ada")
    assert tokens.kept(tmp_path) == []


def test_files_are_read_again_when_they_changed_or_when_asked_to(tmp_path: Path) -> None:
    known = tokens.Tokens(tmp_path, None)
    own = tokens.own(tmp_path, None)
    assert known.caller(own.encode()) == OWNER
    given = add(tmp_path, "ada")
    assert isinstance(known.caller(given.encode()), Caller)
    path = tmp_path / tokens.FILE
    as_it_was = path.stat()
    text = path.read_bytes()
    with path.open("r+b") as file:  # the same file, the same length, the same time: as if nothing had happened
        file.write(text.replace(b'"ada"', b'"eve"'))
    os.utime(path, ns=(as_it_was.st_atime_ns, as_it_was.st_mtime_ns))
    known.read_again()
    found = known.caller(given.encode())
    assert isinstance(found, Caller)
    assert found.name == "eve"


def test_a_list_of_tokens_of_sixteen_megabytes_is_read_and_a_longer_one_is_not(tmp_path: Path) -> None:
    add(tmp_path, "ada")
    path = tmp_path / tokens.FILE
    write(path, path.read_bytes().ljust(16 * 1024 * 1024))
    assert [one.name for one in tokens.kept(tmp_path)] == ["ada"]
    write(path, path.read_bytes() + b" ")
    with pytest.raises(ConfigError):
        tokens.kept(tmp_path)


class Elsewhere:
    """Tokens that several machines share, on a machine that may be away."""

    def __init__(self) -> None:
        self.rows: dict[str, tokens.Token] = {}
        self.is_away = False
        self.looked_at = threading.Event()

    def all(self) -> list[tokens.Token]:
        self.looked_at.set()
        if self.is_away:
            raise Unreachable("nobody answers")
        return [self.rows[name] for name in sorted(self.rows)]

    def add(self, token: tokens.Token) -> bool:
        return self.rows.setdefault(token.name, token) is token

    def remove(self, name: str) -> bool:
        return self.rows.pop(name, None) is not None


def test_shared_tokens_are_added_listed_and_revoked_elsewhere(tmp_path: Path) -> None:
    shared = Elsewhere()
    how = {"is_admin": False, "made": MADE, "ends": "", "shared": shared}
    given = tokens.add(tmp_path, "bob", None, **how)  # type: ignore[arg-type]
    tokens.add(tmp_path, "ada", None, **how)  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        tokens.add(tmp_path, "bob", None, **how)  # type: ignore[arg-type]
    assert [one.name for one in tokens.kept(tmp_path, shared)] == ["ada", "bob"]
    assert tokens.kept(tmp_path) == []
    known = tokens.Tokens(tmp_path, None, shared=shared)
    assert known.caller(given.encode()) == Caller("bob", None, False, given)
    with pytest.raises(NotFound):
        tokens.revoke(tmp_path, "eve", shared)
    tokens.revoke(tmp_path, "ada", shared)
    assert [one.name for one in tokens.kept(tmp_path, shared)] == ["bob"]


def test_shared_tokens_are_read_again_though_nobody_asks_and_stay_while_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_FRESH", 0.001)
    shared, told = Elsewhere(), []  # type: ignore[var-annotated]
    how = {"is_admin": False, "made": MADE, "ends": "", "shared": shared}
    ada = tokens.add(tmp_path, "ada", None, **how)  # type: ignore[arg-type]
    known = tokens.Tokens(tmp_path, None, told.append, shared=shared)

    def first_request(given: str) -> bool:
        """Whether the first request after the tokens were read again is let in."""
        shared.looked_at.clear()
        shared.looked_at.wait(PATIENCE)
        shared.looked_at.clear()
        assert shared.looked_at.wait(PATIENCE)  # the one before may have begun before the last change
        return isinstance(known.caller(given.encode()), Caller)

    assert isinstance(known.caller(ada.encode()), Caller)
    bob = tokens.add(tmp_path, "bob", None, **how)  # type: ignore[arg-type]
    assert first_request(bob)
    shared.is_away = True
    shared.rows.clear()
    assert first_request(ada)
    assert told == [Unreachable("nobody answers").in_one_line]
    shared.is_away = False
    assert not first_request(ada)


def test_shared_tokens_that_cannot_be_read_at_first_let_nobody_in_and_that_is_told(tmp_path: Path) -> None:
    shared, told = Elsewhere(), []  # type: ignore[var-annotated]
    given = tokens.add(tmp_path, "ada", None, is_admin=False, made=MADE, ends="", shared=shared)
    shared.is_away = True
    known = tokens.Tokens(tmp_path, None, told.append, shared=shared)
    assert known.caller(given.encode()) == "a valid bearer token is needed"
    assert told == [Unreachable("nobody answers").in_one_line]
    assert known.caller(tokens.own(tmp_path, None).encode()) == OWNER
