"""A scheduler of lanes whose turns run until a test lets them go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import partial

import anyio

from agent.turn_log import TurnLog
from channels.message import InboundMessage
from gateway.background import Work
from gateway.pipeline.turn import Question, Turn
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.settings.sections import TurnSettings
from tape.handle import Tape
from tape.stores.memory import MemoryStore
from tests.gateway.scheduling.bursts import asked


@dataclass
class Bench:
    """Turns that run until they are let go; those of `lost` questions have to begin again."""

    sessions: LaneScheduler
    running: list[int] = field(default_factory=list)
    ended: list[tuple[int, str]] = field(default_factory=list)
    gates: dict[int, anyio.Event] = field(default_factory=dict)
    begin: anyio.Event = field(default_factory=anyio.Event)
    lost: dict[int, anyio.Event] = field(default_factory=dict)

    async def let_go(self, number: int) -> None:
        self.gates[number].set()
        await anyio.wait_all_tasks_blocked()


def in_lane(number: int, lane: str | None, author: str = "a", session: str = "s") -> Question:
    """Return a question with a number in a lane."""
    return replace(asked(number, author, session), lane=lane)


def _is_in(thread: str, message: InboundMessage) -> bool:
    return message.thread_id == thread


@asynccontextmanager
async def open_bench() -> AsyncIterator[Bench]:
    """Open a scheduler of two lanes for each chat, and five in all."""
    made: list[Bench] = []
    store = MemoryStore()

    async def run(one: Question, started: Callable[[Turn | None], None]) -> None:
        own = made[0]
        number = one.rows[0].id
        await own.begin.wait()
        tape = Tape(store, one.tape)
        turn = Turn(f"t{number}", one, tape, TurnLog(tape, f"t{number}", one.lane))
        own.running.append(number)
        own.gates[number] = anyio.Event()
        started(turn)
        try:
            if number in own.lost:
                started(None)
                await own.lost[number].wait()
                started(turn)
            await own.gates[number].wait()
            own.ended.append((number, "done"))
        except anyio.get_cancelled_exc_class():
            own.ended.append((number, str(turn.stopped_by.get("why"))))
            raise

    async with anyio.create_task_group() as group:

        def spawn(_name: str, work: Work) -> None:
            async def do() -> None:
                await work()

            group.start_soon(do)

        settings = TurnSettings(parallel_per_chat=2, parallel_total=5)
        adds = partial(_is_in, "adds")
        made.append(Bench(LaneScheduler(run, spawn, settings, 0, adds)))
        made[0].begin.set()
        yield made[0]
        group.cancel_scope.cancel()
    await store.close()
