"""Recognizes the message that sends a pairing code, in the forms that people write it."""

from __future__ import annotations

import re
from typing import Final

_PAIRING: Final = re.compile(
    r"`?(?:pair|start)\s+([0-9A-Z]{2,8}-[0-9A-Z]{2,8})`?\s*", re.IGNORECASE
)


def as_pairing(text: str) -> str | None:
    """Return `,pair CODE` for `pair CODE` or `start CODE`, or None for any other text."""
    found = _PAIRING.fullmatch(text)
    return f",pair {found[1]}" if found else None
