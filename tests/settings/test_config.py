"""Settings: where they come from, which goes first, and what is refused with its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from smart_context.cli.options import json_option, settings_options
from smart_context.errors import ConfigError
from smart_context.settings import config, read, toml_lines

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders of another platform")


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.toml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def load(path: Path, environ: dict[str, str] | None = None, **flags: object) -> config.Settings:
    return config.load({"config": str(path), **flags}, environ or {"HOME": str(path.parent)})


def refusal(folder: Path, text: str | bytes) -> str:
    """What is said about a file, without the folder it lies in."""
    path = write(folder, text)
    with pytest.raises(ConfigError) as raised:
        load(path)
    return raised.value.message.replace(str(path), "config.toml")


@linux
def test_without_anything_the_defaults_hold(tmp_path: Path) -> None:
    settings = config.load({}, {"HOME": str(tmp_path)})
    assert settings == config.Settings(
        data_dir=str(tmp_path / ".local/share/smart-context"),
        roots_file=str(tmp_path / ".config/smart-context/config.toml"),
    )
    assert dict(settings.rate_limits) == {
        "listRoots": 0, "indexFolder": 0, "searchFiles": 60, "openFile": 30, "summarizeResults": 20, "rewriteQuery": 0,
        "searchAsTyped": 600, "showPage": 60,
    }  # fmt: skip
    assert settings.timeout("searchFiles") == 30.0
    assert settings.audit_path() == str(tmp_path / ".local/share/smart-context/audit.jsonl")


def test_every_kind_of_setting_is_read_from_the_file(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
        roots = ["~/docs", "relative", "/abs/./x"]
        data_dir = "data"
        [rate_limits]
        searchFiles = 5
        listRoots = 7
        [timeouts]
        default = 12
        [index]
        hidden = true
        exclude = ["*.bak"]
        [limits]
        cpu_seconds = 9
        [llm]
        provider = "openai"
        timeout = 1.5
        [redaction]
        patterns = ['E\\d{6}']
        """,
    )
    settings = load(path)
    assert settings.roots == (os.path.expanduser("~/docs"), str(tmp_path / "relative"), "/abs/x")
    assert settings.data_dir == str(tmp_path / "data")
    assert (settings.rate_limits["searchFiles"], settings.rate_limits["listRoots"]) == (5, 7)
    assert settings.rate_limits["openFile"] == 30
    assert (settings.timeout("openFile"), settings.timeout("summarizeResults")) == (12.0, 90.0)
    assert (settings.index.hidden, settings.index.gitignore, settings.index.exclude) == (True, True, ("*.bak",))
    assert (settings.limits.cpu_seconds, settings.limits.max_depth) == (9, 3)
    assert (settings.llm.provider, settings.llm.timeout, settings.llm.model) == ("openai", 1.5, "gpt-4.1-mini")
    assert settings.redaction.patterns == (r"E\d{6}",)
    assert settings.config_file == str(path)


def test_a_file_of_an_editor_that_writes_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert load(write(tmp_path, b'\xef\xbb\xbfroots = ["/a"]\r\n')).roots == ("/a",)


def test_flags_go_before_the_environment_and_that_before_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, 'roots = ["/file"]\ndata_dir = "/file"\ncache_root = "/file"\n[http]\nport = 1\n')
    environ = {
        "SMART_CONTEXT_ROOTS": os.pathsep.join(["/env/a", "/env/b"]),
        "SMART_CONTEXT_DATA_DIR": "/env",
        "SMART_CONTEXT_HTTP_PORT": "2",
    }
    settings = load(path, environ, roots=("/flag",), **{"http.port": 3})
    assert (settings.roots, settings.data_dir, settings.cache_root) == (("/flag",), "/env", "/file")
    assert settings.http.port == 3
    assert load(path, environ, roots=()).roots == ("/env/a", "/env/b")
    assert load(path, environ).http.port == 2


