"""How much a gateway shows, asks or keeps at once.

As with the intervals, nobody has to set these; whoever starts a gateway in code may give others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Bounds:
    """Maximum numbers, each with what it is of."""

    listed_rooms: int = 200
    """Rooms on the list of the page, those of the newest messages first."""

    rights_asked: int = 20
    """Questions to a platform about an account at once; one more is allowed each second."""

    console_streams: int = 16
    """Streams by which one person follows the console."""

    console_strips: int = 60
    """Chats on a page of the deck."""

    console_usage: int = 1_000
    """Rows of usage on the screen, and in one read for the file."""

    console_sessions: int = 100
    """Sessions on the list of the console."""

    sessions_read: int = 200
    """Sessions of the console in one read."""

    console_changed: int = 20_000
    """Entries behind which a page has to be before it is loaded as a whole."""

    console_changes: int = 500
    """Changes of earlier entries in one answer; if there are more, the whole page is loaded."""


BOUNDS: Final = Bounds()
"""Those of the product."""
