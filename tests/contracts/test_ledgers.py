"""The ledger's conformance suite on every store that can hold one."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from gateway.clock import Clock, SystemClock
from gateway.storage.erasures import ErasureTable
from gateway.storage.folding import LedgerFolder
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.usage import TOTAL, TurnUsage, UsageTable
from gateway.storage.split_store import SplitStore
from tape.entry import load, utc_iso
from tape.right_of_way import RightOfWay
from tape.store import UnitStore
from tape.stores.registry import TAPE_STORES, UNIT_STORES, open_store, open_tapes
from tape.stores.sqlite import SqliteStore, tape_schema
from tape.unit_of_work import Outcome, Run, Unit
from tests.contracts.ledger_checks import (
    ANSWER,
    LEDGER_CHECKS,
    SAID,
    SESSION,
    LedgerCheck,
    committed,
    taken_in,
)
from tests.kit.clock import ManualClock
from tests.kit.kept_databases import kept_database
from tests.postgres import APPLICATION


def _memory(_folder: Path) -> UnitStore:
    return open_store("memory:", [tape_schema(), ledger_schema()])


def _sqlite(folder: Path) -> UnitStore:
    return open_store(f"sqlite://{folder / 'tapeway.db'}", [ledger_schema()])


def _beside(folder: Path) -> UnitStore:
    tapes = open_store("memory:", [tape_schema()])
    return SplitStore(tapes, open_store(f"sqlite://{folder / 'ledger.db'}", [ledger_schema()]))


def _file(folder: Path) -> UnitStore:
    tapes = open_tapes(f"file://{folder / 'tapes'}")
    return SplitStore(tapes, open_store(f"sqlite://{folder / 'ledger.db'}", [ledger_schema()]))


OPENED: dict[str, Callable[[Path], UnitStore]] = {
    "memory": _memory,
    "sqlite": _sqlite,
    "file": _file,
    "a plugin's tapes": _beside,
}


POSTGRESQL = pytest.param("postgresql", marks=pytest.mark.postgresql)


@pytest.fixture(params=[*sorted(OPENED), POSTGRESQL])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[UnitStore]:
    with ExitStack() as stack:
        if request.param in OPENED:
            store = OPENED[request.param](tmp_path)
        else:
            url = stack.enter_context(kept_database(APPLICATION))
            store = open_store(url, [ledger_schema("postgres")])
        yield store
        await store.close()


@pytest.mark.parametrize("check", LEDGER_CHECKS, ids=lambda check: check.__name__)
async def test_ledger(check: LedgerCheck, store: UnitStore) -> None:
    def make(owner: str = "a", lease: float = 60.0) -> Ledger:
        return Ledger(store, SystemClock(), owner, lease)

    await check(make)


async def test_what_a_turn_used_is_counted_once_also_if_its_end_is_committed_again(
    store: UnitStore,
) -> None:
    usage = Ledger(store, SystemClock(), "a").usage
    used = TurnUsage("t-1", "plum-1", "2026-01-01", "c:1", "c:7", "Alice", 2, 10, 4, 3, 0.5)
    for one in (used, used, replace(used, model="plum-2"), replace(used, turn_id="t-2")):
        unit = Unit()
        usage.record(unit, one)
        await store.commit(unit)
    (day,) = await usage.read("day", "2026-01-01")
    counted = [day[name] for name in ("key", "turns", "calls", "input", "cached", "output", "cost")]
    assert counted == ["2026-01-01", 2, 6, 30, 12, 9, 1.5]
    by_model = await usage.read("model", "")
    assert [(row["key"], row["turns"]) for row in by_model] == [("plum-1", 2), ("plum-2", 1)]
    assert [row["name"] for row in await usage.read("person", "")] == ["Alice"]
    assert await usage.read("day", "2026-01-02") == []


USED = TurnUsage("t-1", "plum-1", "2026-01-01", "c:1", "c:7", "Al", 1, 10, 4, 3, 0.5)


async def record(store: UnitStore, *used: TurnUsage) -> UsageTable:
    usage, unit = Ledger(store, SystemClock(), "a").usage, Unit()
    for one in used:
        usage.record(unit, one)
    await store.commit(unit)
    return usage


async def test_a_limit_leaves_out_the_oldest_usage_and_the_total_counts_all(
    store: UnitStore,
) -> None:
    dated = [replace(USED, turn_id=f"t-{day}", day=f"2026-01-0{day}") for day in (2, 3, 1)]
    usage = await record(store, *dated)
    for by, keys in (("day", ["2026-01-02", "2026-01-03"]), ("turn", ["t-2", "t-3"])):
        newest = await usage.read(by, "", limit=2)
        assert [row["key"] for row in newest] == keys
        assert newest[0]["groups"] == 3
    (total,) = await usage.read(TOTAL, "", limit=2)
    assert (total["turns"], total["input"], total["cost"]) == (3, 30, 1.5)


async def test_what_has_no_known_price_is_told_apart_from_what_costs_nothing(
    store: UnitStore,
) -> None:
    unknown = replace(USED, model="plum-2", calls=2, cost=None)
    usage = await record(store, USED, unknown, replace(USED, model="plum-3", cost=0.0))
    by_model = {row["key"]: row for row in await usage.read("model", "")}
    told = {key: (row["cost"], row["unpriced"]) for key, row in by_model.items()}
    assert told == {"plum-1": (0.5, 0), "plum-2": (None, 2), "plum-3": (0, 0)}
    assert list(by_model)[-1] == "plum-2"
    (total,) = await usage.read(TOTAL, "")
    assert (total["cost"], total["unpriced"]) == (0.5, 2)
    (turn,) = await store.select("ledger.used_by_turn", {"turn_id": "t-1"})
    assert (turn["cost"], turn["unpriced"]) == (0.5, 2)


async def test_a_turn_of_two_models_counts_once_in_the_total(store: UnitStore) -> None:
    usage = await record(store, USED, replace(USED, model="plum-2"))
    (total,) = await usage.read(TOTAL, "")
    assert (total["turns"], total["calls"]) == (1, 2)


async def test_a_person_is_listed_with_the_newest_name(store: UnitStore) -> None:
    days = [("2026-01-01", "Al"), ("2026-01-03", "Alice"), ("2026-01-02", "Ali")]
    usage = await record(
        store, *(replace(USED, turn_id=f"t-{day}", day=day, name=name) for day, name in days)
    )
    assert [row["name"] for row in await usage.read("person", "")] == ["Alice"]


async def test_usage_is_summed_up_outside_the_thread_of_the_event_loop(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "tapeway.db", (ledger_schema(),))
    usage = await record(store, USED)
    before = set(threading.enumerate())
    await usage.read("day", "")
    assert [thread.name for thread in set(threading.enumerate()) - before] == ["tape-reader_0"]
    await store.close()


def test_every_store_of_the_registry_holds_a_ledger() -> None:
    assert {*UNIT_STORES, *TAPE_STORES} <= {*OPENED, "postgresql"}


def later(clock: ManualClock) -> str:
    """Wait until a second has passed; return the date."""
    clock.jump(timedelta(seconds=1))
    return utc_iso(clock.now())


async def dates(store: UnitStore) -> list[str | None]:
    """Return the dates of the joints that a question and its answer have passed."""
    (asked,) = await store.select("ledger.inbox_row", {"id": 1})
    sends = await store.select("ledger.told_sends", {"key": "t-1", "limit": 9})
    names = ("first_text_at", "pending_at", "sending_at", "sent_at")
    return [asked["taken_at"], *(row[name] for row in sends for name in names)]


async def test_a_row_has_the_date_of_each_joint_that_it_passed(store: UnitStore) -> None:
    clock = ManualClock()
    ledger = Ledger(store, clock, "a")
    row = await taken_in(ledger)
    assert await dates(store) == [None]
    taken = later(clock)
    async with committed(ledger) as unit:
        ledger.inbox.take(unit, [row], "t-1")
    first_text = later(clock)
    assert await ledger.outbox.open_draft(SAID, SESSION, "t-1", None, first_text) is not None
    assert await dates(store) == [taken, first_text, None, None, None]
    pending = later(clock)
    async with committed(ledger) as unit:
        ledger.outbox.send_later(unit, ANSWER, SESSION, None, pending)
    assert await dates(store) == [taken, first_text, pending, None, None]
    (send,) = await ledger.outbox.open_rows()
    first_attempt = later(clock)
    await ledger.outbox.sending(send)
    assert await dates(store) == [taken, first_text, pending, first_attempt, None]
    await ledger.outbox.unsent(send)
    assert await dates(store) == [taken, first_text, pending, None, None]
    attempt = later(clock)
    await ledger.outbox.sending(send)
    sent = later(clock)
    async with committed(ledger) as unit:
        ledger.outbox.sent(unit, send, "55")
    assert await dates(store) == [taken, first_text, pending, attempt, sent]


async def test_a_send_that_can_be_repeated_has_its_dates_from_its_receipt(store: UnitStore) -> None:
    clock = ManualClock()
    ledger = Ledger(store, clock, "a")
    await taken_in(ledger)
    first_text, pending = later(clock), later(clock)
    async with committed(ledger) as unit:
        ledger.outbox.send_later(unit, ANSWER, SESSION, None, first_text)
    (send,) = await ledger.outbox.open_rows()
    begun, sent = later(clock), later(clock)
    async with committed(ledger) as unit:
        ledger.outbox.sent(unit, send, "55", begun)
    assert await dates(store) == [None, first_text, pending, begun, sent]


async def test_a_turn_that_is_resumed_leaves_the_date_and_one_that_is_asked_again_has_its_own(
    store: UnitStore,
) -> None:
    clock = ManualClock()
    ledger = Ledger(store, clock, "a")
    row = await taken_in(ledger)
    taken = later(clock)
    for _time in range(2):
        async with committed(ledger) as unit:
            ledger.inbox.take(unit, [row], "t-1")
        later(clock)
    assert await dates(store) == [taken]
    async with committed(ledger) as unit:
        ledger.inbox.end(unit, [row], "failed")
        unit.run("ledger.retry_inbox", id=row.id)
    assert await dates(store) == [None]
    again = later(clock)
    async with committed(ledger) as unit:
        ledger.inbox.take(unit, [row], "t-1")
    assert await dates(store) == [again]


def send_of(ledger: Ledger) -> Run:
    """Return the statement that adds an answer to the outbox."""
    unit = Unit()
    step = unit.steps[ledger.outbox.send_later(unit, ANSWER, SESSION, None)]
    assert isinstance(step, Run)
    return step


async def test_what_a_predecessor_began_gets_no_date_later(store: UnitStore) -> None:
    clock = ManualClock()
    ledger = Ledger(store, clock, "a")
    row = await taken_in(ledger)
    async with committed(ledger) as unit:
        unit.run("ledger.take", id=row.id, turn_id="t-1", taken_at=None)
        run = send_of(ledger)
        unit.run(run.statement, **{**run.values, "pending_at": None})
    async with committed(ledger) as unit:
        ledger.inbox.take(unit, [row], "t-1")
        ledger.outbox.send_later(unit, ANSWER, SESSION, None, later(clock))
    assert await dates(store) == [None] * 5


class ErasedMeanwhile:
    """A store in which a message is erased between a folder's look at it and its write."""

    def __init__(self, store: UnitStore, clock: Clock) -> None:
        self._store = store
        self._erasures = ErasureTable(store, clock)
        self.select = store.select

    async def commit(self, unit: Unit) -> list[Outcome]:
        await self._erasures.wipe_rows([1], "erased")
        return await self._store.commit(unit)


async def test_what_is_erased_while_it_is_folded_stays_erased(store: UnitStore) -> None:
    clock = ManualClock()
    ledger = Ledger(store, clock, "a")
    row = await taken_in(ledger)
    async with committed(ledger) as unit:
        ledger.inbox.end(unit, [row], "done")
    clock.jump(timedelta(days=31))
    for seen, folded in ((cast("UnitStore", ErasedMeanwhile(store, clock)), 0), (store, 1)):
        assert (
            await LedgerFolder(seen, clock, 30, lambda: False, RightOfWay()).fold("inbox") == row.id
        )
        (left,) = await store.select("ledger.inbox_row", {"id": row.id})
        said = load(left["payload"])
        assert (said["sender"]["id"], said["why"], left["folded"]) == ("", "erased", folded)
