"""Is what explains an identifier found first: `python -m bench explained FOLDER [--data DIR] [--names N] [--misses N] [--out FILE]`.

FOLDER holds Python's manual as HTML (`real_folder` fetches it). The manual's own index says which page explains which name, so that the right answer is known without our rules: N names of its
library and half as many functions of its C interface are drawn with a fixed seed and asked for, each alone. Counted is whether the page, or its source, comes first or among the first five.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import smart_context

SEED = 5
_LINK = re.compile(r'href="((?:library|c-api)/[\w.-]+\.html)#([A-Za-z_][\w.]+)"')
_OTHER = ("index-", "module-", "term-", "cmdoption", "opcode")


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="bench explained", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, help="keep the index here, or ask the one that is there")
    parser.add_argument("--names", type=int, default=80)
    parser.add_argument("--misses", type=int, default=0, help="show as many names whose page did not come first")
    parser.add_argument("--out", type=Path, help="write the raw results here")
    args = parser.parse_args(argv)
    [manual] = {path.parent for path in args.folder.resolve().rglob("genindex-all.html")}
    with ExitStack() as stack:
        data = args.data or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        index = stack.enter_context(smart_context.open_index([args.folder], data_dir=data))
        list(index.update())
        rows = [
            {"name": name, "page": page, "rank": rank(index, manual, page, name)}
            for page, name in drawn(manual, args.names)
        ]
    show(rows, args.misses)
    if args.out:
        args.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def drawn(manual: Path, count: int) -> list[tuple[str, str]]:
    """Pages and the names that they explain."""
    found = sorted(set(_LINK.findall((manual / "genindex-all.html").read_text(encoding="utf-8"))))
    found = [(page, name) for page, name in found if not name.startswith(_OTHER)]
    library = [(page, name) for page, name in found if page.startswith("library") and "." in name]
    interface = [(page, name.removeprefix("c.")) for page, name in found if page.startswith("c-api")]
    seeded = random.Random(SEED)
    return seeded.sample(library, count) + seeded.sample(interface, count // 2)


def rank(index: Any, manual: Path, page: str, name: str) -> int:
    """The place of the first result that is the page or its source, from 1; 0 where none of five is."""
    right = {str(manual / page), str(manual / "_sources" / page.replace(".html", ".rst.txt"))}
    items = index.search(name, k=5).items
    return next((place for place, item in enumerate(items, 1) if right & {item.path, *item.also}), 0)


def show(rows: list[dict[str, Any]], misses: int) -> None:
    for part in ("library", "c-api"):
        ranks = [row["rank"] for row in rows if row["page"].startswith(part)]
        print(f"{part:10}{len(ranks):5} names: first {ranks.count(1)}, in five {sum(map(bool, ranks))}")
    for row in [row for row in rows if row["rank"] != 1][:misses]:
        print(f"  {row['rank']}  {row['name']}  {row['page']}")
