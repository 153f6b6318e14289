"""Read PPTX presentations, one unit per slide, in the order of the presentation.

In: the bytes of a PPTX.  Out: each slide's text, tables, charts, diagrams, comments and notes; its title is the heading.
Always: slides are numbered as PowerPoint numbers them, hidden ones included; a damaged slide costs only itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from smart_context.model import SLIDE_NOTES, Extracted, Part, Unit
from smart_context.sources.extract import Buffer, Job, drawing, opc, pictures, xmlsafe
from smart_context.sources.extract.collect import Full, Units

_TITLES = frozenset({"title", "ctrTitle"})
_RELATED = ("chart", "diagramData", "chartEx", "comments", "notesSlide")


def read(data: Buffer, job: Job) -> Extracted:
    """Read every slide, up to the limits."""
    package = opc.Package(data, job)
    units = Units(job.limits)
    try:
        for number, part in enumerate(_slides(package), 1):
            slide = _slide(package, part, number, units)
            units.add(slide)
            for seen in _pictures(package, part, slide, job):
                units.add(seen)
    except Full:
        pass
    return package.about().extracted("pptx", units.finish(), tuple(units.notes))


def _slides(package: opc.Package) -> Iterator[str]:
    main = package.main("ppt/presentation.xml")
    targets = {relation.id: relation.target for relation in package.relations(main) if relation.kind == "slide"}
    presentation = xmlsafe.tree(package.zip.read(main))
    for element in presentation.iter("{*}sldId"):
        if (target := targets.get(opc.relation_id(element))) is not None:
            yield target


def _slide(package: opc.Package, part: str, number: int, units: Units) -> Unit:
    titles: list[str] = []
    text: list[str] = []
    with units.part(f"slide {number}"):
        for line in drawing.lines(package.zip.stream(part)):
            if _is_number(line):
                continue
            if line.place in _TITLES:
                titles.append(line.text)
            text.append(line.text)
    with units.part(f"slide {number}"):
        text.extend(_related(package, part))
    return Unit((Part("slide", first=number),), "\n".join(text), heading=" ".join(titles))


def _related(package: opc.Package, part: str) -> Iterator[str]:
    """The other parts that belong to a slide; the notes last."""
    relations = [relation for relation in package.relations(part) if relation.kind in _RELATED]
    for relation in sorted(relations, key=lambda r: _RELATED.index(r.kind)):
        is_first = relation.kind == "notesSlide"
        for line in drawing.lines(package.zip.stream(relation.target)):
            if not _is_number(line):
                yield from (SLIDE_NOTES, line.text) if is_first else (line.text,)
                is_first = False


def _pictures(package: opc.Package, part: str, slide: Unit, job: Job) -> Iterator[Unit]:
    """The OCR text of a slide's pictures, as one text."""
    names = pictures.chosen(relation.target for relation in package.relations(part) if relation.kind == "image")
    if names:
        yield from job.look(slide.pointer, partial(pictures.packed, package.zip, names), heading=slide.heading)


def _is_number(line: drawing.Line) -> bool:
    return line.place == "sldNum" and not any(map(str.isalpha, line.text))
