"""The loop of one turn asks the model, runs its tools, and repeats until the model answers.

The tape gets everything as it happens: calls, results, and for every model call an event
`loop.step {step, status, elapsed_ms, ...}`. The last step's event is written by the transaction
that ends the turn. Prompts are not recorded: each can be built again from the entries up to `upto`,
and from the system prompt, which is recorded once under its digest.
"""

from __future__ import annotations

import sys
import time
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import Any, Final, Self

import anyio

from agent.anchors import rests_on, shown_since, state_of
from agent.calls import Calls
from agent.ends import ending
from agent.errors import (
    AgentError,
    AnswerEmpty,
    ContextOverflow,
    ReasoningOnly,
    StepLimit,
    describe,
)
from agent.events import AgentEvent
from agent.handoffs import HANDOFF_TOOL, Handoffs
from agent.hooks import LoopHooks, NoHooks
from agent.model import ChatModel, ModelReply, ModelRequest, ReasoningPiece, ResetPiece, TextPiece
from agent.plain_view import plain_retake, plain_view
from agent.spent import USED
from agent.token_meter import Meter, facts_of
from agent.tool import Role, Tool, ToolContext
from agent.tool_runner import ToolRunner, finish_open_calls, run_allowed
from agent.toolbox import Toolbox, to_wire
from agent.turn_log import TurnLog, WriteOnce
from agent.wire import wire_of
from tape.context import Message, pair_up
from tape.entry import NewEntry, dump, event, handoff, message, tool_call, tool_result
from tape.tokens import estimate
from tape.turn_events import LOOP_STEP, PROMPT_SYSTEM, TURN_RETAKE

OVERFLOW_NOTICED: Final = "context:overflow"
OVERFLOW_REPORTED: Final = "auto_handoff/context_overflow"
MIN_RETAKE_TOKENS: Final = 1500
MAX_REASON_CHARACTERS: Final = 500
"""Maximum characters of a provider's error in an anchor, since every later view shows them."""


async def _nothing() -> None:
    return


async def _all(text: str) -> str:
    return text


@dataclass(slots=True)
class Task:
    """What the loop needs to run one turn.

    view         builds the turn's messages (without the system message) from the tape up to a
                 given entry; later, the same entry gives the same messages
    retake       selects the turn's messages again, after an anchor, within a token budget
    before_step  is called before each model call except the first; may add messages to the turn
    budget       maximum tokens of a prompt
    steps        maximum model calls
    calls        the model calls that are left, which subagents share
    kept         how many of those are left to others
    once         remembers, across turns, which tapes have the system prompt
    meter        counts the tokens of prompts, and corrects its estimates across turns
    handoffs     decides when to suggest an anchor, or set one
    options      more fields of each request (see `ModelRequest`)
    may_say      returns what of a step's text the tape gets, beside the step's calls
    """

    log: TurnLog
    toolbox: Toolbox
    runner: ToolRunner
    hooks: LoopHooks = field(default_factory=NoHooks)
    system: str = ""
    view: Callable[[TurnLog, int], Awaitable[list[Message]]] = plain_view
    retake: Callable[[TurnLog, int], Awaitable[None]] = plain_retake
    before_step: Callable[[], Awaitable[None]] = _nothing
    budget: int = 32_000
    steps: int = 20
    calls: Calls = field(default_factory=lambda: Calls(sys.maxsize))
    kept: int = 0
    once: WriteOnce = field(default_factory=WriteOnce)
    meter: Meter = field(default_factory=Meter)
    handoffs: Handoffs = field(default_factory=Handoffs)
    options: Mapping[str, Any] = field(default_factory=dict)
    may_say: Callable[[str], Awaitable[str]] = _all
    _noticed: bool = field(default=False, init=False)
    _reported: bool = field(default=False, init=False)
    _shown: str = field(default="", init=False)  # the text of the steps so far
    _system_entry: int = field(default=0, init=False)

    @classmethod
    def of(
        cls, log: TurnLog, tools: Iterable[Tool] = (), role: Role = Role.OWNER, *, system: str = ""
    ) -> Self:
        """Return a task with the given tools, and defaults for everything else."""
        toolbox = Toolbox(tools, role)
        context = ToolContext(log.tape, role, log.lane, log.turn)
        return cls(log, toolbox, ToolRunner(log, toolbox, context), system=system)


@dataclass(slots=True)
class _ModelCall:
    """One model call.

    upto          the newest entry of the tape when the request was built
    system_entry  the id of the entry with the system prompt, or 0
    """

    step: int
    started: float
    request: ModelRequest
    upto: int
    system_entry: int
    model: str
    reply: ModelReply | None = None


