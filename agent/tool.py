"""A tool is a function that the model may call with arguments that are checked first."""

from __future__ import annotations

import functools
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Flag, IntEnum, auto
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.errors import ToolRefused
from agent.taint import marks
from tape.construct import Strategy
from tape.entry import Entry
from tape.handle import Tape

MAX_WIRE_NAME: Final = 64
_REFUSED: Final = re.compile(r"[^a-zA-Z0-9_-]")


class Role(IntEnum):
    """The rights of the person who asks; a tool is open to its lowest role and every higher one."""

    STRANGER = 0
    MEMBER = 1
    ADMIN = 2
    OWNER = 3


class Chats(Flag):
    """The kinds of chat in which a tool is offered."""

    NONE = 0
    PRIVATE = auto()
    GROUP = auto()
    ALL = PRIVATE | GROUP


class Arguments(BaseModel):
    """The base of a tool's arguments; an unknown argument is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NoArguments(Arguments):
    """No arguments."""


async def nobody(_chat: str, _number: int) -> str | None:
    """Know nobody's number, as on a tape without a gateway."""
    return None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of the turn that calls it.

    tape     the chat's tape
    lane     the turn's lane, or None if the chat has a single conversation
    turn     the turn's id, or empty for a command
    role     the role of the person who asks
    offer    offers more tools, by name, to the model for this turn; returns the names added
    known    maps dotted names to all tools that this turn may use
    asked    the entries of the question
    tape_of  returns another chat's tape (`channel:chat`), or None if the person has no access
    person_of returns the id of the person with a number in a chat (empty: this one), or None
    give     gives a task to a subagent and returns the answer; None if no model is running
    shared   whether the chat is a group
    strategy chooses what `tape.context` returns; None means the rules
    link     returns a link to an entry's message for a person, or ""
    asker    who asks, as `channel:id`
    given    the `meta` of an anchor that a person gives by a command
    record   appends entries to the turn's log
    said     the words of the question, without forwarded and quoted ones
    taint    whose text the view holds besides the asking person's (see `agent.taint`)
    asks     whether the turn can end with a question to a person; a subagent's can't
    """

    tape: Tape
    role: Role
    lane: str | None = None
    turn: str = ""
    offer: Callable[[list[str]], list[str]] = lambda names: names
    known: Mapping[str, Tool] | None = None
    asked: Collection[int] = ()
    tape_of: Callable[[str], Tape | None] = lambda _chat: None
    person_of: Callable[[str, int], Awaitable[str | None]] = nobody
    give: Callable[[str], Awaitable[str]] | None = None
    shared: bool = False
    strategy: Strategy | None = None
    link: Callable[[Entry], str] = lambda _entry: ""
    asker: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    record: Callable[..., Awaitable[list[Entry]]] | None = None
    said: str = ""
    taint: tuple[str, ...] = ()
    asks: bool = False

    @property
    def sets_anchors(self) -> bool:
        """Whether an anchor may be set; in a group without lanes, only admins may set one."""
        return not self.shared or self.lane is not None or self.role >= Role.ADMIN

    def meta(self) -> dict[str, Any]:
        found = {"lane": self.lane, "turn": self.turn, **marks(self.asker, self.taint)}
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call by a dotted name.

    run           gets the checked arguments and the context; returns a string or JSON data
    role          the lowest role that may use it
    side_effects  whether it changes anything outside the turn, or sends anything out of the chat
    repeatable    whether a resumed turn may run it a second time
    timeout       maximum seconds of a call; None means the value in the settings
    first         whether it is offered from the start, not only after `help`
    chats         the kinds of chat in which it is offered
    confirm       returns whether a call in a tainted view waits for a person's confirmation, from
                  its checked arguments and the context; None means that `side_effects` decides
    taints        how its results taint a view (see `agent.taint`); "" if they are the gateway's
    """

    name: str
    description: str
    arguments: type[BaseModel]
    run: Callable[[Any, ToolContext], Awaitable[object]]
    role: Role = Role.MEMBER
    side_effects: bool = False
    repeatable: bool = False
    timeout: float | None = None
    first: bool = False
    chats: Chats = Chats.ALL
    confirm: Callable[[Any, ToolContext], bool] | None = None
    taints: str = "tool"
    wire_name: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "wire_name", wire_name(self.name))

    def schema(self) -> dict[str, Any]:
        """Return the tool in OpenAI's format for function tools.

        All turns share the parameters: replace them rather than change them.
        """
        return {
            "type": "function",
            "function": {
                "name": self.wire_name,
                "description": self.description,
                "parameters": _parameters(self.arguments),
            },
        }

    def must_wait(self, arguments: BaseModel, context: ToolContext) -> bool:
        """Return whether a call with checked arguments waits for a person's confirmation."""
        if not context.taint:
            return False
        return self.side_effects if self.confirm is None else self.confirm(arguments, context)

    def check(self, arguments: str | Mapping[str, Any]) -> BaseModel:
        """Check arguments; raises ToolRefused with a message to the model."""
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
    """Return a name in a form that providers accept, even if a model made the name up."""
    return _REFUSED.sub("_", name)[:MAX_WIRE_NAME] or "_"


@functools.cache
def _parameters(arguments: type[BaseModel]) -> dict[str, Any]:
    # pydantic needs a millisecond per schema, each turn needs several, and thousands may run.
    return _plain_schema(arguments.model_json_schema())


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
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
