"""What a scenario finds fault with, and that no model server's scenario has a fault."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.model_servers.catalog import SCENARIOS
from tests.model_servers.play import play
from tests.model_servers.scenario import Scenario, faults
from tests.model_servers.wire import calling, error, say

PLAIN = Scenario("plain", "A3", (say("Noon."),), ("Noon\\.",), calls=1)


async def found(scenario: Scenario, home: Path) -> str:
    return "\n".join(faults(scenario, await play(scenario, home)))


async def test_an_answer_that_is_as_it_should_be_has_no_faults(tmp_path: Path) -> None:
    assert await found(PLAIN, tmp_path) == ""


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"sees": ("One\\.",)}, "saw 'Noon.'"),
        ({"never": ("oon",)}, "'oon' is in the chat"),
        ({"ends": "failed"}, "the turn ended as ['done']"),
        ({"answers": ()}, "1 requests too many"),
        ({"answers": (calling(), say("Noon."))}, "2 calls, not 1"),
        ({"demands": (lambda _body: error(400, "no such field"),)}, "no such field"),
        ({"sends": (b"a signature",)}, "b'a signature' was not sent"),
        ({"taped": ("handoff/done",)}, "handoff/done is not on the tape"),
        ({"untaped": ("turn.start",)}, "turn.start is on the tape"),
        ({"asks": ("~lunch?",)}, "0 answers to 1 questions"),
    ],
)
async def test_a_fault_has_a_name(tmp_path: Path, changes: dict[str, object], fault: str) -> None:
    scenario: Scenario = replace(PLAIN, **changes)  # type: ignore[arg-type]
    assert fault in await found(scenario, tmp_path)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
async def test_a_person_sees_what_they_should(scenario: Scenario, tmp_path: Path) -> None:
    assert faults(scenario, await play(scenario, tmp_path)) == []


def test_each_scenario_has_its_name_to_itself_and_there_are_enough() -> None:
    listed = [one.name for one in SCENARIOS]
    assert len(listed) == len({*listed}) >= 90
