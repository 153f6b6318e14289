"""The way into `context`, which is also `python -m smart_context`."""

from __future__ import annotations

import gc
import signal
from typing import NoReturn


def main() -> NoReturn:
    """Load the program and run it. Ctrl-C while it is loaded ends it as it ends any program, without a traceback.

    The garbage collector is off: what is loaded stays, and a search ends before it would pay. Commands that run for long turn it on.
    """
    gc.disable()
    catches = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if catches:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from smart_context import cli

    if catches:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.end(cli.run())


if __name__ == "__main__":
    main()
