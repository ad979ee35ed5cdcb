"""What a database has to do to be moved from, or to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Protocol

from gateway.backup.moving.tables import Cells, MovedTable
from tape.database.relocation import Relocation

DONE: Final = "done"
"""The step of a table of which everything was written."""

MAKE_STEPS: Final = """
CREATE TABLE IF NOT EXISTS relocation_step (name TEXT NOT NULL PRIMARY KEY, step TEXT NOT NULL)"""
DROP_STEPS: Final = "DROP TABLE IF EXISTS relocation_step"


class MovingSide(Protocol):
    """An open database, which no gateway uses; `place` names it without a password."""

    place: str

    def require_alone(self) -> None:
        """Raise BackupError if a gateway, or another move, uses the database."""
        ...

    def marks(self) -> list[Relocation]: ...

    def mark(self, relocation: Relocation) -> None:
        """Put a move on record, or its end."""
        ...

    def unmark(self, relocation: Relocation) -> None:
        """Remove the record, so that a gateway may start here."""
        ...

    def count(self, table: MovedTable) -> int: ...

    def rows(self, table: MovedTable, after: Sequence[Any] = ()) -> Iterator[Cells]:
        """Yield the rows behind a key, in the order of the keys."""
        ...

    def step(self, table: MovedTable) -> str:
        """Return what the last `write` to a table recorded, or ""."""
        ...

    def write(self, table: MovedTable, rows: Sequence[Cells], step: str) -> None:
        """Add rows and record how far that is, both or neither."""
        ...

    def settle(self) -> None:
        """Bring up to date what follows from the rows."""
        ...

    def workspace(self, own: str) -> str:
        """Return the workspace after which the tapes of a home's `own` one are named."""
        ...

    def finish(self, relocation: Relocation, own: str, workspace: str) -> None:
        """Put the end of a move on record, and let gateways use what was moved here."""
        ...

    def close(self) -> None: ...
