from collections.abc import Sequence

def best(
    hits: Sequence[tuple[int, int, int, bool]],
    sentences: Sequence[int],
    telling: Sequence[float],
    everywhere: float,
    reach: int,
    /,
) -> tuple[int, int] | None: ...
