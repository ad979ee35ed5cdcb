"""Check an image's header; this is a separate module because it imports Pillow.

Nothing is decompressed: an image of a few bytes may claim to be of any size.
"""

from __future__ import annotations

from io import BytesIO
from typing import Final

from PIL import Image

from channels.errors import MediaRefused

# Pillow's own limit only warns; ours is checked below, before anything is decompressed.
Image.MAX_IMAGE_PIXELS = None

FORMATS: Final = ("JPEG", "PNG", "WEBP", "GIF")
SUFFIXES: Final = {"JPEG": "jpg", "MPO": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
"""Maps Pillow's formats to suffixes. Phones make MPO files: JPEGs with several pictures."""


def check_image(data: bytes, most_pixels: int) -> str:
    """Return the suffix for an image's format; raises MediaRefused."""
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as image:
            width, height = image.size
            suffix = SUFFIXES[image.format or ""]
            if width * height <= most_pixels:
                image.verify()
    except Exception as cause:  # A broken file may raise any exception.
        raise MediaRefused("it is no image that I can read") from cause
    if width * height > most_pixels:
        raise MediaRefused(f"it has too many pixels ({width}x{height})")
    return suffix
