"""Files of others: what is not a plain file of our own is refused in a sentence, never waited for and never followed."""

from __future__ import annotations

import os
import stat

import pytest

from conftest import PATIENCE
from smart_context import regular
from unprivileged import needs_root


def trap(path, kind):
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")


@pytest.mark.parametrize("kind", ["fifo", "folder", "device"])
def test_a_configuration_that_is_not_a_file_is_refused_at_once(run, tmp_path, kind):
    trap(tmp_path / "config/smart-context/config.toml", kind)
    for words in (("search", "x"), ("roots", "add", tmp_path), ("serve",), ("connect", "cursor", "--root", tmp_path)):
        done = run(*words, timeout=PATIENCE)
        assert done.returncode == 1, done.stderr
        assert b"not a regular file" in done.stderr


@pytest.mark.parametrize("kind", ["fifo", "device"])
def test_keys_tokens_and_clients_settings_that_are_no_files_are_refused_at_once(run, tmp_path, tree, kind):
    trap(tmp_path / "key", kind)
    trap(tmp_path / ".cursor/mcp.json", kind)
    config = tmp_path / "config/smart-context/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(
        f'roots = ["{tree({"a.md": "boats"})}"]\n[llm]\nprovider = "openai"\napi_key_file = "{tmp_path}/key"\n'
        f'[http]\nhost = "0.0.0.0"\nport = 0\ntoken_file = "{tmp_path}/key"\n',
        encoding="utf-8",
    )
    for words in (("llm", "check"), ("serve", "--http"), ("connect", "cursor", "--yes")):
        done = run(*words, timeout=PATIENCE)
        assert done.returncode == 1, (words, done.stderr)
        assert b"not a regular file" in done.stderr
    assert b"internal" not in run("connect").stdout


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_a_model_that_is_no_file_is_said_by_index_and_does_not_hang(run, tmp_path, tree, kind):
    pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")
    trap(tmp_path / "model/model.onnx", kind)
    (tmp_path / "model/tokenizer.json").write_text("{}", encoding="utf-8")
    done = run(
        "index",
        "--root",
        tree({"a.md": "boats"}),
        env={"SMART_CONTEXT_SEMANTIC_MODEL_DIR": f"{tmp_path}/model"},
        timeout=PATIENCE,
    )
    assert b"not a regular file" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    "address", ["http://localhost:1/v1\r\nX-Evil: 1", "http://local\nhost/v1", "http://localhost /v1"]
)
def test_an_address_with_a_line_break_is_an_error_of_the_configuration(run, address):
    env = {"SMART_CONTEXT_LLM_PROVIDER": "openai", "SMART_CONTEXT_LLM_BASE_URL": address}
    done = run("llm", "check", "--send", env=env)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"llm.base_url" in done.stderr


def test_a_key_of_many_parts_is_an_error_with_its_line(run, tmp_path):
    config = tmp_path / "config/smart-context/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("# one\n" + "a." * 5000 + "a = 1\n", encoding="utf-8")
    done = run("status", timeout=PATIENCE)
    assert done.returncode == 1
    assert b"config.toml:2: a key has more than 64 parts" in done.stderr


def test_a_root_that_is_not_utf8_cannot_be_connected_and_that_is_said(run, tmp_path):
    root = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(root)
    done = run("connect", "cursor", "--root", root, "--yes")
    assert done.returncode == 1
    assert b"UTF-8" in done.stderr
    assert not (tmp_path / ".cursor").exists()


@pytest.mark.parametrize(
    ("file_mode", "folder_mode", "ok"),
    [(0o600, 0o755, True), (0o400, 0o1777, True), (0o640, 0o700, False), (0o600, 0o777, False), (0o600, 0o775, False)],
)
def test_a_secret_is_refused_where_others_may_read_or_replace_it(tmp_path, file_mode, folder_mode, ok):
    folder = tmp_path / "outer"
    (folder / "inner").mkdir(parents=True)
    secret = folder / "inner/secret"
    secret.write_bytes(b"x" * 20)
    secret.chmod(file_mode)
    folder.chmod(folder_mode)
    if ok:
        assert regular.read_secret(secret, 100) == b"x" * 20
    else:
        with pytest.raises(regular.Refused):
            regular.read_secret(secret, 100)


@needs_root
def test_a_secret_of_another_user_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"x" * 20)
    secret.chmod(0o600)
    os.chown(secret, 1234, 1234)
    with pytest.raises(regular.Refused):
        regular.read_secret(secret, 100)


def test_a_file_that_could_not_be_replaced_stays_with_nothing_beside_it(tmp_path):
    (tmp_path / "file").mkdir()
    with pytest.raises(OSError):  # noqa: PT011  whichever the system gives for a folder in the place of a file
        regular.replace(tmp_path / "file", b"x")
    assert os.listdir(tmp_path) == ["file"]


def test_a_new_file_is_for_its_owner_alone(tmp_path):
    regular.replace(tmp_path / "file", b"x")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o600
