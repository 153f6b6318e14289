"""The golden cases of `context resolve`, asked over MCP: the same bytes, the same errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import test_cache_goldens as goldens

from server_client import CONTEXT_SERVER, Peer, text_of

CODES = {2: "invalid_query", 3: "invalid_budget", 4: "cache_missing", 5: "cache_invalid", 6: "io_error"}


def test_every_golden_resolve_answers_over_mcp_as_the_command_does(tmp_path: Path) -> None:
    asked = {}
    for n, (name, case) in enumerate(sorted(goldens._CASES.items())):
        arguments = resolve_arguments(case, n)
        if arguments is not None:
            work = tmp_path / str(n)
            work.mkdir()
            goldens.lay_out_case(case, work)
            asked[name] = arguments
    assert len(asked) > 150
    with Peer(CONTEXT_SERVER, tmp_path, {"CONTEXT_CACHE_ROOT": str(tmp_path)}) as peer:
        peer.initialize()
        for name, arguments in asked.items():
            case = goldens._CASES[name]
            text = text_of(peer.call("context.resolve", arguments))
            if case["exit"] == 0:
                assert text.encode() == goldens._content(case["stdout"]), name
            else:
                assert json.loads(text)["error"]["code"] == CODES[case["exit"]], name


def resolve_arguments(case: goldens.Case, n: int) -> dict[str, Any] | None:
    """The arguments of a plain `context resolve --cache C --query Q --budget B`, or None for every other case."""
    argv = case["argv"]
    if case.get("as_nobody") or len(argv) != 7 or not all(isinstance(word, str) for word in argv):
        return None
    if argv[0] != "resolve" or argv[1::2] != ["--cache", "--query", "--budget"] or not argv[6].isdecimal():
        return None
    return {"cache": f"{n}/{argv[2].removeprefix('{W}/')}", "query": argv[4], "budget": int(argv[6])}
