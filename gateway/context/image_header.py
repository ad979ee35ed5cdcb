"""The check of an image's header, in a module of its own because it imports Pillow.

Nothing is unpacked: an image of a few bytes may claim any size.
"""

from __future__ import annotations

from io import BytesIO
from typing import Final

from PIL import Image

from channels.errors import MediaRefused

# Pillow's own limit would only warn; ours is checked below, before anything is unpacked.
Image.MAX_IMAGE_PIXELS = None

FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF")
SUFFIXES: Final = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
"""Suffixes by Pillow's formats; MPO is a JPEG with several pictures, as phones make."""


def check_image(data: bytes, most_pixels: int) -> str:
    """Return the format of an image as a suffix; raises MediaRefused."""
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
            suffix = SUFFIXES[image.format or ""]
            if width * height <= most_pixels:
                image.verify()
    except Exception as cause:  # A broken file may raise anything.
        raise MediaRefused("it is no image that I can read") from cause
    if width * height > most_pixels:
        raise MediaRefused(f"it has too many pixels ({width}x{height})")
    return suffix