def test_the_variables_of_context_v0_are_understood() -> None:
    settings = config.load(
        {},
        {"CONTEXT_CACHE_ROOT": "/c", "CONTEXT_TOOL_TIMEOUT_SECS": "7", "CONTEXT_CACHE_MEMORY_MB": "64", "HOME": "/h"},
    )
    assert (settings.cache_root, settings.timeout("openFile"), settings.cache.memory_mb) == ("/c", 7.0, 64)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\nrots = []\n", "config.toml:3: unknown key 'rots' (did you mean 'roots'?)"),
        ("[index]\nhiden = true\n", "config.toml:2: unknown key 'index.hiden' (did you mean 'index.hidden'?)"),
        ("[indx]\nhidden = true\n", "config.toml:1: unknown key 'indx' (did you mean 'index'?)"),
        ("qqqq = 1\n", "config.toml:1: unknown key 'qqqq'"),
        ("x = '''\nroots = 1\n'''\n", "config.toml:1: unknown key 'x'"),
        ("# roots = 1\nroots = 'a'\n", "config.toml:2: 'roots' must be a list of strings, not a string"),
        ("roots = [\n 'a',\n 1]\n", "config.toml:1: 'roots' must be a list of strings, not a list of other things"),
        ("roots = ['']", "config.toml:1: 'roots' holds no path"),
        ("data_dir = 3", "config.toml:1: 'data_dir' must be a string, not a whole number"),
        ("index = 3", "config.toml:1: 'index' must be a table, not a whole number"),
        ("[[index]]\nhidden=true", "config.toml:1: 'index' must be a table, not a list"),
        ("index.hidden = 1", "config.toml:1: 'index.hidden' must be true or false, not a whole number"),
        ("index = { junk = true,\thidden = 'x' }", "config.toml:1: 'index.hidden' must be true or false, not a string"),
        ("[http]\n# port\nport = '1'", "config.toml:3: 'http.port' must be a whole number, not a string"),
        ("[http]\nport = true", "config.toml:2: 'http.port' must be a whole number, not true or false"),
        ("[http]\nport = 70000", "config.toml:2: 'http.port' must be at least 0 and at most 65,535"),
        ("[rate_limits]\nsearchFiles = -1", "config.toml:2: 'rate_limits.searchFiles' must be at least 0"),
        ("[rate_limits]\nsearchFile = 1", "config.toml:2: unknown key 'rate_limits.searchFile' (did you mean 'rate_limits.searchFiles'?)"),
        ("[llm]\ntimeout = inf", "config.toml:2: 'llm.timeout' must be at least 1"),
        ("[llm]\ntimeout = nan", "config.toml:2: 'llm.timeout' must be at least 1"),
        ("[llm]\nprovider = 'x'", "config.toml:2: 'llm.provider' must be one of none, openai, sampling, not 'x'"),
        ("data_dir = 2020-01-01", "config.toml:1: 'data_dir' must be a string, not a date"),
        ("[limits]\ncpu_seconds = 0", "config.toml:2: 'limits.cpu_seconds' must be at least 1"),
        ("[timeouts]\nindexFolder = 9", "config.toml:2: unknown key 'timeouts.indexFolder' (did you mean 'rate_limits.indexFolder'?)"),
        ("[redaction]\npatterns = ['(']", "config.toml:2: 'redaction.patterns' is not a regular expression"),
        ("a = 1\nb = [1, 2\nc = 3", "config.toml:3: unclosed array"),
        ("a = 'x", "config.toml:1: expected \"'\""),
        ("roots = []\nroots = []", "config.toml:2: cannot overwrite a value"),
        (b"a = '\n\xff'", "config.toml:2: not UTF-8 text"),
        ("\ufeff[http]\nport = 1.5", "config.toml:2: 'http.port' must be a whole number, not a fraction"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_refused_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert refusal(tmp_path, text) == said


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({"SMART_CONTEXT_HTTP_PORT": "x"}, "SMART_CONTEXT_HTTP_PORT"),
        ({"SMART_CONTEXT_INDEX_HIDDEN": "maybe"}, "SMART_CONTEXT_INDEX_HIDDEN"),
        ({"CONTEXT_TOOL_TIMEOUT_SECS": "0"}, "CONTEXT_TOOL_TIMEOUT_SECS"),
        ({"SMART_CONTEXT_LLM_PROVIDER": "abc"}, "SMART_CONTEXT_LLM_PROVIDER"),
    ],
)
def test_what_is_wrong_in_the_environment_is_refused_by_name(environ: dict[str, str], place: str) -> None:
    with pytest.raises(ConfigError) as raised:
        config.load({}, {"HOME": "/h", **environ})
    assert raised.value.message.partition(":")[0] == place


def test_a_wrong_flag_is_refused_by_name() -> None:
    with pytest.raises(ConfigError) as raised:
        config.load({"http.port": "x"}, {"HOME": "/h"})
    assert raised.value.message == "--port: 'http.port' must be a whole number, not a string"


