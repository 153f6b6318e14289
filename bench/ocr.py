"""How much of a page OCR finds, and what that costs: `python -m bench ocr FOLDER [--engine NAME] [--turned DEGREES] [--pages N] [--font LANG=FILE] [--out FILE]`.

FOLDER has a folder for each language (`en`, `de`, `zh+en` …) with PDFs, whose pages are drawn, and texts, which are set in type: 31 pixels
high, on A4, in the font given or the one that fontconfig names for the language. Every page becomes a picture at 200 dpi and is read as
`context index --ocr` reads it: by a child in its jail, with each engine that is installed, RapidOCR also what it was not made for. Found is the share of a page's different words (of two letters or more; of
Chinese and Japanese, pairs of characters), the mean over the pages.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import re
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from smart_context.index import ocr_child, ocr_text
from smart_context.index.reading import Preparing
from smart_context.model import Limits, Prepared
from smart_context.sources import engines, rapidmodels, tessdata
from smart_context.sources.worker import Pool, Task

DPI = 200
A4 = (1654, 2339)
TYPE, LEADING, MARGIN = 31, 44, 150  # pixels
WORD = re.compile(r"\w{2,}")
UNSPACED = {"zh", "ja"}
ENGINES = {"tesseract": tessdata.is_installed, "rapidocr": rapidmodels.is_installed}


def main(argv: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench ocr")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--engine", action="append", choices=[*ENGINES], help="with these alone")
    parser.add_argument("--turned", type=float, default=0.0, help="turn each page by so many degrees")
    parser.add_argument("--pages", type=int, default=12, help="most pages of a language")
    parser.add_argument("--font", action="append", default=[], metavar="LANG=FILE")
    parser.add_argument("--out", type=Path, help="write the figures into this file, as JSON")
    args = parser.parse_args(argv)
    fonts = dict(each.split("=", 1) for each in args.font)
    print(
        f"{'language':10}{'engine':10}{'pages':>6}{'found':>8}{'least':>8}{'certainty':>10}{'CPU s':>8}{'start s':>8}{'MB':>6}"
    )
    rows = []
    places = sorted(path for path in args.folder.iterdir() if path.is_dir())
    names = args.engine or [name for name, is_installed in ENGINES.items() if is_installed()]
    for place, engine in itertools.product(places, names):
        # A process of its own: the most memory of all children is known only once they are gone, and for all of them together.
        with multiprocessing.get_context("spawn").Pool(1) as apart:
            row = apart.apply(_measured, (place, engine, fonts.get(place.name, ""), args.turned, args.pages))
        rows.append(row)
        print(
            f"{row['language']:10}{row['engine']:10}{row['pages']:6}{row['found']:8.3f}{row['least']:8.3f}{row['certainty']:10.0f}"
            f"{row['cpu_s']:8.2f}{row['start_s']:8.2f}{row['peak_mb']:6.0f}",
            flush=True,
        )
    if args.out:
        made = {
            "turned": args.turned,
            "dpi": DPI,
            "data": sorted(set(map(os.path.dirname, tessdata.available().values()))),
            "rows": rows,
        }
        args.out.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _measured(place: Path, engine: str, font: str, turned: float, most: int) -> dict[str, Any]:
    languages = place.name.split("+")
    with tempfile.TemporaryDirectory() as scratch:
        pages = _pictures(place, languages[0], font, turned, most, Path(scratch))
        data = rapidmodels.files(()) if engine == "rapidocr" else tessdata.files(languages)
        command = ocr_child.started_with(Preparing(2000, ()), data)
        started = _children_cpu()
        with Pool(Limits(), 1, start_with=command) as pool:
            list(pool.run([Task(None, "", lambda: os.open(os.devnull, os.O_RDONLY), "hash")]))
        start = _children_cpu() - started
        begun, clock = _children_cpu(), time.monotonic()
        tasks = [
            Task(at, str(file), partial(os.open, file, os.O_RDONLY), more=ocr_text.OcrRequest(1, seconds=60).to_json())
            for at, (file, _) in enumerate(pages)
        ]
        shares: list[float] = []
        sure: list[int] = []
        with Pool(Limits(), 1, start_with=command, memory_each=engines.memory(data).held) as pool:
            for done in pool.run(tasks):
                assert isinstance(done.outcome, Prepared), done.outcome
                segments = done.outcome.segments
                wanted = pages[int(str(done.key))][1]
                found = _words(" ".join(segment.text for segment in segments), languages[0])
                shares.append(len(wanted & found) / len(wanted))
                sure += [segment.certainty or 0 for segment in segments]
        count = len(pages)
        return {
            "language": place.name,
            "engine": engine,
            "pages": count,
            "found": sum(shares) / count,
            "least": min(shares),
            "certainty": sum(sure) / max(1, len(sure)),
            "cpu_s": (_children_cpu() - begun - start) / count,
            "wall_s": (time.monotonic() - clock) / count,
            "start_s": start,
            "peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        }


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _words(text: str, language: str) -> set[str]:
    if language not in UNSPACED:
        return set(WORD.findall(text.lower()))
    plain = re.sub(r"\W", "", text)
    return {plain[at : at + 2] for at in range(len(plain) - 1)}


def _pictures(
    place: Path, language: str, font: str, turned: float, most: int, scratch: Path
) -> list[tuple[Path, set[str]]]:
    from PIL import Image

    found: list[tuple[Path, set[str]]] = []
    for file in sorted(place.iterdir()):
        for page, text in _drawn(file) if file.suffix == ".pdf" else _set(file, language, font):
            if len(found) >= most or len(_words(text, language)) < 20:
                continue
            name = scratch / f"{len(found)}.png"
            lying = page.rotate(turned, Image.Resampling.BICUBIC, expand=bool(turned % 360 % 90 == 0), fillcolor=255)
            lying.save(name, dpi=(DPI, DPI))
            found.append((name, _words(text, language)))
    return found


def _drawn(file: Path) -> Iterator[tuple[Any, str]]:
    """Pages of a PDF with the text that they hold."""
    import pypdfium2 as pdfium  # type: ignore[import-untyped]

    from smart_context.model import Extracted
    from smart_context.sources.extract import extract

    read = extract(file.read_bytes(), file.name, Limits())
    assert isinstance(read, Extracted)
    document = pdfium.PdfDocument(file)
    for unit in read.units:
        page = document[unit.pointer[0].first - 1]
        yield page.render(scale=DPI / 72, grayscale=True).to_pil().convert("L"), unit.text


def _set(file: Path, language: str, font: str) -> Iterator[tuple[Any, str]]:
    """A text set in type: as much as one page holds."""
    from PIL import Image, ImageDraw, ImageFont

    name = (
        font
        or subprocess.run(
            ["fc-match", "-f", "%{file}", f"serif:lang={language}"], capture_output=True, text=True, check=True
        ).stdout
    )
    face = ImageFont.truetype(name, TYPE)
    page = Image.new("L", A4, 255)
    draw = ImageDraw.Draw(page)
    shown: list[str] = []
    pattern = r"." if language in UNSPACED else r"\S+\s*"
    for paragraph in file.read_text(encoding="utf-8").split("\n"):
        line = ""
        for piece in [*re.findall(pattern, paragraph), None]:
            if piece is None or draw.textlength(line + piece, font=face) > A4[0] - 2 * MARGIN:
                top = MARGIN + LEADING * len(shown)
                if top > A4[1] - MARGIN - LEADING:
                    yield page, "\n".join(shown)
                    return
                draw.text((MARGIN, top), line, font=face, fill=0)
                shown.append(line)
                line = ""
            line += piece or ""
    yield page, "\n".join(shown)
