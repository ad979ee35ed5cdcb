"""Checks of a tool: what providers, models and people rely on."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agent.errors import ToolRefused
from agent.tool import Role, Tool, ToolContext
from tape.handle import Tape
from tape.stores.memory import MemoryStore

ToolCheck = Callable[[Tool, Mapping[str, Any]], Awaitable[None]]

UNKNOWN: Final = "no_such_argument"
_WIRE_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def new_tape() -> Tape:
    """Return an empty tape of a store of its own, in memory."""
    return Tape(MemoryStore(), "chat")


async def run_tool(tool: Tool, arguments: Mapping[str, Any], tape: Tape | None = None) -> object:
    """Check arguments and run a tool for an owner, on an empty tape unless one is given."""
    context = ToolContext(tape or new_tape(), Role.OWNER, turn="t-1")
    return await tool.run(tool.check(arguments), context)


async def a_model_can_call_it_by_its_name(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """Providers accept its name, with `_` for what they refuse, and it says what it does."""
    del arguments
    function = tool.schema()["function"]
    assert _WIRE_NAME.fullmatch(function["name"]), f"no provider accepts {function['name']!r}"
    assert function["description"].strip(), f"{tool.name} has no description"


async def its_arguments_have_a_schema(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """The schema that a model is shown is JSON, and names every argument."""
    parameters = tool.schema()["function"]["parameters"]
    assert json.loads(json.dumps(parameters)) == parameters, "the schema is no JSON data"
    assert parameters["type"] == "object"
    missing = set(arguments) - set(parameters["properties"])
    assert not missing, f"the schema of {tool.name} lacks {sorted(missing)}"


async def arguments_may_come_as_json_text(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """A model sends its arguments as text: they are the same as when they are given as data."""
    assert tool.check(json.dumps(dict(arguments))) == tool.check(arguments)


async def an_unknown_argument_is_refused(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """A model that makes an argument up is refused with a sentence that names it."""
    said = ""
    try:
        tool.check({**arguments, UNKNOWN: 1})
    except ToolRefused as refused:
        said = str(refused)
    assert said, f"{tool.name} takes an unknown argument: derive from agent.tool.Arguments"
    assert UNKNOWN in said, f"the refusal does not name the argument: {said}"


async def a_result_is_text_or_json(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """What a call returns is a string, or data that is JSON."""
    result = await run_tool(tool, arguments)
    if not isinstance(result, str):
        json.dumps(result)


async def what_may_run_twice_gives_a_result_twice(tool: Tool, arguments: Mapping[str, Any]) -> None:
    """A turn that resumes after a crash may run a repeatable tool a second time."""
    if tool.repeatable:
        tape = new_tape()
        await run_tool(tool, arguments, tape)
        await run_tool(tool, arguments, tape)


TOOL_CHECKS: Final[tuple[ToolCheck, ...]] = (
    a_model_can_call_it_by_its_name,
    its_arguments_have_a_schema,
    arguments_may_come_as_json_text,
    an_unknown_argument_is_refused,
    a_result_is_text_or_json,
    what_may_run_twice_gives_a_result_twice,
)
