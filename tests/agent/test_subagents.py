"""Subagents: a loop of their own, on a fork of the tape."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import anyio
import pytest

from agent.errors import ModelDown, ToolRefused
from agent.events import AgentEvent
from agent.loop import run_turn
from agent.subagents import END, MAX_SUBAGENTS, START, Subagents, close_left
from agent.testing import ScriptedModel, Step, asks, call, says
from agent.turn_log import TurnLog
from tape.entry import FORK_OPEN, Entry, event, message
from tape.fork import INFIX
from tape.handle import Tape
from tape.service import TapeService
from tests.agent.scripted import ECHO, LANE, TURN, stage_of


def service(tape: Tape) -> TapeService:
    return TapeService(tape.store, Path("workspace"))


class Helpers:
    """The subagents of a turn, answered by a script."""

    def __init__(self, tape: Tape, *answers: Step, most: int = 2, depth: int = 0) -> None:
        self.log = TurnLog(tape, TURN, LANE)
        self.model = ScriptedModel(*answers)
        self.depths: list[int] = []
        self.given = Subagents(service(tape), self.log, self.run, depth, most)

    async def run(self, log: TurnLog, asked: int, depth: int) -> AsyncGenerator[AgentEvent, None]:
        """Run the loop on the fork; see `RunsTask`."""
        self.depths.append(depth)
        assert (await log.tape.entries([asked]))[asked].payload["role"] == "user"
        task = stage_of(ECHO, tape=log.tape, turn=log.turn).task
        task.log.deferred = log.deferred
        async with aclosing(run_turn(task, self.model)) as events:
            async for happened in events:
                yield happened

    async def give(self, task: str = "Count the plums.") -> str:
        """Give a task."""
        return await self.given.give(task)


async def recorded(tape: Tape) -> list[tuple[str, str]]:
    """Return the events of subagents on a tape, and how they ended."""
    found = [entry for entry in await tape.read() if entry.name in (START, END)]
    return [(str(entry.name), entry.payload["data"].get("status", "")) for entry in found]


async def fork_of(tape: Tape) -> list[Entry]:
    """Return what the fork of the tape's only subagent holds, its opening and its end included."""
    (start,) = await tape.find(name=START)
    return await Tape(tape.store, start.payload["data"]["fork"]).read()


async def test_the_answer_of_a_subagent_is_what_giving_it_a_task_returns(tape: Tape) -> None:
    helpers = Helpers(tape, asks(call()), says("There are 12."))
    assert await helpers.give() == "There are 12."
    assert helpers.depths == [1]


async def test_it_is_shown_its_task_and_not_the_conversation(tape: Tape) -> None:
    await tape.append(message("assistant", "what was said before", lane=LANE))
    helpers = Helpers(tape, says("12"))
    await helpers.give()
    anchor, task = [str(shown["content"]) for shown in helpers.model.requests[0].messages]
    assert anchor.startswith("[Anchor created: task/start]")
    assert task == "Count the plums."


async def test_it_sees_the_same_tape_and_leaves_nothing_on_it_but_two_events(tape: Tape) -> None:
    before = await tape.read()
    await Helpers(tape, asks(call()), says("12")).give()
    seen = (await fork_of(tape))[0].payload["data"]
    assert (seen["parent"], seen["at"]) == (tape.name, len(before))
    after = (await tape.read())[len(before) :]
    assert [entry.name for entry in after] == [START, END]
    start, end = (entry.payload["data"] for entry in after)
    assert (start["task"], start["depth"]) == ("Count the plums.", 1)
    assert (end["fork"], end["status"]) == (start["fork"], "done")
    assert all(entry.meta == {"turn": TURN, "lane": LANE} for entry in after)


async def test_its_model_calls_stay_on_the_fork_as_evidence(tape: Tape) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 2}
    answers = asks(call()), says("12", usage=usage)
    await Helpers(tape, *answers).give()
    own = await fork_of(tape)
    assert own[-1].name == "fork.discarded"
    assert [e.payload["data"]["status"] for e in own if e.name == "loop.step"] == ["tools", "ok"]
    assert [e.text for e in own if e.meta.get("final")] == ["12"]
    (end,) = await tape.find(name=END)
    assert end.payload["data"]["usage"] == usage


