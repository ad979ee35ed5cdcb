"""One run: a fleet over a database, people who ask, and what goes wrong meanwhile."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from tests.chaos.model import RETRIES, Model
from tests.chaos.tool import MARKS
from tests.fakes.cutting_proxy import CuttingProxy
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fleet import ledger
from tests.fleet.members import Kind, Member, Role
from tests.fleet.pace import Pace
from tests.fleet.stalls import STALLS, Stall, watch
from tests.fleet.town import Town
from tests.fleet.troubles import Counts, Troublemaker
from tests.fleet.verdicts import Judged, judged
from tests.kit.gateways import make_environ
from tests.kit.plugins import distribution
from tests.postgres import Server

ANSWER_SECONDS: Final = 0.5
ANSWERED_SECONDS: Final = 4.0
"""Seconds after which a process gives up a connection on which the database says nothing."""

LONG: Final = 120
READY_SECONDS: Final = 300.0
SAID_SECONDS: Final = 10.0
TALK_SECONDS: Final = 8.0
SIDES: Final = ("ingress", "worker")
MAX_OPEN: Final = 40
"""With so many questions and sends unfinished, a fleet does not keep up."""

KINDS: Final = ("kill", "stop", "restart", "freeze", "cut", "swallow", "stall")


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a run is.

    roles     the processes
    seconds   so long people ask and things go wrong, while the fleet keeps up
    rate      so many questions a second
    talk      so many messages that ask nothing are said at once, every `TALK_SECONDS`
    lease     seconds of the leases of sessions and pollers
    patience  so long nothing may change while something is open in the end
    waits     so long the run may wait for a slow machine before it is cut short
    """

    roles: tuple[Role, ...] = ("ingress", "ingress", "worker", "worker", "worker", "worker")
    seconds: float = 24.0
    rate: float = 4.0
    talk: int = 0
    lease: float = 3.0
    keep: float = 1.0
    patience: float = 120.0
    waits: float = 120.0
    counts: Counts = field(default_factory=Counts)
    seed: str = "1"

    @property
    def sharing(self) -> Mapping[str, str]:
        """The settings of the leases."""
        return {
            "SHARING__LEASE": f"{self.lease:g}",
            "SHARING__POLLER_LEASE": f"{self.lease:g}",
            "SHARING__KEEP": f"{self.keep:g}",
        }


@dataclass(slots=True)
class Outcome:
    """What came of a run."""

    judged: list[Judged]
    troubles: Mapping[str, int]
    notes: list[str]
    pace: Pace
    slowest: float  # seconds after which the database answered
    seconds: float
    logs: list[Path]

    @property
    def failed(self) -> bool:
        """Whether any promise was broken."""
        return bool(self.notes) or any(one.failed for one in self.judged)


