"""What is noticed of talk that is lost, that is there twice, and that is out of its order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.chaos.gateway import forked
from tests.chaos.plan import make_plan
from tests.chaos.play import play
from tests.chaos.stage import stage_of
from tests.chaos.talk import faults, talk

SAID = talk(7, 3)


def tape(*places: tuple[int, int]) -> list[tuple[int, int, str]]:
    """Return a tape with messages by their number, and the rows that they came from."""
    rows = [json.dumps({"text": SAID[number], "inbox": row}) for number, row in places]
    return [(1, at, meta) for at, meta in enumerate(rows)]


@pytest.mark.parametrize(
    ("places", "told"),
    [
        (((0, 1), (1, 2), (2, 3)), ""),
        (((0, 1), (2, 3)), "1 are lost: ['T7-1']"),
        (((0, 1), (1, 2), (1, 2), (2, 3)), "1 are on a tape twice: ['T7-1']"),
        (((0, 1), (2, 3), (1, 2)), "1 are out of order: ['1: 2 after 3']"),
    ],
)
def test_talk_is_there_once_and_in_order(places: tuple[tuple[int, int], ...], told: str) -> None:
    found = faults([*tape(*places), (2, 9, json.dumps({"text": "Q0010 short", "inbox": 4}))], SAID)
    assert found == ([f"of 3 messages that ask nothing, {told}"] if told else [])


async def test_a_schedule_begins_with_messages_that_wait(tmp_path: Path) -> None:
    stage = stage_of("telegram")
    plans = [make_plan(stage.menu, "kill", "talk")]
    (record,) = await play(stage, plans, tmp_path, forked, lambda _record: True, talk=40)
    assert (len(record.talk), record.strange, record.stuck) == (40, [], "")
    assert record.kills
