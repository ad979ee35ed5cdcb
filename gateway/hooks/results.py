"""Check what a plugin's hooks return, before the result is used.

A check returns the usable part or None, and reports each problem and how to fix it.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, get_args

from pydantic import BaseModel

from agent.tool import Chats, Role, Tool
from channels.base import Channel
from channels.message import OutboundKind, OutboundMessage
from gateway.hooks.messages import field_of
from tape.context import Latest, Message, TapeContext
from tape.entry import Entry
from tape.store import TapeStore

CONTRIBUTIONS: Final = frozenset({"provide_channels", "provide_tools", "register_cli_commands"})
"""Hooks that contribute something; if one raises an error, only its contribution is missing."""

ADMISSIONS: Final = ("process", "drop", "follow_up", "steer", "interrupt")

_CHANNEL_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
_TEXTS: Final = ("channel", "chat_id", "text", "account")
_OPTIONAL_TEXTS: Final = ("thread_id", "reply_to", "answers", "edits")

Fault = Callable[[str, str], None]  # reports a problem and how to fix it
Check = Callable[[Any, Fault], Any]


class ResultRefused(Exception):
    """Raised when a plugin's view is unusable, after the problem was reported."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with a plugin, and how to fix it."""

    plugin: str
    hook: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"The plugin {self.plugin}: {self.hook} {self.problem}. {self.remedy}"


def _refuse(result: Any, fault: Fault, remedy: str) -> Any:
    fault(f"returned {_kind(result)}", remedy)
    return None


def _instance(kind: type, remedy: str) -> Check:
    def check(result: Any, fault: Fault) -> Any:
        # A class has the same methods as its instances, so it would pass for a store.
        if isinstance(result, kind) and not isinstance(result, type):
            return result
        return _refuse(result, fault, remedy)

    return check


def _kind(value: object) -> str:
    if inspect.isroutine(value):
        return f"the function {getattr(value, '__name__', '?')}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def _prompt(result: Any, fault: Fault) -> Any:
    if isinstance(result, str):
        return result
    if isinstance(result, list) and all(
        isinstance(part, dict) and isinstance(part.get("type"), str) for part in result
    ):
        return result
    remedy = "Return a string, or a list of content parts (dicts with a `type`)."
    return _refuse(result, fault, remedy)


def _stream(result: Any, fault: Fault) -> Any:
    if isinstance(result, AsyncIterable):
        return _events(result, fault)
    remedy = "Return an async iterator, for example by writing the hook as an async generator."
    return _refuse(result, fault, remedy)


async def _events(stream: AsyncIterable[Any], fault: Fault) -> AsyncGenerator[Any, None]:
    async with AsyncExitStack() as stack:
        if inspect.isasyncgen(stream):
            await stack.enter_async_context(aclosing(stream))
        async for event in stream:
            if isinstance(event, str) or isinstance(field_of(event, "kind"), str):
                yield event
            else:
                remedy = "Yield pieces of text, or events with a `kind` and `data`."
                fault(f"yielded {_kind(event)}", remedy)


def _outbounds(result: Any, fault: Fault) -> list[Any]:
    found = result if isinstance(result, (list, tuple)) else (result,)
    usable = []
    for one in found:
        problem = None if one is None else _outbound_problem(one)
        if problem is None:
            usable.append(one)
        else:
            fault(problem, "Return strings, mappings with a `text`, or OutboundMessages.")
    return usable


def _outbound_problem(rendered: Any) -> str | None:
    if isinstance(rendered, str):
        return None
    if not isinstance(rendered, (Mapping, OutboundMessage)):
        return f"returned {_kind(rendered)}"
    if isinstance(rendered, Mapping) and not {"text", "content"} & rendered.keys():
        return "returned a mapping without a `text`"
    for name in (*_TEXTS, *_OPTIONAL_TEXTS):
        default, kinds = ("", str) if name in _TEXTS else (None, str | None)
        if not isinstance(field_of(rendered, name, default), kinds):
            return f"returned a message whose {name} is {_kind(field_of(rendered, name))}"
    kind = field_of(rendered, "kind", "answer")
    return None if kind in get_args(OutboundKind) else f"returned a message of the kind {kind!r}"


def _listed(result: Any, fault: Fault, remedy: str) -> list[Any]:
    if isinstance(result, Iterable) and not isinstance(result, (str, bytes, Mapping, type)):
        try:
            return list(result)
        except Exception as cause:
            fault(f"raised {type(cause).__name__}: {cause}", "Fix the error.")
            return []
    _refuse(result, fault, remedy)
    return []


