"""How Markdown becomes the blocks of a rich message, as the fake's reader shows them."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.markdown.split import split
from channels.telegram.format import LIMIT
from channels.telegram.rich_writer import MAX_BLOCKS, rich_message, rich_partial, rich_size
from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.rich import rich_content
from tests.fakes.telegram.rich_reader import addresses, shown


def blocks(markdown: str) -> list[JsonObject]:
    """Return the blocks of a text that a rich message can show, and that Telegram takes."""
    message = rich_message(markdown)
    assert message is not None
    rich_content({"rich_message": message})
    found: list[JsonObject] = message["blocks"]
    return found


def text_of(markdown: str) -> Any:
    """Return the rich text of a single paragraph."""
    (block,) = blocks(markdown)
    assert block["type"] == "paragraph"
    return block["text"]


def kept(markdown: str) -> JsonObject:
    message = rich_message(markdown)
    assert message is not None
    found: JsonObject = rich_content({"rich_message": message})["rich_message"]
    return found


def lines(markdown: str) -> str:
    return shown(kept(markdown))


def link(text: Any, url: str) -> JsonObject:
    return {"type": "url", "text": text, "url": url}


BOLD = {"type": "bold", "text": "b"}
A = "https://a.org"

TEXTS: list[tuple[str, Any]] = [
    ("a **b** c", ["a ", BOLD, " c"]),
    ("**a *b***", {"type": "bold", "text": ["a ", {"type": "italic", "text": "b"}]}),
    ("~~a~~", {"type": "strikethrough", "text": "a"}),
    ("~5 km~", "~5 km~"),
    ("`a_b`", {"type": "code", "text": "a_b"}),
    ("||**b**||", {"type": "spoiler", "text": BOLD}),
    ("a||b", "a||b"),
    ("one\ntwo", "one\ntwo"),
    (f"[**b**]({A})", link(BOLD, A)),
    (f"||[b]({A})||", {"type": "spoiler", "text": link("b", A)}),
    (f"![b]({A}/x.png)", link("b", f"{A}/x.png")),
    (f"[![b]({A}/x.png)]({A})", link(f"b ({A}/x.png)", A)),
    (f"see {A}/x.", ["see ", link(f"{A}/x", f"{A}/x"), "."]),
    (f"({A}/x_(y))", ["(", link(f"{A}/x_(y)", f"{A}/x_(y)"), ")"]),
    (f"{A}/@ada?q=1", link(f"{A}/@ada?q=1", f"{A}/@ada?q=1")),
    (f"`{A}`", {"type": "code", "text": A}),
    (f"({A}/x)word", ["(", link(f"{A}/x", f"{A}/x"), ")word"]),
    (f"{A}/x]", [link(f"{A}/x", f"{A}/x"), "]"]),
    (f"看{A}。", ["看", link(A, A), "。"]),
    ("[a](tg://user?id=7)", "a (tg://user?id=7)"),
    ("[a](javascript:x)", "a (javascript:x)"),
    ("@ada /stop a.org ada@a.org #x $X", "@ada /stop a.org ada@a.org #x $X"),
    ("README.md", "README.md"),
    ("100*100/400*56", "100*100/400*56"),
    ("so $x^2$ is", ["so ", {"type": "mathematical_expression", "expression": "x^2"}, " is"]),
    ("a &amp; <b>", "a & <b>"),
]


@pytest.mark.parametrize(("markdown", "text"), TEXTS, ids=[one[0] for one in TEXTS])
def test_words_with_their_marks(markdown: str, text: Any) -> None:
    assert text_of(markdown) == text


def test_blocks_are_of_telegrams_own_kinds() -> None:
    written = "## Title\n\ntext\n\n> quoted\n\n```py\ncode\n```\n\n---\n\n$$x$$"
    assert blocks(written) == [
        {"type": "heading", "text": "Title", "size": 2},
        {"type": "paragraph", "text": "text"},
        {"type": "blockquote", "blocks": [{"type": "paragraph", "text": "quoted"}]},
        {"type": "pre", "text": "code", "language": "py"},
        {"type": "divider"},
        {"type": "mathematical_expression", "expression": "x"},
    ]


def test_lists_keep_their_numbers_and_boxes() -> None:
    assert lines("3. a\n4. b\n   - [x] c\n   - [ ] d") == "3. a\n4. b\n• ☑ c\n• ☐ d"
    assert lines("1. a\n1. b") == "1. a\n2. b"
    assert lines("- a\n\n  b\n- c") == "• a\nb\n• c"


@pytest.mark.parametrize("empty", ["- \n- a", "# \n\na", "```\n```\n\na", ">\n\na", "a\n\n- "])
def test_what_is_empty_is_no_reason_to_refuse_the_rest(empty: str) -> None:
    assert "a" in lines(empty)


def test_a_table_has_its_sides_and_its_marks() -> None:
    (table,) = blocks(f"| a | b |\n|:-:|--:|\n| **b** | [b]({A}) |\n| x |")
    head, first, second = table["cells"]
    assert [(cell["text"], cell["align"]) for cell in head] == [("a", "center"), ("b", "right")]
    assert all(cell["is_header"] for cell in head)
    assert [cell["text"] for cell in first] == [BOLD, link("b", A)]
    assert second == [{"align": "center", "valign": "top", "text": "x"}, {**second[1]}]
    assert "text" not in second[1]


def test_a_table_of_more_columns_than_telegram_draws_is_aligned_text() -> None:
    def written(columns: int) -> str:
        row = f"| [b]({A}) |" + " a |" * (columns - 1)
        return f"{row}\n{'|-' * columns}|\n{row}"

    assert blocks(written(20))[0]["type"] == "table"
    (block,) = blocks(written(21))
    assert block["type"] == "pre"
    assert block["text"].count(f"b ({A})") == 2


def test_what_no_rich_message_can_show_is_left_to_entities() -> None:
    for markdown in ("", "  ", "\u200b", "---", "- ", "> " * 20 + "a", "- a\n" * MAX_BLOCKS):
        assert rich_message(markdown) is None
    assert rich_message("> " * 10 + "a") is not None


@pytest.mark.parametrize(
    ("markdown", "is_rtl"),
    [
        ("# \u05e9\u05dc\u05d5\u05dd abc", True),
        ("1. \u0633\u0644\u0627\u0645", True),
        ("abc \u05e9", None),
    ],
)
def test_a_message_runs_in_the_direction_of_its_first_letter(
    markdown: str, is_rtl: bool | None
) -> None:
    assert kept(markdown).get("is_rtl") == is_rtl


def test_a_text_is_cut_before_500_blocks() -> None:
    written = "\n".join(f"- {number}" for number in range(700))
    pieces = split(written, LIMIT, rich_size)
    assert len(pieces) > 1
    shown_numbers = [re.findall(r"\d+", lines(piece)) for piece in pieces]
    assert [one for piece in shown_numbers for one in piece] == [*map(str, range(700))]


def test_partial_text_has_its_marks_closed_and_only_the_first_message() -> None:
    half = rich_partial("a **b")
    assert half is not None
    assert half["blocks"] == [{"type": "paragraph", "text": ["a ", BOLD]}]
    long = rich_partial("- a\n" * 700)
    assert long is not None
    rich_content({"rich_message": long})


_PIECES = st.sampled_from(
    [
        *("word", " ", "\n", "\n\n", "**", "*", "__", "~~", "||", "`", "```\n", "> ", "- ", "1. "),
        *(
            "# ",
            "| a | b |\n|---|---|\n",
            "| ",
            "[x]",
            f"({A}/p?q=1)",
            "[label]",
            "![alt]",
            "$",
            "$$",
        ),
        *(
            "\\",
            "&amp;",
            "<b>",
            "@ada",
            "tg://user?id=7",
            "注意\uff1a",
            "😀",
            "- [x] ",
            "    ",
            "---\n",
        ),
    ]
)


@settings(max_examples=300)
@given(st.lists(_PIECES, max_size=40).map("".join))
def test_telegram_takes_whatever_is_written_and_no_word_is_lost(markdown: str) -> None:
    message = rich_message(markdown)
    if message is None:
        return
    rich = rich_content({"rich_message": message})["rich_message"]
    seen = shown(rich) + " ".join(addresses(rich))
    assert seen.count("word") == markdown.count("word")
    assert seen.count("label") == markdown.count("label")
    assert not any("tg:" in one for one in addresses(rich))
    assert _kinds(message) <= KINDS


KINDS = {
    *("paragraph", "heading", "pre", "divider", "mathematical_expression", "blockquote", "list"),
    *("table", "1", "bold", "italic", "strikethrough", "spoiler", "code", "url"),
}
"""Every `type` that is sent: no file, no map, no button, no mention."""


def _kinds(value: Any) -> set[str]:
    if isinstance(value, Mapping):
        own = {value["type"]} if "type" in value else set()
        return own | {kind for one in value.values() for kind in _kinds(one)}
    return {kind for one in value for kind in _kinds(one)} if isinstance(value, list) else set()


HOSTILE = {
    "links": f"[a]({A})" * 600,
    "addresses": f"{A}/( " * 900,
    "brackets": f"{A}/" + ")" * 9_000,
    "quotes": "> " * 5_000,
    "lists": "\n".join(" " * 2 * number + "- a" for number in range(140)),
    "marks": "**a *b* ~~c~~** ||d|| " * 450,
    "cells": "|" + "a|" * 4_000 + "\n|" + "-|" * 4_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_time_that_grows_with_its_length_only(text: str) -> None:
    def seconds(text: str) -> float:
        began = time.process_time()
        rich_message.__wrapped__(text)
        return time.process_time() - began

    short, long = (min(seconds(text * times) for _ in range(3)) for times in (1, 4))
    assert long < 10 * short + 0.05
