"""`context ui`: the page for people, in the browser."""

from __future__ import annotations

import hmac
import http.client
import secrets
import threading
import time
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from smart_context import defaults
from smart_context.cli import say
from smart_context.cli.options import settings_options
from smart_context.cli.program import Command
from smart_context.data import replace
from smart_context.errors import ConfigError, IoError, how_to_add

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

_SECONDS = 5.0  # for another server on this machine to answer


@click.command(cls=Command)
@settings_options
@click.option("--port", type=click.IntRange(0, 65535), help="The server's port; 0 takes a free one.")
@click.option("--no-browser", is_flag=True, help="Print the link instead of opening it.")
def ui(settings: Settings, port: int | None, no_browser: bool) -> None:
    """Search in a browser.

    Uses the server that runs on this machine (`context serve --http`), or starts one that indexes the roots, keeps the index up to date
    and ends with Ctrl-C. The link that it opens works once, within a minute.

    \b
    Examples:
      context ui
      context ui --root ~/Documents
    """
    from smart_context.access import tokens

    own = tokens.own(Path(settings.data_dir), settings.http.token_file or None)
    wanted = settings.http.port if port is None else port

    def enter(at: int) -> None:
        from smart_context.page import sessions

        link = f"http://{defaults.HOST}:{at}/enter?ticket={sessions.ticket(own, time.time())}"
        say(f"open {link}")
        if not no_browser:
            # In a thread, because a browser in the terminal would block the server.
            threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()

    if wanted and _is_ours(wanted, own):
        enter(wanted)
        return
    if find_spec("jinja2") is None:
        raise ConfigError("the extra for the page is not installed", hint=how_to_add("http"))
    say("starting the page; end it with Ctrl-C")
    _serve(settings, wanted, enter)


def _is_ours(port: int, own: str) -> bool:
    """Whether a server with this token listens there; other programs learn nothing.

    Raises: IoError when something else does.
    """
    from smart_context.page import sessions

    nonce = secrets.token_hex(16)
    connection = http.client.HTTPConnection(defaults.HOST, port, timeout=_SECONDS)
    try:
        connection.request("GET", f"/hello?nonce={nonce}")
        answer = connection.getresponse().read(1000)
    except ConnectionRefusedError:
        return False
    except (OSError, http.client.HTTPException):
        answer = b""
    finally:
        connection.close()
    if not hmac.compare_digest(answer, sessions.proof(own, nonce).encode()):
        raise IoError(
            f"something else listens on port {port}", hint="choose another with --port, or end what listens there"
        )
    return True


def _serve(settings: Settings, port: int, on_ready: Callable[[int], None]) -> None:
    from smart_context.api import App
    from smart_context.cli.serving import listen_on
    from smart_context.server import programs

    begun = replace(settings.index, at_start=True)
    settings = replace(settings, watch=replace(settings.watch, enabled=True), index=begun)
    # One person is served by one process.
    listen = replace(listen_on(settings, defaults.HOST, port, no_token=False), on_ready=on_ready, processes=1)
    with App(settings) as app:
        programs.serve(app, listen=listen)
