"""A room's memory is the same if it is kept, read back from pieces, or rebuilt of its tape."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.pieces import Differs, Twins
from gateway.context.rooms.memory import FILLS_FOR, READ
from tape.linking import LaneLink, Linker
from tests.gateway.context.bad_rooms import BAD_ROOMS
from tests.gateway.context.memories import says
from tests.kit.examples import examples
from tests.scenarios.scripted_room import BEGUN, NAME, Said, read_script

ROOMS: Final = sorted((Path(__file__).parent.parent / "fixtures" / "rooms").glob("*.txt"))
MODEL: Final = Linker.shipped()
SUBJECTS: Final = (
    "grafana dashboard",
    "dentist leipzig",
    "tent norway",
    "rye acetone",
    "路由器 固件",
)


def talk(twins: Twins, random: Random, count: int) -> None:
    """Say things of which some reply, call the agent, come again, or are said under a new name."""
    for number in range(count):
        big = number % 300 > 200
        who = str(number % 2 if number % 170 > 120 else random.randint(1, 6))
        words = f"{random.choice(SUBJECTS)} {random.choice(('?', 'and that?', 'is broken'))}"
        known = number if random.random() < 0.97 else max(0, number - random.randint(0, 250))
        more = {"reply_to": str(max(0, number - random.randint(1, 250)))}
        said = says(number, who, words, message_id=str(known), addressed=random.random() < 0.1)
        said = replace(said, **more) if random.random() < 0.15 else said  # type: ignore[arg-type]
        if random.random() < 0.03:
            name = f"New{random.randint(1, 9)} One"
            said = replace(said, sender=replace(said.sender, name=name))
        given_to = LaneLink("big", None, "x") if big and random.random() < 0.87 else None
        twins.hear(said, "that is fine" if said.addressed else "", given_to)


@examples(8)
@given(st.integers(0, 10_000))
def test_whatever_is_said_a_room_that_was_read_back_or_rebuilt_is_the_one_that_was_kept(
    seed: int,
) -> None:
    random = Random(seed)
    talk(Twins(MODEL, random), random, 700)


def spoken(twins: Twins, said: Said) -> None:
    if said.author != "*":
        date = BEGUN.replace(microsecond=0).timestamp() + said.at
        message = says(said.number, said.author, said.text, addressed=NAME in said.text)
        twins.hear(replace(message, date=_date(date)), "so it is" if message.addressed else "")


def _date(at: float) -> str:
    return BEGUN.fromtimestamp(at, BEGUN.tzinfo).isoformat()


def test_the_scripted_rooms_one_behind_the_other_are_the_same() -> None:
    twins = Twins(MODEL, Random(1))
    first = 0
    for path in [*ROOMS, *ROOMS]:
        script = read_script(path)
        for said in script:
            said.number += first
            spoken(twins, said)
        first += len(script)
    assert len(twins.tape) > 1.5 * READ


@pytest.mark.parametrize("name", BAD_ROOMS)
def test_bad_rooms_are_the_same(name: str) -> None:
    twins = Twins(Linker(), Random(2))
    for number in range(1, READ + 60):
        twins.hear(BAD_ROOMS[name](number))


def test_a_conversation_fills_a_room_no_longer_than_a_tape_can_show() -> None:
    twins = Twins(Linker(), Random(3))
    filled = []
    for number in range(2 * FILLS_FOR):
        other = number >= 50 and number % 8 == 0
        said = says(number, str(number % 3), "so it goes")
        twins.hear(said, given=LaneLink(f"other {number}" if other else "a", None, ""))
        filled.append(twins.kept.filling == "a")
    assert filled[6:300] == [True] * 294
    assert not filled[-1]


def test_a_memory_that_differs_is_found() -> None:
    twins = Twins(MODEL, Random(4))
    talk(twins, Random(4), 20)
    twins.other.recognition = replace(twins.other.recognition, replies=7)
    with pytest.raises(Differs, match="recognition"):
        twins.compare()
