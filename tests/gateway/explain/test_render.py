"""What a terminal is given: nothing in it can drive the terminal, or tell a secret."""

from __future__ import annotations

import pytest

from gateway.cli.explain.way import way_of
from gateway.explain.report import Option, Report, ReportLine, bounded


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J", "\x1b]0;owned\x07", "\r", "\n", "\x9b31m", "\u202edetcelfer", "\u2028", "\ud800"],
)
def test_nothing_that_a_terminal_acts_upon_is_printed(text: str) -> None:
    story = Report(text, f"h{text}", [ReportLine("", f"a{text}", f"b{text}")], f"c{text}")
    options = Report(text, options=[Option(f"w{text}", f"s{text}")])
    shown = way_of(story.to_json()) + way_of(options.to_json())
    assert all(line.isprintable() for line in shown.split("\n"))
    assert text == "\n" or text not in shown


def test_a_story_of_several_messages_says_what_to_write() -> None:
    story = Report("42", options=[Option("in-1", "a"), Option("in-2", "b")])
    assert way_of(story.to_json()).splitlines()[1:] == ["  in-1  a", "  in-2  b"]


def test_a_story_is_the_same_after_its_journey() -> None:
    story = Report("42", "h", [ReportLine("d", "seen", "s", {"a": 1})], "", [Option("w", "s")])
    assert Report.from_json(story.to_json()) == story


def test_what_is_long_is_cut() -> None:
    assert len(str(bounded({"a": ["x" * 10_000], "b": 1}))) < 2100


def test_a_story_is_drawn_as_the_way_of_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    at = "2026-01-02T03:04:05.678+00:00"
    lines = [
        ReportLine(at, "seen", "word " * 12),
        ReportLine("", "access", "allowed"),
        ReportLine("", "view", "one"),
        ReportLine("", "view", "two"),
    ]
    _head, _space, day, *drawn = way_of(Report("x", "h", lines).to_json()).splitlines()
    assert day.endswith("2026-01-02")
    assert [line[14:].split()[0] for line in drawn] == ["●", "│", "●", "●", "│"]
    assert drawn[0][5:].startswith(":05.678  ● seen       word")
    assert drawn[1] == f"{' ' * 14}│{' ' * 12}" + "word " * 5 + "word"
    assert drawn[3:] == [f"{' ' * 14}● view       one", f"{' ' * 14}│            two"]
    assert max(map(len, drawn)) <= 60
