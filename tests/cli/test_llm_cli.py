"""`context summarize` and `context rewrite`, as a user runs them."""

from __future__ import annotations

import json
import socket

import chat_server as chat


def test_summarize_searches_and_answers_with_its_sources(run, tree):
    root = tree(
        {
            "pay.txt": "Invoices to nora@example.org are due within thirty days. The office is closed on Mondays.\n",
            "garden.txt": "The garden was planted in 1903 by the first gardener of the estate.\n",
        }
    )
    assert run("index", root, "--root", root).returncode == 0
    told = run("summarize", "when are invoices due", "--root", root)
    assert told.returncode == 0
    assert told.stdout.decode() == (
        f"- Invoices to [redacted:email] are due within thirty days. [1]\n\nSources:\n[1] {root}/pay.txt, lines 1-1\n"
    )
    answer = json.loads(run("summarize", "when are invoices due", "--root", root, "--json", "--style", "table").stdout)
    assert answer["summary"].startswith("| Finding | Source |\n|---|---|\n| Invoices to [redacted:email] are due")
    assert answer["tokens_used"] == {"prompt": 0, "completion": 0}
    nothing = run("summarize", "zeppelin", "--root", root)
    assert (nothing.returncode, nothing.stdout) == (0, b"")


def test_summarize_by_a_model_names_what_it_cost(run, tree):
    root = tree({"pay.txt": "Invoices are due within thirty days of receipt.\n"})
    assert run("index", root, "--root", root).returncode == 0
    with chat.serving(chat.answer("Thirty days [1].", {"prompt_tokens": 200, "completion_tokens": 6})) as server:
        env = {
            "SMART_CONTEXT_LLM_PROVIDER": "openai",
            "SMART_CONTEXT_LLM_BASE_URL": server.url,
            "OPENAI_API_KEY": "k-1",
        }
        told = run("summarize", "when are invoices due", "--root", root, env=env)
    assert told.stdout.decode() == f"Thirty days [1].\n\nSources:\n[1] {root}/pay.txt, lines 1-1\n"
    assert b"200 tokens asked, 6 answered" in told.stderr


def test_summarize_says_on_stderr_alone_that_the_model_failed(run, tree):
    root = tree({"pay.txt": "Invoices are due within thirty days of receipt.\n"})
    assert run("index", root, "--root", root).returncode == 0
    with chat.serving(chat.raw(401, b"")) as server:
        env = {
            "SMART_CONTEXT_LLM_PROVIDER": "openai",
            "SMART_CONTEXT_LLM_BASE_URL": server.url,
            "OPENAI_API_KEY": "k-1",
        }
        told = run("summarize", "when are invoices due", "--root", root, env=env)
    assert (told.returncode, told.stdout) == (6, b"")
    assert told.stderr.startswith(b"error: the language model at 127.0.0.1:")


def test_rewrite_prints_the_query_and_its_filters(run):
    told = run("rewrite", "vendor contracts from 2021 in docx", "--json")
    answer = json.loads(told.stdout)
    assert list(answer) == ["fts", "filters", "notes"]
    assert answer["filters"]["years"] == ["2021"]
    assert b"years: 2021" in run("rewrite", "vendor contracts from 2021 in docx").stdout


def test_a_model_that_does_not_run_is_named_with_what_to_look_at(run):
    with socket.socket() as taken:  # bound and not listening: nobody else takes it meanwhile
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        env = {
            "SMART_CONTEXT_LLM_PROVIDER": "openai",
            "SMART_CONTEXT_LLM_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "SMART_CONTEXT_LLM_RETRIES": "0",
        }
        done = run("llm", "check", "--send", env=env)
    assert (done.returncode, done.stderr.decode().splitlines()) == (
        6,
        [
            f"error: the language model at 127.0.0.1:{port} could not be reached",
            "hint: see that it runs, and that `llm.base_url` is right; `context llm check --send` tries it",
        ],
    )
