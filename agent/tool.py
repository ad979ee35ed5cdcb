"""A tool: what the model may call, with arguments that are checked before it runs."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import IntEnum
from typing import Any, Final

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from agent.errors import ToolRefused
from tape.handle import Tape

LONGEST_WIRE_NAME: Final = 64
_REFUSED: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Role(IntEnum):
    """Who asks; a tool may be used by its own role and every higher one."""

    STRANGER = 0
    MEMBER = 1
    ADMIN = 2
    OWNER = 3


class Arguments(BaseModel):
    """The base of a tool's arguments: what it does not know is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoArguments(Arguments):
    """For tools that take none."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool knows of the turn that calls it.

    tape     the tape of the chat
    lane     the lane of the turn; None where the chat has one conversation
    turn     the turn's id; empty for a command
    role     the role of the person who asks
    offer    adds tools by name to what this turn offers the model; returns the names added
    known    every tool that this turn may use, by dotted name
    asked    the entries of the question that is being answered
    tape_of  another chat's tape, by `channel:chat`; None where the asking person may not read it
    give     hands a task to a subagent and returns its answer; None where there is no model to ask
    shared   whether the chat is a group: what concerns all of it is for its admins
    """

    tape: Tape
    role: Role
    lane: str | None = None
    turn: str = ""
    offer: Callable[[list[str]], list[str]] = lambda names: names
    known: Mapping[str, Tool] | None = None
    asked: Collection[int] = ()
    tape_of: Callable[[str], Tape | None] = lambda _chat: None
    give: Callable[[str], Awaitable[str]] | None = None
    shared: bool = False

    @property
    def sets_anchors(self) -> bool:
        """Whether an anchor may be set: in a group without lanes it is for everybody."""
        return not self.shared or self.lane is not None or self.role >= Role.ADMIN

    def meta(self) -> dict[str, str]:
        """Return the meta of an entry that the tool writes."""
        found = {"lane": self.lane, "turn": self.turn}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool by its dotted name.

    run         gets the checked arguments and the context; returns a string or what JSON can hold
    role        the least role of the asking person
    repeatable  running it a second time does no harm: a resumed turn may do so
    timeout     seconds; None takes the setting
    first       offered to the model from the start, not only once `help` has named it
    """

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any, ToolContext], Awaitable[object]]
    role: Role = Role.STRANGER
    repeatable: bool = False
    timeout: float | None = None
    first: bool = False

    @property
    def wire_name(self) -> str:
        """The name as providers allow it."""
        return wire_name(self.name)

    def schema(self) -> dict[str, Any]:
        """Return the tool as OpenAI's function tools describe one."""
        return {
            "type": "function",
            "function": {
                "name": self.wire_name,
                "description": self.description,
                "parameters": orjson.loads(_parameters(self.arguments)),
            },
        }

    def check(self, arguments: str | Mapping[str, Any]) -> BaseModel:
        """Check arguments; raises ToolRefused with a sentence that a model can act on."""
        try:
            if isinstance(arguments, str):
                return self.arguments.model_validate_json(arguments or "{}")
            return self.arguments.model_validate(arguments)
        except ValidationError as cause:
            raise ToolRefused(self._wrong(cause)) from cause

    def _wrong(self, cause: ValidationError) -> str:
        known = list(self.arguments.model_fields)
        problems = []
        for error in cause.errors(include_url=False, include_context=False):
            name = ".".join(str(part) for part in error["loc"]) or "the arguments"
            nearest = get_close_matches(name, known, n=1)
            hint = f" (did you mean {nearest[0]}?)" if nearest and name not in known else ""
            problems.append(f"{name}: {error['msg']}{hint}")
        takes = ", ".join(known) or "no arguments"
        return f"{self.name} was not run. {'; '.join(problems)}. It takes: {takes}."


def wire_name(name: str) -> str:
    """Return a name as providers allow it, also one that a model has made up."""
    return _REFUSED.sub("_", name)[:LONGEST_WIRE_NAME] or "_"


@functools.cache
def _parameters(arguments: type[BaseModel]) -> bytes:
    """Return the schema of arguments, as JSON: pydantic takes a millisecond to make one."""
    return orjson.dumps(_plain_schema(arguments.model_json_schema()))


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Drop what costs tokens and tells the model nothing."""
    plain: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {key: value for key, value in spec.items() if key != "title"}
            for name, spec in schema.get("properties", {}).items()
        },
        "additionalProperties": False,
    }
    for key in ("required", "$defs"):
        if schema.get(key):
            plain[key] = schema[key]
    return plain
