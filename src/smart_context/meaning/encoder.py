"""Turn texts into vectors with a sentence encoder from a local folder.

In: texts.  Out: one row of float32 a text, of length 1.
Always: the same text gives the same vector, whatever it is given with; the fingerprint names the exact model, so that vectors
of two models never meet.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smart_context import regular
from smart_context.errors import ConfigError
from smart_context.meaning import place
from smart_context.meaning.prepare import missing_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_MAX_NOTE_BYTES = 1_000_000


class Encoder:
    """A loaded model. `threads` bounds what one call may use."""

    def __init__(self, folder: Path, *, threads: int = 1) -> None:
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise missing_extra() from error
        model, tokenizer = folder / place.MODEL, folder / place.TOKENIZER
        about = _about(folder)
        try:
            self.fingerprint = place.fingerprint(folder)
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except OSError as error:
            raise _unusable(folder, error.strerror or str(error)) from error
        except Exception as error:  # the runtime and the tokenizer raise types of their own for a broken file
            raise _unusable(folder, str(error).splitlines()[0]) from error
        self.name = str(about.get("name", folder.name))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(int(about.get("max_tokens", 256)))
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._first_token = about.get("pooling") == "cls"
        self.dimension = len(self._checked(folder))

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Give one vector a text, in order."""
        # One at a time: int8 models scale what they compute by the whole batch, so that a neighbour would change the result.
        rows = [self._run(encoded.ids) for encoded in self._tokenizer.encode_batch(list(texts))]
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def _checked(self, folder: Path) -> Vectors:
        """Run the model once: what is not an encoder shows here, and not in the middle of a search."""
        try:
            return self._run(self._tokenizer.encode("a").ids)
        except Exception as error:
            raise _unusable(folder, str(error).splitlines()[0]) from error

    def _run(self, ids: Sequence[int]) -> Vectors:
        tokens = np.array([ids], np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        found: Any = self._session.run(None, {name: feed[name] for name in self._inputs if name in feed})[0]
        states: Vectors = np.asarray(found, np.float32)[0]
        if states.ndim == 2:
            states = states[0] if self._first_token else states.mean(axis=0)
        unit: Vectors = states / max(float(np.linalg.norm(states)), 1e-12)
        return unit


def _about(folder: Path) -> dict[str, Any]:
    """Read what is known of a model: our own note, or the files that sentence-transformers leaves beside one."""
    note = _json(folder / "encoder.json")
    if note:
        return note
    pooling = _json(folder / "1_Pooling" / "config.json")
    length = _json(folder / "sentence_bert_config.json").get("max_seq_length", 256)
    return {"max_tokens": length, "pooling": "cls" if pooling.get("pooling_mode_cls_token") else "mean"}


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(regular.read(path, _MAX_NOTE_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unusable(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"cannot load the encoder in {folder}",
        reason=why,
        hint="it needs model.onnx and tokenizer.json; `context semantic prepare` makes them",
    )
