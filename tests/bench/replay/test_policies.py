"""What other policies show, on a room of numbered messages of ten tokens each."""

from __future__ import annotations

import pytest

from bench.replay.policies import LEFT_OUT, SUMMARY, SUMMARY_TOKENS, WINDOWS, Rivals, stepped
from bench.replay.prompts import Call, Piece

TOKENS = 10
FRAME = 100


def heard(count: int, *, budget: int = 10**6, first: int = 0) -> Rivals:
    rivals = Rivals(FRAME, budget, first)
    say(rivals, 0, count)
    return rivals


def say(rivals: Rivals, start: int, end: int) -> None:
    for number in range(start, end):
        rivals.hear(number, Piece(str(number).encode(), TOKENS))


def test_a_window_holds_the_last_messages_before_the_question() -> None:
    calls = heard(61).call(0)
    assert calls["last 20"].shown == tuple(range(40, 60))
    assert calls["last 50"].shown == tuple(range(10, 60))
    assert calls["last 100"].shown == tuple(range(60))
    assert calls["last 20"].tokens == FRAME + 21 * TOKENS


@pytest.mark.parametrize(
    ("before", "start"), [(0, 0), (19, 0), (39, 0), (40, 20), (59, 20), (60, 40)]
)
def test_a_window_in_steps_grows_and_is_cut_again(before: int, start: int) -> None:
    assert stepped(before) == start


def test_only_a_window_in_steps_keeps_its_beginning() -> None:
    rivals = heard(50)
    rivals.call(0)
    say(rivals, 50, 52)
    calls = rivals.call(1)
    assert calls["last 20"].cached == (FRAME, FRAME)
    assert calls["last 20 to 40"].cached == (FRAME + 30 * TOKENS,) * 2


def test_all_is_shown_until_it_is_too_long_and_then_what_a_summary_leaves_out() -> None:
    rivals = heard(50, budget=500)
    everything = rivals.call(0)[SUMMARY]
    assert everything == Call(tuple(range(49)), FRAME + 500, (0, 0))
    say(rivals, 50, 55)
    cut = rivals.call(1)[SUMMARY]
    assert cut.shown == tuple(range(55 - LEFT_OUT, 54))
    # The call that makes the summary reads all 55, of which 50 were sent before; then the prompt.
    asked = FRAME + 55 * TOKENS
    shown = FRAME + SUMMARY_TOKENS + LEFT_OUT * TOKENS
    assert cut.tokens == asked + shown
    assert cut.cached == (FRAME + 50 * TOKENS + FRAME,) * 2


def test_a_summary_is_made_once_until_it_is_too_long_again() -> None:
    rivals = heard(55, budget=700)
    first = rivals.call(0)[SUMMARY]
    say(rivals, 55, 80)
    rivals.call(1)
    say(rivals, 80, 81)
    third = rivals.call(2)[SUMMARY]
    assert len(first.shown) == 54
    assert third.shown == tuple(range(70, 80))
    assert third.tokens == FRAME + SUMMARY_TOKENS + 11 * TOKENS


def test_answers_are_shown_and_are_no_candidates_nor_is_what_is_before_the_first() -> None:
    rivals = Rivals(FRAME, 10**6, first=2)
    say(rivals, 0, 4)
    rivals.hear(None, Piece(b"an answer", TOKENS))
    say(rivals, 4, 5)
    calls = rivals.call(0)
    assert set(calls) == {*WINDOWS, SUMMARY}
    for call in calls.values():
        assert call.shown == (2, 3)
        assert call.tokens == FRAME + 6 * TOKENS
