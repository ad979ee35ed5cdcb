"""Each scenario of a model server: what the person saw, and what the tape holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.model_servers.catalog import SCENARIOS
from tests.model_servers.play import play
from tests.model_servers.scenario import Scenario, faults


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.name)
async def test_a_person_sees_what_they_should(scenario: Scenario, tmp_path: Path) -> None:
    assert faults(scenario, await play(scenario, tmp_path)) == []


def test_each_scenario_has_its_name_to_itself_and_there_are_enough() -> None:
    listed = [one.name for one in SCENARIOS]
    assert len(listed) == len({*listed}) >= 90
