"""The tools of one turn: those that the person may use, and those offered to the model.

At most four schemas are offered at first, to keep short questions cheap; the tool `help` lists the
other tools and adds them on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, Final

from agent.errors import ToolboxError, ToolRefused
from agent.tool import Chats, Role, Tool, wire_name
from tape.entry import dump, load

OFFERED_AT_FIRST: Final = 4
HELP: Final = "help"  # the tool that is always offered, since it gives access to the others


class Toolbox:
    """The tools that a role may use in a private chat, or in a group if `shared`."""

    def __init__(self, tools: Iterable[Tool], role: Role, *, shared: bool = False) -> None:
        chat = Chats.GROUP if shared else Chats.PRIVATE
        self.known: dict[str, Tool] = {}
        self._by_wire: dict[str, Tool] = {}
        for tool in sorted(tools, key=lambda tool: tool.name):
            if tool.role <= role and chat in tool.chats:
                rival = self._by_wire.get(tool.wire_name)
                if rival is not None:
                    raise ToolboxError(
                        f"the tools {rival.name} and {tool.name} would both be named"
                        f" {tool.wire_name} for the provider: rename one of them"
                    )
                self.known[tool.name] = self._by_wire[tool.wire_name] = tool
        first = [tool.name for tool in self.known.values() if tool.first]
        first.sort(key=lambda name: name != HELP)
        self._offered = set(first[:OFFERED_AT_FIRST])

    def schemas(self) -> list[dict[str, Any]]:
        """Return the offered tools, sorted to keep the provider's prompt cache valid."""
        return [tool.schema() for name, tool in self.known.items() if name in self._offered]

    def offered(self) -> list[str]:
        return [name for name in self.known if name in self._offered]

    def offer(self, names: list[str]) -> list[str]:
        """Offer tools by dotted or wire name; returns the dotted names of the tools found."""
        found = [self._by_wire.get(wire_name(name)) for name in names]
        added = [tool.name for tool in found if tool is not None]
        self._offered.update(added)
        return added

    def find(self, name: str) -> Tool:
        """Return the tool with a dotted or wire name; raises ToolRefused with similar names."""
        tool = self.known.get(name) or self._by_wire.get(wire_name(name))
        if tool is None:
            nearest = get_close_matches(wire_name(name), self._by_wire, n=3, cutoff=0.4)
            names = ", ".join(nearest or self._by_wire)
            raise ToolRefused(f"there is no tool named {name}. Known here: {names}.")
        return tool


def to_wire(messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages in which tools have their wire names."""
    return [_message_to_wire(message) for message in messages]


def _message_to_wire(message: Mapping[str, Any]) -> dict[str, Any]:
    if message.get("tool_calls"):
        return {**message, "tool_calls": [_call_to_wire(call) for call in message["tool_calls"]]}
    if message.get("role") == "tool" and message.get("name"):
        return {**message, "name": wire_name(message["name"])}
    return dict(message)


def _call_to_wire(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    name, arguments = wire_name(function.get("name", "")), _readable(function.get("arguments"))
    return {**call, "function": {**function, "name": name, "arguments": arguments}}


def _readable(arguments: object) -> str:
    """Return a call's arguments as JSON, since servers refuse a conversation with any others."""
    try:
        if isinstance(arguments, str) and isinstance(load(arguments), dict):
            return arguments
    except ValueError:
        pass
    return dump({"unreadable": str(arguments)}) if arguments else "{}"
