"""What one process knows of an account on a platform, the others can read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from channels.errors import ChannelDown
from channels.facts import Facts
from gateway.settings.intervals import INTERVALS
from gateway.sharing.platforms.accounts import SharedAccounts
from tape.store import UnitStore
from tests.gateway.sharing.polling import bus_of, change, until
from tests.kit.clock import ManualClock

pytestmark = pytest.mark.postgresql


@asynccontextmanager
async def process(store: UnitStore, url: str, clock: ManualClock) -> AsyncIterator[SharedAccounts]:
    """Run a process's accounts; its clock stands still, so that only the bus wakes it."""
    bus = bus_of(store)
    accounts = SharedAccounts(store, bus, clock, INTERVALS)
    async with anyio.create_task_group() as group:
        group.start_soon(bus.run)
        group.start_soon(accounts.run)
        yield accounts
        group.cancel_scope.cancel()


@pytest.fixture
async def both(store: UnitStore, url: str) -> AsyncIterator[tuple[Facts, Facts]]:
    clock = ManualClock()
    async with process(store, url, clock) as one, process(store, url, clock) as other:
        yield one.of("discord"), other.of("discord")


async def test_a_change_reaches_the_other_process_without_any_waiting(
    both: tuple[Facts, Facts],
) -> None:
    one, other = both
    one.put({"channel/1": [0, "general"], "channel/2": [0, "random"], "guild/1": "Guild"})
    await until(lambda: other.names("channel/") == ["channel/1", "channel/2"])
    assert other.get("channel/2") == [0, "random"]
    one.put({"channel/2": None})
    await until(lambda: other.names("channel/") == ["channel/1"])
    assert one.get("channel/2") is None


async def test_what_is_stored_can_be_fetched_at_once(both: tuple[Facts, Facts]) -> None:
    one, other = both
    await one.store({"press/1": {"token": "t"}}, 900)
    assert await other.fetch("press/1") == {"token": "t"}
    assert await other.fetch("press/2") is None


async def test_a_process_waits_for_what_another_one_is_about_to_know(
    both: tuple[Facts, Facts],
) -> None:
    one, other = both
    await one.store({"press/1": False}, 900)
    found: list[object] = []

    async def wait() -> None:
        found.append(await other.wait("press/1", lambda value: value is not False, 15))

    async with anyio.create_task_group() as group:
        group.start_soon(wait)
        one.put({"press/1": True}, 900)
    assert found == [True]


async def test_a_fact_ends_by_the_database_s_clock(
    both: tuple[Facts, Facts], url: str, store: UnitStore
) -> None:
    one, other = both
    await one.store({"press/1": 1}, 900)
    change(url, "UPDATE fact SET ends_at = utc_after(-1)")
    assert await other.fetch("press/1") is None


async def test_a_process_that_starts_later_reads_what_is_known(store: UnitStore, url: str) -> None:
    async with process(store, url, ManualClock()) as first:
        await first.of("slack").store({"workspace/T1": {"token": "x"}})
        later = SharedAccounts(store, bus_of(store), ManualClock(), INTERVALS)
        await later.load()
        assert later.of("slack").get("workspace/T1") == {"token": "x"}
        assert later.of("discord").names("") == []


async def test_without_the_database_nothing_is_said_to_be_stored(
    store: UnitStore, url: str
) -> None:
    accounts = SharedAccounts(store, bus_of(store), ManualClock(), INTERVALS)
    await store.close()
    with pytest.raises(ChannelDown):
        await accounts.of("discord").store({"press/1": 1})
    with pytest.raises(ChannelDown):
        await accounts.of("discord").fetch("press/1")
