"""Decide whether what has the form of a command is one that its author may mean."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from agent.powers import COMMANDS, POWERS
from agent.tool import Chats, Role, Tool
from channels.commands import command_line
from channels.message import InboundMessage
from gateway.access.access import Decision
from gateway.access.roles import Roles
from gateway.hooks.runtime import HookRuntime
from gateway.intake.entry_meta import COMMAND, word_of
from gateway.pipeline.router import OutboundChannelRouter


@dataclass(frozen=True, slots=True)
class KnownCommands:
    """Knows the words of commands: the gateway's own, and the tools of all plugins."""

    _hooks: HookRuntime
    _roles: Roles
    _router: OutboundChannelRouter

    async def decided(self, message: InboundMessage, decision: Decision) -> InboundMessage:
        """Return a message that asks with its command, or whose `command` is empty: a sentence.

        The gateway's commands and builtin tools are known to everybody: who may not use one hears
        that. So are plugins' tools where the agent is asked anyway. What is said to a group is
        meant for one only if its author may use it there, or may be an administrator who may.
        """
        line = self._line_of(message)
        if line and await self._knows(replace(message, command=line), decision):
            # What has no command of its own was read by a channel that has no other form for it.
            why = COMMAND if message.command or not message.addressed else message.why
            return replace(message, command=line, addressed=True, why=why)
        if not message.command:
            return message
        if message.why == COMMAND and message.chat_kind == "group":
            # A former version has accepted it, for which each word behind a comma was a command.
            return replace(message, command="", addressed=False, why="said to the group")
        return replace(message, command="")

    async def _knows(self, message: InboundMessage, decision: Decision) -> bool:
        word = word_of(message)
        if word in COMMANDS:
            return True
        if not decision.allowed:
            return False
        named = [tool for tool in await self._hooks.tools() if tool.name == word]
        is_told = message.addressed or word in POWERS
        return bool(named) and (is_told or self._may_use(named, message, decision))

    def _may_use(
        self, named: Collection[Tool], message: InboundMessage, decision: Decision
    ) -> bool:
        group = message.chat_kind == "group"
        # Asking the platform would delay other chats; the command itself asks it.
        administers = group and self._roles.known(message) is not False
        role = max(decision.role, Role.ADMIN) if administers else decision.role
        chat = Chats.GROUP if group else Chats.PRIVATE
        return any(tool.role <= role and chat in tool.chats for tool in named)

    def _line_of(self, message: InboundMessage) -> str:
        """Return the command line that a message has the form of; a forwarded one has none.

        Only of a channel that recognizes no commands is the text read, if it asks the agent: the
        others know better what in it is code, a title, or somebody else's.
        """
        if message.forwarded is not None:
            return ""
        channel = self._router.channels.get(message.channel)
        reads = channel is not None and "commands" in channel.capabilities
        if message.command or reads or not message.addressed:
            return message.command
        return command_line(message.text)
