"""Find out whether a transaction was committed whose answer never came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

import anyio
import psycopg

from tape.entry import Entry, dump
from tape.errors import StoreUnavailable
from tape.stores.postgres.database import PostgresDatabase
from tape.stores.postgres.rows import read_entries
from tape.unit_of_work import Append, Unit

NUMBER: Final = "SELECT pg_current_xact_id()::text"
"""Gives the running transaction's number, by which the server can say later how it ended."""

STATUS: Final = "SELECT pg_xact_status(%(number)s::xid8)"
NEVER: Final = "never"
"""The server has not given the number to any transaction, or has forgotten that in a crash."""


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


async def was_committed(
    database: PostgresDatabase, transaction: str | None, made: Mapping[str, Sequence[Entry]]
) -> bool | None:
    """Find out how a transaction ended that made entries of tapes; None if nobody can say.

    One whose number never came has ended before its commit was sent. A server that has crashed
    gives the numbers once more that its log had not been written with: "committed" then means
    somebody else's transaction, so the entries themselves are looked for, too.
    """
    if transaction is None:
        return False
    for _ in range(database.measures.answer_tries):
        with suppress(StoreUnavailable):  # the server is not back yet
            status = await _status(database, transaction)
            if status == "committed":
                return await _are_there(database, made)
            if status != "in progress":
                return {"aborted": False, NEVER: False}.get(status)
        await anyio.sleep(database.measures.answer_seconds)
    return None


async def _status(database: PostgresDatabase, transaction: str) -> str:
    async with database.connection() as connection:
        try:
            found = await connection.execute(STATUS, {"number": transaction})
        except psycopg.errors.InvalidParameterValue:
            return NEVER
        row = await found.fetchone()
    return str(row[0]) if row else ""


async def _are_there(
    database: PostgresDatabase, made: Mapping[str, Sequence[Entry]]
) -> bool | None:
    """Return whether tapes have the entries; None if some of what they have may be erased."""
    for tape, entries in made.items():
        if not entries:
            continue
        span = {"tape": tape, "first": entries[0].id, "last": entries[-1].id}
        async with database.connection() as connection:
            found = await connection.execute(database.sql("tape.block"), span)
            there = read_entries(await found.fetchall())
        if list(map(_place, there)) != list(map(_place, entries)):
            return False
        if list(map(_words, there)) != list(map(_words, entries)):
            return None
    return True


def _place(entry: Entry) -> tuple[int, str, str]:
    """Return what stays of an entry whatever is erased."""
    return entry.id, entry.kind, entry.date


def _words(entry: Entry) -> tuple[str, str]:
    return dump(entry.payload), dump(entry.meta)