async def run_turn(task: Task, model: ChatModel) -> AsyncGenerator[AgentEvent, None]:
    """Run a turn and yield its events; raises AgentError.

    A turn with a call that waits for a person ends there, without asking the model for more.
    """
    look = partial(_messages, task)
    await finish_open_calls(task.log, task.runner, look)
    await _record_system(task)
    await _recall_overflows(task)
    await task.meter.recall(model.name, task.log.tape)
    for events in (run_allowed(task.log, task.runner, look), _steps(task, model)):
        async with aclosing(events):
            async for happened in events:
                yield happened
    if task.log.waiting is not None:
        yield AgentEvent("final", {"text": ""})


async def _steps(task: Task, model: ChatModel) -> AsyncGenerator[AgentEvent, None]:
    step = 0
    while task.log.waiting is None and step < task.steps and task.calls.take(task.kept):
        step += 1
        last = step == task.steps or task.calls.left <= task.kept
        if step > 1:
            await task.before_step()
        started = time.monotonic()
        request, upto = await _request(task, model.name, last=last)
        call = _ModelCall(step, started, request, upto, task._system_entry, model.name)
        await task.hooks.before_llm_call(call.request)
        try:
            async with aclosing(_listen(task, model, call)) as events:
                async for happened in events:
                    yield happened
            reply = await _finish(task, model, call)
        except (AnswerEmpty, ReasoningOnly) as cause:
            if not task._shown:
                task.log.defer(_step(call, "error", error=describe(cause)))
                raise
            # What was said before the tools ran is the answer.
            task.log.defer(_step(call, "empty"))
            yield AgentEvent("final", {"text": ""})
            return
        except ContextOverflow as cause:
            if task._reported:
                await task.log.record(_step(call, "error", error=str(cause)))
                raise
            await _hand_off_after(task, call, cause)
            task._shown = ""
            yield AgentEvent("reset", {"why": "the context was too long"})
            step -= 1
            task.calls.left += 1
            continue
        except BaseException as cause:
            status = "error" if isinstance(cause, Exception) else "cancelled"
            task.log.defer(_step(call, status, error=describe(cause)))
            raise
        if reply.usage:
            yield AgentEvent("usage", reply.usage)
        if not reply.calls or (last and reply.text.strip()):
            reply = replace(reply, calls=())  # some servers ignore that no call is allowed
            task.log.defer(_step(call, "ok"), *await task.handoffs.at_the_end(task.log))
            for happened in _end(task, reply):
                yield happened
            return
        if last:
            await task.log.record(_step(call, "step_limit"))
            break
        async with aclosing(_make_calls(task, call, reply)) as made:
            async for happened in made:
                yield happened
    if task.log.waiting is None:
        raise StepLimit(f"the model still called tools in step {step}")


def _end(task: Task, reply: ModelReply) -> Iterator[AgentEvent]:
    """Yield the last events of a turn; an answer that the provider cut off gets a mark."""
    task.log.answer_meta = wire_of(reply)
    mark = ending(reply.text, reply.finish_reason)
    data = {"text": reply.text + mark}
    if mark:
        yield AgentEvent("text", {"delta": mark})
        data["ended"] = str(reply.finish_reason)
    yield AgentEvent("final", data)


async def _request(task: Task, model: str, *, last: bool) -> tuple[ModelRequest, int]:
    """Build the next request, and return it with the id of the newest entry that it may use."""
    messages, upto = await _messages(task)
    tokens = await task.meter.count(model, messages)
    if tokens > task.budget and not task._noticed:
        task._noticed = True
        await _hand_off(task, OVERFLOW_NOTICED, {"reason": "length"})
        await task.retake(task.log, task.meter.as_estimate(model, task.budget))
        messages, upto = await _messages(task)
    elif not (last or task._noticed or task._reported) and await _suggest(task, tokens):
        messages, upto = await _messages(task)
    tools = task.toolbox.schemas()
    # Without the tools, a server could not read the calls of earlier steps.
    choice = "none" if last and tools else None
    return ModelRequest(messages, tools, choice, task._reported, task.options), upto


async def _suggest(task: Task, tokens: int) -> bool:
    why = task.handoffs.why(tokens, task.budget)
    hint = HANDOFF_TOOL in task.toolbox.offered()
    return why != "" and await task.handoffs.suggest(task.log, why, tokens, task.budget, hint=hint)


async def _messages(task: Task) -> tuple[list[Message], int]:
    upto = await task.log.tape.size()
    shown = await task.view(task.log, upto)
    return as_prompt(shown, task.system), upto


def as_prompt(shown: Sequence[Message], system: str) -> list[Message]:
    """Return a view's messages as providers accept them, after the system prompt."""
    messages = to_wire(pair_up(shown))
    return [{"role": "system", "content": system}, *messages] if system else messages


