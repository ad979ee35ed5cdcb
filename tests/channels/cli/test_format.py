"""What may reach a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.cli.format import to_terminal


def test_markdown_stays_as_it_is_written() -> None:
    text = "# Tea\n\n- *hot*\t`code` 中 😀\n"
    assert to_terminal(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b[?25lhidden", "hidden"),
        ("safe\rover", "safeover"),
        ("back\x08\x08\x08\x08space\x7f\x07", "backspace"),
        ("\x9b31mred", "31mred"),
        ("\x1b]0;title\x07rest", "]0;titlerest"),
        ("\x1b\x1b[31m[2Jtwice", "[2Jtwice"),
        ("\x00", ""),
    ],
)
def test_what_would_move_the_cursor_is_taken_out(text: str, shown: str) -> None:
    assert to_terminal(text) == shown


@given(st.text(st.sampled_from("\x1b[]0;31mHJ\x07\x9b\r\n\ta中?") | st.characters()))
def test_no_control_character_is_left_but_tab_and_line_feed(text: str) -> None:
    shown = to_terminal(text)
    assert {one for one in shown if unicodedata.category(one) == "Cc"} <= {"\n", "\t"}
    assert to_terminal(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cc"])))
def test_a_text_without_control_characters_is_shown_whole(text: str) -> None:
    assert to_terminal(text) == text
