"""The encoder and its vectors: the graph computes what BERT is defined to compute, vectors are kept and found."""

from __future__ import annotations

import hashlib
import json
import math
import struct
import subprocess
import sys
import threading

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("onnxruntime", reason="the extra [semantic] is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the extra [semantic] is not installed")

import broken_encoders  # noqa: E402
import tiny_encoder  # noqa: E402
from conftest import PATIENCE, clean_env  # noqa: E402
from smart_context.engine import vectors  # noqa: E402
from smart_context.engine.vectors import Vectors  # noqa: E402
from smart_context.errors import ConfigError, SearchFailed  # noqa: E402
from smart_context.meaning import bert, calibrate, prepare  # noqa: E402
from smart_context.meaning.encoder import Encoder, _Watchdog  # noqa: E402

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "sat", "ran", "home"]
SHAPE = bert.Shape(layers=2, heads=2, hidden=8, epsilon=1e-12)


def weights():
    random = np.random.default_rng(7)

    def make(*size):
        return random.normal(0, 0.5, size).astype(np.float32)

    found = {
        "embeddings.word_embeddings.weight": make(len(WORDS), 8),
        "embeddings.position_embeddings.weight": make(16, 8),
        "embeddings.token_type_embeddings.weight": make(2, 8),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(SHAPE.layers):
        name = f"encoder.layer.{layer}"
        linears = [(f"attention.self.{part}", 8, 8) for part in ("query", "key", "value")]
        linears += [("attention.output.dense", 8, 8), ("intermediate.dense", 32, 8), ("output.dense", 8, 32)]
        for part, out, inner in linears:
            found[f"{name}.{part}.weight"], found[f"{name}.{part}.bias"] = make(out, inner), make(out)
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    for name in norms:
        found[f"{name}.weight"], found[f"{name}.bias"] = make(8), make(8)
    return found


def naive(w, ids):
    """BERT from its definition, in float64, with loops."""

    def linear(x, name):
        return x @ w[f"{name}.weight"].T.astype(float) + w[f"{name}.bias"]

    def norm(x, name):
        mean, spread = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
        return (x - mean) / np.sqrt(spread + SHAPE.epsilon) * w[f"{name}.weight"] + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm").astype(float)
    for layer in range(SHAPE.layers):
        name = f"encoder.layer.{layer}"
        q, k, v = (linear(x, f"{name}.attention.self.{p}") for p in ("query", "key", "value"))
        mixed = np.zeros_like(x)
        for head in range(SHAPE.heads):
            part = slice(head * 4, head * 4 + 4)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(4))
            mixed[:, part] = scores / scores.sum(-1, keepdims=True) @ v[:, part]
        x = norm(x + linear(mixed, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = linear(x, f"{name}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(math.erf)(inner / math.sqrt(2)))
        x = norm(x + linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    mean = x.mean(0)
    return mean / np.linalg.norm(mean)


@pytest.fixture
def folder(tmp_path):
    model = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="[UNK]"))
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    model.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "model.onnx").write_bytes(bert.encoder(weights(), SHAPE).SerializeToString())
    (tmp_path / "encoder.json").write_text(json.dumps({"name": "tiny", "max_tokens": 6}), encoding="utf-8")
    return tmp_path


def test_the_graph_computes_what_bert_is_defined_to_compute(folder):
    found = Encoder(folder).embed(["a cat sat", "dog ran home"])
    expected = [naive(weights(), [2, 4, 5, 7, 3]), naive(weights(), [2, 6, 8, 9, 3])]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_text_has_the_same_vector_whatever_it_is_given_with(folder):
    encoder = Encoder(folder)
    alone = encoder.embed(["a cat"])
    np.testing.assert_array_equal(encoder.embed(["dog ran home a dog", "a cat"])[1], alone[0])


def test_long_and_empty_texts_have_vectors_too(folder):
    found = Encoder(folder).embed(["a " * 5000, ""])
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), [1, 1], atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["a cat", "a zebra sat", "", "zebra", "[UNK] [SEP] cat", "a cat sat zebra", "a cat sat home zebra", "cat " * 5 + "zebra", "cat " * 9],
)  # fmt: skip
def test_what_is_asked_is_looked_at_once_for_its_vector_and_for_what_is_known_of_it(folder, text):
    encoder = Encoder(folder)
    vector, share = encoder.asked(text)
    np.testing.assert_array_equal(vector, encoder.embed([text])[0])
    assert share == encoder.known(text)


