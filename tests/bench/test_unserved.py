"""A time is measured again where it breaks its bar, and the best attempt counts."""

from __future__ import annotations

import os
import sys

import pytest

from bench.figures import Bar
from bench.unserved import ATTEMPTS, best, waited, waited_since

pytestmark = pytest.mark.anyio


async def attempts(*took: float) -> tuple[float, list[str]]:
    """Measure something that takes so many milliseconds, one attempt after the other."""
    left, done = list(took), list[str]()

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
    wall, done = await attempts(*range(900_000, 900_000 + ATTEMPTS))
    assert wall >= 900_000
    assert done.count("measured") == ATTEMPTS


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count it")
async def test_only_what_was_waited_since_then_counts() -> None:
    before = waited()
    assert os.getpid() in before
    assert 0 <= waited_since(before) <= sum(waited().values())
