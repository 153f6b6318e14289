"""Templates and the page's own files: what turns data into answers for a browser.

In: the name of a template and what it shows.  Out: a response.
Always: whatever comes from a file is text (jinja2 escapes it); a page may load nothing but this server's own files, and runs no inline script.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from smart_context import plain as harmless

# `same-origin` and not `no-referrer`: under that, browsers send `Origin: null` with our own forms, which the gate refuses.
SAFE = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
        "frame-ancestors 'none'; base-uri 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PRIVATE = {**SAFE, "Cache-Control": "no-store"}

_TYPES = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}


def _read(name: str) -> bytes:
    return (resources.files(__package__) / "static" / name).read_bytes()


_FILES = {name: _read(name) for name in _TYPES}
STATIC = {f"/static/{name}" for name in _TYPES}
_VERSIONS = {name: hashlib.sha256(data).hexdigest()[:12] for name, data in _FILES.items()}


def static(name: str) -> str:
    """The address of one of the page's own files; another one when it changes."""
    return f"/static/{name}?v={_VERSIONS[name]}"


def query(values: Iterable[tuple[str, str]]) -> str:
    """Write the part of an address after the `?`, without what is empty."""
    return urlencode([(name, value) for name, value in values if value], errors="replace")


_templates = Environment(
    loader=PackageLoader(__package__ or "", "templates"),
    autoescape=True,
    auto_reload=False,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(static=static, query=query)
# What the core calls by the names of the tools and their arguments, in backticks.
_OUR_NAMES = {
    "searchFiles": "a search", "openFile": "a result", "indexFolder": "the index", "listRoots": "the index",
    "exts": "kind", "years": "year", "roots": "folder", "pointer": "the place", "offset": "from",
}  # fmt: skip


def plain(text: str) -> str:
    """Put people's words where the core's name tools and arguments, and begin with a capital."""
    said = "".join(_OUR_NAMES.get(word, word) for word in text.split("`"))
    return said[:1].upper() + said[1:]


_templates.filters["plain"] = plain
_templates.filters["line"] = harmless.line  # names: what would turn the direction of the text is shown instead
_templates.filters["thousands"] = lambda number: f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def page(name: str, status: int = 200, headers: Mapping[str, str] | None = None, **shown: Any) -> HTMLResponse:
    """Render a template."""
    text = _templates.get_template(name).render(shown).encode("utf-8", "replace")
    return HTMLResponse(text, status, {**PRIVATE, **(headers or {})})


async def serve_static(request: Request) -> Response:
    """Answer with one of the page's own files."""
    name = request.url.path.rpartition("/")[2]
    is_current = request.query_params.get("v") == _VERSIONS[name]
    keep = "public, max-age=31536000, immutable" if is_current else "no-cache"
    return Response(_FILES[name], headers={**SAFE, "Cache-Control": keep, "Content-Type": _TYPES[name]})
