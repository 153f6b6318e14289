"""Where a model and its vectors are.

In: the settings and a data directory.  Out: paths, and the fingerprint that joins the two.
Always: nothing of the extra is imported, so that asking costs nothing where there is no model.
"""

from __future__ import annotations

from pathlib import Path

from smart_context import regular
from smart_context.settings import config
from smart_context.settings.tables import SemanticSettings

DEFAULT = "all-MiniLM-L6-v2"
MODEL, TOKENIZER = "model.onnx", "tokenizer.json"


def prepared() -> Path:
    """The folder of the model that `context semantic prepare` makes, one for all indexes of a user."""
    return Path(config.data_folder()) / "models" / DEFAULT


def model(settings: SemanticSettings) -> Path | None:
    """The folder of the model to use; None where none is wanted or prepared."""
    if not settings.enabled:
        return None
    if settings.model_dir:
        return Path(settings.model_dir)
    return prepared() if prepared().is_dir() else None


def fingerprint(folder: Path) -> str:
    """Name the exact model in a folder.

    Raises: OSError when it cannot be read.
    """
    import hashlib  # here, because most commands only ask whether there is a model

    digest = hashlib.sha256()
    for name in (MODEL, TOKENIZER):
        with open(regular.open_fd(folder / name), "rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:16]
