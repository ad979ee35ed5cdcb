"""Means of what was seen, against values worked out by hand on a log of two conversations."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.irc import Log, read
from bench.policies import OURS, as_table, by_policy
from bench.replay.figures import figures, policy_table, table
from bench.replay.play import Seen
from bench.replay.prompts import Call

LINES = 8
"""Even lines are one conversation, odd ones the other; each line continues the one before it."""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    rows = [f"[10:0{number}] <ann{number % 2}> line" for number in range(LINES)]
    links = [f"{max(number - 2, number % 2)} {number} -" for number in range(LINES)]
    (tmp_path / "one.ascii.txt").write_text("\n".join(rows))
    (tmp_path / "one.annotation.txt").write_text("\n".join(links))
    return read(tmp_path / "one.ascii.txt")


def seen(line: int, ranked: tuple[int, ...], chosen: tuple[int, ...], call: Call | None) -> Seen:
    return Seen("one", line, ranked, chosen, tuple(range(line)), call)


def test_recall_and_precision_of_rankings_and_sets(log: Log) -> None:
    # Line 6 belongs to 0, 2 and 4; line 7 to 1, 3 and 5.
    one = seen(6, (4, 5, 2, 3), (2, 4), None)
    other = seen(7, (6, 4), (1, 3, 5, 6), None)
    told = table(figures(log, [one, other]))
    assert told["R@10"] == pytest.approx(100 * (2 / 3 + 0) / 2, abs=0.1)
    assert told["P@10"] == pytest.approx(100 * (2 / 4 + 0) / 2, abs=0.1)
    assert told["parents@10"] == 50  # 4 is line 6's parent, 5 is line 7's
    assert told["set_recall"] == pytest.approx(100 * (2 / 3 + 1) / 2, abs=0.1)
    assert told["set_precision"] == pytest.approx(100 * (1 + 3 / 4) / 2, abs=0.1)
    assert told["set_F1"] == pytest.approx(2 * 83.33 * 87.5 / (83.33 + 87.5), abs=0.1)
    assert told["last20_recall"] == 100
    assert told["last20_precision"] == pytest.approx(100 * (3 / 6 + 3 / 7) / 2, abs=0.1)
    assert (told["queries"], told["calls"]) == (2, 0)


def test_views_stand_beside_as_many_last_messages(log: Log) -> None:
    rows = figures(
        log,
        [
            seen(6, (), (), Call((2, 4), 200, (0, 0))),
            seen(7, (), (), Call((0, 1, 3, 5), 400, (300, 100), cut=True)),
        ],
    )
    told = table(rows)
    assert told["view_recall"] == pytest.approx(100 * (2 / 3 + 1) / 2, abs=0.1)
    assert told["view_precision"] == pytest.approx(100 * (1 + 3 / 4) / 2, abs=0.1)
    # As many last are 4 and 5 for line 6, and 3 to 6 for line 7.
    assert told["as_many_recall"] == pytest.approx(100 * (1 / 3 + 2 / 3) / 2, abs=0.1)
    assert told["as_many_precision"] == 50
    assert told["call20_recall"] == 100
    assert told["call20_precision"] == pytest.approx(100 * (3 / 6 + 3 / 7) / 2, abs=0.1)
    assert (told["cut_recall"], told["cut_precision"], told["cut_calls"]) == (100, 75, 1)
    assert told["shown"] == 3
    assert told["cached_60min"] == 50  # 300 of 600
    assert told["cost"] == pytest.approx((200 + 100 + 30) / 2)
    assert told["cost_warm"] == 130


def test_each_policy_has_its_row(log: Log) -> None:
    call, rival = Call((2, 4), 200, (0, 0)), Call((0, 1, 2, 3, 4, 5), 500, (0, 0))
    one = Seen("one", 6, (), (), (), call, {"last 20": rival})
    told = by_policy([(log, [one, seen(7, (), (), None)])])
    assert set(told) == {OURS, "last 20"}
    assert told["last 20"]["view_recall"] == 100
    assert told["last 20"]["view_precision"] == 50
    assert told["last 20"]["F1"] == pytest.approx(66.7)
    assert told[OURS]["calls"] == 1
    rows = as_table({"rooms": told}).splitlines()
    assert rows[2].startswith("| rooms (1 calls) | the view | 67 | 100 | 80 | 2 ")


def test_nothing_seen_is_nothing() -> None:
    assert table([])["set_F1"] == 0
    assert policy_table([])["calls"] == 0
