"""Every failure a caller can meet, in one tree.

    ContextError
    ├── UsageError          usage            1   the command line is wrong
    ├── ConfigError         config           1   a setting is wrong
    ├── InvalidQuery        invalid_query    2
    ├── InvalidBudget       invalid_budget   3
    ├── CacheMissing        cache_missing    4   absent, or not a directory
    ├── CacheInvalid        cache_invalid    5   present, but fails verification
    ├── SameId              cache_invalid    5   two sources would be one document
    ├── KeyInvalid          key_invalid      5   a key or a signature cannot be used
    ├── IoError             io_error         6   the file system said no
    ├── InternalError       internal_error   7   we broke a promise
    ├── CallTimeout         internal_error   7   a call ran out of its time
    ├── CallCancelled       cancelled        7   nobody waits for the answer any more; it is only logged
    └── SearchError                              what the Smart File Search tools answer
        ├── BadRequest      BAD_REQUEST      1
        ├── NotFound        NOT_FOUND        4
        ├── Forbidden       FORBIDDEN        6
        ├── Conflict        CONFLICT         6
        ├── RateLimited     RATE_LIMITED     6
        ├── LlmUpstream     LLM_UPSTREAM     6
        └── SearchFailed    INTERNAL_ERROR   7
            └── StorageFailed  INTERNAL_ERROR  6   the disk under the index is full or refuses
                └── Unreachable  INTERNAL_ERROR  6   the database with the record does not answer

Exit status 8 is no error: a comparison was made and does not hold; the command line gives it itself.

A class carries a stable `code` and `exit_status`; an instance carries the facts. The message is one line that names
the thing; `reason` adds the next line where it helps; `hint` says what to do. Both name a verb or an argument as the tools do, in
backticks (`searchFiles`, `offset`); the command line puts its own names there. Context's MCP answers never show a message of an
instance: they use `CANONICAL_MESSAGES`.
"""

from __future__ import annotations

import os
from typing import ClassVar

CANONICAL_MESSAGES = {
    "cache_missing": "Cache does not exist",
    "cache_invalid": "Cache exists but is invalid",
    "invalid_query": "Query is invalid",
    "invalid_budget": "Budget is invalid",
    "io_error": "I/O error occurred",
    "internal_error": "Internal error",
}


class ContextError(Exception):
    """Anything that this program reports as an error rather than as a bug."""

    code: ClassVar[str] = "internal_error"
    exit_status: ClassVar[int] = 7

    def __init__(self, message: str, *, reason: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.hint = hint

    @property
    def in_one_line(self) -> str:
        """Everything there is to say, for a warning."""
        return "; ".join(filter(None, (self.message, self.reason, self.hint)))


class UsageError(ContextError):
    """The command line cannot be understood."""

    code = "usage"
    exit_status = 1


class ConfigError(ContextError):
    """A setting is unknown, of the wrong type, or out of range."""

    code = "config"
    exit_status = 1


class InvalidQuery(ContextError):
    """The query is not valid UTF-8 text."""

    code = "invalid_query"
    exit_status = 2


class InvalidBudget(ContextError):
    """The budget is not an integer from 0 to 2^64 - 1."""

    code = "invalid_budget"
    exit_status = 3


class CacheMissing(ContextError):
    """A cache directory is absent, or is not a directory."""

    code = "cache_missing"
    exit_status = 4


class CacheInvalid(ContextError):
    """A cache directory is present but fails verification."""

    code = "cache_invalid"
    exit_status = 5

    def __init__(self, cache: str | os.PathLike[str], member: str, why: str) -> None:
        super().__init__(f"cache {os.fspath(cache)} failed verification", reason=f"{member}: {why}")
        self.cache = os.fspath(cache)
        self.member = member
        self.why = why


class SameId(ContextError):
    """Two sources of a build have the same id, so that no cache can hold both."""

    code = "cache_invalid"
    exit_status = 5

    def __init__(self, document_id: str, path: str, other: str) -> None:
        super().__init__(f"two sources have the same id {document_id!r}", reason=f"{path!r} and {other!r}")
        self.document_id = document_id
        self.paths = (path, other)


class KeyInvalid(ContextError):
    """A key or a signature is damaged, expired, or not the one that is needed."""

    code = "key_invalid"
    exit_status = 5


class IoError(ContextError):
    """The file system refused: permission, a full disk, a broken device, a name that is taken."""

    code = "io_error"
    exit_status = 6


class InternalError(ContextError):
    """An invariant of ours does not hold."""


class CallTimeout(ContextError):
    """A call ran out of its time and stopped working."""


class CallCancelled(ContextError):
    """A call was cancelled by its caller and stopped working; no answer is sent."""

    code = "cancelled"


class SearchError(ContextError):
    """What the Smart File Search tools answer instead of a result; `hint` says what to do next."""

    code = "INTERNAL_ERROR"


class BadRequest(SearchError):
    """An argument is missing, malformed or out of range; the message names it."""

    code = "BAD_REQUEST"
    exit_status = 1


class NotFound(SearchError):
    """The file, folder or place inside a file is not there."""

    code = "NOT_FOUND"
    exit_status = 4


class Forbidden(SearchError):
    """A path is outside the allow-listed roots, whether it exists or not."""

    code = "FORBIDDEN"
    exit_status = 6


class Conflict(SearchError):
    """The index is being written by somebody else."""

    code = "CONFLICT"
    exit_status = 6


class RateLimited(SearchError):
    """Too many calls; `retry_after` says in how many seconds the next one is served."""

    code = "RATE_LIMITED"
    exit_status = 6

    def __init__(self, message: str, *, retry_after: float, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class LlmUpstream(SearchError):
    """The configured language model failed or did not answer in time."""

    code = "LLM_UPSTREAM"
    exit_status = 6


class SearchFailed(SearchError):
    """Something nobody foresaw, or a call that ran out of time."""


class StorageFailed(SearchFailed):
    """The disk under the index is full, read-only or broken."""

    exit_status = 6


class Unreachable(StorageFailed):
    """The database with the record does not answer; nothing is wrong with what it holds."""


def how_to_add(extra: str) -> str:
    """The hint for an extra that is not installed."""
    return f"in the checkout: pip install '.[{extra}]'"
