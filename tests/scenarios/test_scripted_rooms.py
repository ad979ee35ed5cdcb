"""People talk with the agent in one group as they do in life, and conversations stay apart.

The rooms in tests/fixtures/rooms were written by hand: who says what to whom is known, and nothing
of them was learned from. A floor is what the shipped numbers reach. Whoever lowers one, as other
numbers do some things better and others worse, says in the commit which rise for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.scenarios.scripted_room import Judged, counts, kind_of, read_script, scripted_room

ROOMS: Final = sorted((Path(__file__).parent.parent / "fixtures" / "rooms").glob("*.txt"))
CHINESE: Final = [path for path in ROOMS if path.stem.endswith("_zh")]
OTHERS: Final = [path for path in ROOMS if path not in CHINESE]
LEAST_ROOMS: Final = 12

IN_ENGLISH: Final[Mapping[str, int]] = MappingProxyType(
    {
        "task": 38,
        "reply task": 2,
        "join": 9,
        "follow": 17,
        "talk": 39,
        "shown alone": 28,
        "shown whole": 23,
    }
)
IN_CHINESE: Final[Mapping[str, int]] = MappingProxyType(
    {
        "task": 19,
        "reply task": 2,
        "join": 2,
        "follow": 5,
        "talk": 8,
        "shown alone": 9,
        "shown whole": 5,
    }
)


async def judged_in(folder: Path, model: FakeOpenAI, path: Path) -> list[Judged]:
    """Play a room in a gateway of its own, and judge it."""
    async with scripted_room(folder / path.stem, model, read_script(path)) as room:
        await room.play()
        return await room.judged()


def test_there_are_enough_rooms_and_in_them_happens_what_happens_in_life() -> None:
    assert len(ROOMS) >= LEAST_ROOMS
    kinds: Counter[str] = Counter()
    for path in ROOMS:
        script = read_script(path)
        assert 20 <= len(script) <= 40, path.name
        kinds.update(kind_of(one, script[: one.number]) for one in script if not one.agent)
    assert kinds["task"] >= 50
    assert kinds["join"] >= 20
    assert min(kinds.values()) >= 5


@pytest.mark.parametrize(
    ("paths", "floors"), [(OTHERS, IN_ENGLISH), (CHINESE, IN_CHINESE)], ids=("english", "chinese")
)
async def test_conversations_with_the_agent_stay_apart(
    paths: list[Path], floors: Mapping[str, int], tmp_path: Path, model: FakeOpenAI
) -> None:
    found: list[Judged] = []
    for path in paths:
        found += await judged_in(tmp_path, model, path)
    seen = counts(found)
    assert {name: seen[name] for name, least in floors.items() if seen[name][0] < least} == {}
