"""Formats text for a terminal: Markdown as it was written, without control sequences."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_BEGUN: Final = re.compile(r"\x1b(\[[0-9;?]*[ -/]*)?\Z")


def to_terminal(text: str) -> str:
    """Return a text without control characters and control sequences."""
    return _CONTROL.sub("", text)


def without_open_sequence(text: str) -> str:
    """Return an unfinished text without an incomplete control sequence at its end."""
    return _BEGUN.sub("", text)
