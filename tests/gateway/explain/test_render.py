"""What a terminal is given: nothing in it can drive the terminal, or tell a secret."""

from __future__ import annotations

import pytest

from gateway.explain.report import Option, Report, ReportLine, bounded, printable, to_text


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J", "\x1b]0;owned\x07", "\r", "\n", "\x9b31m", "\u202edetcelfer", "\u2028", "\ud800"],
)
def test_nothing_that_a_terminal_acts_upon_is_printed(text: str) -> None:
    shown = to_text(Report("x", head="h", lines=[ReportLine("", "seen", f"said: {text}")]))
    assert text not in shown.split("\n", 2)[2]
    assert shown.encode().isascii()


def test_what_people_write_is_readable() -> None:
    assert printable("你好, Straße 👍") == "你好, Straße 👍"


def test_a_story_of_several_messages_says_what_to_write() -> None:
    story = Report("42", options=[Option("in-1", "a"), Option("in-2", "b")])
    assert to_text(story).splitlines()[1:] == ["  in-1  a", "  in-2  b"]


def test_a_story_is_the_same_after_its_journey() -> None:
    story = Report("42", "h", [ReportLine("d", "seen", "s", {"a": 1})], "", [Option("w", "s")])
    assert Report.from_json(story.to_json()) == story


def test_what_is_long_is_cut() -> None:
    assert len(str(bounded({"a": ["x" * 10_000], "b": 1}))) < 2100
