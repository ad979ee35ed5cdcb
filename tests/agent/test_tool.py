"""A tool's arguments, and the sentences that a model reads of wrong ones."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from agent.errors import ToolRefused
from agent.testing import new_tape
from agent.tool import Arguments, NoArguments, Role, Tool, ToolContext, wire_name
from tests.agent.scripted import returning


class Dates(Arguments):
    """Two arguments, one of them needed."""

    city: str = Field(description="where")
    days: int = Field(3, ge=1)


async def run(_arguments: Dates, _context: ToolContext) -> object:
    return "sunny"


WEATHER = Tool("weather.today", "Tell the weather.", Dates, run)


def sentence(arguments: str | dict[str, Any], tool: Tool = WEATHER) -> str:
    with pytest.raises(ToolRefused) as caught:
        tool.check(arguments)
    return str(caught.value)


@pytest.mark.parametrize("given", ['{"city":"Oslo"}', {"city": "Oslo"}], ids=["json", "mapping"])
def test_checked_arguments_have_their_defaults(given: str | dict[str, Any]) -> None:
    assert WEATHER.check(given) == Dates(city="Oslo", days=3)


def test_an_unknown_argument_is_named_with_the_nearest_known_one() -> None:
    refusal = sentence('{"city":"Oslo","dayz":2}')
    assert refusal == (
        "weather.today was not run. dayz: Extra inputs are not permitted (did you mean days?)."
        " It takes: city, days."
    )


def test_an_unknown_argument_that_is_like_no_other_has_no_hint() -> None:
    assert "did you mean" not in sentence('{"city":"Oslo","units":"C"}')


def test_a_wrong_type_is_reported_with_the_argument_s_name() -> None:
    assert "days: Input should be a valid integer" in sentence('{"city":"Oslo","days":"many"}')


def test_a_missing_argument_is_named() -> None:
    assert (
        sentence("{}") == "weather.today was not run. city: Field required. It takes: city, days."
    )


def test_everything_that_is_wrong_is_reported_at_once() -> None:
    refusal = sentence('{"days":0}')
    assert "city: Field required" in refusal
    assert "days: Input should be greater than or equal to 1" in refusal


@pytest.mark.parametrize("arguments", ["{broken", "[]", "null", '"Oslo"', " "])
def test_arguments_that_are_no_object_are_refused(arguments: str) -> None:
    assert sentence(arguments).startswith("weather.today was not run. the arguments: ")


def test_what_was_given_is_not_repeated_in_the_sentence() -> None:
    assert "canary" not in sentence({"city": ["canary"], "days": "canary"})


def test_no_arguments_at_all_are_the_empty_object() -> None:
    assert returning("ping", "pong").check("") == NoArguments()
    assert "It takes: no arguments." in sentence('{"a":1}', returning("ping", "pong"))


def test_the_schema_has_what_the_model_needs_and_no_titles() -> None:
    assert WEATHER.schema() == {
        "type": "function",
        "function": {
            "name": "weather_today",
            "description": "Tell the weather.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"description": "where", "type": "string"},
                    "days": {"default": 3, "minimum": 1, "type": "integer"},
                },
                "additionalProperties": False,
                "required": ["city"],
            },
        },
    }


@pytest.mark.parametrize(
    ("name", "wire"),
    [("tape.info", "tape_info"), ("a b:c", "a_b_c"), ("größe", "gr__e"), ("x" * 99, "x" * 64)],
)
def test_a_name_on_the_wire_has_only_what_providers_allow(name: str, wire: str) -> None:
    assert wire_name(name) == wire


def test_the_entries_of_a_tool_belong_to_its_turn_and_lane() -> None:
    tape = new_tape()
    assert ToolContext(tape, Role.MEMBER, "l", "t").meta() == {"lane": "l", "turn": "t"}
    assert ToolContext(tape, Role.MEMBER).meta() == {}
