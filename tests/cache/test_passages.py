"""Where documents are cut into passages: at the seams that one would choose by hand, and within the bounds."""

from __future__ import annotations

import pytest

from smart_context.cache.pack import passages


def by_hand(text: str) -> list[str]:
    """One paragraph in pieces: of what is left, up to 480 bytes; where at most three times that is left, in parts as equal as seams allow."""
    out, left = [], text.strip(" ")
    while left:
        size = len(left.encode())
        room = 480
        if len(left) <= 3 * 480:
            if size <= 480:
                return [*out, left]
            parts = -(-size // 480)
            room = min(480, size // parts + size // parts // 4)
        reach = left.encode()[:room].decode(errors="ignore")
        for seams in ((". ", "! ", "。"), (" ", "、")):
            cut = max(reach.rfind(seam) + len(seam) if seam in reach else 0 for seam in seams)
            if 3 * cut > len(reach):
                break
        else:
            cut = len(reach)
        out.append(left[:cut].rstrip(" "))
        left = left[cut:].lstrip(" ")
    return out


WORDS = (
    "The harbour wall was built of grey stone. It took three long years and forty men, none of whom saw the sea again! "
)
LONG = WORDS.replace(". ", ", ").replace("! ", ", ")
WIDE = "港口的墙是用灰色的石头建成的。花了三年、四十个人才完成、"


@pytest.mark.parametrize("text", [WORDS, LONG, LONG.replace(" ", ""), "漢" * 90, WIDE, f"{WIDE}{WORDS}"], ids=range(6))
def test_a_long_paragraph_is_cut_where_one_would_cut_it_by_hand(text):
    whole = text * 40
    for size in [*range(150, 700, 13), *range(1400, 1500, 3), *range(1890, 1960, 7), 2400]:
        part = whole[:size].strip(" ")
        found = [part[one.start : one.end] for one in passages.cut(part)]
        assert found == by_hand(part)
        assert all(len(one.encode()) <= 480 for one in found)


@pytest.mark.parametrize(
    ("sizes", "joined"),
    [
        ([159, 100], True), ([160, 100], False), ([100, 378], True), ([100, 379], False), ([159, 400], False), ([158, 320], True), ([158, 321], False),
    ],
)  # fmt: skip
def test_a_short_paragraph_is_joined_with_the_next_one_of_its_section(sizes, joined):
    first, second = ("x" * size for size in sizes)
    text = f"{first}\n\n{second}"
    found = [text[one.start : one.end] for one in passages.cut(text)]
    assert found == ([text] if joined else [first, second])
    apart = f"{first}\n\n# New\n\n{second}"
    assert len(passages.cut(apart)) == 2


def test_a_passage_knows_its_heading_and_where_it_stands():
    text = "before\n\n# One \n\na\n\n## Two\nb\n```\n# no heading\n```\n\n# Three\n# Four\n\nc\n"
    found = [(text[one.start : one.end], one.heading) for one in passages.cut(text)]
    assert found == [
        ("before", ""),
        ("# One \n\na", "One"),
        ("## Two\nb\n```\n# no heading\n```", "Two"),
        ("# Three", "Three"),
        ("# Four\n\nc", "Four"),
    ]
    for one, span in zip(passages.cut(text), passages.spans(text), strict=True):
        assert text[span.heading_start : span.heading_end] == one.heading
    assert passages.cut(" \n\n ") == []
