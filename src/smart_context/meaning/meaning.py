"""A model for searches: its encoder and its vectors beside an index, opened together.

In: a model's folder and a data directory.  Out: the similarity of a query to the segments that have a vector.
Always: the vectors are of this very model; a query is answered from the vectors that exist at that moment.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from smart_context.engine.port import Engine
from smart_context.engine.vectors import Likeness
from smart_context.meaning.encoder import Encoder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REMEMBERED = 64  # cached vectors of queries: the next page of results has the same query


class Meaning:
    """A model, ready for the searches of any thread."""

    def __init__(self, folder: Path, engine: Engine, seconds: float = 30.0) -> None:
        """Load the model; `seconds` bounds one text. `alone` leaves words out of the score, to measure what meaning is worth.

        Raises: ConfigError when the extra is missing or the folder holds no encoder; SearchFailed for damaged vectors.
        """
        self.folder = folder
        self.alone = False
        self.encoder = Encoder(folder, seconds=seconds)
        self.vectors = engine.vectors(self.encoder.fingerprint, self.encoder.dimension)
        self._asked: dict[str, tuple[NDArray[np.float32], float]] = {}
        self._lock = threading.Lock()

    def like(self, text: str) -> tuple[Likeness, float] | None:
        """Compare a text with the segments; also return the share of it that the model knows. None while no segment has a vector."""
        with self._lock:
            self.vectors.reload()
            if not len(self.vectors):
                return None
            found = self._asked.pop(text, None) or self.encoder.asked(text)
            if len(self._asked) >= _REMEMBERED:
                del self._asked[next(iter(self._asked))]  # the least recently used one
            self._asked[text] = found
            vector, known = found
            return self.vectors.compare(vector), known
