"""Where the HTTP server listens and whom it lets in, and the token that proves it. Light: it is read before anything is served."""

from __future__ import annotations

import errno
import os
import secrets
import socket
from dataclasses import dataclass, field
from pathlib import Path

from smart_context import defaults, regular
from smart_context.errors import ConfigError, IoError

TOKEN_FILE = "http-token"  # noqa: S105 - a file's name
_MAX_TOKEN_BYTES = 10_000


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen and whom to let in. token: "" for none."""

    host: str = defaults.HOST
    port: int = defaults.PORT
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    token: str = field(default="", repr=False)
    max_body: int = defaults.MAX_BODY
    max_concurrent: int = defaults.MAX_CONCURRENCY


def bind(host: str, port: int) -> list[socket.socket]:
    """Take the port on every address of the host.

    Raises: IoError when it cannot be had on any of them.
    """
    try:
        addresses = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise IoError(f"cannot listen on {_netloc(host, port)}", reason=error.strerror) from error
    bound: list[socket.socket] = []
    why = 0
    for family, _, _, _, address in addresses:
        try:
            listening = socket.create_server(address[:2], family=family)
            # Those accepted have it from here: without it the body of an answer waits for its head to be confirmed.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            bound.append(listening)
        except OSError as error:  # `localhost` may have an address of a kind that this machine does not speak
            why = error.errno or 0
    if not bound:
        hint = "something else listens there; choose another with --port" if why == errno.EADDRINUSE else None
        raise IoError(f"cannot listen on {_netloc(host, port)}", reason=os.strerror(why), hint=hint)
    return bound


def url(host: str, port: int, path: str) -> str:
    """The address that a client is to be given."""
    return f"http://{_netloc(host, port)}{path}"


def _netloc(host: str, port: int) -> str:
    name = host.strip("[]")
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def token(data_dir: Path, token_file: str | None) -> str:
    """Read the bearer token, from the configured file or from one that is made on first use, for the owner alone."""
    path = Path(token_file) if token_file else data_dir / TOKEN_FILE
    try:
        if token_file is None and not path.exists():
            data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "w", encoding="ascii") as out:
                out.write(secrets.token_urlsafe(32) + "\n")
        found = regular.read_secret(path, _MAX_TOKEN_BYTES).decode("ascii").strip()
    except FileExistsError:  # another server made it just now
        return token(data_dir, token_file)
    except regular.Refused as error:
        raise ConfigError(f"the token in {path} cannot be trusted", reason=error.strerror) from error
    except (OSError, UnicodeDecodeError) as error:
        raise IoError(f"cannot read the token in {path}", reason=str(error)) from error
    if len(found) < 16:
        raise ConfigError(
            f"the token in {path} is too short", hint="give it at least 16 characters, or remove the file"
        )
    return found
