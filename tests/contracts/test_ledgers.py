"""The ledger's conformance suite on every store that can hold one."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.clock import SystemClock
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.ledger.testing import LEDGER_CHECKS, LedgerCheck
from gateway.storage.ledger.usage import TOTAL, TurnUsage, UsageTable
from gateway.storage.split_store import SplitStore
from tape.store import UnitStore
from tape.stores.registry import TAPE_STORES, UNIT_STORES, open_store, open_tapes
from tape.stores.sqlite import SqliteStore, tape_schema
from tape.unit_of_work import Unit
from tests.postgres import application_database

pytestmark = pytest.mark.anyio


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
            url = stack.enter_context(application_database())
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
