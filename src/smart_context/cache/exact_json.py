"""Write JSON to the byte: the same value is the same text on every machine.

In: strings, integers and float32 numbers.  Out: JSON text.
Always: only `"`, `\\` and U+0000 to U+001F are escaped, and a float is the shortest decimal that reads back as the same float32.
"""

from __future__ import annotations

from collections.abc import Iterable
from json.encoder import encode_basestring
from struct import Struct

_FLOAT32 = Struct("<f")
_BITS32 = Struct("<I")
_MOST_DIGITS = 9  # enough for any float32

string = encode_basestring
"""Quote a string. Python's own rule, unlike `ensure_ascii`'s, is exactly ours; a test holds it to that."""


def float32(number: float) -> float:
    """Round to the nearest float32."""
    rounded: float = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    return rounded


def decimal(number: float) -> str:
    """Write a float32 that is not negative: fixed from 1e-6 to below 1e13, else scientific."""
    if number == 0:
        return "0.0"
    digits, exponent = _shortest(number)
    if exponent < -6 or exponent > 12:
        return digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{exponent}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    return whole + "." + (digits[exponent + 1 :] or "0")


def pretty_list(items: Iterable[str], indent: str) -> str:
    """Lay out items one per line, two spaces in from `indent`; an empty list is its brackets."""
    inner = f",\n{indent}  ".join(items)
    return f"[\n{indent}  {inner}\n{indent}]" if inner else "[]"


def _shortest(number: float) -> tuple[str, int]:
    """The fewest significant digits that no other float32 is nearer to, and the decimal exponent of the first one."""
    for count in range(1, _MOST_DIGITS):
        text = f"{number:.{count - 1}e}"
        if float32(float(text)) == number:
            break
        if other := _on_the_wide_side(number, count):
            text = other
            break
    else:
        text = f"{number:.{_MOST_DIGITS - 1}e}"
    mantissa, _, exponent = text.partition("e")
    return mantissa.replace(".", "").rstrip("0"), int(exponent)


def _on_the_wide_side(number: float, count: int) -> str | None:
    # Above a power of two floats lie twice as far apart as below it: a decimal above may belong to it though the nearest one,
    # below, does not.
    if _BITS32.unpack(_FLOAT32.pack(number))[0] & 0x7FFFFF:
        return None
    unit = float(f"1e{int(f'{number:.{count - 1}e}'.partition('e')[2]) - count + 1}")
    text = f"{float(f'{number:.{count - 1}e}') + unit:.{count - 1}e}"
    return text if float32(float(text)) == number else None
