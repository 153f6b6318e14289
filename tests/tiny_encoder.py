"""A sentence encoder of a few kilobytes that knows some words, run by the real runtime.

Words of one group mean the same: their vectors are equal. Words of different groups have nothing to do with each other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

GROUPS = (
    ("cat", "feline", "kitten"),
    ("car", "automobile", "vehicle"),
    ("money", "budget", "finance"),
    ("sea", "ocean"),
    ("doctor", "physician"),
    ("house", "home"),
)
_SIZE = 32


def write(folder: Path, groups: Sequence[Sequence[str]] = GROUPS) -> Path:
    """Write the model's folder."""
    import numpy as np
    import tokenizers

    from smart_context.meaning import bert

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(word for group in groups for word in group)]
    table = np.zeros((len(words), _SIZE), np.float32)
    for number, group in enumerate(groups):
        for word in group:
            table[words.index(word), number] = 1.0
    weights = {
        "embeddings.word_embeddings.weight": table,
        "embeddings.position_embeddings.weight": np.zeros((64, _SIZE), np.float32),
        "embeddings.token_type_embeddings.weight": np.zeros((2, _SIZE), np.float32),
        "embeddings.LayerNorm.weight": np.ones(_SIZE, np.float32),
        "embeddings.LayerNorm.bias": np.zeros(_SIZE, np.float32),
    }
    shape = bert.Shape(layers=0, heads=1, hidden=_SIZE, epsilon=1e-12)
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(bert.encoder(weights, shape).SerializeToString())
    (folder / "encoder.json").write_text(json.dumps({"name": "tiny", "max_tokens": 64}), encoding="utf-8")
    return folder
