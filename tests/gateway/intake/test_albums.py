"""Late parts of an album are taken once, through kills, in memory and on a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from channels.message import Media
from gateway.intake.albums import LATE, EarlierParts
from gateway.storage.ledger.rows import InboxRow
from tape.entry import Entry
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.images import image
from tests.kit.plain_channels import MESSAGE
from tests.kit.play import House, Play, opened
from tests.kit.promised import on_a_server
from tests.kit.stages.telegram import TelegramStage

LATER = 3.0  # seconds after which the parts that are here are released
STORES = [
    pytest.param(False, id="in memory"),
    pytest.param(True, id="postgresql", marks=pytest.mark.postgresql),
]
PICTURE, PLAN = Media("image", "photo"), Media("file", "file")


@asynccontextmanager
async def house_on(server: bool) -> AsyncIterator[House]:
    with on_a_server(server):
        async with opened("telegram", lasts=True) as house:
            yield house


class Album:
    """An album that Ada sends in private, a few pictures at a time."""

    def __init__(self, house: House) -> None:
        assert isinstance(house.stage, TelegramStage)
        self._fake = house.stage.fake
        self.person = house.stage.person("Ada")
        self.chat = house.stage.private(self.person)
        self._ada = self._fake.user(int(self.person.id), "Ada")

    def send(self, *captions: str) -> None:
        for caption in captions:
            self._fake.send_photo(
                int(self.chat.id), self._ada, data=image(), caption=caption, media_group="m1"
            )


def pictures(play: Play, number: int = -1) -> int:
    messages = play.model.requests[number].body["messages"]
    contents = [one["content"] for one in messages if isinstance(one["content"], list)]
    return sum(part["type"] == "image_url" for content in contents for part in content)


def taken(entries: list[Entry]) -> list[int]:
    takes = [entry for entry in entries if entry.name in ("turn.start", "turn.retake")]
    return [number for take in takes for number in take.payload["data"]["takes"]]


@pytest.mark.parametrize("server", STORES)
async def test_a_late_part_of_a_turn_that_was_killed_is_shown_when_that_is_resumed(
    tmp_path: Path, server: bool
) -> None:
    async with house_on(server) as house:
        album, gate = Album(house), asyncio.Event()
        looks = ToolCalls((Call("c-1", "tape_info", "{}"),), gate=gate)
        house.model.enqueue(looks, Text(("Three trees.",)))
        async with house.playing(tmp_path) as play:
            album.send("what are these?", "")
            await play.clock.run(play.model.wait_for_requests(1))
            play.kill_at("after", lambda names: "ledger.taken_in" in names)
            album.send("")
            await play.killed()
        gate.set()
        async with house.playing(tmp_path) as play:
            await play.settle()
            entries = await play.tape(album.chat)
            assert play.texts(album.chat) == ["Three trees."]
            assert (pictures(play, 0), pictures(play)) == (2, 3)
    (late,) = [entry for entry in entries if "part_of" in entry.meta]
    assert taken(entries) == [late.meta["part_of"], late.id]
    assert [entry.name for entry in entries].count("turn.end") == 1


@pytest.mark.parametrize("server", STORES)
@pytest.mark.parametrize("at", ["ledger.accept", "ledger.taken_in"])
async def test_a_late_part_that_is_accepted_as_all_ends_answers_nothing(
    tmp_path: Path, server: bool, at: str
) -> None:
    async with house_on(server) as house:
        album = Album(house)
        async with house.playing(tmp_path) as play:
            album.send("what are these?", "")
            await play.settle()
            play.kill_at("after", lambda names: at in names)
            album.send("")
            await play.killed()
        async with house.playing(tmp_path) as play:
            await play.settle()
            assert (len(play.model.requests), len(play.texts(album.chat))) == (1, 1)
            await play.ask(album.chat, album.person, "and that one?")
            assert (len(play.model.requests), pictures(play)) == (2, 3)


@pytest.mark.parametrize("server", STORES)
async def test_a_late_part_of_a_question_that_waits_as_all_ends_is_asked_with_it(
    tmp_path: Path, server: bool
) -> None:
    waits = {"BUFFER__DEBOUNCE": "6"}
    async with house_on(server) as house:
        album = Album(house)
        async with house.playing(tmp_path, **waits) as play:
            album.send("what are these?", "")
            await play.stage.taken()
            await play.clock.advance(LATER)
            play.kill_at("after", lambda names: "ledger.taken_in" in names)
            album.send("")
            await play.killed()
        async with house.playing(tmp_path, **waits) as play:
            await play.settle()
            assert [pictures(play, n) for n in range(len(play.model.requests))] == [3]
            assert len(play.texts(album.chat)) == 1


@pytest.mark.parametrize(
    ("media", "turn", "line"),
    [
        ((PICTURE,), "t-1", "1 picture of it was seen before"),
        ((PICTURE, PICTURE), "t-1", "2 pictures of it were seen before"),
        ((PICTURE, PICTURE), None, "2 pictures of it were sent before"),
        ((PICTURE, PLAN), None, "2 files of it were sent before"),
    ],
)
def test_the_frame_says_how_much_of_the_album_came_before(
    media: tuple[Media, ...], turn: str | None, line: str
) -> None:
    row = InboxRow(1, "plain", "plain:-100", 3, None, turn, "done", 1, MESSAGE)
    assert EarlierParts(row, True, media).note == f"\n[more of an album: {line}]"


def test_only_a_part_without_words_of_an_album_that_has_asked_is_silent() -> None:
    row = InboxRow(1, "plain", "plain:-100", 3, None, "t-1", "done", 1, MESSAGE)
    bare = replace(MESSAGE, text=" ", media=(PICTURE,))
    silent = EarlierParts(row, True, ()).as_part(bare)
    assert (silent.addressed, silent.follows, silent.why) == (False, False, LATE)
    assert EarlierParts(row, True, ()).as_part(MESSAGE) == MESSAGE
    assert EarlierParts(row, False, ()).as_part(bare) == bare
