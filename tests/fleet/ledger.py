"""What the database says of every question, and of what was sent for it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.chaos.record import INBOX, OUTBOX, Row, rows_of
from tests.chaos.talk import TAPED, faults

TABLES: Final = ("tape", "entry", "inbox", "outbox", "session", "worker", "control", "append_key")
_OPEN: Final = """
SELECT (SELECT count(*) FROM inbox),
       (SELECT count(*) FROM inbox WHERE status IN ('accepted', 'waiting', 'taken')
            AND payload !~ '"text":"T[0-9]+-'),
       (SELECT count(*) FROM outbox WHERE status IN ('draft', 'pending', 'sending'))
"""


@dataclass(slots=True)
class Found:
    """The rows by question, and the sends that are not at their end."""

    rows: dict[str, Row] = field(default_factory=dict)
    open_sends: list[str] = field(default_factory=list)

    @property
    def open_questions(self) -> list[str]:
        """The questions that are not at their end."""
        still = ("accepted", "waiting", "taken")
        return [token for token, row in self.rows.items() if row.status in still]


async def connected(url: str) -> psycopg.AsyncConnection[tuple[Any, ...]]:
    """Connect to the server itself."""
    return await psycopg.AsyncConnection.connect(url, autocommit=True, connect_timeout=2)


async def open_counts(url: str) -> tuple[int, int, int]:
    """Return how many messages were accepted, and how many questions and sends are open."""
    async with await connected(url) as connection:
        row = await (await connection.execute(_OPEN)).fetchone()
    assert row is not None
    return int(row[0]), int(row[1]), int(row[2])


async def read(url: str) -> Found:
    """Read all rows."""
    async with await connected(url) as connection:
        return Found(*rows_of(await _rows(connection, INBOX), await _rows(connection, OUTBOX)))


async def talk_faults(url: str, said: Collection[str]) -> list[str]:
    """Return what became of talk that nobody should see."""
    async with await connected(url) as connection:
        return faults(await _rows(connection, TAPED), said)


async def copy(url: str, folder: Path) -> None:
    """Write what the tables say into files."""
    async with await connected(url) as connection:
        for table in TABLES:
            with (folder / f"{table}.tsv").open("wb") as file:
                async with connection.cursor().copy(f"COPY {table} TO STDOUT".encode()) as rows:
                    async for row in rows:
                        file.write(row)


async def _rows(
    connection: psycopg.AsyncConnection[tuple[Any, ...]], sql: str
) -> list[tuple[Any, ...]]:
    return await (await connection.execute(sql.encode())).fetchall()
