from collections.abc import Sequence
from typing import Any

def said(packed: Sequence[bytes], trust: Any, room: Any, rare: Any, terms: int, /) -> bytes: ...
