"""Arguments and answers of the tools, as JSON Schema. Models read these descriptions.

Always: the arguments of a tool of Smart File Search stand in the order in which its verb takes them.
"""

from __future__ import annotations

from typing import Any

from smart_context import defaults

Schema = dict[str, Any]
MCP_VERSION = "v1.0.0"


def inputs(*required: str, **properties: Schema) -> Schema:
    """The schema of a tool's arguments."""
    # An empty list of required properties is legal, but older readers of JSON Schema refuse it.
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def outputs(*optional: str, **properties: Schema) -> Schema:
    """The schema of an answer: all of its fields but optional ones, or an error.

    Further fields stay allowed: a minor version may add them.
    """
    return {
        "type": "object",
        "properties": {**properties, "error": _ERROR, "mcp_version": {"const": MCP_VERSION}},
        "required": ["mcp_version"],
        "anyOf": [{"required": [name for name in properties if name not in optional]}, {"required": ["error"]}],
    }


def _text(description: str, **more: Any) -> Schema:
    return {"type": "string", "description": description, **more}


def _texts(description: str) -> Schema:
    return {"type": "array", "items": {"type": "string"}, "description": description}


def _whole(description: str, **more: Any) -> Schema:
    return {"type": "integer", "description": description, **more}


def _object(*optional: str, **properties: Schema) -> Schema:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required}


_ERROR = _object(
    code=_text("What went wrong, for programs"),
    message=_text("What went wrong, for people"),
    details={"type": "object", "properties": {"hint": _text("What to do next")}},
)
_COUNT: Schema = {"type": "integer", "minimum": 0}

LIST_ROOTS_IN = inputs()
LIST_ROOTS_OUT = outputs(roots=_texts("Folders that may be searched and read"))

INDEX_FOLDER_IN = inputs(
    "root",
    root=_text("Folder to index: one of the roots, or a folder inside one", minLength=1),
    full={"type": "boolean", "default": False, "description": "Read every file again, changed or not"},
    priority=_text("Where the job stands in the queue", enum=["low", "normal", "high"], default="normal"),
)
INDEX_FOLDER_OUT = outputs(indexed=_COUNT, skipped=_COUNT, removed=_COUNT, duration_ms=_COUNT, failed=_COUNT)

SEARCH_FILES_IN = inputs(
    "query",
    query=_text("What to look for, in plain language; file types, years and dates in it become filters", minLength=1),
    k=_whole("Most results to return", minimum=1, maximum=defaults.MAX_K, default=defaults.K),
    offset=_whole("Results to pass over, for the next page", minimum=0, default=0),
    exts=_texts("Only these extensions, such as .docx"),
    years=_texts("Only files with one of these years in their name or text, such as 2021"),
    roots=_texts("Only below these folders"),
    since=_text(
        "Only files from this day, month or year on, such as 2024-03: by their own date, else their last change"
    ),
    until=_text("Only files up to this day, month or year"),
    sort=_text("The order of results; date is newest first", enum=list(defaults.SORTS), default=defaults.SORT),
    all_copies={
        "type": "boolean",
        "default": False,
        "description": "Show a text in every file that holds it, not once with the others in also",
    },
)
SEARCH_FILES_OUT = outputs(
    "notes",
    items={
        "type": "array",
        "items": _object(
            "highlights",
            "also",
            "dated",
            path=_text("The file"),
            pointer=_text("Where in the file; openFile takes it"),
            snippet=_text("Text around the best hit, redacted"),
            score={"type": "number", "minimum": 0, "maximum": 1},
            ext=_text("The extension, lower case"),
            modified=_text("When the file was last changed, UTC"),
            highlights={
                "type": "array",
                "items": {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2},
                "description": "Where words of the query stand in the snippet: first character, and the one after the last",
            },
            also=_texts("Other files that hold the same text, or nearly, at most 5"),
            dated=_text("The day that the file itself gives, such as 2024-03-31; absent where it gives none"),
        ),
    },
    pagination=_object(offset=_COUNT, returned=_COUNT, total_estimate=_COUNT),
    notes=_texts("What changed the answer: filters read from the query or given up, words looked for instead"),
)

