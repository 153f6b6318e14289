"""A small folder, what is asked about it, and what each answer says: all of it, so that nothing of an answer changes unnoticed.

`python tests/kept_answers.py` writes `goldens/answers.json` anew. Read the difference before you keep it: each line of it is something that
somebody who searches will see.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from searching import indexed, no_stop
from smart_context import redact
from smart_context.engine.local.index import Index
from smart_context.find import filters
from smart_context.find.model import SearchItem, SearchPage, SearchRequest
from smart_context.find.search import find

KEPT = Path(__file__).parent / "goldens" / "answers.json"
TODAY = "2026-05-14"

_TIDES = """# Tides of the northern harbour

The tide table of the harbour lists high water and low water for every day of the year. Fishing boats leave an hour before high water.

## Spring tides

At new moon and full moon the tide is highest. The harbour master closes the lock, and the boats wait outside the wall until the water falls.

## Neap tides

A week later the tide hardly moves. Boats may leave at any hour of the day.
"""
_KETTLE = (
    "The copper kettle whistles when the water boils. Fill it with cold water, close the lid and put it on the fire. "
    "A kettle that is never cleaned grows a white crust, which vinegar removes. Pour the water away before you put the "
    "kettle back on its shelf, because copper turns green where it stays wet."
)
_LEDGER = "\n".join(
    f"Entry {number}: paid {3 * number + 7} crowns to the {trade} for {thing}."
    for number, (trade, thing) in enumerate(
        [
            (trade, thing)
            for thing in ("rope", "tar", "canvas", "lamp oil", "salt", "timber", "nails", "paint", "bread")
            for trade in ("chandler", "smith", "carpenter", "sailmaker", "baker", "cooper")
        ],
        1,
    )
)
_MAIL = b"""From: Ada North <ada@north.example>
To: Ben South <ben@south.example>
Date: Mon, 03 Mar 2025 09:30:00 +0000
Subject: The lease of the boathouse
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/plain; charset=utf-8

The lease of the boathouse ends in June. The owner asks for 1,249.50 a month.
--b
Content-Type: text/plain; charset=utf-8; name="terms.txt"
Content-Disposition: attachment; filename="terms.txt"

