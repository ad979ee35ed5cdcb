"""Annotated logs are read as the protocol says."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.irc import Log, logs, read

LOG = """[11:58] <Ann> hello
=== bob has joined
[11:59] <bob> ann: hi, how is it
[12:01]  * cid waves at bob
[01:00] <Ann> good, bob
[01:01] <dan> anyone awake?
"""


@pytest.fixture
def log(tmp_path: Path) -> Log:
    (tmp_path / "one.ascii.txt").write_text(LOG)
    (tmp_path / "one.annotation.txt").write_text("0 0 -\n0 2 -\n2 4 -\n3 3 -\n5 5 -\n")
    (tmp_path / "left.ascii.txt").write_text(LOG)
    (path,) = logs(tmp_path)
    return read(path)


def test_lines_count_from_0_and_the_server_s_own_are_left_out(log: Log) -> None:
    assert [line.number for line in log.lines] == [0, 2, 3, 4, 5]
    assert [line.author for line in log.lines] == ["Ann", "bob", "cid", "Ann", "dan"]


def test_time_goes_on_over_noon_of_a_clock_of_twelve_hours(log: Log) -> None:
    assert [line.at / 60 for line in log.lines] == [0, 1, 3, 62, 63]


def test_mentions_are_nicks_seen_before(log: Log) -> None:
    assert [line.mentions for line in log.lines] == [(), ("Ann",), (), (), ()]


def test_conversations_are_what_links_connect(log: Log) -> None:
    assert log.parents == {2: (0,), 4: (2,)}
    assert log.gold(4, 0) == {0, 2}
    assert log.gold(4, 1) == {2}
    assert log.gold(5, 0) == frozenset()
    assert [line.number for line in log.queries(0, 1)] == [2, 4]
