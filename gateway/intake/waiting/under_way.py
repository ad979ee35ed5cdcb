"""Which received messages are being taken in."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from gateway.storage.ledger.rows import InboxRow


@dataclass(slots=True)
class UnderWay:
    """Rows of the inbox, by session: one may be taken in where its session goes on, too."""

    _rows: dict[str | None, set[int]] = field(default_factory=dict)

    def enters(self, row: InboxRow) -> bool:
        """Add a row; return False if it is under way already."""
        return bool(self.enter(row.session_id, (row.id,)))

    def enter(self, session_id: str | None, ids: Collection[int]) -> list[int]:
        """Add rows of a session by their ids; return those that were not under way."""
        known = self._rows.setdefault(session_id, set())
        new = [number for number in ids if number not in known]
        known.update(new)
        return new

    def leaves(self, rows: Iterable[InboxRow]) -> None:
        """Remove rows that are taken in, or which somebody else takes in."""
        for row in rows:
            self.leave(row.session_id, row.id)

    def leave(self, session_id: str | None, number: int) -> None:
        """Remove a row by its id."""
        known = self._rows.get(session_id)
        if known is not None:
            known.discard(number)
            if not known:
                del self._rows[session_id]
