"""Run this version beside its predecessor on one database: `make rolling PREDECESSOR=folder`.

The predecessor is a checkout with an environment of its own (`make venv` there). Both take up
turns of the other after `kill -9`, and each is the ingress once; every question is answered once.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import psycopg

from gateway.sharing.workers import home_id
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User
from tests.kit.gateways import OPEN, ROOT, clean_environ, make_environ
from tests.postgres import Server, server

GROUPS: Final = 24
LONGEST: Final = 120.0
"""Seconds after which whatever is waited for has failed."""

LEASE: Final = "5"
BOTH: Final = ("old", "new")
READY: Final = b'"event":"gateway.ready"'
_HELD: Final = """
SELECT worker.home, count(*) FROM session JOIN worker ON worker.owner = session.owner
WHERE EXISTS (SELECT FROM inbox
              WHERE inbox.session_id = session.session_id AND inbox.status = 'taken')
GROUP BY worker.home
"""
_KEPT: Final = "SELECT FROM session WHERE owner <> ''"


class Rolled(Exception):
    """What did not hold."""


@dataclass(eq=False)
class Version:
    """One process of a version, whose checkout is in a folder."""

    name: str
    checkout: Path
    role: str
    home: Path
    environ: dict[str, str]
    process: asyncio.subprocess.Process | None = None
    said: int = 0

    @property
    def log(self) -> Path:
        return self.home.parent / f"{self.home.name}.log"

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        program = self.checkout / ".venv" / "bin" / "tapeway"
        self.log.touch()
        self.said = self.log.stat().st_size
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *(str(program), "gateway", "--role", self.role),
                env=clean_environ(self.environ),
                cwd=self.home.parent,
                stdout=log,
                stderr=log,
            )
        async with asyncio.timeout(LONGEST):
            while READY not in self.log.read_bytes()[self.said :]:
                if self.process.returncode is not None:
                    raise Rolled(f"{self.name} ended: {self.log.read_text()[-2000:]}")
                await asyncio.sleep(0.1)

    async def end(self, number: signal.Signals) -> None:
        """End it with a signal, if it runs."""
        if self.process is not None and self.process.returncode is None:
            self.process.send_signal(number)
            await self.process.wait()


@dataclass(eq=False)
class Rolling:
    """The stage: a Telegram, a model whose answers can be held back, and a database."""

    telegram: FakeTelegram
    groups: list[Chat]
    person: User
    url: str
    folder: Path
    model: FakeOpenAI
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[tuple[int, int]] = field(default_factory=list)
    versions: list[Version] = field(default_factory=list)

    def version(self, name: str, checkout: Path, role: str) -> Version:
        """Return a process that does not run yet."""
        home = self.folder / f"{name}-{role}"
        more = {
            **OPEN,
            "WEB__ENABLED": "false",
            "TELEGRAM__TOKEN": self.telegram.token,
            "TELEGRAM__BASE_URL": self.telegram.base_url,
            "SHARING__LEASE": LEASE,
            "SHARING__POLLER_LEASE": LEASE,
            "SHARING__KEEP": "0.5",
            "TAPE__URL": self.url,
        }
        environ = make_environ(home, self.model, **more)
        self.versions.append(Version(name, checkout, role, home, environ))
        return self.versions[-1]

    def ask(self) -> None:
        """Ask one question in each group."""
        for group in self.groups:
            said = self.telegram.say(group, self.person, "@tapeway_bot how is it going?")
            self.asked.append((group.id, int(said["message_id"])))

    async def answered(self, what: str) -> None:
        """Have the model answer, and wait until all is answered; raises Rolled."""
        self.gate.set()
        try:
            await _until(lambda: all(self._answers()[one] for one in self.asked))
        except TimeoutError:
            missing = [one for one in self.asked if not self._answers()[one]]
            raise Rolled(f"{what}: {len(missing)} of {len(self.asked)} not answered") from None
        twice = [one for one in self.asked if self._answers()[one] > 1]
        if twice:
            raise Rolled(f"{what}: {len(twice)} answered more than once")
        print(f"{what}: {len(self.asked)} asked so far, each answered once", flush=True)

    async def under_way(self) -> dict[str, int]:
        """Ask while the model holds its answers back; return how many turns each version has."""
        await _until(lambda: not self._rows(_KEPT))
        self.gate.clear()
        before = len(self.model.requests)
        self.ask()
        await _until(lambda: len(self.model.requests) >= before + len(self.groups))
        counts = dict(self._rows(_HELD))
        workers = [one for one in self.versions if one.role == "worker"]
        found = {one.name: counts.get(home_id(one.home), 0) for one in workers}
        held = {name: count for name, count in found.items() if count}
        if len(held) < len(BOTH):
            raise Rolled(f"only {held} had turns")
        return held

    def reply(self, _request: Request) -> Reply:
        """Answer once the gate is open."""
        return Text(("All ", "is well."), gate=self.gate)

    def _rows(self, sql: str) -> list[Any]:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(sql.encode()).fetchall()

    def _answers(self) -> Counter[tuple[int, int]]:
        return Counter(
            (group.id, message.reply_to)
            for group in self.groups
            for message in self.telegram.messages(group.id)
            if message.reply_to and re.search("well", message.text)
        )


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(LONGEST):
        while not is_so():  # noqa: ASYNC110
            await asyncio.sleep(0.1)


@asynccontextmanager
async def staged(database: Server, folder: Path) -> AsyncIterator[Rolling]:
    """Have a stage, and no process of either version at its end."""
    async with AsyncExitStack() as stack:
        telegram = await stack.enter_async_context(FakeTelegram())
        model = await stack.enter_async_context(FakeOpenAI())
        bob = telegram.user(8, "Bob", "bob")
        groups = [telegram.group(-1001000000001 - n, f"Group {n}") for n in range(GROUPS)]
        own = Rolling(telegram, groups, bob, database.new_database(), folder, model)
        model.default = own.reply
        try:
            yield own
        finally:
            own.gate.set()
            for version in own.versions:
                await version.end(signal.SIGKILL)


async def roll(own: Rolling, predecessor: Path) -> None:
    """Roll from the predecessor to this version, with `kill -9` on both sides in between."""
    old_ingress = own.version("old", predecessor, "ingress")
    old, new = own.version("old", predecessor, "worker"), own.version("new", ROOT, "worker")
    await old_ingress.start()
    await old.start()
    own.ask()
    await own.answered("the predecessor alone")
    await new.start()
    own.ask()
    await own.answered("a worker of this version beside it")
    for gone, other in ((old, new), (new, old)):
        print(f"  turns under way: {await own.under_way()}", flush=True)
        await gone.end(signal.SIGKILL)
        await own.answered(f"kill -9 of the {gone.name} worker, taken up by the {other.name} one")
        await gone.start()
    new_ingress = own.version("new", ROOT, "ingress")
    print(f"  turns under way: {await own.under_way()}", flush=True)
    await old_ingress.end(signal.SIGINT)
    await new_ingress.start()
    await own.answered("the ingress replaced while turns run")
    await old.end(signal.SIGINT)
    own.ask()
    await own.answered("this version alone")


async def rolled(predecessor: Path) -> None:
    """Run it on a server and in a folder of its own."""
    with server() as database, TemporaryDirectory(prefix="tapeway-rolling-") as folder:
        async with staged(database, Path(folder)) as own:
            await roll(own, predecessor)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("predecessor", type=Path, help="a checkout with its own .venv")
    wanted = parser.parse_args()
    if not (wanted.predecessor / ".venv" / "bin" / "tapeway").exists():
        raise SystemExit(f"{wanted.predecessor} has no .venv: run `make venv` there first.")
    try:
        asyncio.run(rolled(wanted.predecessor.resolve()))
    except Rolled as failed:
        raise SystemExit(str(failed)) from None


if __name__ == "__main__":
    main()
