"""A subagent is a second run of the agent's loop, for a sub-task, on a fork of the tape.

The fork is never merged but stays as evidence; the subagent's answer is the tool's result. The
parent tape gets the events `subagent.start {fork, task, depth}` and `subagent.end {fork, status,
steps, usage}`. A subagent is shown only its task, but can search the tape for more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import anyio

from agent.errors import AgentError, ToolRefused
from agent.events import AgentEvent
from agent.spent import SUBAGENT_END, Spent
from agent.turn_log import TurnLog
from tape.entry import EVENT, TOOL_CALL, event, handoff, message
from tape.fork import INFIX
from tape.handle import Tape
from tape.service import TapeService
from tape.turn_events import TurnStart

MAX_DEPTH: Final = 2  # maximum depth of subagents; a person is answered at depth 0
MAX_SUBAGENTS: Final = 8  # maximum number of subagents that one loop may start
START: Final = "subagent.start"
END: Final = SUBAGENT_END
MAX_TASK_CHARACTERS: Final = 500
INTERRUPTED: Final = "the turn was interrupted"


RunsTask = Callable[[TurnLog, int, int], AsyncGenerator[AgentEvent, None]]
"""Answers the message with an id, on a fork of the log, at a depth; yields the loop's events."""


@dataclass(slots=True)
class _Cost:
    """What a subagent has used: model calls and tokens."""

    steps: int = 0
    usage: Counter[str] = field(default_factory=Counter)
    spent: Spent = field(default_factory=Spent)  # the same by model, with its own subagents

    def add(self, happened: AgentEvent) -> None:
        if happened.kind == "usage":
            self.steps += 1
            self.usage.update({name: int(count) for name, count in happened.data.items()})


class Subagents:
    """Runs the subagents of one loop, at most `limit` at a time; the others wait."""

    def __init__(
        self, tapes: TapeService, log: TurnLog, run: RunsTask, depth: int, limit: int
    ) -> None:
        self._tapes = tapes
        self._log = log
        self._run = run
        self._depth = depth + 1
        self._limiter = anyio.CapacityLimiter(limit)
        self._count = 0

    async def give(self, task: str) -> str:
        """Run a subagent for a task and return its answer; raises ToolRefused if there is none."""
        self._count += 1
        if self._count > MAX_SUBAGENTS:
            raise ToolRefused(f"this answer has used its {MAX_SUBAGENTS} subagents: do it yourself")
        async with self._limiter:
            cost = _Cost()
            async with (
                self._tapes.fork_tape(self._log.tape, merge_back=False) as fork,
                self._recorded(fork.name, task, cost),
            ):
                return await self._answer(fork, task, cost)

    @asynccontextmanager
    async def _recorded(self, fork: str, task: str, cost: _Cost) -> AsyncIterator[None]:
        await self._log.record(
            event(START, {"fork": fork, "task": task[:MAX_TASK_CHARACTERS], "depth": self._depth})
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
                used = {"usage": dict(cost.usage), "models": cost.spent.to_json()}
                await self._log.record(event(END, {**end, **used}))

    async def _answer(self, fork: Tape, task: str, cost: _Cost) -> str:
        turn = f"{self._log.turn}/{fork.name.rpartition('.')[2]}"
        log = TurnLog(fork, turn, self._log.lane)
        cost.spent = log.spent
        log.sources.asker = self._log.sources.asker
        log.sources.inherit(self._log.sources)  # the task was written in the parent's view
        # The anchor comes before the turn: the view then starts here, not at the parent's anchor.
        lane = {"lane": log.lane} if log.lane else {}
        await fork.append(*handoff("task/start", {"by": self._log.turn}, **lane))
        start = TurnStart(turn).to_entry()
        _start, question = await log.record(start, message("user", task))
        final = ""
        try:
            async with aclosing(self._run(log, question.id, self._depth)) as events:
                async for happened in events:
                    cost.add(happened)
                    if happened.kind == "final":
                        final = str(happened.data.get("text", ""))
                        log.defer(message("assistant", final, final=True, **log.answer_meta))
        except AgentError as failed:
            raise ToolRefused(f"the subagent did not finish: {failed.sentence}") from failed
        finally:
            self._log.sources.inherit(log.sources)
            with anyio.CancelScope(shield=True):
                await fork.append(*log.deferred)
        return final


async def close_left(tapes: TapeService, log: TurnLog) -> None:
    """Close the forks that a turn left open because its process died; they stay as evidence."""
    left = await _left(log)
    if not left:
        return
    used: dict[str, Spent] = {name: Spent() for name in left}
    for fork in await tapes.open_forks(log.tape.name):
        for name in left:
            if fork.name == name or fork.name.startswith(f"{name}."):
                own = [log.turn, *fork.name.removeprefix(log.tape.name).split(INFIX)[1:]]
                for entry in await fork.find(turn="/".join(own), kinds=(EVENT, TOOL_CALL)):
                    used[name].take(entry)
                await fork.discard(INTERRUPTED)
    await log.record(
        *(
            event(END, {"fork": name, "status": "lost", "models": spent.to_json()})
            for name, spent in used.items()
        )
    )


async def _left(log: TurnLog) -> list[str]:
    own = await log.tape.find(turn=log.turn, kinds=(EVENT,))
    begun = [entry.payload["data"]["fork"] for entry in own if entry.name == START]
    ended = {entry.payload["data"]["fork"] for entry in own if entry.name == END}
    return [name for name in begun if name not in ended]
