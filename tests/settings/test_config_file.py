"""Changing `roots` in the configuration file: that, and nothing else."""

from __future__ import annotations

import os
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smart_context import errors
from smart_context.settings import write

HAND_WRITTEN = """# my settings
data_dir = "/d"   # fast disk
roots = [
    "/a",   # the share
    '/b [old]',
]

[rate_limits]
searchFiles = 9
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", 'roots = ["/new"]\n'),
        ("roots = []\n", 'roots = ["/new"]\n'),
        ("roots = ['/a']", "roots = ['/a', \"/new\"]"),
        ('roots = [\n  "/a",\n]\n', 'roots = [\n  "/a",\n  "/new",\n]\n'),
        ("x = 1\n\n[t]\ny = 2\n", 'x = 1\nroots = ["/new"]\n\n[t]\ny = 2\n'),
        ("\ufeffroots = []\n", '\ufeffroots = ["/new"]\n'),
        ("# no newline", '# no newline\nroots = ["/new"]\n'),
        ('x = """\nroots = ["/trap"]\n"""\n', 'x = """\nroots = ["/trap"]\n"""\nroots = ["/new"]\n'),
        ("roots = [\r\n  '/a'\r\n]\r\n", "roots = [\r\n  '/a',\r\n  \"/new\"\r\n]\r\n"),
    ],
)
def test_a_folder_is_added_in_the_style_of_the_file(tmp_path, before, after):
    path = tmp_path / "config.toml"
    path.write_bytes(before.encode())
    assert write.add_root(path, "/new")
    assert path.read_bytes().decode() == after
    assert not write.add_root(path, "/new")


def test_comments_and_everything_else_stay(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(HAND_WRITTEN, encoding="utf-8")
    path.chmod(0o640)
    write.add_root(path, "/c]")
    write.remove_root(path, "/b [old]")
    assert path.read_text(encoding="utf-8") == HAND_WRITTEN.replace("'/b [old]'", '"/c]"')
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('roots = ["/gone"]', "roots = []"),
        ('roots = ["/gone", "/b"]', 'roots = ["/b"]'),
        ('roots = ["/a", "/gone"]', 'roots = ["/a"]'),
        ('roots = [\n "/a",\n "/gone",\n]', 'roots = [\n "/a",\n]'),
        ('roots = [ # two\n "/gone", # this\n "/b" ]', 'roots = [ # two\n "/b" ]'),
    ],
)
def test_a_folder_is_taken_out(tmp_path, before, after):
    path = tmp_path / "config.toml"
    path.write_text(before, encoding="utf-8")
    assert write.remove_root(path, "/gone")
    assert path.read_text(encoding="utf-8") == after
    assert not write.remove_root(path, "/gone")


@pytest.mark.parametrize(
    "text", ["a." * 5000 + "a = 1\n", "x = " + "[" * 100_000, "roots = 3\n", "roots = [\n", "[t]\nroots = ['/t']\n\x00"]
)
def test_what_cannot_be_changed_safely_is_left_alone(tmp_path, text):
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(errors.ConfigError):
        write.add_root(path, "/new")
    assert path.read_text(encoding="utf-8") == text
    assert os.listdir(tmp_path) == ["config.toml"]


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map("/".__add__),
        unique=True,
        max_size=4,
    )
)
def test_whatever_a_folder_is_called_it_is_added(tmp_path_factory, folders):
    path = tmp_path_factory.mktemp("c") / "config.toml"
    for folder in folders:
        write.add_root(path, folder)
    assert tomllib.loads(path.read_text(encoding="utf-8") if folders else "").get("roots", []) == folders
