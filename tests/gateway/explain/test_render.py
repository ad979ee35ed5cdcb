"""What a terminal is given of an explanation: as the documentation shows it, and nothing more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.cli.explain.way import way_of
from gateway.explain.explainer import Explainer
from gateway.explain.report import Option, Report, ReportLine, bounded
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.play import playing


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


PAGE = Path(__file__).resolve().parents[3] / "docs" / "how-to" / "explain.md"
VARIES = {
    r"t-[0-9a-f]{20}": "t-...",
    r"\d+ ms": "N ms",
    r"\d{4}-\d\d-\d\d[ T][\d:.]+": "when",
    r"^\w+day, [\d-]+|^[\d:.]{12}": "when",
    r"(● (view|lane)|│  +shown:) .*": r"\1",  # what is shown where, and offered, is told elsewhere
    r"in the lane .*": "in its lane",
    r"returned, after running for N ms, .*": "returned",
    r"usage .*,": "usage,",
}


async def test_the_example_is_what_the_command_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # not wrapped
    async with playing("telegram", tmp_path, AGENT__MODEL="gpt-5-mini") as play:
        group, alice = play.stage.group(), play.person()
        await play.ask(group, play.person("Bob"), "the spare key is with Anna", mention=False)
        search = Call("call-1", "tape_search", '{"query": "spare key"}')
        play.model.enqueue(ToolCalls((search,)), Text(("Anna ", "has it.")))
        said = await play.ask(group, alice, "who has the spare key?")
        services = play.gateway.services
        story = await Explainer(services.store, services.redactor).explain(said.id)
    shown = way_of(story.to_json())
    print(shown)  # for whoever brings the page up to date
    block = re.search(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert block is not None
    assert steady(block[1]) == steady(shown + "\n")


def steady(text: str) -> str:
    """Return a text without what is another at each run."""
    for pattern, word in VARIES.items():
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text
