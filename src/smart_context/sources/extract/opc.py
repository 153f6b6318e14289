"""Find the parts of an Office file (Open Packaging Conventions).

In: a zip.  Out: parts by the relations between them, which is how Office finds them too; names are only convention.
Always: a relation to something outside the file, or to a part that is missing, is ignored.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from smart_context.data import dataclass
from smart_context.sources.extract import Buffer, Job, Refused, xmlsafe, zipped
from smart_context.sources.extract.properties import About, day

TRANSITIONAL = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"
RELATION_IDS = (
    f"{{{TRANSITIONAL}officeDocument/2006/relationships}}",
    f"{{{STRICT}officeDocument/relationships}}",
)


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of the relation's type: "slide", "header", "styles" …"""

    id: str
    kind: str
    target: str


class Package:
    """An Office file: its parts and their relations."""

    def __init__(self, data: Buffer, job: Job) -> None:
        self.zip = zipped.open_zip(data, job)
        self._relations: dict[str, tuple[Relation, ...]] = {}

    def main(self, usual: str) -> str:
        """The part everything starts from, where relations say or else where it usually is."""
        return next((r.target for r in self.relations("") if r.kind == "officeDocument"), usual)

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Relations of a part (of the whole package: "") to parts that exist, in the order of the file."""
        if part not in self._relations:
            self._relations[part] = self._read(part)
        return self._relations[part]

    def _read(self, part: str) -> tuple[Relation, ...]:
        folder, name = posixpath.split(part)
        rels = posixpath.join(folder, "_rels", name + ".rels")
        if rels not in self.zip:
            return ()
        try:
            root = xmlsafe.tree(self.zip.read(rels))
        except Refused:
            return ()
        return tuple(self._existing(root, folder))

    def _existing(self, root: xmlsafe.Element, folder: str) -> Iterator[Relation]:
        for element in root.iter("{*}Relationship"):
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
            if element.get("TargetMode") != "External" and target in self.zip:
                yield Relation(element.get("Id", ""), element.get("Type", "").rpartition("/")[2], target)

    def about(self) -> About:
        """What the file's own properties say."""
        for relation in self.relations(""):
            if relation.kind == "core-properties":
                try:
                    root = xmlsafe.tree(self.zip.read(relation.target))
                except Refused:
                    return About()
                said = {
                    name: " ".join(xmlsafe.text_of(found).split())
                    if (found := root.find(f"{{*}}{name}")) is not None
                    else ""
                    for name in ("title", "creator", "modified", "created")
                }
                return About(said["title"], said["creator"], day(said["modified"], said["created"]))
        return About()


def relation_id(element: xmlsafe.Element) -> str:
    """The relation that an element names, in either namespace; "" if none."""
    return next((found for prefix in RELATION_IDS if (found := element.get(prefix + "id"))), "")
