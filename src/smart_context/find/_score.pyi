from collections.abc import Sequence

def scores(
    packed: list[bytes], has_all: list[bool], columns: tuple[Sequence[float], ...], /
) -> tuple[list[float], bytes] | None: ...