async def _listen(
    task: Task, model: ChatModel, call: _ModelCall
) -> AsyncGenerator[AgentEvent, None]:
    said: list[str] = []
    async with aclosing(model.stream(call.request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, TextPiece):
                # The text of earlier steps is already shown: start a new paragraph after it.
                said.append("\n\n" + piece.delta if task._shown and not said else piece.delta)
                yield AgentEvent("text", {"delta": said[-1]})
            elif isinstance(piece, ReasoningPiece):
                yield AgentEvent("reasoning", {"delta": piece.delta})
            elif isinstance(piece, ResetPiece):
                said.clear()
                for happened in _again(task, piece.why):
                    yield happened
            else:
                call.reply = piece
    task._shown += "".join(said)


def _again(task: Task, why: str) -> Iterator[AgentEvent]:
    """Yield the events that take back a step's text, but not the text of the steps before it."""
    yield AgentEvent("reset", {"why": why})
    if task._shown:
        yield AgentEvent("text", {"delta": task._shown, "again": True})


async def _finish(task: Task, model: ChatModel, call: _ModelCall) -> ModelReply:
    if call.reply is None:
        raise AgentError(f"the model {model.name} gave no reply")
    task.meter.learn(model.name, facts_of(call.request, call.reply))
    await task.hooks.after_llm_call(call.request, call.reply)
    return call.reply


async def _make_calls(
    task: Task, call: _ModelCall, reply: ModelReply
) -> AsyncGenerator[AgentEvent, None]:
    calls = [task.runner.prepare(wanted) for wanted in reply.calls]
    said = await task.may_say(reply.text)  # later views must not find a link that was withheld
    text = [message("assistant", said)] if said.strip() else []
    used = {USED: facts_of(call.request, call.reply)}
    asked = tool_call([wanted.as_openai() for wanted in calls], **wire_of(reply), **used)
    with anyio.CancelScope(shield=True):
        # A Stop comes before the write or after the first event below, which says that the tape
        # has the step's text: in between, the text would be recorded a second time.
        await task.log.record(*text, asked)
    for wanted in calls:
        data = {"id": wanted.id, "name": wanted.name, "arguments": wanted.arguments}
        yield AgentEvent("tool_call", data)
    results = await task.runner.run_all(calls)
    await task.log.record(tool_result([result.text for result in results]), _step(call, "tools"))
    for result in results:
        done = {"id": result.call_id, "name": result.name, "elapsed_ms": result.elapsed_ms}
        yield AgentEvent("tool_result", done)


async def _hand_off(task: Task, name: str, state: dict[str, Any]) -> None:
    """Set the anchor of an overflow: it carries the ids of what it hides, and no words of it."""
    shown = await shown_since(task.log.tape, task.log.lane, task.log.turn)
    await task.log.record(*handoff(name, state_of("", "", rests_on(shown)) | state))


async def _hand_off_after(task: Task, call: _ModelCall, cause: ContextOverflow) -> None:
    task._reported = True
    state = {"reason": "context_length_exceeded", "error": str(cause)[:MAX_REASON_CHARACTERS]}
    await _hand_off(task, OVERFLOW_REPORTED, state)
    await task.log.record(_step(call, "auto_handoff", error=str(cause)))
    # Providers don't report how much too long the prompt was: the second try gets half the tokens.
    half = max(MIN_RETAKE_TOKENS, estimate(call.request.messages) // 2)
    await task.retake(task.log, min(task.meter.as_estimate(call.model, task.budget), half))


def _step(call: _ModelCall, status: str, **more: Any) -> NewEntry:
    data: dict[str, Any] = {
        "step": call.step,
        "status": status,
        "elapsed_ms": round((time.monotonic() - call.started) * 1000),
        "upto": call.upto,
        "messages": len(call.request.messages),
        "prompt": digest(dump(list(call.request.messages))),
        "tools": [tool["function"]["name"] for tool in call.request.tools],
    }
    opening = call.request.messages[0] if call.request.messages else {}
    if opening.get("role") == "system":
        data["system"] = digest(str(opening["content"]))
        data["system_entry"] = call.system_entry
    if call.reply is not None:
        data |= facts_of(call.request, call.reply)
        data["finish_reason"] = call.reply.finish_reason
    return event(LOOP_STEP, {**data, **more})


async def _recall_overflows(task: Task) -> None:
    # Each anchor is allowed once per turn; if no retake follows, a stop interrupted the turn.
    own = await task.log.tape.find(turn=task.log.turn)
    retaken = max((entry.id for entry in own if entry.name == TURN_RETAKE), default=0)
    had = {entry.name for entry in own if entry.id < retaken}
    task._noticed = OVERFLOW_NOTICED in had
    task._reported = OVERFLOW_REPORTED in had


async def _record_system(task: Task) -> None:
    if task.system:
        mark = digest(task.system)
        prompt = event(PROMPT_SYSTEM, {"sha256": mark, "text": task.system})
        key = f"prompt.system:{mark}"
        task._system_entry = await task.once.record(task.log.tape, prompt, key)


def digest(text: str) -> str:
    """Return the short digest under which the tape records a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
