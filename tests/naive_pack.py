"""Packing once more: slow, obvious, exact. Every word of every text is stemmed and counted; scores are fractions cut to whole numbers where the
rules say so. Stems and the cut into passages are the package's own: they have tests of their own."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction

from smart_context.cache.pack import passages, question, stem

UNSPACED = "漢字語表"
LETTERS = {"é": "e", "ß": "ss", "ö": "o", "ж": "ж", "λ": "λ"}


def words(text: str) -> list[str]:
    """Words of letters, digits and `LETTERS`; of `UNSPACED`, each pair of neighbours and the last one."""
    out, word = [], ""
    for letter in text.lower() + " ":
        if letter.isascii() and letter.isalnum():
            word += letter
        elif letter in LETTERS:
            word += LETTERS[letter]
        else:
            out += [word] if word else []
            word = ""
    runs = "".join(letter if letter in UNSPACED else " " for letter in text).split()
    return out + [run[at : at + 2] for run in runs for at in range(len(run))]


def times(asked: question.Question, text: str) -> list[int]:
    found = words(text)
    return [
        sum(word.startswith(term.text) for word in found)
        if term.is_unspaced
        else sum(stem.stem(word, asked.language) == term.text for word in found if word[0] not in UNSPACED)
        for term in asked.terms
    ]


def logarithm(ratio: Fraction) -> int:
    """The largest n with 2^(n / 4096) <= ratio, but at least 1."""
    low, high = 0, 4096 * 64
    while high - low > 1:
        middle = (low + high) // 2
        if ratio**4096 >= Fraction(2) ** middle:
            low = middle
        else:
            high = middle
    return max(low, 1)


def part(times: int, size: int, mean: Fraction) -> int:
    drag = min(int(256 * (Fraction(3, 10) + Fraction(9, 10) * size / mean)) + 1 if mean else 1, 1 << 18)
    return (times << 20) // ((times << 8) + drag) if times else 0


def pack(sources: dict[str, str], query: str, budget: int) -> bytes:
    """The bytes of `context pack --format json` on a cache of these sources (path → content)."""
    asked = question.read(query)
    documents = sorted((path.lower(), text) for path, text in sources.items())
    counts = []
    for name, text in documents:
        title = text.split("\n")[0] if text.startswith("#") else ""
        counts.append(times(asked, f"{name.removesuffix('.md')}\n{title}\n{text}"))
    total = sum(len(text.encode()) for _, text in documents)
    mean = Fraction(total, len(documents)) if documents else Fraction(0)
    weights = [
        term.weight * logarithm(Fraction(2 * len(documents) + 2, 2 * sum(bool(row[at]) for row in counts) + 1))
        for at, term in enumerate(asked.terms)
    ]
    ranked = sorted(
        (-sum(weight * part(n, len(text.encode()), mean) for weight, n in zip(weights, row, strict=True)), name, text)
        for (name, text), row in zip(documents, counts, strict=True)
        if any(row)
    )
    return _json(sources, query, budget, ranked, _taken(ranked, asked, weights, budget))


Taken = dict[tuple[int, int], tuple[int, set[int]]]  # (document, passage) → score, documents with nearly the same


def _taken(ranked: list[tuple[int, str, str]], asked: question.Question, weights: list[int], budget: int) -> Taken:
    candidates = []
    wanted = budget + budget // 4 if budget else -1
    for number, (minus, _, text) in enumerate(ranked):
        if wanted < 0:
            break
        scored = []
        cut = passages.cut(text)
        for at, one in enumerate(cut):
            body = text[one.start : one.end]
            row = times(asked, (one.heading + "\n" if at else "") + body)
            if any(row):
                own = sum(w * part(n, len(body.encode()), Fraction(300)) for w, n in zip(weights, row, strict=True))
                scored.append((-own, at, body))
        if not scored and cut:
            scored = [(0, 0, text[cut[0].start : cut[0].end])]
        share = 1 << 20
        for rank, (own, at, body) in enumerate(sorted(scored)):
            candidates.append(((own + minus) * share // (1 << 20), number, at, body))
            share = share // 2
            wanted -= 12 + spaced_length(body) // 4 if not rank else 0
    taken: Taken = {}
    for minus, number, at, body in sorted(candidates):
        left = budget - cost(ranked, taken)
        if left < 16:
            break
        if spaced_length(body) > 4 * left:
            continue
        twins = [key for key in taken if is_alike(body, passage(ranked, key))]
        if not twins:
            more = {**taken, (number, at): (-minus, set())}
            taken = more if cost(ranked, more) <= budget else taken
        elif min(twins)[0] != number:
            taken[min(twins)][1].add(number)
    return taken


def passage(ranked: list[tuple[int, str, str]], key: tuple[int, int]) -> str:
    text = ranked[key[0]][2]
    one = passages.cut(text)[key[1]]
    return text[one.start : one.end]


def spaced_length(text: str) -> int:
    """The bytes of the text as it is counted: what is no letter or digit is a space, a run without spaces stands between two."""
    out = ""
    for at, letter in enumerate(text.lower()):
        if letter in UNSPACED:
            out += (
                " " * (at == 0 or text[at - 1] not in UNSPACED)
                + letter
                + " " * (text[at + 1 : at + 2] not in UNSPACED or at + 1 == len(text))
            )
        else:
            out += LETTERS.get(letter, letter if letter.isascii() and letter.isalnum() else " ")
    return len(out.encode())


def is_alike(new: str, old: str) -> bool:
    mine, theirs = shingles(new), shingles(old)
    return 5 * len(mine & theirs) >= 4 * len(mine)


def shingles(text: str) -> set[tuple[str, ...]]:
    found: list[str] = []
    for token in _tokens(text):
        found += [token[at : at + 2] for at in range(len(token))] if token[0] in UNSPACED else [token]
    return {tuple(found[at : at + 3]) for at in range(len(found) - 2)} or {tuple(found)}


def _tokens(text: str) -> list[str]:
    out = ""
    for letter in text.lower():
        if letter in UNSPACED:
            out += letter if out and out[-1] in UNSPACED else " " + letter
        else:
            kept = LETTERS.get(letter, letter if letter.isascii() and letter.isalnum() else " ")
            out += " " + kept if out and out[-1] in UNSPACED else kept
    return out.split()


def runs(taken: Taken) -> list[tuple[int, int, int]]:
    """Neighbours of one document, as document, first and last passage; documents in the order in which they were first taken."""
    out: list[tuple[int, int, int]] = []
    order = list(dict.fromkeys(key[0] for key in taken))
    for number, at in sorted(taken, key=lambda key: (order.index(key[0]), key[1])):
        if out and out[-1][0] == number and out[-1][2] == at - 1:
            out[-1] = (number, out[-1][1], at)
        else:
            out.append((number, at, at))
    return out


def block(ranked: list[tuple[int, str, str]], run: tuple[int, int, int]) -> tuple[dict[str, object], str]:
    _, name, text = ranked[run[0]]
    cut = passages.cut(text)
    start, end = cut[run[1]].start, cut[run[2]].end
    first, last = text[:start].count("\n") + 1, text[:end].count("\n") + 1
    version = hashlib.sha256(text.encode()).hexdigest()
    where = f"line {first}" if first == last else f"lines {first}-{last}"
    body = text[start:end].replace("\r\n", "\n").replace("\r", "\n")
    quoted = "\n".join("> " + line if line else ">" for line in body.split("\n"))
    markdown = f"## {name}, {where} ({version[:12]})\n\n{quoted}\n\n"
    span = [len(text[:start].encode()), len(text[:end].encode())]
    row = {
        "id": name,
        "version": f"sha256:{version}",
        "heading": cut[run[1]].heading,
        "lines": [first, last],
        "bytes": span,
    }
    return {**row, "text": text[start:end]}, markdown


def cost(ranked: list[tuple[int, str, str]], taken: Taken) -> int:
    return sum(-(-len(block(ranked, run)[1].encode()) // 4) for run in runs(taken))


def _json(sources: dict[str, str], query: str, budget: int, ranked: list[tuple[int, str, str]], taken: Taken) -> bytes:
    rows = []
    for run in runs(taken):
        row, markdown = block(ranked, run)
        keys = [(run[0], at) for at in range(run[1], run[2] + 1)]
        best = max(taken[key][0] for key in keys) * 1000 // (1 << 24)
        also = sorted({ranked[other][1] for key in keys for other in taken[key][1]})
        text = row.pop("text")
        scores = {"score": f"<{best // 1000}.{best % 1000:03d}>", "tokens": -(-len(markdown.encode()) // 4)}
        rows.append({**row, **scores, "text": text, "also": also})
    listing = "".join(
        f"{n}:sha256:{hashlib.sha256(t.encode()).hexdigest()}"
        for n, t in sorted((p.lower(), t) for p, t in sources.items())
    )
    version = hashlib.sha256(('{"version":"1","hash_algorithm":"sha256"}' + listing).encode()).hexdigest()
    whole = {
        "pack": "1",
        "cache_version": f"sha256:{version}",
        "query": query,
        "budget": budget,
        "tokens": "bytes4",
        "tokens_used": cost(ranked, taken),
        "documents_considered": len(sources),
        "documents_matching": len(ranked),
        "passages": rows,
    }
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return (text.replace('"score":"<', '"score":').replace('>","tokens"', ',"tokens"') + "\n").encode()
