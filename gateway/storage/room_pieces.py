"""The pieces of rooms: what is remembered of each tape's newest messages, to be read at once.

A piece is made of its tape alone, and is made again if it is missing. So no backup has it, and it
is not moved to another database; whatever takes words out of a tape deletes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tape.store import UnitStore
from tape.unit_of_work import Unit


class RoomPieces:
    """The pieces of all tapes, at most one of each."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store

    async def read(self, tape: str) -> bytes:
        """Return the piece of a tape, or b""."""
        rows = await self._store.select("ledger.room_piece", {"tape": tape})
        return bytes(rows[0]["piece"]) if rows else b""

    async def keep(self, pieces: Mapping[str, tuple[int, bytes]], session_ids: set[str]) -> None:
        """Write pieces, each with the id of the newest entry in it, in place of earlier ones.

        Only the holder of the sessions may do so; raises SessionLost.
        """
        unit = Unit(works_on=session_ids)
        for tape, (upto, piece) in sorted(pieces.items()):
            unit.run("ledger.keep_room_piece", tape=tape, upto=upto, piece=piece)
        await self._store.commit(unit)

    async def drop(self, tape: str) -> None:
        """Delete the piece of a tape."""
        unit = Unit()
        unit.run("ledger.drop_room_piece", tape=tape)
        await self._store.commit(unit)