def test_a_file_that_was_named_must_be_there_and_readable(tmp_path: Path) -> None:
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError):
            load(path)
        with pytest.raises(ConfigError):
            config.load({}, {"HOME": "/h", "SMART_CONTEXT_CONFIG": str(path)})


@linux
def test_only_the_platforms_folder_is_looked_into_never_the_working_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    for folder in (home / ".config/smart-context", work / "smart-context", work / ".config/smart-context"):
        folder.mkdir(parents=True)
        write(folder, f"data_dir = {json.dumps(str(folder))}")
    write(work, 'data_dir = "/evil"')
    monkeypatch.chdir(work)
    assert config.load({}, {"HOME": str(home)}).data_dir == str(home / ".config/smart-context")
    # A relative folder in the variable would make the working folder decide.
    assert config.load({}, {"HOME": str(home), "XDG_CONFIG_HOME": "."}).data_dir == str(home / ".config/smart-context")
    assert config.load({}, {"HOME": "/h", "XDG_CONFIG_HOME": str(work)}).data_dir == str(work / "smart-context")


def test_the_key_is_in_no_setting_and_comes_from_the_file_before_the_environment(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("from-file\n")
    environ = {"HOME": "/h", "MY_KEY": "from-env", "SMART_CONTEXT_LLM_API_KEY_ENV": "MY_KEY"}
    settings = config.load({}, environ)
    assert config.api_key(settings.llm, environ) == "from-env"
    assert "from-env" not in repr(settings)
    settings = config.load({"llm.api_key_file": str(key)}, environ)
    assert config.api_key(settings.llm, environ) == "from-file"
    key.unlink()
    with pytest.raises(ConfigError):
        config.api_key(settings.llm, environ)


def test_commands_get_their_settings_resolved(tmp_path: Path) -> None:
    @click.command()
    @settings_options
    @json_option
    def show(settings: config.Settings, as_json: bool) -> None:
        click.echo(json.dumps([settings.roots, settings.cache_root, as_json]))

    path = write(tmp_path, 'roots = ["/file"]\ncache_root = "/file"')
    out = CliRunner().invoke(show, ["--config", str(path), "--root", "/a", "--root", "/b", "--json"])
    assert json.loads(out.output) == [["/a", "/b"], "/file", True]


def test_reading_settings_imports_nothing_heavy() -> None:
    code = (
        "import sys, smart_context.settings.config as c; c.load({}, {'HOME': '/h'});"
        "print([m for m in ('tomllib', 'click', 'difflib', 'mcp', 'tantivy', 'sqlite3') if m in sys.modules])"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert (
        subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout
        == "[]\n"
    )


def test_the_reference_page_is_what_the_code_says() -> None:
    root = Path(__file__).parents[2]
    made = subprocess.run(
        [sys.executable, "-c", "import sys, tools.reference as r; sys.stdout.buffer.write(r.configuration().encode())"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=True,
    )
    page = (root / "docs/reference/configuration.md").read_bytes()
    assert page == made.stdout, "run `make docs`"


def test_every_setting_has_a_meaning_and_a_default_that_it_accepts() -> None:
    for name, setting in config.settings().items():
        assert setting.help, name
        if setting.default not in (None, ""):
            assert read.checked(setting, setting.default, "here", "/") == setting.default


KEYS = st.one_of(
    st.from_regex(r"[a-z_-]{1,3}", fullmatch=True),
    st.text("ab\"'.#[]=\\ é", min_size=1, max_size=3).map(lambda t: json.dumps(t, ensure_ascii=False)),
)
VALUES = st.sampled_from(
    ["1", '"a # = [x]"', "'k = 1'", "[\n1, # ]\n'=',\n]", '"""\nx = 1\n\\"""" ""', "'''\n[t]\n'''", "{a = 1, b = '}'}", "1.5 # c"]
)  # fmt: skip


@given(st.lists(st.one_of(st.tuples(st.just(""), KEYS), st.tuples(KEYS, VALUES)), max_size=8))
def test_the_line_of_every_key_is_found(statements: list[tuple[str, str]]) -> None:
    text, expected, table, line = "", {}, (), 1
    for key, value in statements:
        piece = f"[{value}] # t\n" if not key else f"  {key} = {value}\n"
        try:
            tomllib.loads(text + piece)
        except tomllib.TOMLDecodeError:
            continue
        name = tuple(tomllib.loads(f"{key or value} = 0"))
        table = name if not key else table
        expected.setdefault(table if not key else table + name, line)
        text += piece
        line += piece.count("\n")
    assert toml_lines.find(text) == expected
