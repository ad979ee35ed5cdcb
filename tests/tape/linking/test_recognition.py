"""How well a room's conversations are recognized, by its own replies."""

from __future__ import annotations

import pytest

from tape.linking.recognition import (
    FIRST_PACE,
    LAST_REPLIES,
    MIN_REPLIES,
    PACE,
    JudgedReply,
    Recognition,
    read_recognition,
)

IN_LANE = JudgedReply(in_lane=True, in_set=True, in_last=False)
IN_LAST = JudgedReply(in_lane=False, in_set=False, in_last=True)
EVERYWHERE = JudgedReply(in_lane=True, in_set=True, in_last=True)


def after(known: Recognition, *found: JudgedReply) -> Recognition:
    for one in found:
        known = known.after(one)
    return known


def test_the_shares_are_those_of_the_replies_that_were_judged() -> None:
    known = after(Recognition(), IN_LANE, IN_LANE, IN_LAST, EVERYWHERE)
    assert known == Recognition(4, 0.75, 0.75, 0.5)
    assert not known.is_known
    assert after(known, *[EVERYWHERE] * (MIN_REPLIES - 4)).is_known


def test_old_replies_fade() -> None:
    known = after(Recognition(), *[IN_LANE] * 500)
    assert known == Recognition(LAST_REPLIES, 1.0, 1.0, 0.0)
    assert 0.35 < after(known, *[IN_LAST] * LAST_REPLIES).in_lane < 0.4
    assert after(known, *[IN_LAST] * 500).in_lane < 0.01


def test_the_last_messages_are_shown_where_they_have_what_is_replied_to_more_often() -> None:
    few = after(Recognition(), *[IN_LAST] * (MIN_REPLIES - 1))
    assert not few.by_recency
    assert few.after(IN_LAST).by_recency


def test_the_difference_must_be_five_points_and_is_forgotten_only_at_none() -> None:
    known = Recognition(LAST_REPLIES, 0.5, 0.5, 0.53)
    assert not known.after(EVERYWHERE).by_recency
    assert known.after(IN_LAST).after(IN_LAST).by_recency is False
    clear = Recognition(LAST_REPLIES, 0.5, 0.5, 0.56).after(EVERYWHERE)
    assert clear.by_recency
    states = []
    for _ in range(10):
        clear = clear.after(IN_LANE)
        states.append(clear.by_recency)
    assert states == sorted(states, reverse=True)
    assert states.index(False) in range(2, 6)
    assert not clear.after(IN_LAST).by_recency


def test_replies_are_judged_at_a_pace() -> None:
    new, known = Recognition(), Recognition(MIN_REPLIES)
    assert [new.is_due(FIRST_PACE - 1), new.is_due(FIRST_PACE)] == [False, True]
    assert [known.is_due(PACE - 1), known.is_due(PACE)] == [False, True]


def test_what_is_recorded_is_read_as_it_was() -> None:
    known = Recognition()
    for number in range(120):
        known = known.after((IN_LANE, IN_LAST, EVERYWHERE)[number * number % 3])
        assert read_recognition(known.to_json()) == known


@pytest.mark.parametrize(
    "recorded",
    [
        None,
        [],
        "61",
        {},
        {"replies": 0, "lane": 0, "set": 0, "last": 0},
        {"replies": 101, "lane": 0, "set": 0, "last": 0},
        {"replies": True, "lane": 0, "set": 0, "last": 0},
        {"replies": 5, "lane": 0, "set": 0},
        {"replies": 5, "lane": 0, "set": 0, "last": 1.5},
        {"replies": 5, "lane": "all", "set": 0, "last": 1},
        {"replies": 5, "lane": float("nan"), "set": 0, "last": 1},
    ],
)
def test_what_cannot_be_read_is_nothing(recorded: object) -> None:
    assert read_recognition(recorded) is None
