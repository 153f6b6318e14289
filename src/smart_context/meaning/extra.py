"""Semantic ranking, if installed.

In: the settings and a data directory.  Out: the model for searches, and its vectors made, counted and tidied.
Always: where there is no model, nothing of the extra is imported and every answer is "nothing"; a model that cannot be used is
reported once, by the first search.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context import talk
from smart_context.errors import ContextError, how_to_add
from smart_context.meaning import place
from smart_context.model import OnProgress, Stop
from smart_context.settings.tables import SemanticSettings

if TYPE_CHECKING:
    from smart_context.engine.port import Engine
    from smart_context.index.model import Coverage
    from smart_context.meaning.meaning import Meaning


class Extra:
    """Semantic ranking, for the threads of one process."""

    def __init__(self, settings: SemanticSettings, engine: Engine) -> None:
        self._settings = settings
        self._engine = engine
        self._loading = threading.Lock()
        self._meaning: Meaning | None = None
        self._unusable: Path | None = None  # a model that has been warned of

    def meaning(self) -> Meaning | None:
        """The model, loaded once something is embedded; None where it is not there or cannot be used."""
        folder = place.model(self._settings)
        if folder is None or folder == self._unusable or not self._engine.has_vectors():
            return None
        with self._loading:
            if self._meaning is None or self._meaning.folder != folder:
                try:
                    from smart_context.meaning.meaning import Meaning

                    self._meaning = Meaning(folder, self._engine, self._settings.timeout)
                except (ContextError, ImportError) as error:
                    self._unusable = folder
                    talk.warn(f"searching by words alone: {_message(error)}")
                    return None
            return self._meaning

    def embed(self, workers: int, on_progress: OnProgress, stop: Stop) -> int:
        """Embed the segments without a vector, in this thread; return how many these were.

        Raises: Conflict when another process does; ConfigError when the model cannot be used; what `stop` raises.
        """
        folder = place.model(self._settings)
        found = self.coverage()
        if folder is None or not self._engine.is_there() or (found and found.embedded == found.segments):
            return 0
        from smart_context.meaning import embedding
        from smart_context.meaning.encoder import Encoder

        encoder = self._meaning.encoder if self._meaning else Encoder(folder, seconds=self._settings.timeout)
        return embedding.run(self._engine, encoder, workers=workers, on_progress=on_progress, stop=stop)

    def coverage(self) -> Coverage | None:
        """How many segments have a vector; None where there is no model or no index, or either cannot be read."""
        folder = place.model(self._settings)
        if folder is None:
            return None
        try:
            from smart_context.meaning import embedding

            return embedding.coverage(self._engine, folder)
        except (ContextError, OSError, ImportError):
            return None

    def tidy(self) -> None:
        """Drop vectors that nothing needs."""
        folder = place.model(self._settings)
        if folder is None or not self._engine.has_vectors():
            return
        try:
            used = place.fingerprint(folder)
            from smart_context.meaning import embedding
        except (OSError, ImportError):
            return  # the vectors of a model that cannot be used are kept until it is repaired
        embedding.tidy(self._engine, used)


def _message(error: ContextError | ImportError) -> str:
    if isinstance(error, ContextError):
        return error.in_one_line
    return f"the extra is not installed; {how_to_add('semantic')}"
