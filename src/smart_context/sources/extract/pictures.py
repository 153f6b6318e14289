"""Decode untrusted pictures: PNG, JPEG, TIFF, WebP and BMP, as files or inside documents.

In: the bytes of a picture, or the pictures of a packed document by name.  Out: grey pixels, no more than OCR can use.
Always: the size in the header is checked before anything is decoded; a picture is decoded only as the format of its first bytes;
nothing is decoded where pictures are only counted.
"""

from __future__ import annotations

import io
import math
import posixpath
import warnings
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from smart_context.model import Part, Unit
from smart_context.sources.extract import Buffer, Job, Refused
from smart_context.sources.extract.sight import Bitmap, Unreadable

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

    from smart_context.sources.extract.zipped import SafeZip

MOST_PIXELS = 10_000_000  # for OCR; a larger picture is scaled down first
DPI = 200  # where nothing is known
_MOST_DECODED = 60_000_000  # pixels; more are not decoded at all
_SMALL = 1000  # pixels; letters of smaller pictures are few pixels high, and read better when enlarged
_LEAST = (32, 12)  # pixels; smaller is no text
_MOST_FRAMES = 1000
_EXTENSIONS = (".png", ".jpg", ".jpeg", ".jpe", ".tif", ".tiff", ".webp", ".bmp")
_PLUGINS = ("Bmp", "Gif", "Jpeg", "Mpo", "Png", "Ppm", "Tiff", "WebP")  # some are loaded by others
_STARTS = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"II*\0", "TIFF"),
    (b"MM\0*", "TIFF"),
    (b"BM", "BMP"),
)


def load() -> None:
    """Load the decoders, while files can still be opened."""
    for module in ("Image", "ImageFile", "ImageOps", *(f"{name}ImagePlugin" for name in _PLUGINS)):
        import_module(f"PIL.{module}")


def format_of(start: bytes) -> str:
    """The name of a picture's format by its first 12 bytes; "" for what is not decoded here."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "WEBP"
    return next((name for magic, name in _STARTS if start.startswith(magic)), "")


def beside(package: SafeZip, names: Iterable[str], job: Job) -> Iterator[Unit]:
    """The pictures of a document without known places, each as a section with the picture's name."""
    for name in chosen(names):
        title = posixpath.basename(name)
        yield from job.look((Part("section", title),), partial(packed, package, [name]), heading=title)


def chosen(names: Iterable[str]) -> list[str]:
    """The names of pictures among these, each once."""
    return [name for name in dict.fromkeys(names) if name.lower().endswith(_EXTENSIONS)]


def packed(package: SafeZip, names: Iterable[str]) -> Iterator[Bitmap]:
    """Decode pictures of a packed document.

    Raises: Unreadable.
    """
    for name in names:
        try:
            data = package.read(name)
        except Refused as refusal:
            raise Unreadable(str(refusal)) from refusal
        yield from decoded(data)


def decoded(data: Buffer, frame: int = 0) -> list[Bitmap]:
    """Decode one picture of a file; none where it is too small to say anything.

    Raises: Unreadable.
    """
    from PIL import Image

    name = format_of(data[:12])
    if not name:
        raise Unreadable("not a picture that is read")
    try:
        # Warnings about pictures that can be read nevertheless are ignored.
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(data[:]), formats=(name,)) as picture,
        ):
            picture.seek(frame)
            _check(picture.size)
            is_tiny = picture.width < _LEAST[0] or picture.height < _LEAST[1]
            return [] if is_tiny else [_grey(picture)]
    except Unreadable:
        raise
    except Image.DecompressionBombError as error:
        raise Unreadable("too many pixels") from error
    except MemoryError:
        raise
    except Exception as error:  # what a decoder makes of hostile bytes
        raise Unreadable("damaged picture") from error


def frames(data: Buffer) -> int:
    """How many pictures a file holds: pages of a TIFF, one of anything else."""
    if format_of(data[:12]) != "TIFF":
        return 1
    order = "little" if data[:2] == b"II" else "big"
    seen: set[int] = set()
    at = int.from_bytes(data[4:8], order)  # type: ignore[arg-type]
    while 8 <= at <= len(data) - 6 and at not in seen and len(seen) < _MOST_FRAMES:
        seen.add(at)
        after = at + 2 + 12 * int.from_bytes(data[at : at + 2], order)  # type: ignore[arg-type]
        at = int.from_bytes(data[after : after + 4], order)  # type: ignore[arg-type]
    return max(1, len(seen))


def _check(size: tuple[int, int]) -> None:
    width, height = size
    if width * height > _MOST_DECODED:
        raise Unreadable(f"too many pixels: {width:,} × {height:,}")


def _grey(picture: Picture) -> Bitmap:
    """Decode, apply the camera's orientation, put on a white background, and scale to a size that OCR reads well."""
    from PIL import Image, ImageOps

    scale = _scale(picture.size)
    if picture.format == "JPEG" and scale < 1:
        picture.draft("L", (math.ceil(picture.width * scale), math.ceil(picture.height * scale)))
    turned = ImageOps.exif_transpose(picture) if picture.format in {"JPEG", "TIFF"} else picture
    if turned.mode.startswith(("I", "F")):
        turned = turned.convert("I").point(lambda shade: shade / 256)
    if turned.has_transparency_data:
        turned = turned.convert("LA")
        white = Image.new("L", turned.size, 255)
        white.paste(turned.getchannel("L"), mask=turned.getchannel("A"))
        turned = white
    grey = turned.convert("L")
    scale = _scale(grey.size)
    if scale != 1:
        size = (max(1, int(grey.width * scale)), max(1, int(grey.height * scale)))
        grey = grey.resize(size, Image.Resampling.BOX if scale < 1 else Image.Resampling.BICUBIC)
    return Bitmap(grey.width, grey.height, grey.tobytes(), DPI)


def _scale(size: tuple[int, int]) -> float:
    if max(size) <= _SMALL:
        return 2.0
    return min(1.0, math.sqrt(MOST_PIXELS / (size[0] * size[1])))
