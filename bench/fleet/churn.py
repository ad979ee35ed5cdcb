"""What messages leave in the tables of the ledger: dead rows, and how large the tables become.

Every message goes the whole way in the product's own statements: accepted, taken in, taken by a
turn, answered, sent, and folded when it is a month old; a month has a quarter of the messages. All
of them ask, so that each row changes as often as it may. Autovacuum runs; since messages come
faster here than from any platform, it looks at the tables more often in the same proportion.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from multiprocessing.connection import wait
from typing import Any, Final

import psycopg

from bench.figures import Figure, progress
from channels.message import Author, InboundMessage, OutboundMessage
from gateway.sharing.fencing import ARRIVE
from gateway.sharing.schema import sharing_schema
from gateway.storage.folding import BATCH, fold_payload
from gateway.storage.ledger.budgets import DayLimits, Spender
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.rows import InboxRow, OutboxRow, idem_key, new_turn_id
from gateway.storage.ledger.usage import TurnUsage
from tape.entry import dump, event, load, utc_iso
from tape.stores.memory import MemoryStore
from tape.stores.postgres.binding import driver_sql
from tape.stores.postgres.store import PostgresStore
from tape.unit_of_work import FirstId, Run, Unit
from tests.kit.clock import START, ManualClock
from tests.postgres import Server

CHATS: Final = 400
TOGETHER: Final = 50  # messages in one transaction; each of them in another chat
WRITERS: Final = 2
FOLDED_AFTER: Final = 100
"""Transactions of the first writer after which it folds."""

DAYS: Final = 30
LOOK_SECONDS: Final = 1.0
NAPS: Final = "ALTER SYSTEM SET autovacuum_naptime = '5s'"
TABLES: Final = ("inbox", "outbox", "session", "budget")
TEXT: Final = "is the deploy of the billing service through, and who looked at the replicas? " * 4
ANSWER: Final = "The deploy went through at 10:42. Two of the three replicas were restarted. " * 8
RAW: Final = {"entities": [{"type": "mention", "offset": n, "length": 12} for n in range(14)]}
_STATE: Final = """
SELECT relname, n_live_tup, n_dead_tup, n_tup_upd, n_tup_hot_upd, pg_relation_size(relid),
       pg_table_size(relid) - pg_relation_size(relid), pg_indexes_size(relid), autovacuum_count