def test_another_model_has_another_fingerprint(folder):
    first = Encoder(folder).fingerprint
    other = weights()
    other["embeddings.LayerNorm.bias"] = other["embeddings.LayerNorm.bias"] + 1
    (folder / "model.onnx").write_bytes(bert.encoder(other, SHAPE).SerializeToString())
    assert Encoder(folder).fingerprint != first


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"garbage"])
def test_a_folder_that_holds_no_encoder_is_refused(folder, name, content):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(ConfigError):
        Encoder(folder)


@pytest.mark.parametrize("kind", broken_encoders.KINDS)
def test_a_model_that_is_no_encoder_is_refused_in_its_time(tmp_path, kind):
    with pytest.raises(ConfigError) as refused:
        Encoder(broken_encoders.write(tmp_path / "model", kind), seconds=0.5)
    assert refused.value.reason
    assert refused.value.hint


def test_the_runs_of_an_encoder_are_watched_by_one_thread(folder):
    before = set(threading.enumerate())
    encoder = Encoder(folder)
    encoder.embed(["a cat sat", "a dog ran", "home"])
    assert len(set(threading.enumerate()) - before) == 1


def test_of_several_runs_those_are_stopped_that_have_not_ended_in_their_time():
    class Run:
        terminate = False

    watchdog = _Watchdog(0.05)
    ended, endless, other = Run(), Run(), Run()
    for run in (ended, endless):
        watchdog.begin(run)
    watchdog.end(ended)
    while watcher := watchdog._thread:
        watcher.join()
    watchdog.begin(other)
    watchdog.end(other)
    while watcher := watchdog._thread:
        watcher.join()
    assert [run.terminate for run in (ended, endless, other)] == [False, True, False]


def test_a_model_that_does_not_end_is_said_by_index_and_what_was_indexed_stays(run, tree, tmp_path):
    env = {
        "SMART_CONTEXT_SEMANTIC_MODEL_DIR": str(broken_encoders.write(tmp_path / "model", "endless")),
        "SMART_CONTEXT_SEMANTIC_TIMEOUT": "1",
    }
    root = tree({"a.md": "# Boats\nThe ferry leaves at noon.\n"})
    done = run("index", "--root", root, env=env)
    assert done.returncode == 0
    assert b"one text took more than 1 seconds" in done.stderr
    assert b"ferry" in run("search", "ferry", "--root", root, env=env).stdout


def test_the_runtime_of_models_leaves_nothing_in_a_home_and_has_nothing_to_send(tree, tmp_path):
    root = tree({"cats.txt": "the cat sleeps all day\n"})
    env = {
        **clean_env(tmp_path),
        "SMART_CONTEXT_SEMANTIC_MODEL_DIR": str(tiny_encoder.write(tmp_path / "model")),
        "SMART_CONTEXT_ROOTS": str(root),
    }
    command = [sys.executable, "-m", "smart_context"]  # its own process: ours has loaded the runtime already
    for told in (["index"], ["search", "cat", "--explain"]):
        done = subprocess.run([*command, *told], env=env, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert "meaning" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "model", "tree"]


