"""Run a step's tool calls concurrently, with checks and timeouts, and record results at once."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import anyio
from pydantic import BaseModel

from agent.errors import ToolRefused, describe
from agent.events import AgentEvent
from agent.hooks import NoHooks, ToolHooks
from agent.model import ToolCall
from agent.tool import Tool, ToolContext
from agent.toolbox import Toolbox
from agent.turn_log import TurnLog
from tape.entry import TOOL_CALL, TOOL_RESULT, Entry, dump, event, tool_call, tool_result
from tape.turn_events import TOOL_DONE

MAX_RESULT_CHARACTERS: Final = 20_000
"""Maximum characters of a result for the model and the tape; a note says how much was cut."""

_CALLS_AND_RESULTS: Final = (TOOL_CALL, TOOL_RESULT)
UNKNOWN_OUTCOME: Final = (
    "The outcome of this call is unknown: the program was interrupted while it ran. It was not run"
    " again. Find out what it did before you call it once more."
)


WAITS: Final = (
    "This call has not been run: it waits until a person allows it. The person was asked; say"
    " nothing about it."
)
WAITS_ALREADY: Final = (
    "{name} was not run: another call of this step waits for a person. Call it again afterwards."
)
NEEDS_A_PERSON: Final = (
    "{name} was not run: a person must allow it, since text of others is in view. A subagent can't"
    " ask for that: leave it to whoever gave you the task."
)


def is_failure(cause: BaseException | None) -> bool:
    """Return whether a run ended in an error that is the tool's own."""
    return cause is not None and not isinstance(cause, (ToolRefused, TimeoutError))


def _log_failure(name: str, cause: BaseException | None) -> None:
    if is_failure(cause):
        logging.getLogger("agent").error("the tool %s failed", name, exc_info=cause)


@dataclass(frozen=True, slots=True)
class ToolDone:
    """A finished call; `text` is the result for the model."""

    call_id: str
    name: str
    text: str
    elapsed_ms: int


class ToolRunner:
    """Runs the tool calls of one turn.

    timeout  seconds, for a tool without its own timeout
    report   is called after each run, with the tool's name and its exception, if any; the default
             logs failures
    """

    def __init__(
        self,
        log: TurnLog,
        toolbox: Toolbox,
        context: ToolContext,
        hooks: ToolHooks | None = None,
        timeout: float = 60,
        report: Callable[[str, BaseException | None], None] = _log_failure,
    ) -> None:
        self._log = log
        log.role = context.role
        self._toolbox = toolbox
        self._context = replace(
            context, offer=toolbox.offer, known=toolbox.known, record=log.record
        )
        self._hooks = hooks or NoHooks()
        self._timeout = timeout
        self._report = report

    def prepare(self, call: ToolCall) -> ToolCall:
        """Return a call with the tool's dotted name, if the tool exists."""
        try:
            return replace(call, name=self._toolbox.find(call.name).name)
        except ToolRefused:
            return call

    async def run_all(self, calls: Sequence[ToolCall]) -> list[ToolDone]:
        """Run calls concurrently; if a call fails, the reason becomes its result.

        An error from the tape or a hook stops all calls and is raised unchanged.
        """
        results: dict[int, ToolDone] = {}
        failed: list[Exception] = []

        async def run(position: int, call: ToolCall) -> None:
            try:
                results[position] = await self.run(call)
            except Exception as cause:
                failed.append(cause)
                group.cancel_scope.cancel()

        async with anyio.create_task_group() as group:
            for position, call in enumerate(calls):
                group.start_soon(run, position, call)
        if failed:
            raise failed[0]
        for call in calls:  # not earlier: the model wrote these calls without any of their results
            self.taint(call.name)
        return [results[position] for position in range(len(calls))]

    async def run(self, call: ToolCall) -> ToolDone:
        """Run one call and record the result on the tape."""
        started = time.monotonic()
        text = await self._outcome(call)
        done = ToolDone(call.id, call.name, text, round((time.monotonic() - started) * 1000))
        data = {"call_id": done.call_id, "result": text, "elapsed_ms": done.elapsed_ms}
        await self._log.record(event(TOOL_DONE, data))
        await self._hooks.after_tool_call(call.name, text)
        return done

    def repeatable(self, name: str) -> bool:
        """Return whether a resumed turn may run the tool again."""
        try:
            return self._toolbox.find(name).repeatable
        except ToolRefused:
            return False

    def taint(self, name: str) -> None:
        """Take account of what a tool's result is to the view."""
        with suppress(ToolRefused):
            self._log.sources.add(self._toolbox.find(name).taints)

    async def _outcome(self, call: ToolCall) -> str:
        try:
            tool = self._toolbox.find(call.name)
            arguments = tool.check(call.arguments)
            sources = self._log.sources
            taint = tuple(sorted(sources.taint))
            context = replace(self._context, asker=sources.asker, taint=taint, said=sources.said)
            if call != self._log.allowed and tool.must_wait(arguments, context):
                return self._wait(call)
            await self._allow(tool, arguments)
            with anyio.fail_after(tool.timeout or self._timeout):
                text = text_of(await tool.run(arguments, context))
        except Exception as cause:
            self._report(call.name, cause)
            return text_of_failure(call.name, cause)
        self._report(call.name, None)
        return text

    def _wait(self, call: ToolCall) -> str:
        if not self._context.asks:
            raise ToolRefused(NEEDS_A_PERSON.format(name=call.name))
        if self._log.waiting is not None:
            raise ToolRefused(WAITS_ALREADY.format(name=call.name))
        self._log.waiting = call
        return WAITS

    async def _allow(self, tool: Tool, arguments: BaseModel) -> None:
        try:
            await self._hooks.before_tool_call(tool.name, arguments.model_dump())
        except Exception as cause:
            raise ToolRefused(f"{tool.name} was denied: {cause}") from cause


