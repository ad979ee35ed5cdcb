"""Lines that begin with `,`: answered without the model, subject to roles.

`,name` or `,name key=value ...`; a value with blanks stands in quotes. Every tool that a person
may use is a command; the gateway's own are here.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

import anyio

from agent.errors import ToolRefused
from agent.tool import Role, Tool, ToolContext
from agent.toolbox import Toolbox
from agent.tools.anchors import HANDOFF
from gateway.context.tape_access import other_tapes
from gateway.errors import CommandRefused
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.services import Services
from gateway.turn.runner import new_error_id

OWN: Final = {
    "help": "what I can do here",
    "stop": "end the answer that I am writing for you (`,stop all`: every one in this chat)",
    "reset": "begin afresh: what was said before is on the tape, but out of my sight",
    "handoff": "set a checkpoint here (`,handoff what to know from here on`)",
}


HELLO: Final = (
    "Hello, I am {name}. Write to me here, or add me to a group and mention me, reply to me or call"
    " me by my name there. `,help` tells what I can do."
)


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed line: its name, its bare words, and its `key=value` pairs."""

    name: str
    words: tuple[str, ...]
    pairs: dict[str, str]


def parse_command(line: str) -> Command:
    """Read a line that begins with `,`; raises CommandRefused for quotes that do not close."""
    try:
        parts = shlex.split(line.removeprefix(","))
    except ValueError as cause:
        raise CommandRefused(
            'A quotation mark is not closed: write it as in `,tape.search query="two words"`.'
        ) from cause
    if not parts:
        raise CommandRefused("Which command? `,help` lists them.")
    pairs = dict(part.split("=", 1) for part in parts[1:] if "=" in part)
    words = tuple(part for part in parts[1:] if "=" not in part)
    return Command(parts[0].lower(), words, pairs)


StopTurns = Callable[[Question, bool], Awaitable[int]]
"""Ends turns for the author of a command (all of the chat's, if asked to); returns how many."""

ListTools = Callable[[], Awaitable[Sequence[Tool]]]


class Commands:
    """Runs commands."""

    def __init__(self, services: Services, tools: ListTools, stop: StopTurns) -> None:
        self._services = services
        self._tools = tools
        self._stop = stop

    async def run(self, asked: Question) -> str:
        """Run the command of a message; whatever goes wrong is a sentence."""
        try:
            command = parse_command(asked.message.text.strip())
            if command.name == "stop":
                return await self._stopped(asked, command)
            if command.name == "start":
                return HELLO.format(name=self._services.settings.agent.name)
            if command.name == "reset":
                return await self._reset(asked)
            if command.name == "handoff":
                command = _as_tool(command)
            shared = asked.message.chat_kind == "group"
            toolbox = Toolbox(await self._tools(), asked.role, shared=shared)
            if command.name == "help":
                return self._help(toolbox)
            return await self._tool(asked, command, toolbox)
        except (CommandRefused, ToolRefused) as refused:
            return str(refused)
        except Exception as cause:
            error_id = new_error_id()
            get_log().error("command.failed", error_id=error_id, exc_info=cause)
            return f"That did not work. (Error {error_id}, for whoever runs me.)"

    async def _stopped(self, asked: Question, command: Command) -> str:
        everything = command.words == ("all",)
        if command.words and not everything:
            raise CommandRefused("It is `,stop`, or `,stop all` for every answer in this chat.")
        if everything and asked.role < Role.ADMIN:
            raise CommandRefused("Only admins may stop the answers of others; `,stop` ends yours.")
        count = await self._stop(asked, everything)
        return "" if count else "There is nothing to stop."

    async def _reset(self, asked: Question) -> str:
        if asked.message.chat_kind == "group" and asked.role < Role.ADMIN:
            raise CommandRefused("Only admins may reset a group: it concerns everybody here.")
        tape = self._services.tapes.tape(asked.tape)
        state = {"by": asked.message.sender.id}
        await tape.handoff("session/reset", state)
        return "From here on I begin afresh. What was said before stays on the tape."

    def _help(self, toolbox: Toolbox) -> str:
        own = [f"- `,{name}`: {what}" for name, what in OWN.items()]
        tools = [
            f"- `,{tool.name}{_usage(tool)}`: {tool.description}"
            for tool in toolbox.known.values()
            if tool.name not in OWN
        ]
        return "\n".join(["These lines I answer at once, without the model:", "", *own, *tools])

    async def _tool(self, asked: Question, command: Command, toolbox: Toolbox) -> str:
        if command.name not in toolbox.known:
            names = [*OWN, *toolbox.known]
            nearest = get_close_matches(command.name, names, n=1)
            hint = f" Did you mean `,{nearest[0]}`?" if nearest else ""
            name = command.name[:40].replace("`", "")
            raise CommandRefused(f"I know no command `,{name}`.{hint} `,help` lists them.")
        tool = toolbox.find(command.name)
        given: dict[str, Any] = dict(command.pairs)
        names = list(tool.arguments.model_fields)
        if command.words and names and names[0] not in given:
            given[names[0]] = " ".join(command.words)
        arguments = tool.check(given)
        lane = _lane(asked) if tool.name == HANDOFF.name else None
        tape = self._services.tapes.tape(asked.tape)
        context = ToolContext(
            tape=tape,
            role=asked.role,
            lane=lane,
            known=toolbox.known,
            asked=asked.entry_ids,
            tape_of=other_tapes(self._services, asked),
        )
        with anyio.fail_after(tool.timeout or self._services.settings.agent.tool_timeout):
            result = await tool.run(arguments, context)
        if isinstance(result, str):
            return result
        return f"```json\n{json.dumps(result, ensure_ascii=False, indent=2)}\n```"


def _as_tool(command: Command) -> Command:
    """Return `,handoff what to know` as the tool it stands for."""
    pairs = {"name": "phase:handoff", **command.pairs}
    if command.words and "summary" not in pairs:
        pairs["summary"] = " ".join(command.words)
    return Command(HANDOFF.name, (), pairs)


def _lane(asked: Question) -> str | None:
    """Return the lane that a person's anchor is for; None: the whole chat's.

    A group's is for everybody, as a reset is: only admins set it.
    """
    if asked.message.chat_kind != "group" or asked.role >= Role.ADMIN:
        return None
    if asked.lane is None:
        raise CommandRefused("Only admins may set an anchor here: it concerns the whole group.")
    return asked.lane


def _usage(tool: Tool) -> str:
    required = [name for name, field in tool.arguments.model_fields.items() if field.is_required()]
    return "".join(f" {name}=..." for name in required)