def test_an_encoder_that_is_made_for_eight_bits_computes_the_same_and_loses_less_by_them(folder, tmp_path):
    uneven = weights()
    for layer in range(SHAPE.layers):
        uneven[f"encoder.layer.{layer}.attention.output.LayerNorm.weight"][3] *= 40
        uneven[f"encoder.layer.{layer}.intermediate.dense.weight"][:, 3] /= 40
        uneven[f"encoder.layer.{layer}.intermediate.dense.weight"][7] *= 20
    plain = bert.encoder(uneven, SHAPE)
    tokens = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokens.enable_truncation(16)
    sizes = calibrate.sizes(plain, lambda text: tokens.encode(text).ids)
    even = bert.encoder(uneven, SHAPE, sizes)
    texts = ["a cat sat", "dog ran home", "home", "cat dog", "a dog sat"]

    def vectors(model, is_int8):
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        if is_int8:
            prepare.quantise(model.SerializeToString(), tmp_path, folder / "model.onnx")
        return Encoder(folder).embed(texts)

    exact = vectors(plain, is_int8=False)
    np.testing.assert_allclose(vectors(even, is_int8=False), exact, atol=1e-5)
    lost = [np.linalg.norm(vectors(model, is_int8=True) - exact) for model in (plain, even)]
    assert lost[1] < lost[0] / 2
    again = bert.encoder(uneven, SHAPE, calibrate.sizes(plain, lambda text: tokens.encode(text).ids))
    assert again.SerializeToString(deterministic=True) == even.SerializeToString(deterministic=True)


@pytest.mark.parametrize("scale", [1e-3, 1 - 1e-9, 1 + 1e-9])
def test_sizes_that_differ_a_little_make_the_same_encoder(scale):
    """Processors differ in the last digits of what they add up; what they prepare must not."""
    parts = [
        name for name in weights() if name.endswith(("dense.weight", "query.weight", "key.weight", "value.weight"))
    ]
    sizes = {name: np.abs(np.random.default_rng(5).normal(size=weights()[name].shape[1])) for name in parts}
    scaled = {name: size * scale for name, size in sizes.items()}
    first, second = (bert.encoder(weights(), SHAPE, some).SerializeToString() for some in (sizes, scaled))
    assert first == second


def test_weights_that_are_not_the_known_ones_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"x" * 100)
    with pytest.raises(ConfigError):
        prepare.minilm(tmp_path, tmp_path / "out")
    with pytest.raises(ConfigError):
        prepare.minilm(tmp_path / "absent", tmp_path / "out")
    assert not (tmp_path / "out").exists()


PREPARE = """
import sys
from smart_context.meaning import prepare
prepare.WEIGHTS_SHA256 = sys.argv.pop(1)
from smart_context.cli import main
main()
"""


