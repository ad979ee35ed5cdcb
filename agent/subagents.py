"""Subagents: a second loop of the agent for a task of its own, on a fork of the tape.

The fork reads as the tape and is never merged: it stays as evidence, and the answer is the tool's
result. The parent has the events `subagent.start {fork, task, depth}` and `subagent.end {fork,
status, steps, usage}`. A subagent begins with its task alone: what else it needs, it looks up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from agent.errors import AgentError, ToolRefused
from agent.events import AgentEvent
from agent.turn_log import TurnLog
from tape.entry import EVENT, event, handoff, message
from tape.handle import Tape
from tape.service import TapeService
from tape.turn_events import TurnStart

DEEPEST: Final = 2
"""The answer to a person is at depth 0; what stands at this depth has no subagents."""

MOST_IN_ALL: Final = 8
"""So many subagents one loop may have, one after the other."""

START: Final = "subagent.start"
END: Final = "subagent.end"
EXCERPT: Final = 500
LOST: Final = "the turn was interrupted"


class RunsTask(Protocol):
    """Who runs the loop of a subagent, with the role and limits of the turn it belongs to."""

    def __call__(self, log: TurnLog, asked: int, depth: int, /) -> AsyncGenerator[AgentEvent, None]:
        """Answer the message `asked` of the log's fork; gives the events of the loop."""
        ...


@dataclass(slots=True)
class _Cost:
    """What a subagent has used."""

    steps: int = 0
    usage: Counter[str] = field(default_factory=Counter)

    def take(self, told: AgentEvent) -> None:
        if told.kind == "usage":
            self.steps += 1
            self.usage.update({name: int(count) for name, count in told.data.items()})


class Subagents:
    """The subagents of one loop: so many run side by side, the others wait for them."""

    def __init__(
        self, tapes: TapeService, log: TurnLog, run: RunsTask, depth: int, most: int
    ) -> None:
        self._tapes = tapes
        self._log = log
        self._run = run
        self._depth = depth + 1
        self._places = anyio.CapacityLimiter(most)
        self._given = 0

    async def give(self, task: str) -> str:
        """Let a subagent do a task; returns its answer, raises ToolRefused where there is none."""
        self._given += 1
        if self._given > MOST_IN_ALL:
            raise ToolRefused(f"there were {MOST_IN_ALL} subagents for this answer: do it yourself")
        async with self._places:
            cost = _Cost()
            async with (
                self._tapes.fork_tape(self._log.tape, merge_back=False) as fork,
                self._named(fork.name, task, cost),
            ):
                return await self._answer(fork, task, cost)

    @asynccontextmanager
    async def _named(self, fork: str, task: str, cost: _Cost) -> AsyncIterator[None]:
        """Name a fork on the parent, and tell there how it ended, whatever happens."""
        await self._log.record(
            event(START, {"fork": fork, "task": task[:EXCERPT], "depth": self._depth})
        )
        status = "done"
        try:
            yield
        except BaseException as cause:
            status = "failed" if isinstance(cause, Exception) else "cancelled"
            raise
        finally:
            with anyio.CancelScope(shield=True):
                end = {"fork": fork, "status": status, "steps": cost.steps}
                await self._log.record(event(END, {**end, "usage": dict(cost.usage)}))

    async def _answer(self, fork: Tape, task: str, cost: _Cost) -> str:
        turn = f"{self._log.turn}/{fork.name.rpartition('.')[2]}"
        log = TurnLog(fork, turn, self._log.lane)
        # The anchor comes before the turn: the view begins with it, not with the parent's.
        lane = {"lane": log.lane} if log.lane else {}
        await fork.append(*handoff("task/start", {"by": self._log.turn}, **lane))
        start = TurnStart(turn).to_entry()
        _start, asked = await log.record(start, message("user", task))
        final = ""
        try:
            async with aclosing(self._run(log, asked.id, self._depth)) as events:
                async for told in events:
                    cost.take(told)
                    if told.kind == "final":
                        final = str(told.data.get("text", ""))
                        log.defer(message("assistant", final, final=True))
        except AgentError as failed:
            raise ToolRefused(f"the subagent did not finish: {failed.sentence}") from failed
        finally:
            with anyio.CancelScope(shield=True):
                await log.record(*log.deferred)
        return final


async def close_left(tapes: TapeService, log: TurnLog) -> None:
    """Close the forks that a turn had open when its process was lost; they stay as evidence."""
    left = await _left(log)
    if not left:
        return
    for fork in await tapes.open_forks(log.tape.name):
        if any(fork.name == name or fork.name.startswith(f"{name}.") for name in left):
            await fork.discard(LOST)
    await log.record(*(event(END, {"fork": name, "status": "lost"}) for name in left))


async def _left(log: TurnLog) -> list[str]:
    """Return the forks that a turn has begun and not ended."""
    own = await log.tape.find(turn=log.turn, kinds=(EVENT,))
    begun = [entry.payload["data"]["fork"] for entry in own if entry.name == START]
    ended = {entry.payload["data"]["fork"] for entry in own if entry.name == END}
    return [name for name in begun if name not in ended]
