"""Name the version of the redaction rules; the index keeps it with each file that they judged.

In: the patterns of a configuration.  Out: a name.
Always: the same name, the same spans for the same text. It loads no detector, so that a run that finds nothing new need not.
"""

from __future__ import annotations

from collections.abc import Sequence

from smart_context import digest

RULES_VERSION = 14
"""Which rules judged a file, kept with its index. Raise it with every change after which the same text, without patterns of a
configuration, can give other spans: a detector, a list of marks or names, a threshold, the folding of text. A change that only makes
the same spans faster leaves it alone."""


def identity(patterns: Sequence[str] = ()) -> str:
    """The name of the program's own rules together with a configuration's patterns."""
    parts = (str(RULES_VERSION), *patterns)
    told = "".join(f"{len(part)}:{part}," for part in parts).encode("utf-8", "surrogatepass")
    return f"{RULES_VERSION}-{digest.sha256(told)[:16]}"
