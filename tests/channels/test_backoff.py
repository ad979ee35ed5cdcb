"""Waits that double, up to a bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from channels.backoff import Backoff


def test_waits_double_up_to_the_longest() -> None:
    backoff = Backoff(1, 10)
    assert [backoff.next() for _ in range(6)] == [1, 2, 4, 8, 10, 10]


def test_a_reset_begins_with_the_first_wait_again() -> None:
    backoff = Backoff(0.5, 60)
    backoff.next()
    backoff.next()
    backoff.reset()
    assert backoff.next() == 0.5


def test_a_thousand_tries_still_wait_the_longest() -> None:
    backoff = Backoff(1, 30)
    for _ in range(5000):
        backoff.next()
    assert backoff.next() == 30


@given(st.floats(0.01, 10), st.floats(10, 1000), st.floats(0, 1), st.integers(0, 12))
def test_jitter_only_shortens_a_wait(
    first: float, longest: float, jitter: float, tries: int
) -> None:
    plain, random = Backoff(first, longest), Backoff(first, longest, jitter)
    for _ in range(tries):
        plain.next()
        random.next()
    whole = plain.next()
    assert whole * (1 - jitter) <= random.next() <= whole
