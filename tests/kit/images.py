"""Pictures, small and hostile, and a channel that brings them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any, ClassVar

import anyio
from PIL import Image

from channels.capabilities import Capability
from channels.message import Media
from tests.kit.plain_channels import PlainChannel


def image(kind: str = "PNG", size: tuple[int, int] = (2, 3), **more: Any) -> bytes:
    buffer = BytesIO()
    Image.new("RGB", size, "red").save(buffer, kind, **more)
    return buffer.getvalue()


def bomb() -> bytes:
    """A PNG of some bytes that says it is 60000x60000."""
    header = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + struct.pack(">I", 13)
        + header
        + struct.pack(">I", zlib.crc32(header))
        + struct.pack(">I", 0)
        + b"IEND"
        + struct.pack(">I", zlib.crc32(b"IEND"))
    )


class MediaChannel(PlainChannel):
    """A platform that gives files out."""

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"media"})

    def __init__(self, files: dict[str, Callable[[], bytes]]) -> None:
        super().__init__()
        self.files = files

    async def fetch(self, media: Media, most: int) -> bytes:
        if media.file == "slow":
            await anyio.sleep_forever()
        return self.files[media.file]()
