"""Run commands (see `KnownCommands`). The model is not involved, and roles apply.

Every tool that a person is allowed to use is also a command. This module adds the gateway's own.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import anyio

from agent.anchoring import FRAMED, header_of
from agent.errors import ToolRefused
from agent.powers import TAPE_WIDE, may
from agent.tool import Role, Tool, ToolContext
from agent.tool_runner import text_of, text_of_failure
from agent.toolbox import Toolbox
from agent.tools.anchors import hand_off
from agent.tools.words import in_words
from channels.base import Channel
from channels.commands import as_written
from channels.message import InboundMessage, MessageLink
from gateway.access.console_door import FOR_WHOM, ConsoleDoor
from gateway.context.tape_access import known_people, other_tapes
from gateway.errors import CommandRefused
from gateway.intake.commands.command_line import Command, arguments_of, parse_command
from gateway.intake.entry_meta import word_of
from gateway.logs import get_log
from gateway.pipeline.turn import Question
from gateway.scheduling.opening.requests import AccessRequests
from gateway.scheduling.presses import Presses
from gateway.scheduling.rewinding import own_lane, rewind
from gateway.scheduling.suggestions import open_suggestion
from gateway.services import Services
from gateway.turn.runner import new_error_id
from gateway.turn.suggestion_card import ACCEPT
from tape.context import RESET
from tape.entry import Entry

OWN: Final = {
    "help": "what I can do here",
    "open": "open this chat, so that I answer in it (in private: list the chats that wait)",
    "grant": "say what a person may do (`,grant PERSON-ID admin`, or `member`, or `none`)",
    "stop": "stop the answer that I'm writing for you (`,stop all`: every one in this chat)",
    "reset": "start over: earlier messages stay on the tape, but I no longer see them",
    "rewind": "go back to an earlier checkpoint (`,rewind` lists them)",
    "forget me": "erase what you wrote, after I've asked once more",
    "console": "a link to the console, where owners and admins see what I heard, did and spent",
    "handoff": "set a checkpoint here (`,handoff what to remember from here on`)",
}

REPEATABLE: Final = frozenset(
    {"help", "open", "grant", "stop", "start", "forget", "console", "choose", "pair"}
)
"""Own commands that may run twice: they only say something, set what is set, or ask once more."""

NAMES: Final = frozenset(usage.split()[0] for usage in OWN)
RULED: Final = ("open", "grant")  # the commands that set rules of access
CONSOLE: Final = ",console"
DENIED: Final = {
    ",stop all": "Only admins may stop others' answers; `,stop` stops yours.",
    ",reset": "Only admins may reset a group: it affects everyone here.",
    CONSOLE: FOR_WHOM,
    ",rewind": "Only admins may rewind a group: it affects everyone here.",
}

DENIED_HERE: Final = "You may not use `{what}` here."
INTERRUPTED: Final = (
    "I was interrupted while I ran `,{what}`, so I don't know whether it was done, and I haven't"
    " run it again. Look at what it did before you send it once more."
)
PAIR: Final = "To pair, send me `,pair CODE` in private; `tapeway pair` prints the code."

HELP: Final = "I answer these commands at once, without the model:"
MORE: Final = "`,help all` also lists the commands for the tape."
TAPE: Final = "tape."  # how the names of commands begin that `,help` lists for admins only

HELLO: Final = (
    "Hello, I'm {name}. Write to me here, or add me to a {joins} and mention me or reply to me"
    " there. `,help` lists what I can do."
)


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs commands; `_stop` is the method `Stopper.stop`."""

    _services: Services
    _stop: Callable[[Question, bool], Awaitable[int]]
    _presses: Presses
    _requests: AccessRequests
    _door: ConsoleDoor

    async def run_as_author(self, question: Question) -> str:
        """Run a command with the role that its author has now; what may have run runs once."""
        if question.rows[0].status == "taken" and not await self._is_repeatable(question):
            return INTERRUPTED.format(what=word_of(question.message))
        role = await self._requests.openings.roles.of(question.message)
        return await self.run(replace(question, role=role))

    async def _is_repeatable(self, question: Question) -> bool:
        """Return whether a command may run again that an earlier process has begun."""
        word = word_of(question.message)
        tools = [tool for tool in await self._services.hooks.tools() if tool.name == word]
        return word in REPEATABLE or any(tool.repeatable for tool in tools)

    async def run(self, question: Question) -> str:
        """Run the command in a message; return the reply's text, even if the command fails."""
        try:
            command = parse_command(question.message.command.strip())
            own: dict[str, Callable[[Question, Command], Awaitable[str]]] = {
                "open": self._open,
                "grant": self._grant,
                "stop": self._stopped,
                "start": self._hello,
                "choose": self._choose,
                "forget": self._forget,
                "reset": self._reset,
                "rewind": self._rewind,
                "console": self._console,
                "handoff": self._handoff,
                "help": self._help,
                "pair": self._pair,
            }
            if command.name not in own:
                return await self._tool(question, command)
            if command.name not in ("open", "console"):  # for which the platform is asked
                _check(question, f",{command.name}")
            return await own[command.name](question, command)
        except (CommandRefused, ToolRefused) as refused:
            return str(refused)
        except Exception as cause:
            error_id = new_error_id()
            get_log().error("command.failed", error_id=error_id, exc_info=cause)
            return f"That didn't work. (Ref {error_id})"

    async def _open(self, question: Question, command: Command) -> str:
        return await self._requests.openings.command(question, command.words)

    async def _grant(self, question: Question, command: Command) -> str:
        return await self._requests.openings.grant(question.message, command.words)

    async def _hello(self, question: Question, _command: Command) -> str:
        joins = self._services.router.channels.get(question.message.channel, Channel).joins
        hello = HELLO.format(name=self._services.settings.agent.name, joins=joins)
        return as_written(hello, self._hint(question.message))

    async def _choose(self, question: Question, command: Command) -> str:
        return await self._presses.choose(question.message, *_two(command.words))

    async def _forget(self, question: Question, _command: Command) -> str:
        return await self._presses.ask("forget", question)

    async def _console(self, question: Question, _command: Command) -> str:
        message, shared = question.message, _is_shared(question)
        if may(CONSOLE, question.role, shared=shared):
            return await self._door.link(message)
        if not shared and await self._door.admits(message):
            return await self._door.link(message)
        if self._requests.openings.access.decide(message).allowed:
            raise CommandRefused(FOR_WHOM)
        return ""  # a closed chat gets a sentence a day

    async def _stopped(self, question: Question, command: Command) -> str:
        everything = command.words == ("all",)
        if command.words and not everything:
            raise CommandRefused("Use `,stop`, or `,stop all` for every answer in this chat.")
        if everything:
            _check(question, ",stop all")
        count = await self._stop(question, everything)
        return "" if count else "There is nothing to stop."

    async def _reset(self, question: Question, _command: Command) -> str:
        tape = self._services.tapes.tape(question.tape)
        topic = own_lane(question)
        await tape.handoff(RESET, {"by": question.message.sender.id}, **topic)
        if topic:
            return "I'm starting over in this topic. Earlier messages stay on the tape."
        return "I'm starting over from here. Earlier messages stay on the tape."

    async def _rewind(self, question: Question, command: Command) -> str:
        tape = self._services.tapes.tape(question.tape)
        return await rewind(tape, question, " ".join(command.words))

    async def _handoff(self, question: Question, command: Command) -> str:
        if not (command.words or command.pairs):
            card = await open_suggestion(self._services, question)
            if card is not None:
                return await self._presses.choose(question.message, card.card_id, ACCEPT)
        return await self._tool(question, _as_tool(command))

    async def _pair(self, _question: Question, _command: Command) -> str:
        raise CommandRefused(PAIR)  # a code never comes so far

    async def _help(self, question: Question, command: Command) -> str:
        message = question.message
        offered = await commands_for(self._services, question.role, message)
        whole = command.words == ("all",) or question.role >= Role.ADMIN
        listed = {it: what for it, what in offered.items() if whole or not it.startswith(TAPE)}
        hint = self._hint(message)
        lines = [as_written(f"- `,{usage}`: {what}", hint) for usage, what in listed.items()]
        more = [] if len(listed) == len(offered) else ["", as_written(MORE, hint)]
        return "\n".join([HELP, "", *lines, *more])

    def _hint(self, message: InboundMessage) -> Callable[[str], str]:
        """Return how commands are written where a message was."""
        channel = self._services.router.channels.get(message.channel)
        return ",{}".format if channel is None else partial(channel.command_hint, place=message)

    async def _tool(self, question: Question, command: Command) -> str:
        tools = await self._services.hooks.tools()
        toolbox = Toolbox(tools, question.role, shared=_is_shared(question))
        if command.name not in toolbox.known:
            name = command.name[:40].replace("`", "")
            raise CommandRefused(DENIED_HERE.format(what=f",{name}"))
        try:
            result = await self._use(question, command, toolbox)
            text = text_of(result)
        except Exception as cause:
            await self._used(question, command.name, text_of_failure(command.name, cause))
            raise
        await self._used(question, command.name, text)
        return in_words(command.name, result)

    async def _use(self, question: Question, command: Command, toolbox: Toolbox) -> object:
        tool = toolbox.find(command.name)
        arguments = tool.check(arguments_of(tool, command))
        context = ToolContext(
            tape=self._services.tapes.tape(question.tape),
            role=question.role,
            known=toolbox.known,
            asked=question.entry_ids,
            tape_of=other_tapes(self._services, question),
            person_of=known_people(self._services, question),
            shared=_is_shared(question),
            link=self._link,
            asker=question.asker,
        )
        if tool.name == hand_off.name:
            given = await self._given(question)
            context = replace(context, lane=_lane(question), given=given)
        try:
            await self._services.hooks.call_many(
                "before_tool_call",
                name=tool.name,
                arguments=arguments.model_dump(),
                session_id=question.session_id,
            )
        except Exception as cause:
            raise ToolRefused(f"{tool.name} was denied: {cause}") from cause
        with anyio.fail_after(tool.timeout or self._services.settings.agent.tool_timeout):
            return await tool.run(arguments, context)

    async def _given(self, question: Question) -> dict[str, Any]:
        """Return the `meta` of an anchor that a person gives, with the header of their frame."""
        sender = question.message.sender
        tape = self._services.tapes.tape(question.tape)
        said = await tape.entries(question.entry_ids[-1:])
        header = header_of(next((entry.text for entry in said.values()), ""))
        author = {"author": sender.id, "name": sender.name, "channel": question.message.channel}
        return {**author, FRAMED: header}

    async def _used(self, question: Question, name: str, text: str) -> None:
        """Call the plugins' `after_tool_call`, as a turn does; the tool has already run."""
        values = {"name": name, "result": text, "session_id": question.session_id}
        try:
            await self._services.hooks.call_many("after_tool_call", **values)
        except Exception as cause:
            get_log().error("hook.after_tool_call_failed", exc_info=cause)

    def _link(self, entry: Entry) -> str:
        meta = entry.meta
        channel = self._services.router.channels.get(str(meta.get("channel")))
        if channel is None or not meta.get("message_id"):
            return ""
        place = (str(meta.get(name) or "") for name in ("message_id", "chat", "thread", "account"))
        return channel.link_to(MessageLink(*place))


