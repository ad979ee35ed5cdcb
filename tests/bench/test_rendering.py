"""The benchmark of rendering draws what it says, and compares two checkouts."""

from __future__ import annotations

import pytest

from bench.rendering.__main__ import HERE, costs, drawing, hostile_figures
from bench.rendering.targets import SECONDS, TARGETS, drawn, shown
from bench.rendering.texts import ANSWERS, HOSTILE_SIZE, SHAPES, SIZE, hostile


def test_the_texts_are_as_long_as_they_should_be_and_each_is_another() -> None:
    assert {len(text.encode()) for text in ANSWERS.values()} <= {SIZE, SIZE - 1, SIZE - 2}
    assert len(set(hostile())) == len(SHAPES) == 40
    assert {len(text) for text in hostile()} == {HOSTILE_SIZE}


def test_a_target_shows_what_there_is_at_its_own_interval() -> None:
    partials = [str(number) for number in range(1, 201)]
    assert shown(partials, SECONDS / 4) == ["50", "100", "150"]
    assert len(shown(partials, 0.01)) == 199


@pytest.mark.parametrize("target", TARGETS)
def test_drawing_costs_something_on_each_target(target: str) -> None:
    assert drawn(target, ANSWERS["table"], 20)["cpu"] > 0


def test_two_checkouts_draw_in_turns_and_hostile_texts_are_measured() -> None:
    with drawing(HERE) as own, drawing(HERE) as other:
        found = costs("page", ANSWERS["English"][:500], [own, other], 2)
        (figure,) = hostile_figures(own, ["page"], hostile()[:2])
    assert len(found.own) == len(found.base) == 2
    assert min(found.own + found.base) > 0
    assert figure.value > 0