class Run:
    """Plays one shape in a folder."""

    def __init__(self, shape: Shape, server: Server, folder: Path) -> None:
        self._shape = shape
        self._server = server
        self._folder = folder
        self._begun = time.monotonic()
        self._town = Town(folder, shape.seed)
        self._members: list[tuple[Member, CuttingProxy]] = []
        self._troubles = Troublemaker(
            server,
            self._members,
            random.Random(f"{shape.seed}:troubles"),
            shape.lease * 1.6,
            ANSWERED_SECONDS,
        )
        self._notes: list[str] = []
        self._model = Model(self._town.traps, ANSWER_SECONDS, LONG)
        self._pace = Pace(self._keeps_up, shape.waits)
        self._open = (0, 0, 0)
        self._answers: list[Stall] = []  # when the database was asked, and answered

    async def play(self) -> Outcome:
        """Play it, and judge what can be seen in the end."""
        async with self._town, FakeOpenAI() as model:
            model.default = self._answer
            async with self._fleet(model):
                await self._ready()
                end = watch(self._troubles.own_stalls.append)
                async with asyncio.TaskGroup() as group:
                    watching = [group.create_task(one) for one in (self._look(), self._show(model))]
                    await self._disturb()
                    stuck = await self._idle()
                    if stuck:
                        self._notes.append(f"never idle: {stuck}")
                    for task in watching:
                        task.cancel()
                end()
            return await self._judge()

    def _answer(self, request: Request) -> Reply:
        """Answer as the model of every chaos run, or note that nothing was asked."""
        try:
            return self._model(request)
        except LookupError:
            self._notes.append(f"a model was asked nothing at {time.monotonic():.3f}")
            return Text(("Nothing was asked.",))

    async def _disturb(self) -> None:
        shape = self._shape
        chance = random.Random(f"{shape.seed}:moments")
        moments = shape.counts.moments(chance, shape.seconds)
        passing = asyncio.create_task(self._pace.run())
        async with asyncio.TaskGroup() as group:
            group.create_task(self._troubles.play(moments, self._pace))
            group.create_task(self._ask(chance))
        passing.cancel()
        self._notes += left_out(shape.counts, self._troubles.done, self._pace)

    def _keeps_up(self) -> bool:
        """Return whether little is open, and both sides of the fleet have a process."""
        serving = [member.role for member, _proxy in self._members if member.serves]
        receives, works = (any(role in (side, "all") for role in serving) for side in SIDES)
        return receives and works and sum(self._open[1:]) <= MAX_OPEN

    async def _ask(self, chance: random.Random) -> None:
        moment = talked = 0.0
        while (moment := moment + chance.expovariate(self._shape.rate)) < self._shape.seconds:
            if not await self._pace.until(moment):
                return
            if self._shape.talk and moment >= talked:
                talked = moment + TALK_SECONDS
                await self._town.talk(self._shape.talk)
            await self._town.ask()
            if chance.random() < 0.5:
                await self._town.deliver_again()

    # -- the processes

    @asynccontextmanager
    async def _fleet(self, model: FakeOpenAI) -> AsyncIterator[None]:
        """Keep the processes running; what they do not end by themselves is killed."""
        async with AsyncExitStack() as stack:
            for number, role in enumerate(self._shape.roles):
                proxy = await stack.enter_async_context(CuttingProxy(self._server.port))
                self._members.append((self._member(number, role, proxy, model), proxy))
            running = [asyncio.create_task(member.run()) for member, _proxy in self._members]
            try:
                yield
                ends = zip(self._members, running, strict=True)
                ended = await asyncio.gather(*(one[0].end(task) for one, task in ends))
                self._notes += filter(None, ended)
            finally:
                for task in running:
                    task.cancel()
                await asyncio.wait(running)

    def _member(self, number: int, role: Role, proxy: CuttingProxy, model: FakeOpenAI) -> Member:
        name, host = f"{role}{number}", f"127.0.1.{number + 1}"
        folder = self._folder / name
        settings = {
            **self._town.settings(host),
            **self._shape.sharing,
            "TAPE__URL": self._server.url.replace(f":{self._server.port}/", f":{proxy.port}/"),
            "TAPE__ANSWER_SECONDS": f"{ANSWERED_SECONDS:g}",
            "DELIVERY__AMBIGUOUS": "resend",
            "AGENT__RETRIES": str(RETRIES),
        }
        environ = make_environ(folder / "home", model, **settings)
        environ["PYTHONPATH"] = str(distribution(folder / "plugins", "tests.fleet.stalls:Watched"))
        environ[MARKS] = str(self._marks)
        member = Member(name, role, host, folder, environ)
        environ[STALLS] = str(member.stalls)
        return member

    @property
    def _marks(self) -> Path:
        return self._folder / "marks.txt"

    async def _ready(self) -> None:
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self._town.ready()
        except TimeoutError:
            said = [member.log.read_text()[-1500:] for member, _proxy in self._members]
            raise RuntimeError("the fleet did not get ready:\n" + "\n".join(said)) from None
        print(f"ready after {time.monotonic() - self._begun:.1f} s", flush=True)

    # -- what is seen

    async def _look(self) -> None:
        """Count what is open, as often as the pace needs it."""
        while True:
            with suppress(psycopg.Error, OSError, TimeoutError):
                begun = time.monotonic()
                self._open = await ledger.open_counts(self._server.url)
                self._answers.append((begun, time.monotonic()))
            await asyncio.sleep(0.3)

    async def _show(self, model: FakeOpenAI) -> None:
        """Say now and then how far the run is."""
        while True:
            self._town.keep()
            del model.requests[:]
            accepted, questions, sends = self._open
            up = sum(member.serves for member, _proxy in self._members)
            print(
                f"{self._pace.passed:5.0f} s and {self._pace.held_back:.0f} s held back:"
                f" {len(self._town.asked)} asked, {accepted} accepted, {questions} open,"
                f" {sends} unsent; {_listed(self._troubles.done)};"
                f" {up} of {len(self._members)} serve",
                flush=True,
            )
            await asyncio.sleep(SAID_SECONDS)

    async def _idle(self) -> str:
        """Wait until every question and every send is at its end; return why not."""
        for quarter in self._town.quarters:
            quarter.platform.heal()
        changed, known, why = time.monotonic(), self._open, ""
        while time.monotonic() - changed < self._shape.patience:
            if self._open != known:
                changed, known = time.monotonic(), self._open
            _accepted, questions, sends = known
            why = f"{questions} questions and {sends} sends are open"
            if not questions and not sends:
                with suppress(psycopg.Error, OSError, TimeoutError):
                    found = await ledger.read(self._server.url)
                    left = self._town.asked.keys() - found.rows.keys()
                    if not left and not found.open_questions and not found.open_sends:
                        return ""
                    why = f"not accepted: {sorted(left)}"
            await asyncio.sleep(0.3)
        return f"for {self._shape.patience:.0f} s nothing changed: {why}"

    async def _judge(self) -> Outcome:
        self._town.keep()
        found = await ledger.read(self._server.url)
        marks = self._marks.read_text().split() if self._marks.exists() else []
        for quarter in self._town.quarters:
            await quarter.platform.see(quarter.record)
            quarter.record.acts.update(mark for mark in marks if mark in quarter.record.tokens)
        for member, _proxy in self._members:
            self._notes += [
                f"{member.name} ended by itself at {at:.3f}: {code}"
                for at, code in member.strange_ends
            ]
        self._notes += await ledger.talk_faults(self._server.url, self._town.said)
        await ledger.copy(self._server.url, self._folder)
        disruptions = self._troubles.disruptions
        names = {member.host: member.name for member, _proxy in self._members}
        return Outcome(
            judged(self._town, found.rows, names, disruptions, self._answers),
            {kind: sum(one.kind == kind for one in disruptions) for kind in KINDS},
            self._notes,
            self._pace,
            max((ended - begun for begun, ended in self._answers), default=0.0),
            time.monotonic() - self._begun,
            [member.log for member, _proxy in self._members],
        )


def left_out(counts: Counts, done: Mapping[Kind, int], pace: Pace) -> list[str]:
    """Return what a run lacks of what it should have: who passes with less has shown less."""
    short = {kind: n - done.get(kind, 0) for kind, n in counts.planned.items()}
    lacks = [f"{n} of {counts.planned[kind]} x {kind} left out" for kind, n in short.items() if n]
    slow = f"cut short after {pace.passed:.0f} s, since the machine is too slow: try again"
    return [*lacks, *([slow] if pace.given_up else [])]


def _listed(done: Mapping[Kind, int]) -> str:
    return ", ".join(f"{count} x {kind}" for kind, count in done.items())
