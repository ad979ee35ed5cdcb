"""Tools that compute, in a worker process."""

from __future__ import annotations

import os
import time

import anyio

from agent.errors import ToolRefused
from agent.process_pool import in_a_process
from agent.testing import call
from agent.tool import Arguments, Tool
from tests.agent.scripted import stage_of


class Seconds(Arguments):
    seconds: float = 0.0


def burn(arguments: Seconds) -> dict[str, int]:
    until = time.monotonic() + arguments.seconds
    while time.monotonic() < until:
        sum(range(1000))
    return {"process": os.getpid()}


def refuse(_arguments: Seconds) -> object:
    raise ToolRefused("not today")


async def test_it_runs_in_another_process() -> None:
    tool = Tool("burn", "Burn.", Seconds, in_a_process(burn))
    (done,) = await stage_of(tool).runner.run_all([call("burn")])
    assert '"process":' in done.text
    assert str(os.getpid()) not in done.text


async def test_a_refusal_of_the_function_is_the_result() -> None:
    tool = Tool("refuse", "Refuse.", Seconds, in_a_process(refuse))
    (done,) = await stage_of(tool).runner.run_all([call("refuse")])
    assert done.text == "Error: not today"


async def test_the_loop_goes_on_while_it_burns_and_its_time_ends_it() -> None:
    tool = Tool("burn", "Burn.", Seconds, in_a_process(burn), timeout=0.5)
    runner = stage_of(tool).runner
    laps = 0
    async with anyio.create_task_group() as group:

        async def run() -> None:
            (done,) = await runner.run_all([call("burn", arguments='{"seconds": 600}')])
            assert "took too long" in done.text
            group.cancel_scope.cancel()

        group.start_soon(run)
        while True:
            await anyio.sleep(0.01)
            laps += 1
            if group.cancel_scope.cancel_called:
                break
    assert laps > 1