def test_preparing_says_its_steps_also_where_there_is_no_terminal(tmp_path):
    """By weights of a few kilobytes, whose hash the command takes for the known one."""
    found = {**weights(), "embeddings.position_embeddings.weight": np.zeros((prepare.MAX_TOKENS, 8), np.float32)}
    table, data = {}, b""
    for name, values in found.items():
        place = [len(data), len(data := data + values.tobytes())]
        table[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": place}
    head = json.dumps(table).encode()
    source = tmp_path / "weights"
    source.mkdir()
    (source / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    shape = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 8, "layer_norm_eps": 1e-12}
    (source / "config.json").write_text(json.dumps(shape), encoding="utf-8")
    known = {word: number for number, word in enumerate(WORDS)}
    tokenizers.Tokenizer(tokenizers.models.WordLevel(known, unk_token="[UNK]")).save(str(source / "tokenizer.json"))
    sha256 = hashlib.sha256((source / "model.safetensors").read_bytes()).hexdigest()
    command = [sys.executable, "-c", PREPARE, sha256, "semantic", "prepare", "--from", source]
    done = subprocess.run(command, env=clean_env(tmp_path), capture_output=True, check=False)
    assert done.stderr.decode().splitlines() == [
        f"preparing: reading the weights in {source}",
        "preparing 2/5: measuring what the model computes",
        "preparing 3/5: measuring what the model computes",
        "preparing 4/5: measuring what the model computes",
        "preparing 5/5: converting the weights to eight bits",
        "prepared; `context index` embeds what is indexed",
    ]
    assert done.returncode == 0
    assert (tmp_path / "data/smart-context/models/all-MiniLM-L6-v2/model.onnx").exists()


def units(count, dimension=16, seed=1):
    rows = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_nearest_are_those_of_a_full_comparison(tmp_path):
    rows = units(500)
    store = Vectors(tmp_path / "v", 16)
    store.append((n + 100, n % 7, row) for n, row in enumerate(rows[:200]))
    store.append((n + 100, n % 7, row) for n, row in enumerate(rows[200:], 200))
    query = units(1, seed=2)[0]
    exact = sorted(((float(row @ query), -n - 100) for n, row in enumerate(rows)), reverse=True)
    like = Vectors(tmp_path / "v").compare(query)
    found = like.nearest(20)
    assert {near.segment_id for near in found[:15]} <= {-n for _, n in exact[:20]}
    assert all(abs(near.cosine - float(rows[near.segment_id - 100] @ query)) < 0.01 for near in found)
    only = like.nearest(1000, among=[7, *range(103, 600, 7)])
    assert {near.segment_id for near in only} == {n + 100 for n in range(500) if n % 7 == 3}
    assert {near.file_id for near in only} == {3}
    assert like.cosines([100, 7, 399]).keys() == {100, 399}


def test_a_cosine_is_the_same_wherever_its_row_stands(tmp_path):
    rows, query = units(3000, 48), units(1, 48, seed=2)[0]
    first, second = Vectors(tmp_path / "a", 48), Vectors(tmp_path / "b", 48)
    first.append((n, 1, row) for n, row in enumerate(rows))
    second.append((n, 1, rows[n]) for n in reversed(range(1000, 3000)))
    second.append((n, 1, rows[n]) for n in range(1000))
    assert first.compare(query).nearest(700) == second.compare(query).nearest(700)


def test_how_far_apart_cosines_are_is_known_without_comparing_and_in_any_order(tmp_path):
    query = units(1, 384, seed=2)[0]
    rows = units(2000, 384) + np.linspace(0, 1, 2000, dtype=np.float32)[:, None] * query
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store, other = Vectors(tmp_path / "a", 384), Vectors(tmp_path / "b", 384)
    store.append((n, 1, row) for n, row in enumerate(rows))
    other.append((n, 1, row) for n, row in enumerate(rows[::-1]))
    spread = store.compare(query).spread()
    assert spread == other.compare(query).spread()
    assert spread == pytest.approx(float(np.std(rows @ query)), rel=0.3)


@pytest.mark.parametrize("dimension", [16, 384, 1100])
def test_rows_are_as_like_each_other_as_their_products_one_by_one_say(tmp_path, dimension):
    rows = units(90, dimension)
    store = Vectors(tmp_path / "v", dimension)
    store.append((n, 1, row) for n, row in enumerate(rows))
    segments, (close, counts, others, like) = store.compare(rows[0]).neighbours(range(90), 5)
    packed = [(float(np.float32(scale)), row.tolist()) for scale, row in map(vectors._pack, rows)]
    assert segments.tolist() == list(range(90))
    ends = np.cumsum(counts).tolist()
    for at, (end, (scale, row)) in enumerate(zip(ends, packed, strict=True)):
        cosines = {
            number: round(sum(x * y for x, y in zip(row, other, strict=True)) * (scale * theirs) * 10**6)
            for number, (theirs, other) in enumerate(packed)
            if number != at
        }
        nearest = sorted(cosines.values())[-5:]
        wanted = {number: max(cosine, 0) for number, cosine in cosines.items() if cosine >= nearest[0]}
        start = end - int(counts[at])
        assert dict(zip(others[start:end].tolist(), like[start:end].tolist(), strict=True)) == wanted
        assert close[at] == sum(nearest)


def test_the_rows_worth_comparing_are_those_that_putting_all_in_order_gives(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_LIKELY", 40)
    monkeypatch.setattr(vectors, "_SHARE", 100)
    store, query = Vectors(tmp_path / "v", 64), units(1, 64, seed=3)[0]
    store.append((n, 1, row) for n, row in enumerate(units(500, 64)))
    like = store.compare(query)
    for count in (1, 4, 5, 20, 49):
        many = max(40, 10 * count)
        apart, _ = like._signs_apart
        expected = np.flatnonzero(apart <= np.sort(apart)[many])
        assert like._likely(count).tolist() == expected.tolist()
    assert like._likely(50).tolist() == list(range(500))


def test_of_many_rows_few_are_compared_and_the_nearest_are_among_them(tmp_path, monkeypatch):
    compared = []
    likely = vectors.Likeness._likely

    def counted(like, count):
        found = likely(like, count)
        compared.append(len(found))
        return found

    monkeypatch.setattr(vectors.Likeness, "_likely", counted)
    query = units(1, 384, seed=2)[0]
    rows = units(3000, 384) + np.linspace(0, 1, 3000, dtype=np.float32)[:, None] * query
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    store, other = Vectors(tmp_path / "a", 384), Vectors(tmp_path / "b", 384)
    store.append((n, 1, row) for n, row in enumerate(rows))
    whole = store.compare(query).nearest(20)
    monkeypatch.setattr(vectors, "_LIKELY", 300)
    monkeypatch.setattr(vectors, "_SHARE", 10)
    found = store.compare(query).nearest(20)
    assert len(set(found).intersection(whole)) >= 19
    assert compared[0] == 3000
    assert compared[1] < 400
    for part in (range(2000, 3000), range(500), range(500, 2000)):  # seen as the file grows
        other.append((n, 1, rows[n]) for n in part)
    assert other.compare(query).nearest(20) == found


def test_a_file_in_the_place_of_another_is_seen_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setattr(vectors, "_LIKELY", 20)
    store = Vectors(tmp_path / "v", 16)
    store.append((n, 1, row) for n, row in enumerate(units(100)))
    new = units(300, seed=5)
    other = Vectors(tmp_path / "other", 16)
    other.append((n, 1, row) for n, row in enumerate(new))
    (tmp_path / "v").write_bytes((tmp_path / "other").read_bytes())  # the same inode
    store.reload()
    assert store.compare(new[7]).nearest(1) == other.compare(new[7]).nearest(1)


def test_equals_of_the_last_that_counts_are_found_too(tmp_path):
    store = Vectors(tmp_path / "v", 16)
    one, other = units(2)
    store.append((n, 1, one if n % 2 else other) for n in range(20))
    assert {near.segment_id for near in store.compare(one).nearest(3)} == set(range(1, 20, 2))


@pytest.mark.parametrize("content", [b"x" * 100, b"vectors1" + bytes(8), b"vectors1" + (17).to_bytes(8, "little")])
def test_a_file_that_holds_no_vectors_of_this_kind_is_refused(tmp_path, content):
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(SearchFailed):
        Vectors(tmp_path / "v", 16)


def test_a_torn_tail_is_ignored_and_cut_off(tmp_path):
    store = Vectors(tmp_path / "v", 16)
    store.append((n, 1, row) for n, row in enumerate(units(3)))
    whole = (tmp_path / "v").read_bytes()
    (tmp_path / "v").write_bytes(whole[:-5])
    again = Vectors(tmp_path / "v", 16)
    assert list(again.segments()) == [0, 1]
    again.append([(2, 1, units(3)[2])])
    assert (tmp_path / "v").read_bytes() == whole


def test_compacting_keeps_the_living(tmp_path):
    store = Vectors(tmp_path / "v", 16)
    store.append((n, 1, row) for n, row in enumerate(units(10)))
    reader = Vectors(tmp_path / "v", 16)
    assert store.compact([2, 5]) == 8
    reader.reload()
    assert list(store.segments()) == list(reader.segments()) == [2, 5]


def test_an_empty_store_finds_nothing(tmp_path):
    store = Vectors(tmp_path / "v", 16)
    like = store.compare(units(1)[0])
    assert (like.nearest(5), like.nearest(5, among=[1]), like.cosines([1])) == ([], [], {})
