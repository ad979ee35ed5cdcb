"""What a channel may have missed while it was disconnected."""

from __future__ import annotations

from datetime import datetime

from channels.host import Cursors


class BackfillGap:
    """The gap of one channel; while it is open, no cursor moves.

    A gap that opens while an earlier one is being read is a new one: it is closed by the cursors
    that were given out for it.
    """

    def __init__(self) -> None:
        self.skipped: set[tuple[str, str]] = set()
        self._is_open = True
        self._to_be_read = True
        self._given_out: tuple[Cursors, datetime] | None = None

    def open(self) -> None:
        """Open a gap: the connection was lost, or a message could not be accepted."""
        self._is_open, self._given_out = True, None

    def given_out(self, cursors: Cursors, at: datetime) -> None:
        """Record that the channel begins to read the gap from these cursors."""
        self._to_be_read = True
        self._given_out = (cursors, at)
        self.skipped.clear()

    def close(self, cursors: Cursors | None) -> datetime | None:
        """Close the gap; return the time up to which every chat is complete, if there is one."""
        if cursors is None:
            self._is_open = self._is_open and self._to_be_read
            return None
        if self._given_out is None or self._given_out[0] is not cursors:
            return None
        _cursors, at = self._given_out
        self._is_open, self._to_be_read, self._given_out = False, False, None
        return None if self.skipped else at

    def kept_back(self) -> frozenset[tuple[str, str]] | None:
        """Return the chats whose cursors must not move; None means all chats."""
        return None if self._is_open else frozenset(self.skipped)
