"""The commands that sign: keygen, sign. `verify --key` is in `cache.py`."""

from __future__ import annotations

import sys

import click

from smart_context.cli import say
from smart_context.cli.program import Command
from smart_context.errors import IoError, UsageError

_passphrase_file = click.option(
    "--passphrase-file", metavar="FILE", help="Take the passphrase from the first line of this file instead of asking."
)


@click.command(cls=Command)
@click.option("--key", required=True, metavar="FILE", help="Where the secret key is written, with mode 600.")
@click.option("--public", metavar="FILE", help="Where the public key is written. Default: beside it, as .pub.")
@click.option("--passphrase", is_flag=True, help="Ask for a passphrase that encrypts the secret key.")
@_passphrase_file
@click.option("--days", type=click.IntRange(1, 36_500), help="For how many days the key is valid. Default: for ever.")
def keygen(key: str, public: str | None, passphrase: bool, passphrase_file: str | None, days: int | None) -> None:
    """Make a key that signs caches.

    \b
    Examples:
      context keygen --key me.key
      context keygen --key me.key --passphrase --days 365

    Keys have the format of minisign: both programs read them. Nothing is overwritten.
    """
    from smart_context.frozen import api

    where = public or (key.removesuffix(".key") + ".pub")
    words = ""
    if passphrase_file is not None:
        words = _first_line(passphrase_file)
    elif passphrase:
        words = _asked(twice=True)
    made = api.make_key(key, where, passphrase=words, days=days)
    say(f"key {made.name} in {key}; give {where} to those who verify")


@click.command(cls=Command)
@click.option("--cache", required=True, metavar="DIR", help="The cache.")
@click.option("--key", required=True, metavar="FILE", help="The secret key, from `context keygen` or minisign.")
@_passphrase_file
@click.option("--force", is_flag=True, help="Replace the signature that is there.")
def sign(cache: str, key: str, passphrase_file: str | None, force: bool) -> None:
    """Sign a cache, so that others can check that it is yours and unchanged.

    \b
    Examples:
      context sign --cache docs.cache --key me.key
      context verify --cache docs.cache --key me.pub

    Writes SHA256SUMS and SHA256SUMS.minisig beside the manifest. Without this program:

    \b
      minisign -Vm docs.cache/SHA256SUMS -p me.pub && (cd docs.cache && sha256sum -c SHA256SUMS)
    """
    from smart_context.cli.show import ProgressBar
    from smart_context.frozen import api, keys

    words = ""
    if keys.needs_passphrase(key):
        words = _first_line(passphrase_file) if passphrase_file is not None else _asked()
    secret = keys.secret(key, words)
    if keys.is_open_to_others(key):
        say(f"warning: others may read {key}", f"hint: chmod 600 {key}")
    with ProgressBar("verifying") as bar:
        verified = api.sign_cache(cache, secret, force=force, on_progress=bar)
    say(f"signed {verified.cache_version} by key {secret.public.name}")


def _asked(*, twice: bool = False) -> str:
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("the key needs a passphrase", hint="give --passphrase-file FILE, or run this on a terminal")
    words: str = click.prompt("passphrase", hide_input=True, confirmation_prompt=twice, err=True)
    return words


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as file:
            return file.readline().rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise IoError(f"cannot read {path}", reason=str(error)) from error