def _channels(result: Any, fault: Fault) -> list[Channel]:
    remedy = "Return a list of Channel objects."
    usable = []
    for channel in _listed(result, fault, remedy):
        name = getattr(channel, "name", None)
        if not isinstance(channel, Channel):
            fault(f"returned {_kind(channel)} among its channels", remedy)
        elif not isinstance(name, str) or not _CHANNEL_NAME.fullmatch(name):
            rule = "Use lowercase letters, digits, dashes and underscores, starting with a letter."
            fault(f"returned a channel with the name {name!r}", rule)
        else:
            usable.append(channel)
    return usable


def _tools(result: Any, fault: Fault) -> list[Tool]:
    remedy = "Return a list of Tool objects."
    usable = []
    for tool in _listed(result, fault, remedy):
        if not isinstance(tool, Tool):
            fault(f"returned {_kind(tool)} among its tools", remedy)
            continue
        problem, mend = _tool_problem(tool)
        if problem:
            fault(f"returned the tool {tool.name!r}: {problem}", mend)
        else:
            usable.append(tool)
    return usable


def _tool_problem(tool: Any) -> tuple[str, str]:
    if not isinstance(tool.name, str) or not tool.name:
        return "its name is not a string", "Give the tool a name such as `weather.today`."
    if not isinstance(tool.description, str):
        return "its description is not a string", "Describe the tool in a sentence."
    run = tool.run if inspect.isroutine(tool.run) else getattr(tool.run, "__call__", None)  # noqa: B004
    if not inspect.iscoroutinefunction(inspect.unwrap(run) if run else run):
        return "its `run` is not an async function", "Write it with `async def`."
    if not isinstance(tool.role, Role) or not isinstance(tool.chats, Chats):
        return "its role or chats are of the wrong type", "Use Role.MEMBER and Chats.ALL, say."
    return _arguments_problem(tool.arguments)


@functools.cache
def _arguments_problem(arguments: Any) -> tuple[str, str]:
    # Cached: building a schema takes a millisecond, and tools are collected every turn.
    remedy = "Use a subclass of Arguments with fields that JSON can hold."
    if not isinstance(arguments, type) or not issubclass(arguments, BaseModel):
        return "its arguments are not a model", remedy
    try:
        arguments.model_json_schema()
    except Exception as cause:
        return f"its arguments have no JSON schema ({type(cause).__name__})", remedy
    return "", ""


def _context(result: Any, fault: Fault) -> TapeContext | None:
    remedy = "Return TapeContext(anchor, select), with LATEST, a name or None as its anchor."
    if not isinstance(result, TapeContext):
        _refuse(result, fault, remedy)
        return None
    anchor: Any = result.anchor
    if not isinstance(anchor, str | Latest | None) or not callable(result.select):
        fault("returned a TapeContext with a wrong anchor or select", remedy)
        return None

    async def select(entries: Sequence[Entry], context: TapeContext) -> list[Message]:
        return _selected(await replace(context, select=result.select).messages(entries), fault)

    return replace(result, select=select)


def _selected(shown: Any, fault: Fault) -> list[Message]:
    if isinstance(shown, list) and all(
        isinstance(message, dict) and isinstance(message.get("role"), str) for message in shown
    ):
        return shown
    fault(
        f"has a `select` that returned {_kind(shown)}, not chat messages",
        "Return a list of dicts with `role` and `content`.",
    )
    raise ResultRefused


def _admission(result: Any, fault: Fault) -> str | None:
    if isinstance(result, str) and result in ADMISSIONS:
        return result
    shown = repr(result)[:40] if isinstance(result, str) else _kind(result)
    fault(f"returned {shown}", f"Return one of {', '.join(ADMISSIONS)}, or None.")
    return None


CHECKS: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "resolve_session": _instance(str, "Return the session's name as a string, or None."),
        "load_state": _instance(dict, "Return a dict, or None."),
        "build_prompt": _prompt,
        "run_model": _instance(str, "Return the answer as a string, or None."),
        "run_model_stream": _stream,
        "render_outbound": _outbounds,
        "system_prompt": _instance(str, "Return a string, or None."),
        "provide_channels": _channels,
        "provide_tape_store": _instance(TapeStore, "Return a TapeStore, or None."),
        "build_tape_context": _context,
        "provide_tools": _tools,
        "admit_message": _admission,
    }
)
"""Maps each hook whose result is used to its check."""
