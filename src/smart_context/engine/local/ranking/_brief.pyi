from collections.abc import Sequence
from mmap import mmap

def shortened(packed: Sequence[bytes], numbers: Sequence[int], words: bytes, shorts: bytes, /) -> list[bytes]: ...
def restored(pieces: Sequence[bytes], numbers: Sequence[int], words: bytes, shorts: bytes, /) -> list[bytes]: ...
def learnt(
    packed: Sequence[bytes], words: bytes, shorts: bytes, taken: tuple[int, ...], /
) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
def read(
    data: mmap | bytes,
    places: mmap | bytes,
    apart: mmap | bytes,
    numbers: Sequence[int],
    words: bytes,
    shorts: bytes,
    /,
) -> list[bytes]: ...
