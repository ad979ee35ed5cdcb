"""A time is measured again where it breaks its bar, and the best attempt counts."""

from __future__ import annotations

import os
import sys

import pytest

from bench.figures import Bar
from bench.unserved import ATTEMPTS, Given, Took, best, given, took


async def attempts(*times: float) -> tuple[float, list[str]]:
    """Measure something that takes so many milliseconds, one attempt after the other."""
    left, done = list(times), list[str]()

    async def measure() -> float:
        done.append("measured")
        return left.pop(0)

    async def go_back() -> None:
        done.append("went back")

    return (await best(Bar("<", 300), measure, go_back)).wall, done


async def test_what_meets_its_bar_is_measured_once() -> None:
    assert await attempts(200) == (200, ["measured"])


async def test_what_breaks_its_bar_is_measured_again_from_the_start() -> None:
    assert await attempts(900_000, 200) == (200, ["measured", "went back", "measured"])


async def test_what_always_breaks_its_bar_is_given_up() -> None:
    _wall, done = await attempts(*range(900_000, 900_000 + ATTEMPTS))
    assert done.count("measured") == ATTEMPTS


def test_a_time_is_judged_without_what_was_waited_but_not_below_what_was_used() -> None:
    before = {1: Given(5.0, 1.0), 2: Given(7.0, 2.0)}
    after = {1: Given(5.25, 1.25), 2: Given(7.5, 2.5)}
    assert took(2000, before, after) == Took(2000, 1250)
    assert took(900, before, after) == Took(900, 500)
    assert took(400, before, after) == Took(400, 400)
    assert took(2000, {}, {3: Given(0.25, 0.5)}) == Took(2000, 1500)
    assert took(900, {}, {}) == Took(900, 900)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count it")
def test_what_this_process_used_is_known() -> None:
    assert given()[os.getpid()].ran > 0
