"""Write the logs of libraries as our own messages: to standard error, a repeated line only once, with a count."""

from __future__ import annotations

import logging
import traceback

from smart_context import plain, talk


def set_up() -> None:
    """Take over the logs of this process; to be called once libraries are about to be used."""
    if any(isinstance(handler, _Saying) for handler in logging.getLogger().handlers):
        return
    talk.count_repeats()
    logging.getLogger().addHandler(_Saying(logging.WARNING))
    # What the SDK logs is about messages that it answers anyway.
    logging.getLogger("mcp").propagate = talk.shows_tracebacks()
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    # It warns of every connection that speaks no HTTP; what is left are failures of ours.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)


class _Saying(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        what = f"{record.levelname.lower()}: {record.getMessage()}" + (f": {error!r}" if error else "")
        talk.say(plain.line(what) + "\n")
        if error and talk.shows_tracebacks():
            talk.say("".join(traceback.format_exception(error)))
