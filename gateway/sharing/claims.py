"""Which sessions this process may work on."""

from __future__ import annotations

from typing import Protocol


class SessionClaims(Protocol):
    """The sessions that this process holds; others' questions and sends are not its business."""

    owner: str  # this process, as other processes know it

    def holds(self, session_id: str) -> bool:
        """Return whether this process holds a session now."""
        ...

    def may_send(self, session_id: str) -> bool:
        """Return whether enough of the lease is left for a request to the platform."""
        ...


class EverySession:
    """The claims of a process that works alone: it holds every session for ever."""

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def holds(self, session_id: str) -> bool:
        del session_id
        return True

    def may_send(self, session_id: str) -> bool:
        del session_id
        return True
