"""The loop of one turn: ask the model, run its tools, until it has answered.

Everything is on the tape as it happens: what was asked (the view can be built again from the
entries, the system prompt is recorded by its digest), each call, each result, and an event
`loop.step {step, status, elapsed_ms, ...}` a model call. The last step's event goes with the
turn's commit.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final, Protocol

from agent.errors import AgentError, ContextOverflow, StepLimit
from agent.events import AgentEvent
from agent.handoffs import HANDOFF_TOOL, Handoffs
from agent.model import (
    ChatModel,
    ModelReply,
    ModelRequest,
    ReasoningPiece,
    ResetPiece,
    TextPiece,
)
from agent.token_meter import Meter, estimate_request
from agent.tool_runner import ToolRunner, finish_open_calls
from agent.toolbox import Toolbox, to_wire
from agent.turn_log import TurnLog, WriteOnce
from tape.context import Message, merge_neighbours, pair_up
from tape.entry import NewEntry, dump, event, message, tool_call, tool_result
from tape.tokens import estimate
from tape.turn_events import LOOP_STEP, PROMPT_SYSTEM, TURN_RETAKE

OVERFLOW_NOTICED: Final = "context:overflow"
SMALLEST_RETAKE: Final = 1500
OVERFLOW_TOLD: Final = "auto_handoff/context_overflow"
LONGEST_REASON: Final = 500
"""So much of a provider's words goes into an anchor: the view shows them."""


class LoopHooks(Protocol):
    """What others may do around a model call and a tool call."""

    async def before_llm_call(self, request: ModelRequest) -> None:
        """See the request; an exception ends the turn."""
        ...

    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None:
        """See the reply."""
        ...

    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """See a call before it is made; an exception denies it."""
        ...

    async def after_tool_call(self, name: str, result: str) -> None:
        """See a call's result."""
        ...


@dataclass(slots=True)
class Task:
    """One turn as the loop needs it.

    view         builds the messages of the turn, without the system message, from its tape up to an
                 entry: what the model was shown can be built again later
    retake       takes the turn's messages again, after an anchor, as far as `budget` tokens hold
    before_step  called before each model call but the first: new messages may be taken there
    budget       how many tokens a prompt may have
    once         remembers over the turns which tapes have the system prompt
    meter        counts prompts, and learns over the turns how well
    handoffs     when to suggest an anchor, or set one
    """

    log: TurnLog
    toolbox: Toolbox
    runner: ToolRunner
    hooks: LoopHooks
    system: str
    view: Callable[[int], Awaitable[list[Message]]]
    retake: Callable[[int], Awaitable[None]]
    before_step: Callable[[], Awaitable[None]]
    budget: int
    steps: int
    strict_roles: bool = False
    once: WriteOnce = field(default_factory=WriteOnce)
    meter: Meter = field(default_factory=Meter)
    handoffs: Handoffs = field(default_factory=Handoffs)
    _noticed: bool = field(default=False, init=False)
    _told: bool = field(default=False, init=False)
    _spoke: bool = field(default=False, init=False)
    _system_entry: int = field(default=0, init=False)


@dataclass(slots=True)
class _Asked:
    """One model call: what it gave, since when it runs, and what its prompt was built from.

    upto          the newest entry of the tape then
    system_entry  the entry with the system prompt; 0 for none
    """

    step: int
    started: float
    request: ModelRequest
    upto: int
    system_entry: int
    model: str
    reply: ModelReply | None = None


