"""A command line and its arguments, as people write them."""

from __future__ import annotations

from typing import Any

import pytest

from agent import tool
from agent.tools.search import search_tape
from gateway.errors import CommandRefused
from gateway.intake.commands.command_line import Command, arguments_of, parse_command


@tool(name="plums", side_effects=False)
async def plums(*, kinds: list[str], sizes: list[int] | None = None, note: str = "") -> object:
    """Take plums."""
    return (kinds, sizes, note)


def given(line: str) -> dict[str, Any]:
    return plums.check(arguments_of(plums, parse_command(line))).model_dump()


def test_a_line_is_a_name_words_and_pairs() -> None:
    line = ',tape.search the word query="two words" limit=5'
    assert parse_command(line) == Command(
        "tape.search", ("the", "word"), {"query": "two words", "limit": "5"}
    )


def test_a_quotation_mark_that_is_not_closed_is_told() -> None:
    with pytest.raises(CommandRefused, match="quotation mark"):
        parse_command(',x "open')


@pytest.mark.parametrize("space", ["\u00a0", "\u2007", "\u202f", "\u3000", "\u2003", "\t", "   "])
def test_spaces_of_every_kind_part_words(space: str) -> None:
    line = f",x{space}one{space}a=b"
    assert parse_command(line) == Command("x", ("one",), {"a": "b"})


@pytest.mark.parametrize("marks", ["“”", "„“", "””", '""', "''"])
def test_a_value_may_stand_in_marks_that_a_phone_makes(marks: str) -> None:
    assert parse_command(f",x a={marks[0]}two words{marks[1]} b").pairs == {"a": "two words"}


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("red,blue", ["red", "blue"]),
        ("red", ["red"]),
        ('["red"]', ["red"]),
        ('["red", "light blue"]', ["red", "light blue"]),
        ('["red, sweet","blue"]', ["red, sweet", "blue"]),
        ("[red, blue]", ["red", "blue"]),
        ("['red','blue']", ["red", "blue"]),
        ("[“red”, “blue”]", ["red", "blue"]),
        ('"red, blue"', ["red", "blue"]),
        ("[]", []),
    ],
)
def test_a_list_is_written_with_commas_or_as_json(written: str, kinds: list[str]) -> None:
    assert given(f",plums kinds={written} note=x")["kinds"] == kinds


def test_a_list_of_numbers_may_be_left_out_and_given() -> None:
    assert given(",plums red")["sizes"] is None
    assert given(",plums red sizes=1,2")["sizes"] == [1, 2]
    assert given(",plums red sizes=[1,2]")["sizes"] == [1, 2]


def test_what_looks_like_a_list_in_quotes_or_for_a_text_stays_as_it_is() -> None:
    assert parse_command(',x a="see b=[1] there"').pairs == {"a": "see b=[1] there"}
    assert given(',plums red note=["a","b"]')["note"] == '["a","b"]'


def test_a_line_whose_list_has_no_such_kind_is_refused_by_the_tool() -> None:
    line = parse_command(",tape.search plum kinds=message,nonsense")
    assert arguments_of(search_tape, line)["kinds"] == ["message", "nonsense"]
