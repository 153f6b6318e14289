"""Ranking by meaning over the whole path: index, embed, search; with a tiny model and the real runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")
pytest.importorskip("tokenizers", reason="the extra [semantic] is not installed")

import tiny_encoder
from conftest import PATIENCE
from smart_context.api import App
from smart_context.errors import Conflict
from smart_context.find import hybrid
from smart_context.find.model import SearchRequest
from smart_context.index import background
from smart_context.settings import config

FILES = {
    "cats.txt": "the cat sleeps all day\n",
    "pets.md": "# Pets\n\na feline that sleeps\n",
    "drive.txt": "an automobile on the road\n",
    "2021/bank.txt": "finance and the ocean\n",
    "2021/sea.txt": "a vehicle by the sea, draft of 2021\n",
    "home.txt": "a physician at home\n",
    "other.txt": "nothing that the model knows\n",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return tiny_encoder.write(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def settings(tree, model, tmp_path):
    flags = {
        "roots": (str(tree(FILES)),),
        "data_dir": str(tmp_path / "data"),
        "semantic.model_dir": str(model),
        "index.workers": 1,
    }
    return config.load(flags, {"HOME": str(tmp_path)})


@pytest.fixture
def embedded(settings):
    """The settings of an index in which everything is embedded."""
    with App(settings) as app:
        index(app)
        app.embed()
    return settings


@pytest.fixture
def app(embedded):
    with App(embedded) as app:
        yield app


def index(app):
    app.index_here(app.roots.names[0], full=False, on_progress=lambda _step: None)


def found(app, query, **more):
    items = app.find(SearchRequest(query, **more)).items
    return [(os.path.relpath(item.path, app.roots.names[0]), item.pointer, item.score) for item in items]


def names(app, query, **more):
    return [name for name, _, _ in found(app, query, **more)]


def test_a_text_is_found_by_what_it_means(app):
    assert names(app, "cat") == ["cats.txt", "pets.md"]
    assert names(app, "physician") == ["home.txt"]
    assert names(app, "doctor") == ["home.txt"]
    assert names(app, "money") == ["2021/bank.txt"]
    assert all(0 <= score <= 1 for _, _, score in found(app, "cat home money sea"))


def test_words_and_meaning_together_go_before_either(app):
    assert names(app, "sleeps kitten")[:2] == ["cats.txt", "pets.md"]
    assert names(app, "feline sleeps")[0] == "pets.md"


def test_nothing_is_found_for_what_is_like_nothing(app):
    assert found(app, "xylophone") == []


def test_an_explanation_tells_both_parts(app):
    page = app.find(SearchRequest("cat"))
    assert [item.explanation[-1].partition(" ")[0] for item in page.items] == ["words", "words"]


@pytest.mark.parametrize(
    ("query", "more", "expected"),
    [
        ("vehicle", {}, ["2021/sea.txt", "drive.txt"]),
        ("vehicle", {"exts": (".md",)}, []),
        ("vehicle", {"years": ("2021",)}, ["2021/sea.txt"]),
        ("vehicle -draft", {}, ["drive.txt"]),
        ("vehicle NOT road", {}, ["2021/sea.txt"]),
        ('"vehicle by"', {}, ["2021/sea.txt"]),
        ("car AND road", {}, []),
        ("vehicle AND sea", {}, ["2021/sea.txt"]),
        ('car "the road"', {}, ["drive.txt"]),
    ],
)
def test_filters_and_operators_bind_what_is_found_by_meaning(app, query, more, expected):
    assert sorted(names(app, query, **more)) == sorted(expected)


def test_a_folder_and_what_is_never_shown_bind(app, settings):
    below = os.path.join(app.roots.names[0], "2021")
    assert names(app, "car", folders=(below,)) == ["2021/sea.txt"]
    with App(replace(settings, index=replace(settings.index, never_show=("drive*",)))) as other:
        assert names(other, "car") == ["2021/sea.txt"]


def test_narrow_filters_find_what_is_far_from_the_nearest(settings, tree, monkeypatch):
    monkeypatch.setattr(hybrid, "DENSE", 5)
    monkeypatch.setattr(hybrid, "LEXICAL", 20)
    tree({f"many/{n:03}.txt": f"cat number {n}\n" for n in range(90)} | {"few/one.txt": "feline and money\n"})
    with App(settings) as app:
        index(app)
        app.embed()
        assert names(app, "kitten", folders=(os.path.join(app.roots.names[0], "few"),)) == ["few/one.txt"]
        pages = [one for start in range(0, 120, 30) for one in found(app, "cat", k=30, offset=start)]
        assert len(set(pages)) == len(pages) >= 91
        assert [score for _, _, score in pages] == sorted((score for _, _, score in pages), reverse=True)
        assert app.find(SearchRequest("cat", k=5)).total_estimate == len(pages)


def test_segments_without_a_vector_are_found_by_their_words(settings, tree):
    root = tree({f"more/{n:02}.txt": f"cat {n}\n" for n in range(30)})
    with App(settings) as app:
        index(app)
        lexical = names(app, "cat", k=50)
        stop_after(app, 1)
        part = app.status(compare=False).meaning
        assert 0 < part.embedded < part.segments
        assert set(lexical) <= set(names(app, "cat", k=50))
        app.embed()
        whole = found(app, "cat", k=50)
    again = replace(settings, data_dir=settings.data_dir + "-2", roots=(str(root),))
    with App(again) as app:
        index(app)
        app.embed()
        assert found(app, "cat", k=50) == whole


class Enough(Exception):
    pass


def stop_after(app, batches):
    steps = []

    def stop():
        if len(steps) == batches:
            raise Enough

    with pytest.raises(Enough):
        app.embed(on_progress=steps.append, stop=stop)


def test_an_unembedded_segment_is_neither_favoured_nor_lost(settings, tree):
    tree({"a.txt": "cat cat ocean\n", "b.txt": "cat cat ocean\n", "c.txt": "cat once among other words here\n"})
    with App(settings) as app:
        index(app)
        app.embed()
        whole = names(app, "cat ocean", k=3, all_copies=True)
        tree({"a2.txt": "cat cat ocean\n"})
        index(app)
        after = names(app, "cat ocean", k=10, all_copies=True)
        assert after.index("a2.txt") <= 3
        assert [name for name in after if name != "a2.txt"][:3] == whole


def test_the_fewer_vectors_there_are_the_less_meaning_counts_and_it_is_said(settings, tree):
    tree({f"a{n}.txt": "cat cat ocean\n" for n in range(9)})
    with App(settings) as app:
        index(app)
        words = names(app, "cat ocean", k=20)
        tree({"z.txt": "feline sea and nothing else, kitten\n", "y.txt": "cat ocean cat ocean\n"})
        index(app)
        stop_after(app, 1)
        part = app.status(compare=False).meaning
        assert 0 < part.embedded < part.segments
        page = app.find(SearchRequest("cat ocean", k=20))
        assert any("has vectors" in note for note in page.notes)
        assert names(app, "cat ocean", k=20)[0] != "z.txt"
        app.embed()
        assert app.find(SearchRequest("cat ocean", k=20)).notes == ()
    assert words


def _share(app, query):
    """What meaning counts for a query."""
    [line] = {item.explanation[-1] for item in app.find(SearchRequest(query, k=1)).items}
    return float(line.rpartition("× ")[2])


def test_how_much_meaning_counts_depends_on_the_question(settings, tree):
    tree(
        {f"many/{n:02}.txt": f"cat ocean home number {n}\n" for n in range(20)}
        | {f"mixed/{n:02}.txt": f"car sea budget house physician feline {n}\n" for n in range(20)}
        | {"one.txt": "cat ocean home doctor\n"}
    )
    with App(settings) as app:
        index(app)
        app.embed()
        short = _share(app, "cat ocean home")
        assert 0 < short < 1
        assert short > _share(app, "cat ocean home kitten money vehicle sea")  # many words say more
        assert short > _share(app, "cat doctor home") > 0  # one text stands out
        assert short > _share(app, "doctor") > 0  # a keyword
        assert short > _share(app, "car budget physician") > 0  # even the nearest is far
        assert _share(app, "cat number twenty") == 0  # most of it is unknown to the model


def test_a_killed_embedder_goes_on_where_it_was(settings, tree):
    tree({f"more/{n:02}.txt": f"cat {n}\n" for n in range(40)})
    with App(settings) as app:
        index(app)
        code = (
            "import os, signal, sys; from smart_context.settings import config; from smart_context.api import App\n"
            "flags = {'data_dir': sys.argv[1], 'semantic.model_dir': sys.argv[2], 'roots': (sys.argv[3],)}\n"
            "App(config.load(flags, {'HOME': '/nonexistent'})).embed("
            "on_progress=lambda step: step.done >= 16 and os.kill(os.getpid(), signal.SIGKILL))"
        )
        args = [settings.data_dir, settings.semantic.model_dir, *settings.roots]
        died = subprocess.run([sys.executable, "-c", code, *args], check=False, timeout=PATIENCE)
        assert died.returncode == -9
        (file,) = app.data_dir.glob("vectors-*.bin")
        with file.open("ab") as out:
            out.write(b"torn")
        before = app.status(compare=False).meaning
        assert before.embedded == 16
        assert app.embed() == before.segments - 16
        assert app.status(compare=False).meaning.embedded == before.segments
        assert app.embed() == 0


def test_one_process_embeds_at_a_time(settings):
    with App(settings) as app:
        index(app)
        with app.engine.embedding(), pytest.raises(Conflict):
            app.embed()
        assert app.embed() == len(FILES)


def test_another_model_never_mixes(app, settings, tmp_path):
    other = tiny_encoder.write(tmp_path / "other", (("cat", "road"), ("feline", "ocean")))
    (old,) = app.data_dir.glob("vectors-*.bin")
    with App(replace(settings, semantic=replace(settings.semantic, model_dir=str(other)))) as changed:
        assert names(changed, "kitten") == []
        assert changed.status(compare=False).meaning.embedded == 0
        changed.embed()
        assert set(names(changed, "cat")) == {"cats.txt", "drive.txt"}
        assert old.exists()
        changed.maintain()
        assert not old.exists()
        assert set(names(changed, "cat")) == {"cats.txt", "drive.txt"}
        assert changed.status(compare=False).meaning.embedded == len(FILES)


def test_maintenance_drops_what_is_gone_and_keeps_the_rest(app):
    root = app.roots.names[0]
    (file,) = app.data_dir.glob("vectors-*.bin")
    os.unlink(os.path.join(root, "cats.txt"))
    index(app)
    before = file.stat().st_size
    app.maintain()
    assert file.stat().st_size < before
    assert names(app, "cat") == ["pets.md"]


@pytest.mark.unmeasured
def test_the_order_in_which_files_came_changes_nothing(settings, tree):
    root = tree({f"more/{n:02}.txt": f"{('cat', 'feline', 'sea', 'car')[n % 4]} number {n % 7}\n" for n in range(60)})
    queries = ["kitten", "cat sea", "automobile number 3", "ocean -cat"]
    with App(settings) as app:
        index(app)
        app.embed()
        first = [found(app, query, k=100) for query in queries]
    with App(replace(settings, data_dir=settings.data_dir + "-2")) as app:
        kept = {path: path.read_bytes() for path in sorted(root.rglob("*.txt"), reverse=True)}
        for path in kept:
            path.write_text("automobile cat\n")
        for count, (path, content) in enumerate(kept.items()):
            path.write_bytes(content)
            if count % 20 == 0:
                index(app)
                app.embed()
        index(app)
        app.embed()
        assert [found(app, query, k=100) for query in queries] == first


def test_a_record_made_anew_forgets_the_vectors(embedded):
    with App(embedded) as app:
        for path in app.data_dir.glob("record.sqlite*"):
            path.unlink()
        index(app)
        assert not list(app.data_dir.glob("vectors-*.bin"))


def test_a_model_that_cannot_be_used_is_told_once_and_words_are_searched(app, settings, tmp_path, capsys):
    broken = tmp_path / "broken"
    broken.mkdir()
    with App(replace(settings, semantic=replace(settings.semantic, model_dir=str(broken)))) as other:
        assert names(other, "cat") == ["cats.txt"]
        assert names(other, "cat") == ["cats.txt"]
        assert other.status(compare=False).meaning is None
    assert capsys.readouterr().err.count("warning") == 1


def test_the_command_line_embeds_and_shows_coverage(run, tree, model, tmp_path):
    root = tree(FILES)
    env = {"SMART_CONTEXT_SEMANTIC_MODEL_DIR": str(model), "SMART_CONTEXT_ROOTS": str(root)}
    assert run("index", "--no-embed", env=env).returncode == 0
    nothing = {"model": "tiny", "embedded": 0, "segments": len(FILES)}
    assert json.loads(run("status", "--json", env=env).stdout)["meaning"] == nothing
    assert run("index", env=env).returncode == 0
    told = json.loads(run("semantic", "status", "--json", env=env).stdout)
    assert told == {"enabled": True, "model": str(model), "embedded": len(FILES), "segments": len(FILES)}
    answer = json.loads(run("search", "kitten", "--json", env=env).stdout)
    assert {os.path.basename(item["path"]) for item in answer["items"]} == {"cats.txt", "pets.md"}


def test_an_evaluation_asks_by_every_method(run, tree, model, tmp_path):
    root = tree(FILES)
    (tmp_path / "questions.tsv").write_text(
        "kitten\tcats.txt\tpets.md\nvehicle by the sea\t2021/sea.txt\n", encoding="utf-8"
    )
    env = {"SMART_CONTEXT_SEMANTIC_MODEL_DIR": str(model)}
    done = run("eval", root, "--questions", tmp_path / "questions.tsv", "--json", env=env)
    found = {one["method"]: one["ndcg@10"] for one in json.loads(done.stdout)["methods"]}
    assert found == {"lexical": 0.5, "semantic": found["semantic"], "hybrid": 1.0}


def test_a_server_embeds_by_itself_what_was_indexed(settings, monkeypatch):
    monkeypatch.setattr(background, "_EMBED_EVERY", 0.01)
    ended, told, coverage = threading.Event(), [], []
    with App(settings) as app:
        index(app)
        thread = background.start_embedding(app, ended, told.append, coverage.append)
        while thread.is_alive() and app.status(compare=False).meaning.embedded < len(FILES):
            ended.wait(0.01)
        (Path(app.roots.names[0]) / "new.txt").write_text("kitten\n", encoding="utf-8")
        index(app)
        while thread.is_alive() and app.status(compare=False).meaning.embedded <= len(FILES):
            ended.wait(0.01)
        ended.set()
        thread.join()
    assert told == []
    assert (coverage[0].embedded, coverage[0].segments) == (0, len(FILES))


def test_preparing_without_weights_says_what_to_install(run, tmp_path):
    done = run("semantic", "prepare", "--from", tmp_path / "absent")
    assert (done.returncode, done.stdout) == (1, b"")
    assert run("semantic", "remove").returncode == 1
    assert run("semantic", "status", "--from", tmp_path).returncode == 1


_WITHOUT = """
import sys
for name in ("onnxruntime", "onnx", "tokenizers"):
    sys.modules[name] = None
