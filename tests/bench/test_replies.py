"""Hidden replies are asked for, and the shares are right."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.replay.play import Seen
from bench.replay.prompts import Call
from bench.replay.room import PlayedRoom, said_as
from bench.replies import figures_of, hiding, means, read_room, rows_of, table
from channels.message import Author

THEN = datetime(2024, 2, 29, 12, tzinfo=UTC)
TALK = (
    ("ann", "does the printer in the hall take toner?", None),
    ("cid", "which road leads to the harbour?", None),
    ("bob", "ann: the printer takes toner of any kind", 0),
    ("dan", "cid: the road along the river leads to the harbour", 1),
)


def room(thread: int | None = None) -> PlayedRoom:
    said = tuple(
        said_as(
            "hall",
            number,
            THEN + timedelta(minutes=number),
            Author(author, author),
            text,
            reply=reply,
            thread="t" if number == thread else None,
        )
        for number, (author, text, reply) in enumerate(TALK)
    )
    return PlayedRoom("hall", said, {2: 0, 3: 1})


def test_a_share_is_hidden_the_same_for_the_same_seed() -> None:
    left, hidden = hiding(room(), 0.5, 1)
    (number,) = hidden
    assert left.said[number].message.reply_to is None
    assert [said.message.reply_to for said in left.said].count(None) == 3
    assert hidden == {number: room().replies[number]}
    assert hiding(room(), 0.5, 1) == (left, hidden)


def test_the_reply_of_a_thread_is_not_hidden() -> None:
    _left, hidden = hiding(room(thread=3), 1, 1)
    assert hidden == {2: 0}


def test_figures_of_a_reply() -> None:
    # Message 9 replied to 5: in its lane and its set, the sixth from the end, not shown.
    seen = Seen("hall", 9, (), (5, 7), tuple(range(3, 9)), Call((6, 7, 8), 100, (0, 0)))
    row = figures_of(seen, 5, {5: "said:1", 9: "said:1"}, size=3)
    assert row == {
        "in_lane": 1,
        "lane_size": 3,
        "in_set": 1,
        "set_size": 2,
        "in_as_many_last": 0,  # 7 and 8
        "in_last_25": 1,
        "in_last_20": 1,
        "in_view": 0,
        "view_size": 3,
        "in_as_many_as_view": 0,  # 6, 7 and 8
    }


def test_an_empty_set_has_no_message_and_as_many_last_are_none() -> None:
    row = figures_of(Seen("hall", 9, (), (), (5,)), 5, {5: "said:1", 9: "said:9"}, size=0)
    assert (row["in_lane"], row["in_set"], row["in_as_many_last"], row["in_last_20"]) == (
        0,
        0,
        0,
        1,
    )
    assert "in_view" not in row


def test_shares_are_in_percent_and_sizes_are_not() -> None:
    told = means([{"in_lane": 1.0, "lane_size": 3.0}, {"in_lane": 0.0, "lane_size": 4.0}])
    assert told == {"replies": 2, "in_lane": 50, "lane_size": 3.5}
    assert table({"hall": told}).splitlines()[1].split()[:3] == ["2", "50.0", "3.5"]


async def test_the_linker_finds_what_a_mention_says() -> None:
    left, hidden = hiding(room(), 1, 1)
    rows = await rows_of(left, hidden)
    assert len(rows) == 2
    assert means(rows)["in_set"] == 100
    assert means(rows)["in_last_20"] == 100


def test_a_log_s_own_replies_are_read(tmp_path: Path) -> None:
    rows = ["[10:00] <ann> one", "[10:01] <bob> two", "[10:02] <cid> three", "[10:03] <dan> four"]
    (tmp_path / "one.ascii.txt").write_text("\n".join(rows))
    (tmp_path / "one.annotation.txt").write_text("0 1 -\n")
    assert read_room(tmp_path / "one.ascii.txt").replies == {1: 0}
    # Replies with a file of their own are not what is annotated.
    (tmp_path / "one.replies.json").write_text('{"2": 1}')
    assert read_room(tmp_path / "one.ascii.txt").replies == {2: 1}