async def test_an_error_in_it_is_a_sentence_to_the_model(tape: Tape) -> None:
    helpers = Helpers(tape, [ModelDown("out of order: key sk-1")])
    with pytest.raises(ToolRefused, match="the model service is having trouble") as caught:
        await helpers.give()
    assert "sk-1" not in str(caught.value)
    assert await recorded(tape) == [(START, ""), (END, "failed")]
    own = await fork_of(tape)
    assert own[-1].name == "fork.discarded"
    steps = [e for e in own if e.name == "loop.step"]
    assert [entry.payload["data"]["status"] for entry in steps] == ["error"]


async def test_a_turn_that_is_stopped_stops_its_subagents_and_closes_their_forks(
    tape: Tape,
) -> None:
    helpers = Helpers(tape)
    begun = anyio.Event()

    async def hang(log: TurnLog, asked: int, depth: int) -> AsyncGenerator[AgentEvent, None]:
        begun.set()
        await anyio.sleep_forever()
        yield AgentEvent("final")

    given = Subagents(service(tape), helpers.log, hang, 0, 2)
    async with anyio.create_task_group() as group:
        group.start_soon(given.give, "wait")
        await begun.wait()
        group.cancel_scope.cancel()
    assert await recorded(tape) == [(START, ""), (END, "cancelled")]
    assert (await fork_of(tape))[-1].name == "fork.discarded"


async def test_so_many_run_side_by_side_and_the_others_wait(tape: Tape) -> None:
    running, most = 0, 0

    async def run(log: TurnLog, asked: int, depth: int) -> AsyncGenerator[AgentEvent, None]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _step in range(5):
            await anyio.lowlevel.checkpoint()
        running -= 1
        yield AgentEvent("final", {"text": "ok"})

    given = Subagents(service(tape), TurnLog(tape, TURN, LANE), run, 0, 2)
    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(given.give, f"task {number}")
    assert most == 2
    assert len(await tape.find(name=END)) == 6


async def test_there_is_an_end_to_how_many_one_answer_may_have(tape: Tape) -> None:
    helpers = Helpers(tape, *[says("ok")] * MAX_SUBAGENTS)
    for _number in range(MAX_SUBAGENTS):
        await helpers.give()
    with pytest.raises(ToolRefused, match="do it yourself"):
        await helpers.give()


# After a crash


async def lost_inside(tape: Tape, turn: str) -> None:
    """Leave a fork, and a fork in it, as a process that was killed does."""
    outer = await left_open(tape, "outer")
    await left_open(outer, "inner")
    await TurnLog(tape, turn, LANE).record(event(START, {"fork": outer.name}))


async def left_open(parent: Tape, name: str) -> Tape:
    fork = Tape(parent.store, f"{parent.name}{INFIX}{name}")
    opening = {"parent": parent.name, "at": await parent.size(), "merge_back": False}
    await fork.append(event(FORK_OPEN, opening))
    return fork


async def test_forks_that_a_lost_process_left_open_are_closed_by_the_resumed_turn(
    tape: Tape,
) -> None:
    log = TurnLog(tape, TURN, LANE)
    await lost_inside(tape, TURN)
    assert len(await service(tape).open_forks()) == 2
    await close_left(service(tape), log)
    assert await service(tape).open_forks() == []
    assert (await fork_of(tape))[-1].name == "fork.discarded"
    assert await recorded(tape) == [(START, ""), (END, "lost")]
    await close_left(service(tape), log)
    assert await recorded(tape) == [(START, ""), (END, "lost")]


async def test_the_forks_of_other_turns_are_left_alone(tape: Tape) -> None:
    await lost_inside(tape, "t-2")
    await close_left(service(tape), TurnLog(tape, TURN, LANE))
    assert len(await service(tape).open_forks()) == 2
