"""What looks like a mark is drawn where a person means one, and stays as it was written elsewhere.

Each rule has texts that must be drawn, with what carries the mark, and texts that must not.
"""

# ruff: noqa: RUF001

from __future__ import annotations

import time

import pytest

from channels.discord.format import render
from channels.markdown import close_open_marks
from channels.markdown.literal import literals
from channels.markdown.render import Rendered, render_spans
from channels.markdown.tree import parse
from channels.slack.format import neutral
from tests.channels.markdown.literal_texts import (
    BARS_DRAWN,
    BARS_KEPT,
    DUNDER_DRAWN,
    DUNDER_KEPT,
    FORMULAS,
    NO_FORMULAS,
    SIGNS,
    SLASHES_DRAWN,
    SLASHES_KEPT,
    STARS_DRAWN,
    STARS_KEPT,
    WIDE,
    lines,
    pairs,
)


def rendered(text: str) -> Rendered:
    return render_spans(text, linkable=lambda _url: True)


@pytest.mark.parametrize(
    ("kinds", "text", "marked"),
    [
        *(("bold italic", *pair) for pair in pairs(STARS_DRAWN)),
        *(("bold", *pair) for pair in pairs(DUNDER_DRAWN)),
        *(("bold italic strike", *pair) for pair in pairs(WIDE)),
    ],
)
def test_a_mark_is_drawn(kinds: str, text: str, marked: str) -> None:
    shown, marks = rendered(text)
    assert marked in [shown[one.start : one.end] for one in marks if one.kind in kinds]


@pytest.mark.parametrize("text", lines(BARS_DRAWN))
def test_a_spoiler_hides(text: str) -> None:
    shown, marks = rendered(text)
    assert "spoiler" in [one.kind for one in marks]
    assert "||" not in shown


@pytest.mark.parametrize("text", lines(BARS_DRAWN))
def test_a_spoiler_hides_while_it_is_written(text: str) -> None:
    start = text.index("||")
    for at in range(start + 3, text.index("||", start + 2) + 2):
        shown, marks = rendered(close_open_marks(text[:at]))
        hidden = {at for one in marks if one.kind == "spoiler" for at in range(one.start, one.end)}
        seen = [char for place, char in enumerate(shown) if place not in hidden]
        assert list(filter(str.isalnum, seen)) == list(filter(str.isalnum, text[:start]))


@pytest.mark.parametrize(
    "text", [*lines(STARS_KEPT), *lines(DUNDER_KEPT), *lines(BARS_KEPT), *lines(SLASHES_KEPT)]
)
def test_what_is_no_mark_stays_as_it_was_written(text: str) -> None:
    shown, marks = rendered(text)
    assert shown == text
    assert marks == []


@pytest.mark.parametrize("text", lines(FORMULAS))
def test_a_formula_stays_as_it_was_written(text: str) -> None:
    assert rendered(text) == (text, [])


@pytest.mark.parametrize(("text", "shown"), [*pairs(SIGNS)])
def test_a_formula_of_symbols_indices_and_powers_is_written_with_signs(
    text: str, shown: str
) -> None:
    assert rendered(text).text == shown
    assert render(text).strip("*") == shown
    assert neutral(text).strip("*") == shown


@pytest.mark.parametrize(("text", "shown"), [*pairs(SLASHES_DRAWN), *pairs(NO_FORMULAS)])
def test_an_escape_is_taken_away(text: str, shown: str) -> None:
    assert rendered(text).text == shown


CODE_IN_ROWS = ("int | None", "a || b", "ps aux | grep x", "|", "||", "x|y|z", "a |", "| a")


@pytest.mark.parametrize("code", CODE_IN_ROWS)
@pytest.mark.parametrize("ticks", ["`", "``"])
def test_a_pipe_in_code_parts_no_cells(code: str, ticks: str) -> None:
    row = f"| {ticks}{code}{ticks} | meaning |"
    for table in (f"| a | b |\n|---|---|\n{row}", f"{row}\n|:--|--:|\n| 1 | 2 |"):
        cells = [one.data for one in parse(table) if one.name == "Code"]
        assert cells == [code]
        assert len([one for one in parse(table) if one.name == "TableCell"]) == 8


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| 1 | 2 | 3 |", ["1", "2 | 3"]),
        ("1 | 2 | 3", ["1", "2 | 3"]),
        ("| 1 | 2 | 3 | 4 | 5 |", ["1", "2 | 3 | 4 | 5"]),
        ("| 1 | `a|b` | 3 |", ["1", "a|b | 3"]),
        ("| 1 | 2 |", ["1", "2"]),
        ("| 1 |", ["1", ""]),
        (r"| 1 \| 2 | 3 |", ["1 | 2", "3"]),
    ],
)
def test_no_cell_of_a_row_is_lost(row: str, cells: list[str]) -> None:
    found: list[str] = []
    for event in parse(f"| a | b |\n|---|---|\n{row}\n\nend"):
        if event.name == "TableCell" and event.phase == "open":
            found.append("")
        elif event.name in ("Text", "Code") and found:
            found[-1] += event.data
    assert [*found[2:4][:-1], found[3].removesuffix("end")] == cells


def test_what_is_in_code_is_no_concern_of_the_rules() -> None:
    for text in ("`2*3*4`", "```\n__init__ a||b\n```", "`C:\\_x\\y`"):
        (mark,) = rendered(text).marks
        assert mark.kind in ("code", "pre")
        assert rendered(text).text == text.strip("`").strip("\n")


def test_a_rule_goes_by_words_and_not_by_what_stands_behind() -> None:
    for text in (*lines(STARS_KEPT), *lines(DUNDER_KEPT)):
        found = literals(text)
        assert literals(f"{text} and *more* `code`")[: len(found)] == found


@pytest.mark.parametrize("text", ["，_重要_，", "（_a_）", "，*重要*，", "。~~重要~~。"])
def test_each_mark_opens_and_closes_beside_wide_punctuation(text: str) -> None:
    assert len(render_spans(text, linkable=bool).marks) == 1


@pytest.mark.parametrize(
    "text",
    ["\\[" + " " * 10_000 + "y\\]", "\\[ 1, " * 1500, "a*" * 5000, "__a" * 3000, "a\\*" * 3000],
)
def test_the_time_of_the_rules_grows_no_faster_than_the_text(text: str) -> None:
    begun = time.process_time()
    literals(text)
    assert time.process_time() - begun < 0.2  # the first took 0.4 when it was squared
