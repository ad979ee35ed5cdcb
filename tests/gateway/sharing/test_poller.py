"""Several processes over one database: one of them listens to a platform, the others send."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import psycopg
import pytest

from channels.base import Channel
from channels.host import FullHost
from channels.message import OutboundMessage, Receipt
from channels.testing import FakeHost
from gateway.clock import SystemClock
from gateway.sharing.platforms.poller import PollerLeases
from gateway.sharing.sessions import SessionTable
from gateway.sharing.workers import WorkerTable
from gateway.storage.ledger.ledger import Ledger
from gateway.supervision.manager import ChannelManager
from gateway.supervision.status import StatusBoard
from tape.store import UnitStore
from tests.gateway.sharing.polling import bus_of, change, until
from tests.kit.clock import ManualClock
from tests.kit.waiting import Patience

pytestmark = pytest.mark.postgresql

LEASE = 30.0


@dataclass
class Process:
    """A process that wants to listen to the channel `room`, and what happened in it."""

    leases: PollerLeases
    clock: ManualClock
    waits: list[str] = field(default_factory=list)
    runs: int = 0
    ended: list[bool] = field(default_factory=list)
    listening: bool = False

    async def listen(self) -> None:
        self.ended.append(await self.leases.while_held("room", self._work, self.waits.append))

    async def _work(self) -> None:
        self.runs, self.listening = self.runs + 1, True
        try:
            await anyio.sleep_forever()
        finally:
            self.listening = False


class Processes:
    def __init__(self, store: UnitStore, url: str) -> None:
        self._store = store
        self._url = url

    @asynccontextmanager
    async def process(self, owner: str, *, listens: bool = True) -> AsyncIterator[Process]:
        bus, clock = bus_of(self._store), ManualClock()
        leases = PollerLeases(self._store, bus, clock, owner, LEASE, listens=listens)
        process = Process(leases, clock)
        async with anyio.create_task_group() as group:
            group.start_soon(bus.run)
            group.start_soon(process.listen)
            yield process
            group.cancel_scope.cancel()


@pytest.fixture
def processes(store: UnitStore, url: str) -> Processes:
    return Processes(store, url)


async def passing(clock: ManualClock, wanted: Any) -> None:
    """Advance the clock second by second until something is true."""
    patience = Patience("what the test asks for is so")
    while not wanted():
        await clock.advance(1)
        await patience.pause()


async def test_one_process_listens_and_the_other_knows_which(processes: Processes) -> None:
    async with processes.process("aa") as first:
        await until(lambda: first.listening)
        async with processes.process("bb") as second:
            await until(lambda: second.waits)
            assert (second.waits, second.runs) == (["aa"], 0)


async def test_a_goodbye_wakes_the_next_without_any_waiting(processes: Processes) -> None:
    async with processes.process("bb") as second:
        async with processes.process("aa") as first:
            await until(lambda: first.listening or second.listening)
            one, other = (first, second) if first.listening else (second, first)
            await until(lambda: other.waits)
            if one is second:
                return
        await until(lambda: second.listening)  # its clock has not moved


async def test_the_lease_of_a_killed_process_is_taken_over_when_it_ends(
    processes: Processes, url: str
) -> None:
    change(url, "INSERT INTO poller VALUES ('room', 'dead', 7, utc_after(30))")
    async with processes.process("bb") as second:
        await until(lambda: second.waits)
        await second.clock.advance(9)
        assert (second.waits, second.runs) == (["dead"], 0)
        change(url, "UPDATE poller SET lease_until = utc_after(-1)")
        await passing(second.clock, lambda: second.listening)


async def test_who_restarts_after_a_kill_listens_at_once(
    processes: Processes, store: UnitStore, url: str
) -> None:
    change(url, "INSERT INTO poller VALUES ('room', 'dead', 7, utc_after(30))")
    for owner in ("dead", "bb"):
        workers = WorkerTable(store, owner, "home", "all", "1")
        await workers.begin()
    ledger = Ledger(store, SystemClock(), owner="bb")
    await SessionTable(store, ledger.inbox, "bb", LEASE).end_home("home")
    async with processes.process("bb") as again:
        await until(lambda: again.listening)  # its clock has not moved


async def test_a_renewed_lease_is_kept(processes: Processes, url: str) -> None:
    async with processes.process("aa") as first:
        await until(lambda: first.listening)
        for _ in range(3):
            change(url, "UPDATE poller SET lease_until = utc_after(1)")
            await passing(first.clock, lambda: _seconds_left(url) > LEASE / 2)
        assert first.listening
        assert first.runs == 1


async def test_whoever_lost_the_lease_stops_at_the_next_renewal(
    processes: Processes, url: str
) -> None:
    async with processes.process("aa") as first:
        await until(lambda: first.listening)
        change(url, "UPDATE poller SET owner = 'bb', lease_until = utc_after(30)")
        await passing(first.clock, lambda: first.ended)
        assert first.ended == [False]
        assert not first.listening


async def test_the_lease_is_read_when_the_platform_says_that_another_one_listens(
    processes: Processes, url: str
) -> None:
    async with processes.process("aa") as first:
        await until(lambda: first.listening)
        await first.leases.confirm("room")
        change(url, "UPDATE poller SET owner = 'bb', lease_until = utc_after(30)")
        with anyio.move_on_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(first.leases.confirm, "room")
                await until(lambda: first.ended)
                group.cancel_scope.cancel()
        assert first.ended == [False]


async def test_without_the_database_it_stops_before_its_lease_ends(
    processes: Processes, store: UnitStore
) -> None:
    async with processes.process("aa") as first:
        await until(lambda: first.listening)
        await store.close()
        await first.clock.advance(LEASE - 6)
        assert first.listening
        await first.clock.advance(2)
        await until(lambda: first.ended)
        assert first.ended == [False]


async def test_a_worker_never_listens_even_if_nobody_does(processes: Processes, url: str) -> None:
    async with processes.process("aa", listens=False) as worker:
        await until(lambda: worker.waits)
        await worker.clock.advance(100)
        assert worker.waits == [""]
        assert worker.runs == 0


class Line(Channel):
    """A channel with one line: who listens is connected."""

    name = "room"

    def __init__(self) -> None:
        super().__init__()
        self.connected = 0
        self.hosts: list[FullHost] = []
        self.sent: list[str] = []

    async def introduce(self) -> None:
        self.hosts.append(self.host)

    async def run(self) -> None:
        self.connected += 1
        self.host.ready()
        try:
            await anyio.sleep_forever()
        finally:
            self.connected -= 1

    async def stop(self) -> None:
        return

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        self.sent.append(message.text)
        return [Receipt("1")]


async def test_a_channel_whose_lease_another_has_can_send_and_counts_as_ready(
    store: UnitStore, url: str
) -> None:
    change(url, "INSERT INTO poller VALUES ('room', 'other', 7, utc_after(30))")
    bus, clock, line = bus_of(store), ManualClock(), Line()
    leases = PollerLeases(store, bus, clock, "aa", LEASE)
    status = StatusBoard(clock, [line])
    manager = ChannelManager(clock, [line], status, lambda _one: FakeHost(clock), leases)
    async with anyio.create_task_group() as group:
        group.start_soon(manager.run)
        await until(lambda: status.states["room"].state == "ready")
        assert status.states["room"].why == "another process listens (other)"
        await line.send(OutboundMessage("room", "1", "hello"))
        assert (line.sent, line.connected) == (["hello"], 0)
        change(url, "UPDATE poller SET lease_until = utc_after(-1)")
        await passing(clock, lambda: line.connected)
        change(url, "UPDATE poller SET owner = 'other', lease_until = utc_after(30)")
        await passing(
            clock, lambda: len(line.hosts) == 2
        )  # attached again, to wait for its next turn
        assert line.connected == 0
        group.cancel_scope.cancel()


def _seconds_left(url: str) -> float:
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT extract(epoch FROM lease_until::timestamp - utc_after(0)::timestamp)"
            " FROM poller"
        ).fetchone()
    assert found is not None
    return float(found[0])
