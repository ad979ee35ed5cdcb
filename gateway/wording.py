"""Words for a terminal and for files: texts that drive no terminal, how many and how much."""

from __future__ import annotations

import os
import re
import shutil
import sys
from math import floor, log10
from pathlib import Path
from typing import Final

_UNSAFE: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def safe(text: object) -> str:
    """Return a text with the characters escaped that change more than their own place."""
    plain = str(text).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", plain)


def command_name() -> str:
    """Return `tapeway` as it was called: with its folder, unless the shell finds it without."""
    called, found = sys.argv[0], shutil.which("tapeway")
    known = found and os.path.realpath(found) == os.path.realpath(called)
    return "tapeway" if known or Path(called).name != "tapeway" else called


def as_called(text: str) -> str:
    """Return a text whose commands can be typed as they stand there."""
    return text.replace("`tapeway ", f"`{command_name()} ")


def counted(number: float, one: str, many: str = "") -> str:
    """Return a number with its noun, in the singular only for 1."""
    whole = int(number) if number == int(number) else number
    return f"{whole} {one if number == 1 else many or one + 's'}"


def amount(value: float) -> str:
    """Return an amount of money with as many digits as a small one needs: 1.20, 0.0004."""
    small = 0 < value < 1
    digits = min(10, max(2, 1 - floor(log10(value)))) if small else 2
    whole, _point, rest = f"{value:.{digits}f}".partition(".")
    return f"{whole}.{rest.rstrip('0'):0<2}"


def megabytes(size: float) -> str:
    """Return a size in bytes as whole megabytes."""
    return f"{size // 1_000_000:.0f} MB" if size >= 1_000_000 else "under 1 MB"
