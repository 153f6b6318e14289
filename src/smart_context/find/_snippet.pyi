from collections.abc import Sequence

def begins(text: str, /) -> list[int]: ...
def joined(text: str, /) -> str: ...
def best(
    hits: Sequence[tuple[int, int, int, bool]],
    sentences: Sequence[int],
    telling: Sequence[float],
    everywhere: float,
    reach: int,
    /,
) -> tuple[int, int] | None: ...
