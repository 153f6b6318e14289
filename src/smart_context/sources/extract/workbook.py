"""Find the other parts of an XLSX or XLSB workbook, beside the cells.

In: the package.  Out: the part of each sheet, the strings and styles of cells, and the text of a sheet's drawings, charts and comments.
Always: a part is inflated once under the meter before the spreadsheet library, which has no meter, may read it.
"""

from __future__ import annotations

from collections.abc import Iterator

from smart_context.sources.extract import Buffer, Job, Refused, cells, drawing, extents, opc, xmlsafe

# Compressed parts smaller than this cannot be decompression bombs: deflate compresses a thousandfold at most.
_TOO_SMALL_TO_BOMB = 32 * 1024
_BESIDE = frozenset({"drawing", "comments", "threadedComment", "chart", "chartEx", "diagramData"})
_BINARY_SHEET = 156  # the record of an XLSB workbook that names a sheet


class Workbook:
    """The parts of a workbook. `sheets`: the names in order, with the part that holds each."""

    def __init__(self, data: Buffer, job: Job) -> None:
        self.package = opc.Package(data, job)
        self._main = self.package.main("xl/workbook.xml")
        self._relations = self.package.relations(self._main)
        self._cells: cells.Book | None = None
        for part in (self._part("sharedStrings"), self._part("styles")):
            if part is not None and self.package.zip.packed_size(part) > _TOO_SMALL_TO_BOMB:
                for _ in self.package.zip.stream(part):
                    pass
        targets = {relation.id: relation.target for relation in self._relations}
        named = self._binary_names() if self._main.endswith(".bin") else self._names()
        self.sheets = {name: targets[relation] for name, relation in named if relation in targets}

    def lines(self, part: str, depth: int = 2) -> Iterator[str]:
        """The text of a sheet that is not in cells."""
        for relation in self.package.relations(part):
            if relation.kind in _BESIDE and depth:
                yield from self._side(relation)
                yield from self.lines(relation.target, depth - 1)

    def cells(self) -> cells.Book:
        """What cells refer to."""
        if self._cells is None:
            strings, styles = self._part("sharedStrings"), self._part("styles")
            self._cells = cells.Book(
                cells.strings(self.package.zip.stream(strings)) if strings is not None else [],
                cells.date_styles(xmlsafe.tree(self.package.zip.read(styles))) if styles is not None else frozenset(),
                cells.epoch(self._is_1904()),
            )
        return self._cells

    def _part(self, kind: str) -> str | None:
        return next((relation.target for relation in self._relations if relation.kind == kind), None)

    def _is_1904(self) -> bool:
        root = xmlsafe.tree(self.package.zip.read(self._main))
        return any(properties.get("date1904") in {"1", "true"} for properties in root.iter("{*}workbookPr"))

    def _names(self) -> Iterator[tuple[str, str]]:
        for element in xmlsafe.tree(self.package.zip.read(self._main)).iter("{*}sheet"):
            yield element.get("name", ""), opc.relation_id(element)

    def _binary_names(self) -> Iterator[tuple[str, str]]:
        for kind, record in extents.records(self.package.zip.read(self._main)):
            if kind == _BINARY_SHEET:
                relation, at = _wide_string(record, 8)
                yield _wide_string(record, at)[0], relation

    def _side(self, relation: opc.Relation) -> Iterator[str]:
        if relation.target.endswith(".bin"):
            return
        if relation.kind not in {"comments", "threadedComment"}:
            yield from (line.text for line in drawing.lines(self.package.zip.stream(relation.target)))
            return
        for comment in xmlsafe.tree(self.package.zip.read(relation.target)).iter("{*}comment", "{*}threadedComment"):
            yield " ".join("".join(t.text or "" for t in comment.iter("{*}t", "{*}text")).split())


def _wide_string(record: bytes, at: int) -> tuple[str, int]:
    """A string with its length before it, and where it ends."""
    count = int.from_bytes(record[at : at + 4], "little")
    if count > len(record):
        raise Refused("damaged", "a sheet's name cannot be read")
    end = at + 4 + 2 * count
    return record[at + 4 : end].decode("utf-16-le", "replace"), end