async def run_allowed(
    log: TurnLog, runner: ToolRunner, look: Callable[[], Awaitable[object]]
) -> AsyncGenerator[AgentEvent, None]:
    """Run the call that a person has allowed, unless the turn has begun to run it before."""
    if log.allowed is None:
        return
    if await log.tape.find(turn=log.turn, kinds=(TOOL_CALL,), limit=1):
        log.allowed = None  # the permission is used up
        return
    await look()  # the result is as tainted as the view
    call = log.allowed = runner.prepare(log.allowed)
    await log.record(tool_call([call.as_openai()]))
    yield AgentEvent("tool_call", {"id": call.id, "name": call.name, "arguments": call.arguments})
    result = await runner.run(call)
    runner.taint(call.name)
    log.allowed = None
    await log.record(tool_result([result.text]))
    done = {"id": call.id, "name": call.name, "elapsed_ms": result.elapsed_ms}
    yield AgentEvent("tool_result", done)


async def finish_open_calls(
    log: TurnLog, runner: ToolRunner, look: Callable[[], Awaitable[object]] | None = None
) -> None:
    """Record results for the unfinished calls of an interrupted step.

    Recorded results are used, repeatable tools run again, other outcomes are recorded as unknown.
    `look` looks at the view before that, since it may be tainted.
    """
    entries = await log.tape.find(turn=log.turn)
    steps = [entry for entry in entries if entry.kind in _CALLS_AND_RESULTS]
    step = next((entry for entry in reversed(steps) if entry.kind == TOOL_CALL), None)
    if step is None:
        return
    calls = [
        ToolCall(raw["id"], raw["function"]["name"], raw["function"]["arguments"])
        for raw in step.payload["calls"]
    ]
    if steps[-1].kind == TOOL_RESULT:
        results = list(steps[-1].payload["results"])
    else:
        if look is not None:
            await look()
        results = await _results(calls, [e for e in entries if e.id > step.id], runner)
        await log.record(tool_result(results))
    # The turn ended with a question to a person, which its lost commit would have asked.
    log.waiting = next(
        (call for call, text in zip(calls, results, strict=False) if text == WAITS), None
    )


async def _results(
    calls: Sequence[ToolCall], since: Sequence[Entry], runner: ToolRunner
) -> list[str]:
    finished = _finished(since)
    results: list[str] = []
    for call in calls:
        runner.taint(call.name)
        if call.id in finished:
            results.append(finished[call.id])
        elif runner.repeatable(call.name):
            results.append((await runner.run(call)).text)
        else:
            results.append(UNKNOWN_OUTCOME)
    return results


def _finished(entries: Sequence[Entry]) -> dict[str, str]:
    return {
        entry.payload["data"]["call_id"]: entry.payload["data"]["result"]
        for entry in entries
        if entry.name == TOOL_DONE
    }


def text_of(result: object) -> str:
    """Return a tool's result as the model gets it: as text that is not too long."""
    return _cut(result if isinstance(result, str) else dump(result))


def text_of_failure(name: str, cause: Exception) -> str:
    """Return why a tool gave no result, as the model gets it."""
    if isinstance(cause, ToolRefused):
        return _cut(f"Error: {cause}")
    if isinstance(cause, TimeoutError):
        return f"Error: {name} took too long and was stopped. Ask for less, or do without."
    return _cut(f"Error: {name} failed: {describe(cause)}")


def _cut(text: str) -> str:
    clean = text.encode("utf-8", "replace").decode()
    if len(clean) <= MAX_RESULT_CHARACTERS:
        return clean
    more = len(clean) - MAX_RESULT_CHARACTERS
    return f"{clean[:MAX_RESULT_CHARACTERS]}\n[cut: {more} more characters]"
