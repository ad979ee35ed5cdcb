"""The mark of a database whose content is moved to another database, or comes from one.

Neither of the two opens while that goes on, and the old one does not afterwards: nothing is written
that the other would lack.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tape.errors import StoreMoved

SOURCE: Final = "source"
TARGET: Final = "target"
MARKED_ID: Final = 0x5450574D  # "TPWM"
"""The application id of a marked SQLite database, which versions without marks refuse as well."""

MAKE: Final = """
CREATE TABLE IF NOT EXISTS relocation (
    token TEXT NOT NULL PRIMARY KEY, role TEXT NOT NULL, place TEXT NOT NULL,
    begun_at TEXT NOT NULL, ended_at TEXT NOT NULL
)"""
FIND: Final = "SELECT token, role, place, begun_at, ended_at FROM relocation"


@dataclass(frozen=True, slots=True)
class Relocation:
    """A move, as one of its two databases has it on record.

    token     the same in both databases
    role      whether this database is the `source` or the `target`
    place     where the other one is, without a password
    ended_at  "" until everything is in the target
    """

    token: str
    role: str
    place: str
    begun_at: str
    ended_at: str = ""

    @property
    def bars(self) -> bool:
        """Whether no gateway may start on this database."""
        return self.role == SOURCE or not self.ended_at


def refuse_moved(place: object, found: Iterable[Relocation]) -> None:
    """Raise StoreMoved if one of a database's marks bars it."""
    for one in found:
        if not one.bars:
            continue
        if one.role == TARGET:
            raise StoreMoved(
                f"{place} is being filled with the chats of {one.place}: run `tapeway migrate`"
                " there again to finish it, or name another database in TAPEWAY_TAPE__URL"
            )
        if not one.ended_at:
            raise StoreMoved(
                f"the chats of {place} are being moved to {one.place}: run `tapeway migrate` again"
                " to finish it, or `tapeway migrate --undo` to go on here"
            )
        raise StoreMoved(
            f"the chats of {place} were moved to {one.place} on {one.ended_at[:10]}: name that in"
            " TAPEWAY_TAPE__URL; to go on here, without what was said there since, run"
            " `tapeway migrate --undo`"
        )
