"""Schedules played: the real gateway, killed and started again between people who stay."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import apsw

from tests.chaos.gateway import Launch, Supervisor
from tests.chaos.model import RETRIES, Model
from tests.chaos.plan import MODEL, Plan, Question, Trouble
from tests.chaos.record import Record, read_ledger
from tests.chaos.stage import Stage
from tests.chaos.talk import read_faults
from tests.chaos.talk import talk as talked
from tests.chaos.tool import MARKS
from tests.chaos.traps import Traps
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import make_environ
from tests.kit.plugins import distribution

READY_SECONDS: Final = 300.0
"""Maximum seconds until the first gateway is ready, on a machine that is busy with much else."""

PATIENCE: Final = 90.0
"""Maximum seconds in which nothing changes while something is open and nothing goes wrong."""

TROUBLED: Final = 6.0
"""Seconds after the last question in which things still go wrong, unless all is answered before."""

_OPEN: Final = ("accepted", "waiting", "taken")


async def play(
    stage_type: type[Stage],
    plans: list[Plan],
    folder: Path,
    launch: Launch,
    good: Callable[[Record], bool],
    talk: int = 0,
) -> list[Record]:
    """Play schedules of one policy one after the other on a home, until one is not good.

    Each begins with so many messages of `talk` that ask nothing. After each the gateway is waited
    for until it is idle; in the end all are looked at again.
    """
    records = [Record(plan, folder / "home") for plan in plans]
    supervisor = Supervisor(launch, records[0])
    traps = Traps(supervisor)
    played: list[Record] = []
    async with stage_type(traps, folder / "home") as stage, FakeOpenAI() as model:
        says = model.default = Model(traps, stage.writes, stage.menu.long)
        environ = _environ(plans[0], folder, stage, model)
        running = asyncio.create_task(supervisor.run(environ))
        try:
            async with asyncio.timeout(READY_SECONDS):
                await stage.ready()
            for record in records:
                supervisor.record = record
                played.append(record)
                acting = _Acting(record, stage, says, supervisor, traps)
                await acting.all(talk)
                if not good(record):
                    break
            else:
                await _see_again(records, stage)
            await supervisor.end(running)
        finally:
            running.cancel()
            await asyncio.wait([running])
    return played


class _Acting:
    """Makes one plan happen."""

    def __init__(
        self, record: Record, stage: Stage, model: Model, supervisor: Supervisor, traps: Traps
    ) -> None:
        self._record = record
        self._stage = stage
        self._model = model
        self._supervisor = supervisor
        self._traps = traps

    async def all(self, talk: int) -> None:
        """Make everything happen at its moment, and wait until all is answered."""
        first = int(self._record.plan.questions[0].token[1:])
        self._record.talk = await self._stage.talk(talked(first, talk))
        begun = time.monotonic()
        async with asyncio.TaskGroup() as group:
            for each in self._record.plan.happens():
                await asyncio.sleep(max(0.0, begun + each.at - time.monotonic()))
                if isinstance(each, Question):
                    self._record.asked.append(each)
                    await self._stage.ask(each)
                else:
                    await self._happen(each, group)
            # What waits for a moment of its own gets time for it.
            await _idle(self._record, TROUBLED)
        self._stage.heal()
        self._traps.clear()
        self._model.troubles.clear()
        self._record.stuck = await _idle(self._record, PATIENCE, waits_on=True)
        await _see(self._record, self._stage)
        self._record.seconds = time.monotonic() - begun

    async def _happen(self, trouble: Trouble, group: asyncio.TaskGroup) -> None:
        name, menu = trouble.name, self._stage.menu
        if name in menu.points:
            self._traps.add(trouble)
        elif name in menu.troubles:
            await self._stage.trouble(trouble)
        elif name in MODEL:
            self._model.troubles += [name] * int(trouble.much)
        elif name == "pause":
            group.create_task(self._supervisor.pause(trouble.much))
        else:
            number = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "interrupt": signal.SIGINT}
            self._supervisor.signal(number[name])


def _environ(plan: Plan, folder: Path, stage: Stage, model: FakeOpenAI) -> dict[str, str]:
    more = {"DELIVERY__AMBIGUOUS": plan.policy, "AGENT__RETRIES": str(RETRIES), **stage.settings()}
    environ = make_environ(folder / "home", model, **more)
    environ["PYTHONPATH"] = str(distribution(folder / "plugins", "tests.chaos.tool:Acting"))
    environ[MARKS] = str(folder / "marks.txt")
    return environ


async def _idle(record: Record, seconds: float, *, waits_on: bool = False) -> str:
    """Wait until every question and every send is at its end; return why not, else nothing.

    If it `waits_on`, the seconds begin again whenever something has changed.
    """
    until = time.monotonic() + seconds
    why = "there is no database"
    while time.monotonic() < until:
        with suppress(apsw.Error):
            rows, still_open = read_ledger(record.home)
            left = record.tokens - rows.keys()
            left |= {token for token in rows if rows[token].status in _OPEN}
            if not left and not still_open:
                return ""
            before, why = why, f"open: questions {sorted(left)}, sends {still_open}"
            if waits_on and why != before:
                until = time.monotonic() + seconds
        await asyncio.sleep(0.1)
    return why


async def _see(record: Record, stage: Stage) -> None:
    """Keep the end state."""
    record.strange.clear()
    await stage.see(record)
    with suppress(apsw.Error):
        record.rows = read_ledger(record.home)[0]
        record.strange += read_faults(record.home, record.talk)
    marks = record.home.parent / "marks.txt"
    if marks.exists():
        done = marks.read_text().split()
        own = record.tokens
        record.acts.clear()
        record.acts.update(token for token in done if token in own)


async def _see_again(records: list[Record], stage: Stage) -> None:
    """Look at all schedules of a home after the last: a kill may bring back an old answer."""
    await _see(records[-1], stage)
    for record in records[:-1]:
        record.texts = records[-1].texts