FROM pg_stat_user_tables WHERE relname = ANY (%(tables)s)
"""


@dataclass(frozen=True, slots=True)
class _Table:
    """One table at one moment; sizes in bytes, `toast` with the maps of its pages."""

    live: int
    dead: int
    updated: int
    hot: int
    heap: int
    toast: int
    indexes: int
    vacuums: int


class _Writer:
    """Takes messages all the way; the units are the ledger's, their appends are left out."""

    def __init__(self, url: str, number: int, made: int, step: timedelta) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        schemas = (ledger_schema("postgres"), sharing_schema())
        self._sql = {
            name: driver_sql(sql) for one in schemas for name, sql in one.statements.items()
        }
        self._clock = ManualClock(START + step * made)
        self._ledger = Ledger(MemoryStore(), self._clock, "churn", lease=1e6)
        self._number, self._made, self._step = number, made, step
        self._folded: Counter[str] = Counter()  # up to which row of a table

    def run(self, count: int) -> None:
        """Take so many messages all the way, `TOGETHER` at once."""
        for number, first in enumerate(range(self._made, self._made + count, TOGETHER)):
            self._clock.jump(self._step * TOGETHER)
            rows = self._taken_in(self._accepted(first))
            self._sent(self._answered(rows))
            if self._number == 0 and number % FOLDED_AFTER == 0:
                for box in ("inbox", "outbox"):
                    self._fold(box)

    def _accepted(self, first: int) -> list[InboxRow]:
        said = [self._said(first + number) for number in range(TOGETHER)]
        sessions = [f"telegram:{one.chat_id}" for one in said]
        unit = Unit()
        for one, session_id in zip(said, sessions, strict=True):
            unit.run(ARRIVE, session_id=session_id, tape=f"t{one.chat_id}", asked=0)
        self._ledger.inbox.write(unit, said, None, sessions)
        found = self._commit(unit)["ledger.accept"]
        return [
            InboxRow(row[0], "telegram", row[1], None, None, None, "accepted", 0, one)
            for row, one in zip(found, said, strict=True)
        ]

    def _said(self, number: int) -> InboundMessage:
        chat = 1 + self._number + number * WRITERS % CHATS
        return InboundMessage(
            channel="telegram",
            chat_id=str(chat),
            ext_id=f"{chat}/{self._number}/{number}",
            message_id=str(number),
            sender=Author(str(chat), f"Friend {chat}"),
            text=f"question {number}: {TEXT}",
            date=utc_iso(self._clock.now()),
            addressed=True,
            raw=RAW,
        )

    def _taken_in(self, rows: list[InboxRow]) -> list[InboxRow]:
        unit, found = Unit(), []
        for row in rows:
            tape, entry = f"t{row.message.chat_id}", event("said")
            session_id = row.session_id or ""
            self._ledger.inbox.take_in(unit, row, session_id, tape, entry, "l:1", "waiting")
            found.append(replace(row, lane="l:1", status="waiting"))
        self._commit(unit)
        return found

    def _answered(self, rows: list[InboxRow]) -> list[OutboxRow]:
        begun, ended = Unit(), Unit()
        day, sends = self._clock.now().date().isoformat(), []
        for row in rows:
            session_id, chat, turn = row.session_id or "", row.message.chat_id, new_turn_id()
            who = Spender(day, f"telegram:{chat}", session_id, "Friend")
            self._ledger.leases.claim(begun, session_id, f"t{chat}")
            self._ledger.inbox.take(begun, [row], turn)
            self._ledger.budgets.spend(begun, who, DayLimits(0, 0, 0))
            send = OutboundMessage("telegram", chat, ANSWER, idem_key(turn, 0), turn=turn)
            send = replace(send, date=utc_iso(self._clock.now()))
            sends.append(OutboxRow(0, session_id, turn, "l:1", "pending", 0, send))
            self._ledger.inbox.end(ended, [row], "done")
            counts = {"calls": 1, "input": 900, "cached": 100, "output": 90, "cost": 0.1}
            used = TurnUsage(turn, "m", day, session_id, who.person, "Friend", **counts)  # type: ignore[arg-type]
            self._ledger.usage.record(ended, used)
            self._ledger.outbox.send_later(ended, send, session_id, "l:1")
        self._commit(begun)
        found = self._commit(ended)["ledger.send_later"]
        return [replace(send, id=row[0]) for send, row in zip(sends, found, strict=True)]

    def _sent(self, sends: list[OutboxRow]) -> None:
        began, ended = Unit(), Unit()
        moment = utc_iso(self._clock.now())
        for send in sends:
            began.run("ledger.sending", id=send.id, sending_at=moment)
            self._ledger.outbox.sent(ended, send, str(send.id), moment)
        self._commit(began)
        self._commit(ended)

    def _fold(self, box: str) -> None:
        """Fold all that has become old enough, as a round of `LedgerFolder` does."""
        now = self._clock.now()
        until = utc_iso(now - timedelta(days=DAYS))
        values = {"until": until, "limit": BATCH, "now": utc_iso(now)}
        while rows := self._select(f"ledger.next_{box}", {**values, "after": self._folded[box]}):
            self._folded[box] = rows[-1][0]
            left = [(one, dump(fold_payload(box, load(read))), read) for one, read in rows]
            unit = Unit()
            unit.run(f"ledger.fold_{box}", rows=dump(left))
            self._commit(unit)

    def _select(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(self._sql[statement].encode(), values).fetchall()

    def _commit(self, unit: Unit) -> dict[str, list[tuple[Any, ...]]]:
        """Run the statements of a unit, those of one name together; return what each returned."""
        together: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for step in unit.steps:
            if isinstance(step, Run):
                together[step.statement].append(
                    {k: 1 if isinstance(v, FirstId) else v for k, v in step.values.items()}
                )
        found: dict[str, list[tuple[Any, ...]]] = {}
        with self._connection.transaction(), self._connection.cursor() as cursor:
            for name, values in together.items():
                returns = "RETURNING" in self._sql[name]
                cursor.executemany(self._sql[name].encode(), values, returning=returns)
                if returns:
                    found[name] = [row for each in cursor.results() for row in each.fetchall()]
        return found


def _write(url: str, number: int, made: int, count: int, step: timedelta) -> None:
    _Writer(url, number, made, step).run(count)


async def churn_figures(server: Server, messages: int) -> list[Figure]:
    """Take messages all the way; look at the tables at a quarter, at the half and at the end."""
    url = await asyncio.to_thread(server.new_database)
    with psycopg.connect(server.url, autocommit=True) as connection:
        for sql in (NAPS, "SELECT pg_reload_conf()"):
            connection.execute(sql.encode())
    schemas = [ledger_schema("postgres"), sharing_schema()]
    await (await asyncio.to_thread(PostgresStore.open, url, schemas)).close()
    return await asyncio.to_thread(_churned, url, messages)


def _churned(url: str, messages: int) -> list[Figure]:
    figures: list[Figure] = []
    each, made, begun = messages // WRITERS, 0, time.perf_counter()
    step = timedelta(days=DAYS) / (each / 4)
    for share, which in ((1, "a quarter"), (2, "the half"), (4, "all")):
        until = each * share // 4
        most = _watched(url, made, until - made, step)
        made = until
        now, rate = _look(url), made * WRITERS / (time.perf_counter() - begun)
        progress(f"churn: {made * WRITERS} messages, {rate:.0f}/s")
        for name in TABLES:
            dead, heap = most[name], now[name].heap / 1_000_000
            progress(f"churn: {name}: at most {dead} dead rows, {heap:.0f} MB")
            figures += _figures(f"{which}: {name}", now[name], dead)
    return [
        *figures,
        *(Figure(f"all: {box}: folded", _folded(url, box), "") for box in ("inbox", "outbox")),
        Figure("churn: messages a second", rate, ""),
    ]


def _folded(url: str, box: str) -> int:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(f"SELECT sum(folded) FROM {box}".encode()).fetchone()
    return int(found[0] or 0) if found else 0


def _watched(url: str, made: int, count: int, step: timedelta) -> Counter[str]:
    """Write so many messages with each writer; return the most dead rows that tables had."""
    most: Counter[str] = Counter()
    context = multiprocessing.get_context("spawn")
    writers = [
        context.Process(target=_write, args=(url, number, made, count, step))
        for number in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        for name, table in _look(url).items():
            most[name] = max(most[name], table.dead)
        wait([writer.sentinel for writer in writers if writer.is_alive()], LOOK_SECONDS)
    if any(writer.exitcode for writer in writers):
        raise RuntimeError("a writer failed: its error stands above")
    return most


def _look(url: str) -> dict[str, _Table]:
    with psycopg.connect(url, autocommit=True) as connection:
        rows = connection.execute(_STATE.encode(), {"tables": list(TABLES)}).fetchall()
    return {row[0]: _Table(*row[1:]) for row in rows}


def _figures(name: str, table: _Table, most: int) -> list[Figure]:
    mega = 1_000_000
    return [
        Figure(f"{name}: rows", table.live, ""),
        Figure(f"{name}: dead rows, at most", most, ""),
        Figure(f"{name}: updates in place (HOT)", 100 * table.hot / max(1, table.updated), "%"),
        Figure(f"{name}: heap", table.heap / mega, "MB"),
        Figure(f"{name}: TOAST and maps", table.toast / mega, "MB"),
        Figure(f"{name}: indexes", table.indexes / mega, "MB"),
        Figure(f"{name}: vacuumed", table.vacuums, "times"),
    ]
