"""A PostgreSQL server whose clock a test moves, and processes that send for one bot."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import count
from random import Random
from typing import Any

import anyio
import psycopg
from anyio.abc import TaskGroup, TaskStatus
from psycopg.rows import dict_row

from channels.base import Channel
from channels.message import OutboundMessage, Receipt
from channels.pacing import Budget, Priority
from channels.testing import FakeHost
from channels.traits import Traits
from gateway.sharing.platforms.slices import SharedBudgets
from gateway.sharing.schema import sharing_schema
from tape.errors import StoreUnavailable
from tape.stores.postgres.binding import driver_sql
from tests.kit.clock import ManualClock, settle
from tests.postgres import fresh_database

NETWORK_SECONDS = 0.04
EPOCH = 1.9e9
CLOCK = """
CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
AS $$ SELECT to_timestamp(current_setting('test.now')::float8) $$
"""
SEARCHED = "-c search_path=public,pg_catalog"
"""The server looks for functions here first, so that its clock is the one above."""


@contextmanager
def budget_server() -> Iterator[psycopg.Connection[dict[str, Any]]]:
    """Yield a connection to a database that has the budgets' tables."""
    with (
        fresh_database() as url,
        psycopg.connect(url, autocommit=True, row_factory=dict_row, options=SEARCHED) as connection,
    ):
        connection.execute(CLOCK)
        folder = files("gateway.sharing") / "sql" / "postgres"
        for name in ("0002_budgets.sql", "0009_set_back.sql"):
            connection.execute((folder / name).read_text().encode())
        yield connection


@dataclass
class LateClock:
    """A process's clock: it began at another time, and every sleep ends a little late."""

    clock: ManualClock
    off: float = 0.0
    late: Callable[[], float] = lambda: 0.0

    now = property(lambda self: self.clock.now)

    def monotonic(self) -> float:
        return self.clock.monotonic() + self.off

    async def sleep(self, seconds: float) -> None:
        await self.clock.sleep(max(0.0, seconds) + self.late())


@dataclass
class Database:
    """The database as one process reaches it, a while later."""

    connection: psycopg.Connection[dict[str, Any]]
    clock: ManualClock
    way: Callable[[], float] = lambda: 0.0
    off: Callable[[], float] = lambda: 0.0
    is_away: bool = False
    asked: int = 0

    async def select(self, statement: str, values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        self.asked += 1
        await self.clock.sleep(self.way())
        if self.is_away:
            raise StoreUnavailable("the database is away: try again")
        now = str(EPOCH + self.clock.monotonic() + self.off())
        self.connection.execute("SELECT set_config('test.now', %s, false)", (now,))
        sql = driver_sql(sharing_schema().statements[statement])
        rows = self.connection.execute(sql.encode(), values).fetchall()
        await self.clock.sleep(self.way())
        return list(rows)


class Bot(Channel):
    """The bot's channel in one process: what it sends arrives a little later."""

    name = "bot"

    def __init__(self, limit: Budget, arrive: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self.traits = Traits(bot=limit)
        self._arrive = arrive

    async def run(self) -> None:
        await anyio.sleep_forever()

    async def stop(self) -> None:
        """Do nothing: it ends with its process."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        del message
        await self._arrive()
        return [Receipt("1")]


@dataclass
class Process:
    """A process that sends for the bot; it can be killed."""

    number: int
    database: Database
    clock: LateClock
    budgets: SharedBudgets
    channel: Bot
    group: TaskGroup

    def close(self, seconds: float) -> None:
        """Learn from the platform that it wants nothing from this bot for some seconds."""
        self.channel.pacing.bot.close(self.clock.monotonic() + seconds)

    def kill(self) -> None:
        self.group.cancel_scope.cancel()


@dataclass
class Processes:
    """Processes over one database, and the platform, which counts what arrives."""

    connection: psycopg.Connection[dict[str, Any]]
    group: TaskGroup
    bot: Budget
    random: Random = field(default_factory=lambda: Random(7))
    clock: ManualClock = field(default_factory=ManualClock)
    arrived: list[tuple[float, str]] = field(default_factory=list)
    all: list[Process] = field(default_factory=list)
    off: float = 0.0  # seconds by which the server's clock is wrong
    _chats: Iterator[int] = field(default_factory=count)

    async def start(self, *, way: float = 0.0, late: float = 0.0) -> Process:
        """Start a process whose database is a way off and whose loop wakes up late, at most."""
        clock = LateClock(self.clock, self.up_to(1000.0), lambda: self.up_to(late))
        database = Database(self.connection, self.clock, lambda: self.up_to(way), lambda: self.off)
        group = await self.group.start(_live)

        def spawn(name: str, work: Callable[[], Awaitable[None]]) -> None:
            group.start_soon(work, name=name)

        budgets = SharedBudgets(database, clock, spawn)
        name = f"{len(self.all)} {Priority.FINAL.name}"
        channel = Bot(self.bot, lambda: self._arrive(name))
        host = FakeHost(clock)
        host.gates = budgets
        await channel.attach(host)
        await settle()
        self.all.append(Process(len(self.all), database, clock, budgets, channel, group))
        return self.all[-1]

    def send(
        self, process: Process, priority: Priority = Priority.FINAL, *, record: float = 0.0
    ) -> None:
        """Have a process send something to a chat of its own, and record it first."""
        chat = f"chat {next(self._chats)}"
        process.group.start_soon(self._send, process, chat, priority, record)

    def load(self, process: Process, writers: int, *, record: float = 0.0) -> None:
        """Have a process send answers for as long as it lives, so many at a time."""

        async def write(chat: str) -> None:
            while True:
                await self._send(process, chat, Priority.FINAL, record)

        for _ in range(writers):
            process.group.start_soon(write, f"chat {next(self._chats)}")

    def up_to(self, most: float) -> float:
        return self.random.uniform(0, most) if most else 0.0

    def moments(self) -> list[float]:
        """Return when something arrived at the platform."""
        return [at for at, _ in self.arrived]

    async def _send(self, process: Process, chat: str, priority: Priority, record: float) -> None:
        channel = process.channel
        if priority is Priority.FINAL:
            answer = await channel.prepare(OutboundMessage("bot", chat, "hello"))
            await self.clock.sleep(self.up_to(record))
            await channel.transmit(answer)
        else:
            await channel.pacing.permit(chat, priority)
            await self._arrive(f"{process.number} {priority.name}")

    async def _arrive(self, name: str) -> None:
        await self.clock.sleep(self.up_to(NETWORK_SECONDS))
        self.arrived.append((self.clock.monotonic(), name))


async def _live(*, task_status: TaskStatus[TaskGroup]) -> None:
    async with anyio.create_task_group() as group:
        task_status.started(group)
        await anyio.sleep_forever()


def most_within(moments: list[float], seconds: float) -> int:
    """Return how many moments a window of so many seconds has at most."""
    moments = sorted(moments)
    first, most = 0, 0
    for last, moment in enumerate(moments):
        while moments[first] <= moment - seconds:
            first += 1
        most = max(most, last - first + 1)
    return most