OPEN_FILE_IN = inputs(
    "path",
    path=_text("The file, as searchFiles gives it", minLength=1),
    pointer=_text("Where in the file, such as page 3; the start where absent"),
    before=_whole("Further characters before the place, at most 4000", minimum=0, default=0),
    after=_whole("Further characters after the place, at most 4000", minimum=0, default=0),
)
OPEN_FILE_OUT = outputs(
    path=_text("The file"),
    pointer=_text("Where in the file: as asked for, or the part of it that is shown, such as page 3 lines 1-40"),
    preview=_text("Its text there, redacted, at most 8000 bytes"),
    truncated={
        "type": "boolean",
        "description": "Whether there is more than the preview shows; next, where present, names the pointer that goes on",
    },
)

SUMMARIZE_RESULTS_IN = inputs(
    "query",
    "results",
    query=_text("What the summary should answer", minLength=1),
    results={
        "type": "array",
        "minItems": 1,
        "items": _object(path=_text("The file"), snippet=_text("Text from it")),
        "description": "Items of searchFiles",
    },
    style=_text("The form of the summary", enum=list(defaults.STYLES), default=defaults.STYLE),
    max_tokens=_whole("Most tokens the summary may take", minimum=1),
)
SUMMARIZE_RESULTS_OUT = outputs(
    summary=_text("The summary, with its sources"), tokens_used=_object(prompt=_COUNT, completion=_COUNT)
)

REWRITE_QUERY_IN = inputs("query", query=_text("A question in plain language", minLength=1))
REWRITE_QUERY_OUT = outputs(
    fts=_text("The query with operators; searchFiles takes it"),
    filters=_object(exts=_texts("Extensions"), years=_texts("Years")),
    notes=_text("What was understood, and how"),
)

FREEZE_MOST_K = 200
FREEZE_SEARCH_IN = inputs(
    "query",
    "cache",
    query=_text("What to look for, as for searchFiles", minLength=1),
    cache=_text("The name of the new cache: letters, digits, dots, hyphens and underscores", minLength=1),
    k=_whole("Passages to freeze, or files", minimum=1, maximum=FREEZE_MOST_K, default=defaults.FREEZE_K),
    exts=_texts("Only these extensions, such as .docx"),
    years=_texts("Only files with one of these years in their name or text, such as 2021"),
    roots=_texts("Only below these folders"),
    whole_files={"type": "boolean", "default": False, "description": "One document for each file, not each passage"},
    since=_text("Only files from this day, month or year on, such as 2024-03"),
    until=_text("Only files up to this day, month or year"),
)
FREEZE_SEARCH_OUT = outputs(
    cache=_text("The cache, as the context.* tools take it"),
    cache_version=_text("Its version"),
    document_count=_COUNT,
)


def _closed(properties: Schema) -> Schema:
    """An object of Context: with all of these, and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


RESOLVE_IN = _closed(
    {
        "cache": {"type": "string", "description": "Path or identifier of a built context cache"},
        "query": {"type": "string", "description": "Natural-language query"},
        "budget": {"type": "integer", "minimum": 0, "description": "Maximum token budget"},
    }
)
PACK_IN: Schema = {
    **_closed(
        {
            "cache": {"type": "string", "description": "Path or identifier of a built context cache"},
            "query": {"type": "string", "description": "Natural-language question"},
            "budget": {"type": "integer", "minimum": 0, "description": "Maximum token budget, headings included"},
            "format": {
                "type": "string",
                "enum": ["markdown", "json"],
                "description": "Markdown to read (the default), or JSON to parse",
            },
        }
    ),
    "required": ["cache", "query", "budget"],
}
LIST_CACHES_IN: Schema = {
    "type": "object",
    "properties": {
        "root": {
            "type": "string",
            "description": "The cache root, which is meant where it is absent, or a folder inside",
        }
    },
    "additionalProperties": False,
}
LIST_CACHES_OUT = _closed(
    {
        "caches": {
            "type": "array",
            "items": _closed({"path": {"type": "string"}, "has_manifest": {"type": "boolean"}}),
        }
    }
)
INSPECT_CACHE_IN = _closed({"cache": {"type": "string", "description": "Path to cache directory"}})
INSPECT_CACHE_OUT = _closed(
    {
        "cache_version": {"type": "string"},
        "document_count": {"type": "integer", "minimum": 0},
        "total_bytes": {"type": "integer", "minimum": 0},
        "valid": {"type": "boolean"},
    }
)