from smart_context.settings import config
from smart_context.api import App
from smart_context.find.model import SearchRequest
flags = {"roots": (sys.argv[1],), "data_dir": sys.argv[2], "index.workers": 1, **dict([sys.argv[3:]] if sys.argv[3:] else [])}
with App(config.load(flags, {"HOME": "/nonexistent"})) as app:
    app.index_here(sys.argv[1], full=False, on_progress=lambda step: None)
    print(len(app.find(SearchRequest("cat")).items))
    assert not [name for name in sys.modules if name.startswith("smart_context.engine.vec")] or sys.argv[3:]
    app.maintain()
"""


@pytest.mark.parametrize("with_model", [False, True])
def test_without_the_extra_nothing_is_missing(embedded, model, with_model):
    args = [*embedded.roots, embedded.data_dir, *(("semantic.model_dir", str(model)) if with_model else ())]
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT, *args], capture_output=True, text=True, check=False, timeout=PATIENCE
    )
    assert (done.stdout, done.returncode) == ("1\n", 0), done.stderr
    assert done.stderr.count("warning") == int(with_model)
    assert list(Path(embedded.data_dir).glob("vectors-*.bin"))


def test_what_is_hidden_is_in_no_vector(tree, model, tmp_path):
    """Two folders that differ in a secret alone, which the model knows the words of, have the same vectors."""
    kept = []
    for number, secret in enumerate(("kitten-99-Automobile", "physician-77-Ocean")):
        root = tree({"notes.txt": f"the money is in the bank\npassword = {secret}\n"})
        flags = {
            "roots": (str(root),),
            "data_dir": str(tmp_path / f"data{number}"),
            "semantic.model_dir": str(model),
            "index.workers": 1,
        }
        with App(config.load(flags, {"HOME": str(tmp_path)})) as app:
            index(app)
            assert app.embed() == 1
            assert "[redacted:secret]" in app.find(SearchRequest("money")).items[0].snippet
        [file] = (tmp_path / f"data{number}").glob("vectors-*.bin")
        kept.append(file.read_bytes())
    assert kept[0] == kept[1]
