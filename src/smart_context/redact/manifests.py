"""Find the data of Kubernetes' secrets: every value below `data:` or `stringData:` of a manifest of the kind `Secret`.

In: folded text and the same in lower case.
Always: only the manifest that a kind stands in is read: from its `apiVersion` to the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smart_context import later
from smart_context.redact import stems, values

_OF_SECRETS = r"secret\"?(?=[\s,}])"
_KIND = later.pattern(r"\bkind\"?:[ ]{1,4}\"?$")
_BEFORE = 12  # characters before a kind
_MOST = 20_000  # characters of a manifest on either side of its kind
_BLOCK = later.pattern(
    r"(?:^|\n)(?P<indent>[ ]{0,20})(?:string)?data:[ \t]*\r?\n|\"(?:string)?data\":\s{0,20}(?P<opened>\{)"
)
_ENTRY = later.pattern(
    r"(?P<indent>[ ]{1,40})[\"']?[\w.\-]{1,253}[\"']?:[ ]{1,4}(?P<quote>[\"']?)(?P<value>[^\s\"'|>#&*][^\n\"']{0,8192}?)(?P=quote)[ \t]*(?:\r?\n|$)"
)
_MEMBER = later.pattern(r"\s{0,40},?\s{0,40}\"[\w.\-]{1,253}\":\s{0,4}\"(?P<value>[^\"\\\n]{1,8192}+)\"")
_LEAST = 4  # characters of a value


def find(text: str, low: str, places: Sequence[int] | None) -> Iterator[tuple[int, int]]:
    """Yield where such data stand. places: where `secret` stands, if that is known."""
    done = 0
    for kind in stems.matches(_OF_SECRETS, "secret", low, places):
        if kind.start() < done or not _KIND.search(low, max(0, kind.start() - _BEFORE), kind.start()):
            continue
        start = max(low.rfind("apiversion", max(0, kind.start() - _MOST), kind.start()), done, 0)
        end = low.find("apiversion", kind.end(), kind.end() + _MOST)
        end = end if end >= 0 else min(len(low), kind.end() + _MOST)
        for block in _BLOCK.finditer(low, start, end):
            entry = _MEMBER if block["opened"] else _ENTRY
            at = block.end()
            while (one := entry.match(text, at, end)) and (
                block["opened"] or len(one["indent"]) > len(block["indent"])
            ):
                if len(one["value"]) >= _LEAST and not values.is_placeholder(one["value"]):
                    yield one.span("value")
                at = one.end()
        done = end
