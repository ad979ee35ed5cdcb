"""Find out whether a transaction was committed whose answer never came."""

from __future__ import annotations

from typing import Final

import anyio

from tape.errors import StoreUnavailable
from tape.stores.postgres.database import PostgresDatabase
from tape.unit_of_work import Append, Unit

NUMBER: Final = "SELECT pg_current_xact_id()::text"
"""Gives the running transaction's number, by which the server can say later how it ended."""

STATUS: Final = "SELECT pg_xact_status(%(number)s::xid8)"
TRIES: Final = 20
WAIT_SECONDS: Final = 0.5


class LostAnswer(Exception):
    """The connection broke after the commit was sent; `transaction` is its number, if known."""

    def __init__(self, transaction: str | None) -> None:
        super().__init__("the connection broke during a commit")
        self.transaction = transaction


def is_repeatable(unit: Unit) -> bool:
    """Return whether a unit may run again when it is unknown whether it was committed.

    Its appends need keys; statements are made so that they leave the same rows.
    """
    return all(step.key is not None for step in unit.steps if isinstance(step, Append))


async def was_committed(database: PostgresDatabase, transaction: str | None) -> bool | None:
    """Ask the server how a transaction ended; None if it cannot say.

    One whose number never came has ended before its commit was sent.
    """
    if transaction is None:
        return False
    for _ in range(TRIES):
        try:
            async with database.connection() as connection:
                found = await connection.execute(STATUS, {"number": transaction})
                row = await found.fetchone()
        except StoreUnavailable:
            row = ("in progress",)  # it is not back yet
        status = row[0] if row else None
        if status != "in progress":
            return {"committed": True, "aborted": False}.get(str(status))
        await anyio.sleep(WAIT_SECONDS)
    return None
