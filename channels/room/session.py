"""Who is at the other end of a request, as the gateway decided; nothing in the request decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PageSession:
    """A session of the page or the terminal.

    person  the person's id, which the gateway assigned
    owner   whether it may use everything; otherwise it is a member of some rooms
    rooms   the rooms of a member; the one they were invited to last is at the end
    """

    person: str
    owner: bool = False
    rooms: tuple[str, ...] = ()

    def admits(self, room: str) -> bool:
        """Return whether the session may use a room of the page."""
        return self.owner or room in self.rooms


OWNER: Final = PageSession("owner", owner=True)
"""The user who runs the gateway: in the terminal, and in each of their browsers on the machine."""

NOBODY: Final = PageSession("")