async def run_turn(task: Task, model: ChatModel) -> AsyncGenerator[AgentEvent, None]:
    """Run a turn and give its events; raises AgentError."""
    await finish_open_calls(task.log, task.runner)
    await _record_system(task)
    await _remember_overflows(task)
    await task.meter.recall(model.name, task.log.tape)
    step = 0
    while step < task.steps:
        step += 1
        if step > 1:
            await task.before_step()
        last = step == task.steps
        started = time.monotonic()
        request, upto = await _request(task, model.name, offer=not last)
        asked = _Asked(step, started, request, upto, task._system_entry, model.name)
        await task.hooks.before_llm_call(asked.request)
        try:
            async with aclosing(_listen(task, model, asked)) as events:
                async for told in events:
                    yield told
            reply = await _hear_out(task, model, asked)
        except ContextOverflow as cause:
            if task._told:
                await _record_step(task, asked, "error", error=str(cause))
                raise
            await _hand_off_after(task, asked, cause)
            task._spoke = False
            yield AgentEvent("reset", {"why": "the context was too long"})
            step -= 1
            continue
        except BaseException as cause:
            status = "error" if isinstance(cause, Exception) else "cancelled"
            task.log.defer(_step(asked, status, error=f"{type(cause).__name__}: {cause}"))
            raise
        if reply.usage:
            yield AgentEvent("usage", reply.usage)
        if not reply.calls:
            task.log.defer(_step(asked, "ok"), *await task.handoffs.at_the_end(task.log))
            yield AgentEvent("final", {"text": reply.text})
            return
        if last:
            break
        async with aclosing(_make_calls(task, asked, reply)) as made:
            async for told in made:
                yield told
    await _record_step(task, asked, "step_limit")
    raise StepLimit(f"the model still called tools in step {task.steps}")


async def _request(task: Task, model: str, *, offer: bool) -> tuple[ModelRequest, int]:
    """Return what the model is asked, and the newest entry that it can have been built from."""
    messages, upto = await _messages(task)
    tokens = await task.meter.count(model, messages)
    if tokens > task.budget and not task._noticed:
        task._noticed = True
        await task.log.tape.handoff(OVERFLOW_NOTICED, {"reason": "length"}, **_meta(task.log))
        await task.retake(task.meter.as_estimate(model, task.budget))
        messages, upto = await _messages(task)
    elif offer and not (task._noticed or task._told) and await _suggest(task, tokens):
        messages, upto = await _messages(task)
    return ModelRequest(messages, task.toolbox.schemas() if offer else ()), upto


async def _suggest(task: Task, tokens: int) -> bool:
    """Suggest an anchor where one would be good; tells whether the view has a new hint."""
    why = task.handoffs.why(tokens, task.budget)
    hint = HANDOFF_TOOL in task.toolbox.offered()
    return why != "" and await task.handoffs.suggest(task.log, why, tokens, task.budget, hint=hint)


async def _messages(task: Task) -> tuple[list[Message], int]:
    upto = await task.log.tape.size()
    shown = await task.view(upto)
    return as_prompt(shown, task.system, strict_roles=task.strict_roles), upto


def as_prompt(shown: Sequence[Message], system: str, *, strict_roles: bool) -> list[Message]:
    """Return what a view shows as a provider takes it, behind the system prompt."""
    messages = to_wire(pair_up(shown))
    if strict_roles:
        messages = merge_neighbours(messages)
    return [{"role": "system", "content": system}, *messages] if system else messages


