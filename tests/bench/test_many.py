"""The benches of many groups and of what waits measure what they say, on a small scale."""

from __future__ import annotations

from pathlib import Path

import apsw
import orjson
import pytest

from bench.gateway import Size, backlog_figures, rooms_figures
from bench.many.groups import Group
from bench.many.homes import copied, filled, left_over
from bench.many.placing import Placing
from bench.many.probes import GROUP, KINDS
from bench.many.talk import Case, read_cases
from tests.fakes.telegram.server import FakeTelegram


async def test_a_message_is_measured_by_the_number_of_groups_on_copies_of_one_home(
    tmp_path: Path,
) -> None:
    size = Size(groups=read_cases("2x4"), messages=20, kept=tmp_path)
    found = {one.name: one.value for one in await rooms_figures(size)}
    assert found["2 groups of 4: CPU a message that asks nothing"] > 0
    assert found["2 groups of 4: memory, RSS"] > 0
    source, past = await filled(tmp_path, 1, 4)
    assert (past.groups, past.starts) == (2, 1), "it was filled once, for the larger number"
    with copied(source) as home:
        assert Placing(home, before=0).placed() == 8, "no run wrote to the home that is kept"
    _source, past = await filled(tmp_path, 3, 4)
    assert (past.groups, past.starts) == (3, 2)
    assert Placing(source / "home", before=0).placed() == 12

    (source / "filled.json").unlink()  # as if it was left half filled
    _source, past = await filled(tmp_path, 1, 4)
    assert (past.groups, past.starts) == (1, 1)
    assert Placing(source / "home", before=0).placed() == 4


async def test_messages_wait_as_accepted_and_others_are_answered_beside_them(
    tmp_path: Path,
) -> None:
    size = Size(groups=(Case(2, 4),), backlog=20, seconds=0.01, kept=tmp_path)
    found = {one.name: one.value for one in await backlog_figures(size)}
    beside = ("quiet", "beside 100/s in 2 groups", "beside 20 of 2 groups")
    for name in (*beside, f"{beside[-1]}, after kill -9"):
        for kind in KINDS:
            if kind != GROUP or "kill" not in name:
                assert found[f"{name}: {kind}: of 1, not answered in time"] == 0
                assert found[f"{name}: {kind} -> answer, p95"] > 0
        assert found[f"{name}: until ready"] > 0
    source, past = await left_over(tmp_path, 2, 4, 10)
    assert past.said == 14
    placing = Placing(source / "home", before=0)
    assert (placing.accepted(), placing.waiting()) == (28, 20)


async def test_that_the_newest_row_is_placed_does_not_say_that_all_are(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "tapeway.db"))
    connection.execute("CREATE TABLE inbox (id INTEGER PRIMARY KEY, status TEXT)")
    connection.execute("INSERT INTO inbox (status) VALUES ('taped'), ('accepted'), ('taped')")
    placing = Placing(tmp_path, before=0)
    assert (placing.accepted(), placing.placed(), placing.waiting()) == (3, 2, 1)
    connection.execute("UPDATE inbox SET status = 'waiting' WHERE id = 2")
    await placing.all_placed(3)
    connection.close()


async def test_a_group_says_the_same_each_time_and_goes_on_where_it_was() -> None:
    said: list[list[tuple[int, str]]] = []
    for before in (0, 0, 5):
        async with FakeTelegram() as telegram:
            group = Group(telegram, 3, before)
            for _line in range(5):
                group.say()
            messages = [orjson.loads(one.raw)["message"] for one in telegram.updates.all]
            said.append([(one["message_id"], one["text"]) for one in messages])
    assert said[0] == said[1]
    assert [number for number, _text in said[2]] == [7, 8, 9, 10, 11]
    assert not any("@" in text for one in said for _number, text in one)


@pytest.mark.parametrize(
    ("text", "cases"),
    [("20", [(20, 200)]), ("20,300,10000x30", [(20, 200), (300, 200), (10_000, 30)])],
)
def test_cases_are_read(text: str, cases: list[tuple[int, int]]) -> None:
    assert [(one.groups, one.lines) for one in read_cases(text)] == cases
