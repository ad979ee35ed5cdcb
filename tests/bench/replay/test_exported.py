"""An exported tape is read as the room that it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bench.replay.exported import NotAGroup, read_export
from bench.replay.gateway import playing
from bench.replay.play import Replay
from bench.replay.room import PlayedRoom, said_as
from channels.message import Author
from gateway.admin.tape_admin import as_line

THEN = datetime(2024, 2, 29, 12, tzinfo=UTC)
ANN, BOB = Author("1", "Ann", handle="ann"), Author("2", "Bob")


def room() -> PlayedRoom:
    said = (
        said_as("hall", 1, THEN, ANN, "who has the key of the shed?"),
        said_as(
            "hall", 2, THEN + timedelta(minutes=1), BOB, "me", mentions=("ann",), reply=1, thread=""
        ),
        said_as("hall", 3, THEN + timedelta(days=2), ANN, "when does it rain?", answer="on Monday"),
    )
    return PlayedRoom("hall", said, {2: 1})


async def exported(folder: Path, told: PlayedRoom) -> Path:
    async with playing() as gateway:
        replay = Replay(gateway, told, budget=4_000, frame=0)
        for said in told.said:
            await replay.hear(said)
        entries = await gateway.gateway.services.tapes.session_tape("irc:hall").find(limit=500)
    path = folder / "hall.jsonl"
    path.write_text("".join(json.dumps(as_line(entry)) + "\n" for entry in entries))
    return path


async def test_a_room_that_was_played_can_be_played_again(tmp_path: Path) -> None:
    again = read_export(await exported(tmp_path, told := room()))
    assert again.name == "hall"
    for one, other in zip(again.said, told.said, strict=True):
        assert one.at == other.at
        assert one.answer == other.answer
        assert one.message.sender == other.message.sender
        assert one.message.text == other.message.text
        assert one.message.mentions == other.message.mentions
        assert one.message.addressed == other.message.addressed
    ids = [said.number for said in again.said]
    assert again.replies == {ids[1]: ids[0]}
    assert again.said[1].message.reply_to == str(ids[0])


def row(number: int, **meta: Any) -> str:
    known = {"inbox": number, "lane": "said:1", "message_id": f"m{number}", "author": "1"}
    told = {**known, "said_at": "2024-02-29T12:00:00Z", **meta}
    payload = {"role": "user", "content": "[12:00 Ann] hello"}
    line = {"id": number, "kind": "message", "payload": payload, "meta": told, "date": ""}
    return json.dumps(line) + "\n"


@pytest.mark.parametrize(
    "meta", [{"command": True}, {"edit_of": 1}, {"lane": None}, {"inbox": 2, "prompt_of": 1}]
)
def test_what_is_not_said_in_a_group_is_left_out(tmp_path: Path, meta: dict[str, Any]) -> None:
    path = tmp_path / "hall.jsonl"
    path.write_text(row(1) + row(2, **meta))
    assert [said.number for said in read_export(path).said] == [1]


def test_a_reply_counts_if_its_message_is_there_and_came_before(tmp_path: Path) -> None:
    path = tmp_path / "hall.jsonl"
    rows = (row(1, reply_to="m2"), row(2, reply_to="m9"), row(3, reply_to="m1"))
    path.write_text("".join(rows))
    assert read_export(path).replies == {3: 1}


@pytest.mark.parametrize("text", ["", row(1, lane=None), '{"other": 1}\n'])
def test_a_file_without_a_group_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hall.jsonl"
    path.write_text(text)
    with pytest.raises(NotAGroup, match="tapeway tape export"):
        read_export(path)
