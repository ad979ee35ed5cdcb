"""What a run of a fleet plays, and what it lays a doubled message to."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.chaos.plan import Plan
from tests.chaos.record import Record
from tests.fleet import stalls
from tests.fleet.members import Disruption, Kind
from tests.fleet.pace import Pace
from tests.fleet.run import Outcome, left_out
from tests.fleet.town import Made
from tests.fleet.troubles import Counts
from tests.fleet.verdicts import Causes, window_of

RECORD = Record(Plan("discord", "", "1", "resend", (), ()), Path())


def late(kind: Kind, member: str, channel: str = "discord") -> frozenset[float]:
    """Return to what a message is laid that worker2 made at 100, while a disruption ended at 99."""
    made = [Made(0, "m1", 100.0, "127.0.1.3", "sendMessage")]
    causes = Causes(made, {"127.0.1.3": "worker2"}, [Disruption(kind, member, 97.5, 99.5)])
    return window_of(channel, causes).late(RECORD, 0, "m1")


@pytest.mark.parametrize("kind", ["freeze", "stall"])
def test_a_process_that_did_not_run_may_have_sent_what_is_not_its_any_more(kind: Kind) -> None:
    assert late(kind, "worker2") == {97.5}
    assert late(kind, "worker3") == set()


def test_a_stall_of_the_platforms_is_one_of_every_process() -> None:
    assert late("stall", "") == {97.5}


@pytest.mark.parametrize("kind", ["kill", "stop", "cut", "swallow", "restart"])
def test_whoever_is_killed_or_cut_off_doubles_nothing_where_a_key_makes_one_message_of_two(
    kind: Kind,
) -> None:
    assert late(kind, "worker2") == set()


def test_a_receipt_takes_longer_while_the_database_answers_late() -> None:
    made = [Made(0, "m1", 100.0, "127.0.1.3", "sendMessage")]
    kill = Disruption("kill", "worker2", 102.5, 102.5)
    for answered, found in ((101.0, {102.5}), (100.1, set())):
        causes = Causes(made, {"127.0.1.3": "worker2"}, [kill], [(100.0, answered)])
        assert window_of("telegram", causes).causes(RECORD, 0, "m1") == found


def test_a_stall_whose_line_was_cut_off_with_its_process_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "stalls.txt"
    assert stalls.read(path) == []
    path.write_text("1.5 2.25\n7.")
    assert stalls.read(path) == [(1.5, 2.25)]


def test_every_kind_is_spread_over_the_whole_run() -> None:
    counts = Counts(kill=20, stop=4, restart=3, freeze=3, cut=6, swallow=2)
    moments = counts.moments(random.Random("1"), 24.0)
    found = Counter(kind for _at, kind in moments)
    assert found == Counter(kill=20, stop=4, restart=3, freeze=3, cut=6, swallow=2)
    restarts = [at for at, kind in moments if kind == "restart"]
    assert [at // 8 for at in restarts] == [0, 1, 2]


async def test_a_run_that_a_slow_machine_held_back_too_long_plays_nothing_more() -> None:
    pace = Pace(lambda: True, longest=10.0, passed=5.0)
    assert await pace.until(5.0)
    pace.held_back = 10.5
    assert not await pace.until(5.0)


def test_a_run_that_lacks_some_of_what_was_planned_has_failed() -> None:
    counts = Counts(3, stop=0, restart=1, freeze=1, cut=0, swallow=0)
    pace = Pace(lambda: True, longest=9.0)
    assert left_out(counts, {"kill": 3, "restart": 1, "freeze": 1}, pace) == []
    pace.held_back = 10.0
    said = left_out(counts, {"kill": 1, "restart": 1}, pace)
    assert said[:2] == ["2 of 3 x kill left out", "1 of 1 x freeze left out"]
    assert "cut short" in said[2]
    assert Outcome([], {}, said, pace, 0.0, 1.0, []).failed
