"""The table of model servers."""

from __future__ import annotations

from pathlib import Path

from bench.foreign_servers import SCENARIOS as FOREIGN
from bench.model_servers import playing_of, row_of, run, table
from bench.tiny_model import ALIGNMENT, write_model
from tests.model_servers.catalog import SCENARIOS
from tests.model_servers.play import play
from tests.model_servers.scenario import Outcome, Scenario
from tests.model_servers.wire import calling, say

SCENARIO = Scenario("a | b", "A3", (calling(), say("<b>Noon</b>")), (".*",))


async def test_a_row_has_what_was_seen_and_what_is_on_the_tape(tmp_path: Path) -> None:
    outcome = await play(SCENARIO, tmp_path)
    part, name, seen, tape, calls, holds = row_of(SCENARIO, outcome, ["a fault"])
    assert (part, name, calls, holds) == ("A3", "a | b", "2", "NO")
    assert seen == "<b>Noon</b>"
    assert "tool_call tool.done tool_result loop.step(tools, tool_calls)" in tape
    assert "loop.step(ok, stop) message(assistant) outbound turn.end(done)" in tape


async def test_the_table_is_markdown() -> None:
    async def playing(home: Path) -> Outcome:
        return await play(SCENARIO, home)

    lines = table(await run([(SCENARIO, playing)])).splitlines()
    assert lines[1].count("---") == lines[0].count("|") - 1
    assert lines[2].startswith("| A3 | a \\| b | &lt;b>Noon&lt;/b> | ")
    assert lines[2].endswith("| 2 | yes |")


def test_all_scenarios_are_played_here_or_with_foreign_servers(tmp_path: Path) -> None:
    assert [one for one, _ in playing_of(None)] == [*SCENARIOS]
    assert [one for one, _ in playing_of(tmp_path)] == [one.scenario for one in FOREIGN]
    assert len(FOREIGN) >= 10


def test_the_tiny_model_is_in_the_format_of_llama_cpp(tmp_path: Path) -> None:
    write_model(tmp_path / "tiny.gguf", "mistral")
    written = (tmp_path / "tiny.gguf").read_bytes()
    assert written.startswith(b"GGUF\x03\0\0\0")
    assert len(written) % ALIGNMENT == 0
    assert b"conversation roles must alternate" in written
