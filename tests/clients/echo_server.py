"""The Smart File Search tools over an app that gives back what it was asked, so that a test sees what reaches the app."""

from __future__ import annotations

from typing import Any

from smart_context.errors import Forbidden, IoError, RateLimited
from smart_context.llm.model import Message, Sample
from smart_context.server import run, search_tools
from smart_context.server.tools import Call, Program, Reply


class EchoApp:
    def list_roots(self, **_: object) -> dict[str, Any]:
        return {"roots": ["/a", "/b"]}

    def index_folder(self, root: str, full: bool, priority: str, **_: object) -> dict[str, Any]:
        return {"asked": [root, full, priority]}

    def search_files(self, *asked: object, **_: object) -> dict[str, Any]:
        if asked[0] == "forbidden":
            raise Forbidden("outside for anna@example.org", hint="not for bob@example.org either")
        if asked[0] == "disk":
            raise IoError("cannot read /etc/shadow")
        if asked[0] == "bug":
            raise KeyError("secret")
        return {"asked": asked}

    def open_file(self, *asked: object, **_: object) -> dict[str, Any]:
        return {"asked": asked, "preview": "half a pair: \ud800"}

    def summarize_results(self, *asked: object, **_: object) -> dict[str, Any]:
        return {"asked": asked}

    def rewrite_query(self, query: str, *, sample: Sample | None, **_: object) -> dict[str, Any]:
        if query.startswith("sample"):
            assert sample is not None, "no model to ask"
            told = sample([Message("system", "Be short."), Message("user", query)], 7)
            return {"fts": told.text, "filters": {"exts": [], "years": []}, "notes": ""}
        return {"asked": [query]}


def guard(call: Call, answer: Any) -> Reply:
    if call.arguments.get("query") == "limited":
        raise RateLimited("too many calls", retry_after=2.5)
    reply: Reply = answer()
    print(f"{call.client} {call.tool.name} {reply.code or 'ok'}", flush=True)
    return reply


def clean(text: str) -> str:
    return " ".join("[redacted:email]" if "@" in word else word for word in text.split(" "))


if __name__ == "__main__":
    rows = search_tools.table(EchoApp(), clean, lambda _: 30, "files")  # type: ignore[arg-type]
    run.over_stdio(Program("echo", "Echo", ""), rows, guard=guard)