Terms of the lease: no open fire in the boathouse, no boats on the lawn.
--b--
"""

FILES: dict[str, str | bytes] = {
    "harbour/tides.md": _TIDES,
    "harbour/walls.txt": "The harbour wall was built in 1871. Boats lie behind the wall; the tide is felt less there.",
    "harbour/tide table 2024.csv": "day,high water,low water\n2024-03-01,06:10,12:25\n2024-03-02,07:00,13:15\n",
    "harbour/tide table 2025.csv": "day,high water,low water\n2025-03-01,05:40,11:50\n2025-03-02,06:20,12:30\n",
    "harbour/boatswain.txt": "The boatswain counts lifeboats and boathooks. A boating club hires him in summer.",
    "kitchen/kettle.txt": _KETTLE,
    "kitchen/old/kettle.txt": _KETTLE,
    "kitchen/old/kettle copy.md": _KETTLE.replace("white crust", "pale crust"),
    "kitchen/teapot.md": "---\ntitle: The brown teapot\nauthor: Ada North\ndate: 2023-11-05\n---\n\nA teapot is no kettle. Warm the teapot with water from the kettle, and pour that water away.\n",
    "kitchen/soup.html": "<html><head><title>Fish soup</title><meta name='author' content='Ben South'><meta name='date' content='2024-07-01'></head><body><h1>Fish soup</h1><p>Boil the bones of the fish in water for an hour.</p><p>Salt it late.</p></body></html>",
    "kitchen/recipes 2021.txt": "Recipes of the year 2021: soup, bread, and a pie of eels. The kettle is not needed.",
    "ledger.txt": _LEDGER,
    "letters/lease.eml": _MAIL,
    "letters/reply 2025.txt": "Dear Ada, the lease of the boathouse may end in May. Write to ben@south.example. password = Kr4ken-tide-77x!\n",
    "code/base_events.py": "import os\n\n\ndef run_forever(loop):\n    path = os.path.join(loop.home, 'events.log')\n    return loop.runUntilDone(path, retries=3)\n",
    "code/base-events.md": "# Base events\n\nThe loop of base_events runs until it is done. See os.path.join and run_forever.\n",
    "code/docs/base_events.txt": "Base events are described elsewhere; --dry-run shows what would be done, in version 2.1.3.",
    "code/invoice.txt": "Invoice INV-2021-00417 of ISO27001 auditors, 1249.50 in all, 250,000 in stock.",
    "code/userbase.py": "USER_BASE = 3\nuserbase = USER_BASE\n\n\ndef getUserName(user_id):\n    return user_id\n",
    "de/mietvertrag.txt": "Der Mietvertrag für das Bootshaus endet im Juni. Die Miete beträgt neunhundert Kronen, und die Kaltmiete ist niedriger.",
    "de/haus.txt": "Das Haus am Hafen hat neue Türen. Der Vertrag mit dem Tischler ist unterschrieben, die Häuser daneben sind leer.",
    "ja/kyoto.txt": "京都の図書館は午前九時に開きます。鮭の料理の本もあります。",
    "ja/osaka.txt": "大阪の港には大きな船が入ります。図書館は駅の前にあります。",
    "zh/port.txt": "北方港口的潮汐表每天更新。渔船在涨潮前一小时离开。",
    **{f"lamp/{number}.txt": "The lamp of the lighthouse turns four times a minute, and the keeper winds its clockwork each evening." for number in range(8)},
    "never/tides.txt": "The tide tables that nobody should see: tide, tide, harbour.",
}  # fmt: skip
_MODIFIED = 1_700_000_000  # the first; each is a day and a second later than the one before

QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    *((text, {}) for text in (
        "tide", "tides harbour", "harbour tide boats wall", "boats leave an hour before high water",
        "fishing boats leave an hour before high water", "where do the boats wait until the water falls",
        "The harbour master closes the lock, and the boats wait outside", "kettle", "copper kettle", "kettles kettles water",
        "teapot kettle", "vinegar crust", "boathouse lease", "lease AND owner", "lease OR soup", "boats -tide", "boats NOT harbour",
        "-tide", '"high water"', '"water high"', 'boats "high water"', "water NEAR/2 boils", "boils NEAR/1 water", "boats NEAR kettle", "tide NEAR/3 full NEAR/2 moon",
        "boat*", "harb* tid*", "(tide OR kettle) AND water", "tide (moon OR wall) -neap", "the", "the of and",
        "base_events.py", "base_events", "base-events", "Base Events", "docs/base_events", "loop base_events.py", "kettle.txt", "old/kettle", "tides",
        "os.path.join", "os path join", "run_forever", "runUntilDone", "getUserName", "user name", "userbase", "USER_BASE", "user_base",
        "--dry-run", "INV-2021-00417", "INV-2021-00418", "ISO-27001", "1249.50", "1,249.50", "250,000", "250", "2.1.3",
        "harbuor", "ketle", "boathose lease", "boatz", "zzqqxx", "crowns chandler", "paid to the smith for nails", "Entry 17", "lamp oil",
        "Miete", "Mietvertrag", "Bootshaus", "Hafenhaus", "Haeuser", "Türen", "Vertrag Haus", "図書館", "鮭に", "港口", "潮汐表", "京都の図書館は午前九時", "船",
        "soup html", "tide csv", "tide tables 2024", "tide 2024-2025", "recipes from 2021", "csv files", "markdown", "water as md", "kettle in pdf",
        "author:ada", "author:north water", "title:fish", "name:tide", "filename:*.py", "author:nobody kettle", "lease since 2025", "water until 2024-01",
        "modified:2023-11-15", "tide last week", "date:2023-11..2024-07 water", "boats 1871", "password", "ben", "Kr4ken", "tide " * 3, "ada lease 1,249.50", "lighthouse", "keeper winds its clockwork",
    )),
    ("water", {"k": 3}), ("water", {"k": 3, "offset": 3}), ("water", {"k": 3, "offset": 6}), ("water", {"k": 3, "offset": 90}),
    ("kettle", {"all_copies": True}), ("kettle", {"k": 1}), ("kettle", {"k": 1, "offset": 1}), ("crowns", {"k": 2}), ("crowns", {"k": 2, "offset": 2}), ("crowns", {"k": 1, "sort": "name"}),
    ("water", {"sort": "date"}), ("water", {"sort": "name"}), ("tide harbour", {"sort": "date"}), ("kettle copper", {"sort": "name", "all_copies": True}),
    ("tide", {"exts": (".md", "TXT")}), ("tide", {"years": ("2024",)}), ("tide", {"since": "2024"}), ("water", {"until": "2023-11-20"}), ("water", {"since": "2023-11-18", "until": "2024-07"}),
    ("tide", {"folders": ("harbour",)}), ("tide", {"never_show": ("never/",)}), ("kettle", {"never_show": ("old/",)}), ("kettle", {"folders": ("kitchen/old",)}),
    ("lighthouse", {"k": 1}), ("lighthouse", {"all_copies": True, "k": 3}), ("lighthouse keeper", {"never_show": ("0.txt", "3.txt")}), ("lamp", {"sort": "date"}),
    ("tide csv", {"exts": (".md",)}), ("tide 2024", {"years": ("2025",)}), ("md files", {"k": 1}), ("md files", {"k": 1, "offset": 1}),
]  # fmt: skip

READ = [
    "contracts about vendor X from 2021 in ppt or docx", "word documents and spreadsheets about rent", "slides", "my slides about boats and harbours of the north",
    "the budget of 2019 to 2021", "between 2019 and 2021 boats", "zwischen 2019 und 2021", "entre 2019 et 2021 bateaux", "from 2021 to 2019", "years 2019, 2020 and 2021 boats", "2021",
    "2021 2022", "a long report on what the harbour has cost all of us since it was built in stone (1871) and again (1999) by hand", "a short report (1999)", "boats not from 2021", "boats without 2021 or 2022",
    '"from 2021" boats', "boats 2021-03-04", "boats 12021", "boats 2021.", "boats since 2024", "boats since March 2024", "boats since the flood of 2021", "boats after 2024", "boats modified after 3 March 2024",
    "boats modified before 2024-03", "boats until 2024-03-31", "boats before 2024", "before:2024-03 boats", "after:2024-03 boats", "since:2024-03 boats", "until:2024-03 boats", "date:2024-03 boats",
    "date:2024-01..2024-03 boats", "date:2024-01.. boats", "date:>2024 boats", "date:>=2024 boats", "date:<2024-03-05 boats", "date:<=2024-03 boats", "modified:>2024 boats", "modified:yesterday", "modified:last-week boats",
    "boats yesterday", "boats today", "yesterday boats", "what boats did yesterday at the wall of the harbour", "boats last week", "boats last month", "boats last year", "boats this week", "boats this month", "boats this year",
    "boats from the last 3 days", "boats of the last 2 weeks", "boats of the last 14 months", "boats in the past 2 years", "boats changed 3 days ago", "boats modified 2 weeks ago", "boats written 6 months ago", "boats dated 1 year ago",
    "boats from March 2024", "boats on 5 March 2024", "boats on March 5, 2024", "boats vom 5. März 2024", "Boote seit gestern", "bateaux de mars 2024", "barcos desde 2024-02", "boats in february 2023", "boats in February 2024",
    "boats dated 2024-02", "boats 2019 until 2021", "the number of boats has fallen since 1979 in every harbour", "since 1979 boats", "boats from 31 February 2024",
    "author:ada boats", 'author:"Ada North" title:soup', "boats name:*.md", "filename:tide boats", "author: boats", '"author:ada" boats', "-author:ada boats", "author:" + "x" * 300,
    " ".join(f"author:a{number}" for number in range(9)) + " boats", "not author:ada", "boats -2021 -pdf", "boats in the year 2021", "boats 2021 and 2023", "email about boats", "emails about boats", "boats e-mails",
    "one two three four five six seven eight nine ten eleven (1999)", "one two three four five six seven eight nine ten eleven twelve (1999)", "boats in all of harbours since 1979", "boats in all of the harbours since 1979", "boats in all of the old harbours since 1979",
    "the wall yesterday and the boats", "the wall yesterday and then the boats", "one two three four yesterday", "one two three four five yesterday", "today boats at the wall", "boats not in the any of the from the as of the 2021", "boats not in the any of the from the as of the de 2021",
    "boats until 1979", "boats of all the harbours of the north until 1979", "a plan of the boats 2019 until 2021", "boats without any pdf", "boats except from 2021 and pdf", "boats, 2021, pdf", "boats 2021, 2022", "boats of 2021/22", "boats +2021", "boats 2021:30", "boats 2021-2019",
    "the quarterly pdf report as docx", "stripping html files", "cutting pdf files", "converting pdf files", "he said (1999) that all of the boats (2001) of the northern harbour were built (2003) by hand (12) at home (2010)",
    "pdf", "pdf and docx", "*.md boats", ".md boats", "boats as pdf", "boats only pdf", "convert pdf to docx", "how to open a pdf", "open pdf files about boats", "the pdf", "boats.pdf", "boats pdf 2021",
]  # fmt: skip


def lay_out(root: Path) -> None:
    """Write the folder."""
    for number, (name, content) in enumerate(FILES.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        time = _MODIFIED + number * 86_401
        os.utime(path, (time, time))


def read(text: str) -> dict[str, str]:
    """How a query is read: what is left to look for, and the filters that it names."""
    reading = filters.read(text, today=TODAY)
    return {"text": reading.text, "told": reading.told()}


def answer(index: Index, root: Path, query: str, options: dict[str, Any]) -> dict[str, Any]:
    """All that an answer says, with paths below the root, and only so much of each snippet as tells it from others."""
    below = tuple(str(root / one) for one in options.get("folders", ()))
    request = SearchRequest(query, **{"k": 5, "today": TODAY, **options, "folders": below})
    page = find(index, request, redactor=redact.Redactor(), stop=no_stop)
    return _told(page, f"{root}/")


def _told(page: SearchPage, root: str) -> dict[str, Any]:
    said = [line for line in page.interpretation if line not in page.notes]
    return {
        "items": [_item(item, root) for item in page.items],
        "total": page.total_estimate,
        "read": [line.replace(root, "") for line in said],
        "notes": list(page.notes),
    }


def _item(item: SearchItem, root: str) -> str:
    place = f"{item.path.removeprefix(root)}, {item.pointer}: {item.score:.6f}"
    marked = item.snippet
    for start, end in reversed(item.highlights):
        marked = f"{marked[:start]}[{marked[start:end]}]{marked[end:]}"
    also = [f"also {path.removeprefix(root)}" for path in item.also]
    dated = [f"dated {item.dated}"] if item.dated else []
    short = marked if len(marked) < 200 else f"{marked[:90]} … {marked[-90:]}"
    return " | ".join([place, short, *also, *dated, *item.explanation])


def asked(query: str, options: dict[str, Any]) -> str:
    """A question as it is kept."""
    return " ".join([query, *(f"{{{name}: {value}}}" for name, value in options.items())])


def main() -> None:
    """Write all answers."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        lay_out(root)
        with indexed(root, root.parent / "data") as opened:
            answers = {asked(*one): answer(opened.index, root, *one) for one in QUESTIONS}
    kept = {"answers": answers, "read": {text: read(text) for text in READ}}
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
