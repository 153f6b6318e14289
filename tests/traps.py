"""A tree of traps: what must not be opened, followed or waited for, and small bombs that want to be large."""

from __future__ import annotations

import io
import os
import socket
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

READABLE = {
    "plain.txt": "zebra",
    os.fsdecode(b"not utf-8 \xff\xfe.txt"): "zebra",
    "new\nline.txt": "zebra",
}


def lay(root: Path, outside: Path) -> set[str]:
    """Make the tree; `outside` is a folder that nothing in it may lead to. The paths of all files that say `zebra`."""
    root.mkdir(parents=True)
    outside.mkdir(parents=True)
    (outside / "secret.txt").write_text("yak", encoding="utf-8")
    for name, text in READABLE.items():
        (root / name).write_text(text, encoding="utf-8")
    _lay_links(root, outside)
    os.mkfifo(root / "fifo.txt")
    _lay_socket(root / "socket.txt")
    (root / "bombs").mkdir()
    for name, make in BOMBS.items():
        (root / "bombs" / name).write_bytes(make())
    return {os.path.join(root, name) for name in READABLE} | {_lay_deep(root)}


def _lay_links(root: Path, outside: Path) -> None:
    (root / "loop").symlink_to(".")
    (root / "self").symlink_to("self")
    (root / "out").symlink_to(outside)
    (root / "out.txt").symlink_to(outside / "secret.txt")
    (root / "device.txt").symlink_to("/dev/zero")
    (root / "nowhere.txt").symlink_to("nowhere")


def _lay_socket(place: Path) -> None:
    # The name of a socket has 100 bytes at most, so that it is bound through its folder's descriptor.
    folder = os.open(place.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(f"/proc/self/fd/{folder}/{place.name}")
    os.close(folder)


def _lay_deep(root: Path) -> str:
    """A file whose path has more than 5,000 bytes, made and left through descriptors."""
    name, path = "d" * 200, str(root)
    here = os.open(root, os.O_RDONLY)
    while len(path) < 5000:
        os.mkdir(name, dir_fd=here)
        deeper = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here, path = deeper, f"{path}/{name}"
    file = os.open("deep.txt", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=here)
    os.write(file, b"zebra")
    os.close(file)
    os.close(here)
    return f"{path}/deep.txt"


def _zipped(**members: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), data)
    return out.getvalue()


def _zeros(count: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros.txt", "w") as member:
        for _ in range(count // 1_000_000):
            member.write(bytes(1_000_000))
    return out.getvalue()


def _docx(body: bytes) -> bytes:
    kinds = b"""<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml"
        ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
    links = b"""<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r" Target="word/document.xml"
        Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/></Relationships>"""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (("[Content_Types].xml", kinds), ("_rels/.rels", links), ("word/document.xml", body)):
            archive.writestr(name, data)
    return out.getvalue()


def _word(inside: bytes) -> bytes:
    return _docx(
        b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
        + inside
        + b"</w:body></w:document>"
    )


def _laughs() -> bytes:
    entities = b"".join(b'<!ENTITY a%d "%s">' % (i + 1, b"&a%d;" % i * 10) for i in range(12))
    return b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "ha">' + entities + b"]><x>&a12;</x>"


def _pdf_that_inflates() -> bytes:
    packed = zlib.compress(zlib.compress(b"0 0 m " * 5_000_000))
    stream = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >> stream\n%s\nendstream" % (len(packed), packed)
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>",
        stream,
    )
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj %s endobj\n" % (i + 1, o) for i, o in enumerate(objects))
    return body + b"trailer << /Root 1 0 R /Size 5 >>\n%%EOF"


def _nested(depth: int) -> bytes:
    inner = b"zebra at the bottom"
    for _ in range(depth):
        inner = _zipped(inner_zip=inner)
    return inner


BOMBS: dict[str, Callable[[], bytes]] = {
    "zeros.zip": lambda: _zeros(270_000_000),
    "nested.zip": lambda: _nested(50),
    "deep.docx": lambda: _word(b"<w:p>" * 5000 + b"</w:p>" * 5000),
    "cut.docx": lambda: _word(b"<w:p/>")[:-30],
    "laughs.xml": _laughs,
    "deep.json": lambda: b"[" * 100_000 + b"]" * 100_000,
    "deep.html": lambda: b"<div>" * 100_000,
    "inflates.pdf": _pdf_that_inflates,
    "binary.txt": lambda: bytes(range(256)) * 100,
    "empty.pdf": lambda: b"",
}
