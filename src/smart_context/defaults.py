"""Every default, choice and cap that more than one place needs, once.

Settings declare them, schemas and commands show them, stages are given them. A stage has no default of its own.
"""

from __future__ import annotations

from typing import Final

SEGMENT_CHARS: Final = 2000  # the longest segment of text

JAIL_MODES: Final = ("prefer", "require", "off")  # of reading files, the default first
JAIL: Final = JAIL_MODES[0]

OCR_LANGUAGES: Final = ("en",)

PREVIEW_BYTES: Final = 8000  # of UTF-8, of one preview
AROUND_CHARS: Final = 4000  # that `before` and `after` may ask for

K: Final = 10  # results of a page
MAX_K: Final = 100
SORTS: Final = ("relevance", "date", "name")  # orders of results, the default first
SORT: Final = SORTS[0]

CALL_SECONDS: Final = 30.0  # for one call of a tool

STYLES: Final = ("bullets", "paragraph", "table")  # of a summary, the default first
STYLE: Final = STYLES[0]

POLL_SECONDS: Final = 30.0  # between two looks where the system reports no changes
SWEEP_MINUTES: Final = 60  # between two looks through everything
SWEEP_SECONDS: Final = 60.0 * SWEEP_MINUTES

HOST: Final = "127.0.0.1"
PORT: Final = 8765

MAX_BODY: Final = 1024 * 1024  # bytes of an HTTP request
PROCESSES: Final = 1  # that answer calls over HTTP
MOST_PROCESSES: Final = 64
MAX_CONCURRENCY: Final = 64  # calls served at once over HTTP
SESSION_SECONDS: Final = 1800.0  # that a session of HTTP may be idle

OAUTH_CHOICES: Final = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
OAUTH_ALGORITHMS: Final = ("RS256", "ES256")  # that access tokens may be signed with

AUDIT_MB: Final = 10  # of one file of the audit log
AUDIT_BYTES: Final = AUDIT_MB * 1024 * 1024
AUDIT_KEEP: Final = 5  # older files of it
FREEZE_K: Final = 20  # documents of a frozen cache
