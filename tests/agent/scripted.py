"""A turn without a gateway: a scripted model, recording hooks, and a tape in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio

from agent.events import AgentEvent
from agent.loop import Task, run_turn
from agent.model import ChatModel, ModelReply, ModelRequest
from agent.testing import new_tape
from agent.tool import Arguments, NoArguments, Role, Tool, ToolContext
from agent.tool_runner import ToolRunner, is_failure
from agent.toolbox import Toolbox
from agent.turn_log import TurnLog
from tape.entry import Entry, event, message
from tape.handle import Tape
from tape.turn_events import TURN_RETAKE, TURN_START

QUESTION = "What is it?"
TURN = "t-1"
LANE = "lane-1"


class Hooks:
    """Records its calls; `fail` maps the names of hooks to the errors that they raise."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.fail: dict[str, Exception] = {}

    async def before_llm_call(self, request: ModelRequest) -> None:
        """Note it."""
        self._note("before_llm_call")

    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None:
        """Note it."""
        self._note("after_llm_call")

    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Note it."""
        self._note("before_tool_call", name)

    async def after_tool_call(self, name: str, result: str) -> None:
        """Note it."""
        self._note("after_tool_call", name)

    def _note(self, hook: str, *more: str) -> None:
        self.seen.append(" ".join((hook, *more)))
        if hook in self.fail:
            raise self.fail[hook]


@dataclass
class Stage:
    """One turn on one tape.

    retakes   the budgets with which messages were taken again
    reported  the tools whose failure was reported
    """

    tape: Tape
    log: TurnLog
    toolbox: Toolbox
    hooks: Hooks
    runner: ToolRunner
    task: Task
    retakes: list[int] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)

    async def run(self, model: ChatModel) -> list[AgentEvent]:
        """Run the turn to its end; returns its events."""
        return [event async for event in run_turn(self.task, model)]

    async def named(self, name: str) -> list[Entry]:
        """Return the tape's anchors and events of a name."""
        return await self.tape.find(name=name)

    async def steps(self) -> list[tuple[int, str]]:
        """Return number and status of the model calls that are on the tape."""
        found = [entry.payload["data"] for entry in await self.named("loop.step")]
        return [(data["step"], data["status"]) for data in found]


async def begin(tape: Tape, question: str = QUESTION) -> None:
    """Put a question and the start of its turn on a tape."""
    (asked,) = await tape.append(message("user", question, lane=LANE, inbox=1))
    start = event(TURN_START, {"turn": TURN, "takes": [asked.id]}, turn=TURN, lane=LANE)
    await tape.append(start)


def stage_of(
    *tools: Tool,
    tape: Tape | None = None,
    role: Role = Role.MEMBER,
    turn: str = TURN,
    timeout: float = 60,
    **limits: Any,
) -> Stage:
    """Set up a turn; on a tape that has it already, this is the turn resumed."""
    tape = tape or new_tape()
    log = TurnLog(tape, turn, LANE)
    toolbox, hooks, reported, retakes = Toolbox(tools, role), Hooks(), list[str](), list[int]()
    context = ToolContext(tape, role, LANE, turn)

    async def retake(log: TurnLog, budget: int) -> None:
        retakes.append(budget)
        asked = [entry.id for entry in await tape.find(kinds=("message",)) if "inbox" in entry.meta]
        await log.record(event(TURN_RETAKE, {"turn": turn, "takes": asked[-1:]}))

    async def before_step() -> None:
        hooks.seen.append("before_step")

    def report(name: str, cause: BaseException | None) -> None:
        if is_failure(cause):
            reported.append(name)

    runner = ToolRunner(log, toolbox, context, hooks, timeout, report)
    settings = {"system": "", "budget": 100_000, "steps": 5, **limits}
    task = Task(log, toolbox, runner, hooks, retake=retake, before_step=before_step, **settings)
    return Stage(tape, log, toolbox, hooks, runner, task, retakes, reported)


class Words(Arguments):
    """The arguments of `echo`."""

    text: str = "nothing"


async def _echo(arguments: Words, _context: ToolContext) -> object:
    return f"echo: {arguments.text}"


async def _hang(_arguments: NoArguments, _context: ToolContext) -> object:
    await anyio.sleep_forever()
    return "never"


async def _break(_arguments: NoArguments, _context: ToolContext) -> object:
    raise LookupError("no such drawer")


ECHO = Tool("echo", "Say it again.", Words, _echo, repeatable=True, first=True)
HANG = Tool("hang", "Never end.", NoArguments, _hang, timeout=0.01)
BREAK = Tool("break", "Raise an error.", NoArguments, _break)


def returning(name: str, result: object, **more: Any) -> Tool:
    """Return a tool with a fixed result."""

    async def run(_arguments: NoArguments, _context: ToolContext) -> object:
        return result

    return Tool(name, f"Return what {name} has.", NoArguments, run, **more)
