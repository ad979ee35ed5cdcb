"""The example of docs/how-to/explain.md is what the command prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.cli.explain.way import way_of
from gateway.explain.explainer import Explainer
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.play import playing

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
