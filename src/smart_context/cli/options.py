"""Options that commands share: which configuration, which folders, and JSON instead of text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from smart_context.cli import keep_given_options, say, warn_of_variables

if TYPE_CHECKING:
    from smart_context.settings.config import Settings

F = TypeVar("F", bound=Callable[..., Any])

_FILE = click.Path(dir_okay=False)
_FOLDER = click.Path(file_okay=False)
_PLACE = click.Path(readable=False)  # whether it may be read is for the roots to say


def settings_options(command: F) -> F:
    """Add `--config`, `--root`, `--data-dir` and `--cache-root`; the command gets the resolved `settings`."""
    return _with_settings(command, _strictly)


def forgiving_settings_options(command: F) -> F:
    """Add the same for a command that must work with a broken configuration, too: then the usual places are taken."""
    return _with_settings(command, _forgivingly)


def _strictly(flags: Mapping[str, object]) -> Settings:
    from smart_context.settings import config

    return config.load(flags)


def _forgivingly(flags: Mapping[str, object]) -> Settings:
    from smart_context.errors import ConfigError
    from smart_context.settings import config

    try:
        return config.load(flags)
    except ConfigError as error:
        say(f"warning: {error.message}", "the usual places are looked at; name another with --data-dir DIR")
        return config.load(flags, reads_file=False)


def _with_settings(command: F, load: Callable[[Mapping[str, object]], Settings]) -> F:

    @wraps(command)
    def resolved(
        *args: Any,
        config_file: str | None,
        roots: tuple[str, ...],
        data_dir: str | None,
        cache_root: str | None,
        **more: Any,
    ) -> Any:
        flags = {"config": config_file, "roots": roots, "data_dir": data_dir, "cache_root": cache_root}
        keep_given_options(flags)
        settings = load(flags)
        warn_of_variables()
        return command(*args, settings=settings, **more)

    for option in reversed(_SETTINGS):
        resolved = option(resolved)
    return resolved  # type: ignore[return-value]  # the same command with four more options


def filter_options(command: F) -> F:
    """Add what narrows a search: `--ext`, `--year`, `--in`, `--since`, `--until`; the command gets `exts`, `years`, `folders`, `since`, `until`."""
    for option in reversed(_FILTERS):
        command = option(command)
    return command


def json_option(command: F) -> F:
    """Add `--json`; the command gets `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


CONFIG = click.option("--config", "config_file", type=_FILE, metavar="FILE", help="Read this configuration file.")
DATA_DIR = click.option("--data-dir", type=_FOLDER, metavar="DIR", help="Keep the index here.")
_SETTINGS = (
    CONFIG,
    click.option("--root", "roots", type=_FOLDER, multiple=True, metavar="DIR", help="A folder that may be read; repeatable."),
    DATA_DIR,
    click.option("--cache-root", type=_FOLDER, metavar="DIR", help="The folder of caches."),
)  # fmt: skip
_FILTERS = (
    click.option("--ext", "exts", multiple=True, metavar="EXT", help="Only files of this type, such as .pdf; repeatable."),
    click.option("--year", "years", multiple=True, metavar="YEAR", help="Only files with this year in name or text; repeatable."),
    click.option("--in", "folders", type=_PLACE, multiple=True, metavar="DIR", help="Only files below this folder of a root (`roots` of the tool); repeatable."),
    click.option("--since", default="", metavar="WHEN", help="Only files from then on: 2024, 2024-03, 2024-03-31, yesterday, 'last week'."),
    click.option("--until", default="", metavar="WHEN", help="Only files up to and including then."),
)  # fmt: skip
