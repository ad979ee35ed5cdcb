"""Which received messages are being taken in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gateway.storage.ledger.rows import InboxRow


@dataclass(slots=True)
class UnderWay:
    """Rows of the inbox, by session: one may be taken in where its session goes on, too."""

    _rows: set[tuple[int, str | None]] = field(default_factory=set)

    def enters(self, row: InboxRow) -> bool:
        """Add a row; return False if it is under way already."""
        before = len(self._rows)
        self._rows.add((row.id, row.session_id))
        return len(self._rows) > before

    def leaves(self, rows: Iterable[InboxRow]) -> None:
        """Remove rows that are taken in, or which somebody else takes in."""
        self._rows.difference_update((row.id, row.session_id) for row in rows)
