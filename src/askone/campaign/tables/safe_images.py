"""Images made safe: decoded within limits and written anew, so that only pixels remain.  The one door to Pillow."""

from __future__ import annotations

import contextlib
import io
import struct
import zlib
from typing import Any, Final, NamedTuple, final

import numpy as np

from askone._common.types import Array
from askone.campaign.tables.base import LIMITS, Limits
from askone.errors import InvalidFile, MissingExtra

try:
    from PIL import Image, ImageOps
except ImportError:  # safe_image says so
    Image = None  # type: ignore[assignment]  # only then


_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
_LOSSY: Final = ("JPEG", "WEBP")
_SIDE: Final = 1_600  # pixels that a page shows
_GRAY: Final = 16
_LINES: Final = 64  # of pixels that are converted at once
# What decoders raise for bytes that are not what they should be.
_BROKEN = (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, OverflowError, MemoryError,
           struct.error, zlib.error)  # fmt: skip


@final
class SafeImage(NamedTuple):
    """An image written anew, its media type, and its pixels as Pillow has them."""

    kind: str
    data: bytes
    pixels: Any

    @property
    def gray(self) -> Array:
        """16 x 16 gray values from 0 (black) to 1 as one row: what the first version's models see."""
        small = self.pixels.convert("L").resize((_GRAY, _GRAY), Image.Resampling.BOX)
        return (np.asarray(small, dtype=np.float32) / 255).ravel()

    def small(self, side: int) -> Array:
        """Return ``side`` x ``side`` x 3 colours from 0 to 255, whatever its shape: what a model sees of it."""
        # A large picture is first reduced by whole numbers, which takes a seventh of the time.
        small = self.pixels.resize((side, side), Image.Resampling.BICUBIC, reducing_gap=2.0)
        return np.asarray(small.convert("RGB"))


def safe_image(data: bytes, limits: Limits = LIMITS, origin: str = "image") -> SafeImage:
    """Return the pixels of an image: PNG, JPEG, GIF (its first picture), WebP or BMP, turned upright.

    Too many pixels are refused before they are decoded.  Lossy images become JPEG, others PNG, no larger than a page.
    """
    if Image is None:
        raise MissingExtra("images need Pillow: pip install 'askone[server]'")
    if len(data) > limits.image:
        raise InvalidFile(f"{origin}: at most {limits.image} bytes are allowed; got {len(data)}")
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            width, height = image.size
            if width * height > limits.pixels or not (width and height):
                raise InvalidFile(f"{origin}: at most {limits.pixels} pixels are allowed; got {width} x {height}")
            lossy = image.format in _LOSSY
            if lossy:
                image.draft("RGB", (_SIDE, _SIDE))  # a JPEG is decoded no larger than it is needed
            plain = _plain(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InvalidFile(f"{origin}: at most {limits.pixels} pixels are allowed") from error
    except _BROKEN as error:
        if isinstance(error, InvalidFile):
            raise
        raise InvalidFile(f"{origin}: is not an image that can be read (PNG, JPEG, GIF, WebP, BMP)") from error
    plain.thumbnail((_SIDE, _SIDE))
    plain = Image.frombytes(plain.mode, plain.size, plain.tobytes())  # pixels, and nothing that came with them
    out, kind = io.BytesIO(), "JPEG" if lossy else "PNG"
    plain.save(out, kind, **({"quality": 88} if lossy else {}))
    return SafeImage(f"image/{kind.lower()}", out.getvalue(), plain)


def _plain(image: Any) -> Any:
    """Return eight-bit colours or grays on white, upright.  Copies are of millions of pixels, so there are few."""
    image.load()
    with contextlib.suppress(*_BROKEN):  # what says how it was held is damaged; the pixels are not
        ImageOps.exif_transpose(image, in_place=True)
    if image.mode.startswith(("I", "F")):  # sixteen bits or more
        return _eight_bits(image)
    if image.mode in ("RGB", "L"):
        return image
    if "A" in image.getbands() or "transparency" in image.info:
        clear = image if image.mode == "RGBA" else image.convert("RGBA")
        plain = Image.new("RGB", clear.size, "white")
        plain.paste(clear, mask=clear.getchannel("A"))
        return plain
    return image.convert("RGB")


def _eight_bits(image: Any) -> Any:
    """Return grays of sixteen bits or more in eight, some lines at a time: floats take eight bytes each."""
    width, height = image.size
    top = 65535.0 if image.mode.startswith("I;16") else max(float(image.getextrema()[1]), 1.0)
    gray = np.empty((height, width), dtype=np.uint8)
    for first in range(0, height, _LINES):
        values = np.asarray(image.crop((0, first, width, min(first + _LINES, height))), dtype=np.float64)
        gray[first : first + _LINES] = np.clip(np.nan_to_num(values) * (255 / top), 0, 255)
    return Image.fromarray(gray)


def drawn(gray: Array, side: int) -> bytes:
    """Return a PNG image of gray values from 0 (black) to 1, of so many pixels on its longer side.

    >>> safe_image(drawn(np.eye(4), 64)).kind
    'image/png'
    """
    if Image is None:
        raise MissingExtra("images need Pillow: pip install 'askone[server]'")
    image = Image.fromarray(np.clip(255 * np.asarray(gray, dtype=np.float64), 0, 255).astype(np.uint8))
    scale, out = side / max(image.size), io.BytesIO()
    image = image.resize((round(scale * image.width), round(scale * image.height)), Image.Resampling.BICUBIC)
    image.save(out, "PNG", compress_level=1)
    return out.getvalue()
