"""Draws texts beside the event loop, where they may take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import anyio.to_thread

MAX_INLINE: Final = 500
"""Maximum characters of a text that is drawn on the event loop, not in a thread."""

Drawn = TypeVar("Drawn")


async def apart(draw: Callable[[str], Drawn], text: str) -> Drawn:
    """Draw a text; some Markdown takes long, and must not block the event loop."""
    if len(text) <= MAX_INLINE:
        return draw(text)
    return await anyio.to_thread.run_sync(draw, text)
