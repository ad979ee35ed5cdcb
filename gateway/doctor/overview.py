"""Look at the processes of a database, their leases and bots, without joining them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson
import psycopg
from psycopg.rows import dict_row

from gateway.doctor.digests import differences
from gateway.sharing.schema import sharing_schema
from gateway.storage.ledger.ledger import ledger_schema
from tape.errors import StoreUnavailable
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.database import connection_target, place_of
from tape.stores.postgres.server_errors import first_line

OVERDUE_SECONDS: Final = 15.0
"""How long a lease may have ended before nobody seems to take it over."""

SILENT_SECONDS: Final = 15.0
"""After so many seconds without a sign of life, a process is not thought to run."""


@dataclass(frozen=True, slots=True)
class ProcessView:
    """A process of the database, as its row describes it.

    silent    seconds since its last sign of life
    sessions  how many sessions it holds
    turns     how many of its turns run
    channels  the channels whose messages it receives
    """

    owner: str
    home: str
    role: str
    version: str
    place: str
    started_at: str
    seen_at: str
    digests: dict[str, str]
    state: dict[str, Any]
    silent: float
    sessions: int
    turns: int
    channels: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.place} ({self.owner[:6]})"

    @property
    def is_live(self) -> bool:
        return self.silent < SILENT_SECONDS


@dataclass(frozen=True, slots=True)
class Overview:
    """The processes of a database, and what is overdue: a session or poller, and its name."""

    processes: Sequence[ProcessView]
    overdue: Sequence[tuple[str, str]]

    def differences(self) -> list[str]:
        """Return a sentence for each difference between the processes that run."""
        return differences({one.name: one.digests for one in self.processes if one.is_live})


def look_over(url: str) -> Overview:
    """Ask a server about the processes; raises StoreUnusable for a wrong URL, StoreUnavailable."""
    target, own = connection_target(url, writable=False), sharing_schema().statements
    try:
        with psycopg.connect(target, autocommit=True, row_factory=dict_row) as connection:
            connection.read_only = True
            found = connection.execute("SELECT to_regclass('worker') IS NOT NULL AS made")
            if not (found.fetchone() or {})["made"]:
                return Overview((), ())
            rows = connection.execute(driver_sql(own["sharing.processes"]).encode()).fetchall()
            grace = {"grace": OVERDUE_SECONDS}
            late = connection.execute(driver_sql(own["sharing.overdue"]).encode(), grace).fetchall()
    except psycopg.Error as cause:
        raise StoreUnavailable(f"{place_of(url)}: {first_line(cause)}") from cause
    return Overview(
        [_read(row) for row in rows], [(str(row["kind"]), str(row["name"])) for row in late]
    )


def known_bots(url: str, names: Sequence[str]) -> dict[str, str]:
    """Map channels to the bots whose messages a database has; raises as `look_over` does."""
    target = connection_target(url, writable=False)
    asks = driver_sql(ledger_schema("postgres").statements["ledger.known_bot"]).encode()
    found = {}
    try:
        with psycopg.connect(target, autocommit=True, row_factory=dict_row) as connection:
            connection.read_only = True
            for name in names:
                for row in connection.execute(asks, {"account_id": name}).fetchall():
                    found[name] = str(row["bot_id"])
    except psycopg.Error as cause:
        raise StoreUnavailable(f"{place_of(url)}: {first_line(cause)}") from cause
    return found


def _read(row: dict[str, Any]) -> ProcessView:
    read = {name: orjson.loads(row[name]) for name in ("digests", "state", "channels")}
    return ProcessView(**{**row, **read, "channels": tuple(read["channels"])})
