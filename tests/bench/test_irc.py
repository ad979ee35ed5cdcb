"""Annotated logs are read as the protocol says."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from bench.irc import UNDATED, Log, logs, read

LOG = """[11:58] <Ann> hello
=== bob has joined
[11:59] <bob> ann: hi, how is it
[12:01]  * cid waves at bob
[01:00] <Ann> good, bob
[01:01] <dan> anyone awake?
"""

DATED = """[2024-02-28 23:50] <Ann> hello
[2024-02-29 00:10] <bob> hi
[2024-03-03 00:10] <Ann> still there?
[00:15] <bob> of course
"""


def write(folder: Path, lines: str, annotation: str, name: str = "one") -> Path:
    (folder / f"{name}.annotation.txt").write_text(annotation)
    path = folder / f"{name}.ascii.txt"
    path.write_text(lines)
    return path


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
    assert log.gold(4) == {0, 2}
    assert log.gold(5) == frozenset()
    assert [line.number for line in log.queries(1)] == [2, 4]
    assert [line.number for line in log.queries(3)] == [4]


def test_what_is_before_the_first_annotated_line_was_heard_and_is_not_asked_for(
    tmp_path: Path,
) -> None:
    log = read(write(tmp_path, LOG, "0 2 -\n2 4 -\n3 3 -\n"))
    assert log.first_line == 2
    assert log.gold(4) == {2}
    assert [line.number for line in log.queries(0)] == [4]
    assert read(tmp_path / "one.ascii.txt", first_line=0).gold(4) == {0, 2}


def test_lines_with_their_day_keep_their_time(tmp_path: Path) -> None:
    log = read(write(tmp_path, DATED, "0 0 -\n0 1 -\n2 2 -\n"))
    assert log.begun == datetime(2024, 2, 28, 23, 50, tzinfo=UTC)
    assert [line.at / 60 for line in log.lines] == [0, 20, 20 + 3 * 1440, 25 + 3 * 1440]


def test_a_log_without_days_begins_on_one_that_is_fixed(log: Log) -> None:
    assert log.begun == UNDATED


def test_links_are_replies_if_nothing_begins_and_most_lines_have_none(tmp_path: Path) -> None:
    log = read(write(tmp_path, LOG, "0 2 -\n2 4 -\n"))
    assert (log.links, log.first_line) == ("replies", 0)
    assert log.replies == {2: 0, 4: 2}
    assert not log.parents
    assert list(log.queries(0)) == []
    overruled = read(tmp_path / "one.ascii.txt", links="conversations")
    assert (overruled.links, overruled.parents, overruled.replies) == (
        "conversations",
        {2: (0,), 4: (2,)},
        {},
    )


@pytest.mark.parametrize("annotation", ["0 0 -\n", "0 2 -\n2 3 -\n2 4 -\n3 5 -\n"])
def test_links_are_conversations_if_one_begins_or_hardly_a_line_is_left_out(
    tmp_path: Path, annotation: str
) -> None:
    assert read(write(tmp_path, LOG, annotation)).links == "conversations"


def test_replies_of_the_platform_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, LOG, "0 0 -\n0 2 -\n3 3 -\n4 4 -\n4 5 -\n")
    (tmp_path / "one.replies.json").write_text('{"5": 4, "4": 2}')
    log = read(path)
    assert log.replies == {5: 4, 4: 2}
    assert log.parents == {2: (0,), 5: (4,)}


def test_a_share_of_the_replies_is_hidden_the_same_for_the_same_seed(tmp_path: Path) -> None:
    log = read(write(tmp_path, LOG, "0 2 -\n2 4 -\n"))
    shown, hidden = log.hiding(0.5, 1)
    assert len(hidden) == 1
    assert shown.replies | hidden == log.replies
    assert log.hiding(0.5, 1) == (shown, hidden)
    assert log.hiding(1.0, 1)[0].replies == {}


def test_a_place_is_a_folder_or_names_in_one(tmp_path: Path) -> None:
    for name in ("room.1", "room.10", "room.2", "hall.1"):
        write(tmp_path, LOG, "0 0 -\n", name)

    def found(*places: str) -> list[str]:
        paths = logs(*(tmp_path / place for place in places))
        return [path.name.removesuffix(".ascii.txt") for path in paths]

    assert found("") == ["hall.1", "room.1", "room.10", "room.2"]
    assert found("*.[1]") == ["hall.1", "room.1"]
    assert found("room.2", "room.1*", "room.10.ascii.txt") == ["room.2", "room.1", "room.10"]
    assert found("nothing") == []