async def commands_for(services: Services, role: Role, asked: InboundMessage) -> dict[str, str]:
    """Return the commands of a role in a message's chat, as they are written, with what they do."""
    shared = asked.chat_kind == "group"
    toolbox = Toolbox(await services.hooks.tools(), role, shared=shared)
    own = {it: what for it, what in OWN.items() if may(f",{it.split()[0]}", role, shared=shared)}
    if asked.owner or asked.invited:  # the channel itself lets people in, whatever a rule says
        own = {name: what for name, what in own.items() if name not in RULED}
    tools = [tool for tool in toolbox.known.values() if tool.name not in NAMES]
    return own | {f"{tool.name}{_usage(tool)}": tool.description for tool in tools}


def _two(words: tuple[str, ...]) -> tuple[str, str]:
    if len(words) != 2:
        raise CommandRefused("Copy the whole command from my question: `,choose CARD ANSWER`.")
    return words[0], words[1]


def _as_tool(command: Command) -> Command:
    pairs = {"name": "phase:handoff", **command.pairs}
    if command.words and "summary" not in pairs:
        pairs["summary"] = " ".join(command.words)
    return Command(hand_off.name, (), pairs)


def _is_shared(question: Question) -> bool:
    return question.message.chat_kind == "group"


def _check(question: Question, what: str) -> None:
    """Raise CommandRefused unless the table of powers allows what a person wants."""
    if not may(what, question.role, shared=_is_shared(question)):
        raise CommandRefused(DENIED.get(what, DENIED_HERE.format(what=what)))


def _lane(question: Question) -> str | None:
    """Return the lane for a person's anchor, or None if the anchor affects the whole chat."""
    whole = may(TAPE_WIDE, question.role, shared=_is_shared(question))
    return None if whole and not own_lane(question) else question.lane


def _usage(tool: Tool) -> str:
    required = [name for name, field in tool.arguments.model_fields.items() if field.is_required()]
    return "".join(f" {name}=..." for name in required)
