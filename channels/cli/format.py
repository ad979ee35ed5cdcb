"""A terminal shows Markdown as it is written; only what would move the cursor is taken out."""

from __future__ import annotations

import re
from typing import Final

_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]")
_BEGUN: Final = re.compile(r"\x1b(\[[0-9;?]*[ -/]*)?\Z")


def to_terminal(text: str) -> str:
    """Return a text that can do nothing to a terminal but be read."""
    return _CONTROL.sub("", text)


def without_begun(text: str) -> str:
    """Return a text that may go on without a sequence that its end has only begun."""
    return _BEGUN.sub("", text)
