"""What `pack` answers about a few documents, and the stems of some words: all of it, so that nothing of it changes unnoticed.

`python tests/kept_packs.py` writes `goldens/packs.json` anew. Read the difference before you keep it: the bytes of a pack are a promise.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import kept_answers
import naive
from smart_context.cache import build as built
from smart_context.cache.pack import normal, pack, question, stem

KEPT = Path(__file__).parent / "goldens" / "packs.json"
SOURCES = {
    name.removesuffix(".txt").removesuffix(".md") + ".md": text
    for name, text in kept_answers.FILES.items()
    if isinstance(text, str) and name.endswith((".txt", ".md")) and not name.startswith(("lamp/", "never/"))
}
SOURCES["guide.md"] = (
    "# Guide\n\nHow to moor.\n\n## Ropes\n\nTie two ropes.\n\n```\n# not a heading\n```\n\n## Anchors\n\n"
    + "Drop the anchor slowly, and wait until it holds. " * 30
)
QUESTIONS = (
    "kettle", "copper kettle water", "tides of the harbour", "boats leave before high water", "When do the boats leave?", "anchor", "anchors ropes", "tie two ropes", "crowns paid to the smith", "Entry 17",
    "Miete Vertrag", "図書館", "港口", "zzqqxx", "the", "running boats boating", "os.path.join", "INV-2021-00417", "lease boathouse June", "soup", "teapot teapot kettle",
)  # fmt: skip
BUDGETS = (20, 60, 150, 400, 5000)
WORDS = {
    "en": "caresses ponies ties cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned falling hissing fizzed failing filing happy sky relational rational generalizations oscillators yes yoyo toy syzygy eye aye "
    "ab by be died dying lying boy boys buoy key keys say says trees tree being bed red ran running runner ivy oak y ye",
    "de": "häuser hauses mieten mietvertrag türen schönen gehen ging kinder kindern frauen", "fr": "maisons mangerons nationales chevaux petites", "es": "casas comiendo rapidamente ciudades",
    "nl": "huizen lopende kinderen", "it": "case mangiando città bambini", "pt": "casas comendo cidades", "sv": "husen barnen springande", "ru": "домами книгами большие", "el": "σπίτια βιβλία", "ar": "الكتاب والمكتبة", "he": "הספרים", "hi": "किताबें", "xx": "houses",
}  # fmt: skip


def answers(cache: Path) -> dict[str, str]:
    """Every pack, as JSON and as Markdown."""
    out = {}
    for query in QUESTIONS:
        for budget in BUDGETS:
            packed = pack.packed(cache, query, budget)
            out[f"{query}, {budget}"] = pack.FORMATS["json"](packed).decode()
            if budget == 150:
                out[f"{query}, {budget}, markdown"] = pack.FORMATS["markdown"](packed).decode()
    return out


def stems() -> dict[str, str]:
    """The stems of all words, each with what its words begin with."""
    out = {}
    for language, words in WORDS.items():
        for word in words.split():
            found = stem.stem(word, language)
            out[f"{word} ({language})"] = f"{found} {stem.beginning(found, language)}"
    return out


def read() -> dict[str, str]:
    """How queries are read, and texts made plain."""
    texts = (*QUESTIONS, *WORDS.values(), "Straße ŒUVRE İstanbul ﬁne x1 3,14 don't co-op e.g. Ⅷ ½ １２")
    return {text: f"{question.read(text)} {normal.words(text)!r}" for text in texts}


def build(root: Path) -> Path:
    """Write the documents and build their cache."""
    sources = naive.write_sources(root / "sources", SOURCES)
    built.cache(sources, root / "cache", created_at="2024-01-01T00:00:00Z")
    return root / "cache"


def main() -> None:
    """Write all of it."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {"packs": answers(build(Path(folder).resolve())), "stems": stems(), "read": read()}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
