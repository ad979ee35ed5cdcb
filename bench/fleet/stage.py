"""A fleet that is measured: its processes between a Telegram, a model and a database of our own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psutil
import psycopg

from bench.crowd import Crowd
from bench.stage import LONGEST, USERNAME, Stage, answer
from tests.fakes.cutting_proxy import CuttingProxy
from tests.fakes.openai.script import Reply, Request
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.fleet.members import Member, Role
from tests.kit.gateways import OPEN, make_environ
from tests.postgres import Server

_TOKEN: Final = "123456:scale"


@dataclass(frozen=True, slots=True)
class FleetStage:
    """Processes that are ready, and what surrounds them; `proxies` are there if asked for."""

    server: Server
    url: str
    telegram: FakeTelegram
    model: FakeOpenAI
    members: list[Member]
    proxies: list[CuttingProxy]

    def crowd(self, private: int, groups: int) -> Crowd:
        """Return people in so many chats."""
        first = self.processes()[0]
        return Crowd(Stage(self.telegram, self.model, first, Path(), ""), private, groups)

    def processes(self) -> list[psutil.Process]:
        """Return the processes that run."""
        return [psutil.Process(one.pid) for one in self.members if one.pid is not None]

    def workers(self) -> list[psutil.Process]:
        """Return those that run turns."""
        own = [one for one in self.members if one.role != "ingress"]
        return [psutil.Process(one.pid) for one in own if one.pid is not None]

    def cpu(self) -> float:
        """Return the seconds of CPU that the processes have used."""
        return sum(_used(process) for process in self.processes())

    def trips(self) -> int:
        """Return how often a process has waited for the database."""
        return sum(proxy.trips for proxy in self.proxies)

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return what the database answers."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(sql.encode()).fetchall()

    def wal(self) -> int:
        """Return the place in the write-ahead log, in bytes."""
        return int(self.rows("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')")[0][0])


def _used(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def roles_of(workers: int, alone: Role = "all") -> tuple[Role, ...]:
    """Return the roles of a fleet; without workers it is one process, by default for everything."""
    return ("ingress", *["worker"] * workers) if workers else (alone,)  # type: ignore[arg-type]


@asynccontextmanager
async def staged_fleet(
    server: Server,
    workers: int,
    answers: Callable[[Request], Reply] = answer,
    *,
    url: str = "",
    proxied: bool = False,
    embedded: bool = False,
    alone: Role = "all",
    **settings: str,
) -> AsyncIterator[FleetStage]:
    """Run an ingress and so many workers on a new database, or on the one of a URL.

    Without `workers`, it is one process with the role `alone`, on SQLite if it is `embedded`.
    """
    url = url or await asyncio.to_thread(server.new_database)
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="tapeway-scale-")))
        enter = stack.enter_async_context
        telegram = await enter(FakeTelegram(token=_TOKEN, username=USERNAME))
        model = await enter(FakeOpenAI(default=answers))
        more = {
            **OPEN,
            "WEB__ENABLED": "false",
            "TELEGRAM__TOKEN": _TOKEN,
            "TELEGRAM__BASE_URL": telegram.base_url,
            "TELEGRAM__PER_SECOND": "0",
            "TURN__PARALLEL_TOTAL": "2000",
            **settings,
        }
        own = FleetStage(server, url, telegram, model, [], [])
        for number, role in enumerate(roles_of(workers, alone)):
            there = url
            if proxied:
                proxy = await enter(CuttingProxy(server.port))
                own.proxies.append(proxy)
                there = url.replace(f":{server.port}/", f":{proxy.port}/")
            home = folder / f"{role}{number}"
            database = {} if embedded else {"TAPE__URL": there}
            environ = make_environ(home / "home", model, **database, **more)
            own.members.append(Member(home.name, role, "", home, environ))
        await enter(_running(own))
        yield own


@asynccontextmanager
async def _running(own: FleetStage) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(member.run()) for member in own.members]
    try:
        await _ready(own)
        yield
        ended = zip(own.members, tasks, strict=True)
        await asyncio.gather(*(member.end(task) for member, task in ended))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def _ready(own: FleetStage) -> None:
    try:
        async with asyncio.timeout(LONGEST):
            while not all(member.serves for member in own.members):  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            await own.telegram.wait_for_calls("getUpdates", 1)
    except TimeoutError:
        said = "\n".join(member.log.read_text()[-2000:] for member in own.members)
        raise RuntimeError(f"the fleet did not get ready: {said}") from None
