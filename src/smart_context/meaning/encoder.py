"""Turn texts into vectors with a sentence encoder from a local folder.

In: texts.  Out: one row of float32 per text, of length 1.
Always: the same text gives the same vector, whatever else is in the batch; the fingerprint identifies the exact model, so that vectors
of two models are never mixed. A model whose output is not a vector is refused when it is loaded, and one text never takes
longer than its time limit.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from smart_context import regular
from smart_context.errors import ConfigError
from smart_context.meaning import place, runtime
from smart_context.meaning.prepare import missing_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_MAX_NOTE_BYTES = 1_000_000
_MAX_TOKENS = 32_768
_DIMENSIONS = range(2, 16_385)
_UNKNOWN = ("[UNK]", "<unk>")  # the tokenizers' names of the unknown token
_TRIALS = ("a", "one text and a longer one")


class Encoder:
    """A loaded model. `seconds` bounds what one text may take."""

    def __init__(self, folder: Path, *, seconds: float = 30.0) -> None:
        """Load the model and try it.

        Raises: ConfigError when the extra is missing, or what is there is no encoder.
        """
        try:
            onnxruntime = runtime.load()
            from tokenizers import Tokenizer
        except ImportError as error:
            raise missing_extra() from error
        model, tokenizer = folder / place.MODEL, folder / place.TOKENIZER
        about = _about(folder)
        try:
            self.fingerprint = place.fingerprint(folder)
            self._tokenizer = Tokenizer.from_file(str(tokenizer))
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = 1
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        except OSError as error:
            raise _unusable(folder, error.strerror or str(error)) from error
        except Exception as error:  # the runtime and the tokenizer raise types of their own for a broken file
            raise _unusable(folder, str(error).splitlines()[0]) from error
        self.name = str(about.get("name", folder.name))
        self._folder, self._seconds, self._options = folder, seconds, onnxruntime.RunOptions
        self._watchdog = _Watchdog(seconds)
        self._tokenizer.no_padding()
        self._most_tokens = _max_tokens(folder, about)
        self._tokenizer.enable_truncation(self._most_tokens)
        self._unknown = {self._tokenizer.token_to_id(name) for name in _UNKNOWN} - {None}
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._first_token = about.get("pooling") == "cls"
        self.dimension = self._tried()

    def known(self, text: str) -> float:
        """The share of a text's tokens that the model knows: a low one, in a script that it was not trained for."""
        return self._share_known(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def asked(self, text: str) -> tuple[Vectors, float]:
        """Give the vector of one text, and the share of its tokens that the model knows."""
        found = self._tokenizer.encode(text)
        own = [token for token, is_added in zip(found.ids, found.special_tokens_mask, strict=True) if not is_added]
        # The special tokens leave a truncated text less room than it has in `known`: the share must be the same as there.
        share = self._share_known(own) if len(found.ids) < self._most_tokens else self.known(text)
        return self._run(found.ids), share

    def _share_known(self, ids: Sequence[int]) -> float:
        return 1 - sum(token in self._unknown for token in ids) / len(ids) if ids else 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector per text, in order."""
        # One at a time: int8 models scale what they compute by the whole batch, so that a neighbour would change the result.
        rows = [self._run(encoded.ids) for encoded in self._tokenizer.encode_batch(list(texts))]
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def _tried(self) -> int:
        """Run the model on two texts, so that a model that is not an encoder fails here, and not in the middle of a search."""
        try:
            found = [self._run(self._tokenizer.encode(text).ids) for text in _TRIALS]
        except ConfigError:
            raise
        except Exception as error:
            raise _unusable(self._folder, str(error).splitlines()[0]) from error
        if len({vector.shape for vector in found}) > 1 or found[0].ndim != 1 or len(found[0]) not in _DIMENSIONS:
            shapes = " and ".join(str(list(vector.shape)) for vector in found)
            raise _unusable(self._folder, f"it gives {shapes} for two texts, where a vector of one length is wanted")
        if not all(np.isfinite(vector).all() for vector in found):
            raise _unusable(self._folder, "it gives vectors that hold no numbers")
        return len(found[0])

    def _run(self, ids: Sequence[int]) -> Vectors:
        tokens = np.array([ids], np.int64)
        feed = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": np.zeros_like(tokens)}
        found = self._bounded({name: feed[name] for name in self._inputs if name in feed})
        states: Vectors = np.asarray(found, np.float32)[0]
        if states.ndim == 2:
            states = states[0] if self._first_token else states.mean(axis=0)
        unit: Vectors = states / max(float(np.linalg.norm(states)), 1e-12)
        return unit

    def _bounded(self, feed: dict[str, Any]) -> Any:
        """Run the model, and stop it when its time is over."""
        options = self._options()
        options.log_severity_level = 4  # we report errors ourselves
        self._watchdog.begin(options)
        try:
            return self._session.run(None, feed, options)[0]
        except Exception as error:
            if options.terminate:
                why = f"one text took more than {self._seconds:g} seconds (`semantic.timeout`)"
                raise _unusable(self._folder, why) from error
            raise
        finally:
            self._watchdog.end(options)


class _Watchdog:
    """Stops runs whose time is over. One thread watches them all, and ends when there was none for that time: to start one for each
    would take longer than anything else around a short run."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._runs: dict[int, tuple[float, Any]] = {}  # when its time is over, in the order in which they began
        self._thread: threading.Thread | None = None

    def begin(self, options: Any) -> None:
        """Watch a run."""
        self._runs[id(options)] = time.monotonic() + self._seconds, options
        # After that: a thread that ends says so before it looks for runs once more.
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._watch, daemon=True)
            self._thread.start()

    def end(self, options: Any) -> None:
        """A run has ended."""
        self._runs.pop(id(options), None)

    def _watch(self) -> None:
        while True:
            self._thread = None
            runs = list(self._runs.values())
            if not runs:
                return
            self._thread = threading.current_thread()
            now = time.monotonic()
            for until, options in runs:
                if until <= now:
                    options.terminate = True
                    self.end(options)
            time.sleep(max(0.0, min(until for until, _ in runs) - now))


def _max_tokens(folder: Path, about: dict[str, Any]) -> int:
    found = about.get("max_tokens", 256)
    if not isinstance(found, int) or not 1 < found <= _MAX_TOKENS:
        raise _unusable(folder, f"max_tokens is not a number from 2 to {_MAX_TOKENS:,}")
    return found


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
        f"cannot use the encoder in {folder}",
        reason=why,
        hint="it needs model.onnx and tokenizer.json; `context semantic prepare` makes them",
    )
