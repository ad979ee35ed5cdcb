"""A tool from a typed async function."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from agent import Chats, Role, Tool, ToolContext, ToolRefused, tool
from agent.testing import new_tape

Unit = Literal["c", "f"]


@tool(name="weather.now", role=Role.ADMIN, side_effects=False)
async def weather(
    city: Annotated[str, Field(min_length=1, description="where")],
    context: ToolContext,
    days: Annotated[int, Field(ge=1)] = 2,
    unit: Unit = "c",
) -> str:
    """Return the weather
    of a city.

    This paragraph is for the reader of the code.
    """
    return f"{city} {days} {unit} {context.turn}"


@tool
async def plain(words: list[str] | None = None) -> object:
    """Count words."""
    return len(words or ())


def test_the_schema_comes_from_the_signature_and_the_docstring() -> None:
    assert weather.schema()["function"] == {
        "name": "weather_now",
        "description": "Return the weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"description": "where", "minLength": 1, "type": "string"},
                "days": {"default": 2, "minimum": 1, "type": "integer"},
                "unit": {"default": "c", "enum": ["c", "f"], "type": "string"},
            },
            "additionalProperties": False,
            "required": ["city"],
        },
    }


async def test_the_function_gets_checked_arguments_and_the_context() -> None:
    context = ToolContext(new_tape(), Role.ADMIN, turn="t-1")
    assert await weather.run(weather.check('{"city": "Oslo"}'), context) == "Oslo 2 c t-1"
    assert await plain.run(plain.check({"words": ["a", "b"]}), context) == 2
    with pytest.raises(ToolRefused, match=r"weather\.now was not run.*did you mean unit"):
        weather.check({"city": "Oslo", "unti": "c"})


def test_a_tool_that_says_nothing_is_a_members_without_side_effects_and_runs_once() -> None:
    assert isinstance(plain, Tool)
    assert (plain.name, plain.role, plain.chats) == ("plain", Role.MEMBER, Chats.ALL)
    assert (plain.side_effects, plain.repeatable) == (False, False)
    bare = Tool(plain.name, plain.description, plain.arguments, plain.run)
    assert (bare.role, bare.side_effects, bare.repeatable) == (Role.MEMBER, False, False)
    assert plain.timeout is None


@pytest.mark.parametrize(
    ("side_effects", "repeatable", "again"),
    [(True, None, False), (False, None, True), (False, False, False), (True, True, True)],
)
def test_a_tool_without_side_effects_may_run_again(
    side_effects: bool, repeatable: bool | None, again: bool
) -> None:
    @tool(side_effects=side_effects, repeatable=repeatable)
    async def probe() -> None:
        """Probe."""

    assert (probe.repeatable, probe.side_effects) == (again, side_effects)


def _sync() -> str:
    """Return nothing."""
    return ""


async def _silent() -> None:
    pass


async def _untyped(city) -> None:  # type: ignore[no-untyped-def]
    """Take a city."""


async def _many(*cities: str) -> None:
    """Take cities."""


async def _lost(city: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Take a city."""


async def _twice(one: ToolContext, two: ToolContext) -> None:
    """Take the context twice."""


async def _shadowing(json: str) -> None:
    """Take JSON."""


class _Opaque:
    pass


async def _opaque(thing: _Opaque) -> None:
    """Take a thing."""


async def _positional(thing: str, /) -> None:
    """Take a thing by position."""


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (_sync, "_sync isn't async: declare it with `async def`"),
        (_silent, "_silent has no docstring: say in one"),
        (_untyped, "_untyped has the parameter city without a type: annotate it"),
        (_many, "_many takes *cities: give each argument"),
        (_lost, "_lost has an annotation that can't be resolved (name 'Nowhere'"),
        (_twice, "_twice takes the ToolContext twice (one, two): keep one"),
        (_shadowing, "_shadowing has the parameter json, a name that pydantic uses"),
        (_opaque, "_opaque has a parameter that pydantic refuses"),
        (_positional, "_positional takes thing: give"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_named_with_the_remedy(
    function: Any, says: str
) -> None:
    with pytest.raises(TypeError) as caught:
        tool(function)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["no spaces", "ä", "x" * 65])
def test_a_name_that_would_change_on_the_wire_is_refused(name: str) -> None:
    async def probe() -> None:
        """Probe."""

    with pytest.raises(TypeError, match="can't be named"):
        tool(name=name)(probe)