async def _listen(task: Task, model: ChatModel, asked: _Asked) -> AsyncGenerator[AgentEvent, None]:
    """Pass the pieces of one model call on as events."""
    spoke = False
    async with aclosing(model.stream(asked.request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextPiece):
                # What an earlier step said stands before it: the two are paragraphs, not one word.
                gap = "\n\n" if task._spoke and not spoke else ""
                spoke = True
                yield AgentEvent("text", {"delta": gap + piece.delta})
            elif isinstance(piece, ReasoningPiece):
                yield AgentEvent("reasoning", {"delta": piece.delta})
            elif isinstance(piece, ResetPiece):
                spoke = task._spoke = False
                yield AgentEvent("reset", {"why": piece.why})
            else:
                asked.reply = piece
    task._spoke = task._spoke or spoke


async def _hear_out(task: Task, model: ChatModel, asked: _Asked) -> ModelReply:
    """Return the whole reply, once the hooks have seen it."""
    if asked.reply is None:
        raise AgentError(f"the model {model.name} gave no reply")
    task.meter.learn(model.name, _facts(asked))
    await task.hooks.after_llm_call(asked.request, asked.reply)
    return asked.reply


async def _make_calls(
    task: Task, asked: _Asked, reply: ModelReply
) -> AsyncGenerator[AgentEvent, None]:
    calls = [task.runner.prepare(call) for call in reply.calls]
    entries: list[NewEntry] = []
    if reply.text.strip():
        entries.append(message("assistant", reply.text))
    entries.append(tool_call([call.as_openai() for call in calls]))
    await task.log.record(*entries)
    for call in calls:
        yield AgentEvent(
            "tool_call", {"id": call.id, "name": call.name, "arguments": call.arguments}
        )
    results = await task.runner.run_all(calls)
    await task.log.record(tool_result([result.text for result in results]), _step(asked, "tools"))
    for result in results:
        data = {"id": result.call_id, "name": result.name, "elapsed_ms": result.elapsed_ms}
        yield AgentEvent("tool_result", data)


async def _hand_off_after(task: Task, asked: _Asked, cause: ContextOverflow) -> None:
    """Begin again after an anchor, because the provider says that the prompt is too long.

    The budget of the second try is half of what was too long: how far over it was, nobody told.
    A prompt that was small to begin with is not halved to nothing.
    """
    task._told = True
    state = {"reason": "context_length_exceeded", "error": str(cause)[:LONGEST_REASON]}
    await task.log.tape.handoff(OVERFLOW_TOLD, state, **_meta(task.log))
    await _record_step(task, asked, "auto_handoff", error=str(cause))
    half = max(SMALLEST_RETAKE, estimate(asked.request.messages) // 2)
    await task.retake(min(task.meter.as_estimate(asked.model, task.budget), half))


async def _record_step(task: Task, asked: _Asked, status: str, **more: Any) -> None:
    await task.log.record(_step(asked, status, **more))


def _step(asked: _Asked, status: str, **more: Any) -> NewEntry:
    data: dict[str, Any] = {
        "step": asked.step,
        "status": status,
        "elapsed_ms": round((time.monotonic() - asked.started) * 1000),
        "upto": asked.upto,
        "messages": len(asked.request.messages),
        "prompt": digest(dump(list(asked.request.messages))),
        "tools": [tool["function"]["name"] for tool in asked.request.tools],
    }
    opening = asked.request.messages[0] if asked.request.messages else {}
    if opening.get("role") == "system":
        data["system"] = digest(str(opening["content"]))
        data["system_entry"] = asked.system_entry
    if asked.reply is not None:
        data |= _facts(asked)
        data["finish_reason"] = asked.reply.finish_reason
    return event(LOOP_STEP, {**data, **more})


def _facts(asked: _Asked) -> dict[str, Any]:
    """Return what a call tells of its cost: who answered, the usage, what we had estimated."""
    if asked.reply is None:
        return {}
    facts: dict[str, Any] = {"model": asked.reply.model, "usage": dict(asked.reply.usage)}
    if asked.reply.usage:
        estimated = estimate_request(asked.request.messages, asked.request.tools)
        if estimated is not None:
            facts["estimate"] = estimated
    return facts


async def _remember_overflows(task: Task) -> None:
    """A resumed turn has had its overflows: each is allowed once a turn, not once a process.

    One whose messages were not taken again before the crash does not count.
    """
    own = await task.log.tape.find(turn=task.log.turn)
    retaken = max((entry.id for entry in own if entry.name == TURN_RETAKE), default=0)
    had = {entry.name for entry in own if entry.id < retaken}
    task._noticed = OVERFLOW_NOTICED in had
    task._told = OVERFLOW_TOLD in had


async def _record_system(task: Task) -> None:
    """Put the system prompt on the tape once, and again only when it is another one."""
    if task.system:
        mark = digest(task.system)
        told = event(PROMPT_SYSTEM, {"sha256": mark, "text": task.system})
        key = f"prompt.system:{mark}"
        task._system_entry = await task.once.record(task.log.tape, told, key)


def digest(text: str) -> str:
    """Return the short mark by which the tape names a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _meta(log: TurnLog) -> dict[str, str]:
    return {
        name: value for name, value in (("lane", log.lane), ("turn", log.turn)) if value is not None
    }
