"""Words for a terminal: texts without control characters, and how many and how much."""

from __future__ import annotations

import re
from typing import Final

_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe(text: object) -> str:
    """Return a text with the characters escaped that change more than their own place."""
    plain = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


def counted(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun, in the singular only for 1."""
    whole = int(number) if number == int(number) else number
    return f"{whole} {one if number == 1 else many or one + 's'}"


def megabytes(size: float) -> str:
    """Return a size in bytes as whole megabytes."""
    return f"{size // 1_000_000:.0f} MB" if size >= 1_000_000 else "under 1 MB"
