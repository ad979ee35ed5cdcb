"""What goes on in rooms gets from one process to the others, each thing once and in order."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest

from channels.room.hub import Json
from channels.room.session import OWNER, PageSession
from gateway.sharing.rooms.shared_rooms import PAUSE_SECONDS, TAPE_SECONDS
from tests.channels.room.hubs import Hubs, shared_hubs, silence
from tests.kit.clock import ManualClock
from tests.postgres import application_database

pytestmark = pytest.mark.postgresql

BEN = (PageSession("8", rooms=("lobby",)), "Ben")


@dataclass(slots=True)
class RoomTape:
    """The messages of a room, in their order; each failure is raised by one reading."""

    messages: list[Json] = field(default_factory=list)
    failures: list[Exception] = field(default_factory=list)

    def add(self, message_id: str) -> Json:
        self.messages.append(saying(message_id))
        return self.messages[-1]

    async def read(self, _room: str, after: int | None) -> tuple[int, list[Json]]:
        if self.failures:
            raise self.failures.pop()
        return len(self.messages), [] if after is None else self.messages[after:]


@dataclass(slots=True)
class Stage:
    """Hubs of three processes, and what they read."""

    url: str
    hubs: Hubs
    tape: RoomTape
    clock: ManualClock


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with application_database() as url:
        yield url


@pytest.fixture
async def stage(database: str) -> AsyncIterator[Stage]:
    tape, clock = RoomTape(), ManualClock()
    async with shared_hubs(database, clock, tape.read) as hubs:
        yield Stage(database, hubs, tape, clock)


def saying(message_id: str, text: str = "hi", **more: Any) -> Json:
    return {"id": message_id, "text": text, "buttons": [], **more}


def ids(events: list[Json]) -> list[str]:
    return [event["message"]["id"] for event in events if event["type"] == "message"]


async def test_messages_come_in_the_order_of_the_tape_and_once(stage: Stage) -> None:
    hubs, tape = stage.hubs, stage.tape
    async with hubs.page.listen("lobby", OWNER) as page, hubs.worker.listen("lobby", OWNER) as own:
        tape.add("m1")
        hubs.worker.taped("lobby")
        answer = tape.add("m2")
        hubs.worker.message("lobby", answer)
        assert ids(await hubs.heard(page)) == ids(await hubs.heard(own)) == ["m1", "m2"]
        hubs.other.message("lobby", answer)  # a new holder sends it once more
        assert ids(await hubs.heard(page)) == ids(await hubs.heard(own)) == []


async def test_a_message_on_no_tape_is_shown_behind_those_that_are(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER) as page:
        stage.tape.add("m1")
        hubs.worker.message("lobby", saying("card"), "card")
        assert ids(await hubs.heard(page)) == ["m1", "card"]
        hubs.worker.message("lobby", saying("card", "Done."), "edit of the card")
        assert [event["message"]["text"] for event in await hubs.heard(page)] == ["Done."]


async def test_a_message_gets_its_buttons_which_no_tape_has(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER) as page:
        stage.tape.add("m1")
        hubs.worker.message("lobby", saying("m1", buttons=["yes"]))
        shown = [event["message"]["buttons"] for event in await hubs.heard(page)]
        assert shown[-1] == ["yes"]


async def test_a_draft_that_comes_behind_its_message_is_not_shown(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER) as page:
        hubs.worker.message("lobby", stage.tape.add("m1"))
        await hubs.settle()
        hubs.worker.draft("lobby", saying("m1", "h"))
        assert [event["type"] for event in await hubs.heard(page)] == ["message"]
        assert hubs.page.ongoing("lobby") == []


async def test_the_tape_is_looked_at_also_if_the_server_has_forgotten_the_rest(
    stage: Stage,
) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER) as page:
        stage.tape.add("m1")
        with psycopg.connect(stage.url, autocommit=True) as connection:
            connection.execute("DELETE FROM room_now")  # as a crash of the server does
        assert ids(await hubs.heard(page)) == []
        await stage.clock.advance(TAPE_SECONDS)
        assert ids(await hubs.heard(page)) == ["m1"]


async def test_what_could_not_be_read_is_shown_the_next_time(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER) as page:
        stage.tape.failures.append(RuntimeError("a plugin failed"))
        hubs.worker.message("lobby", stage.tape.add("m1"))
        hubs.worker.publish("lobby", {"type": "silent"})
        assert await hubs.heard(page) == []
        events = await hubs.heard(page)
        assert ids(events) == ["m1"]
        assert {event["type"] for event in events} == {"message", "silent"}


async def test_the_first_text_is_written_at_once_and_the_rest_ten_times_a_second(
    stage: Stage,
) -> None:
    hubs, (worker, page, _other) = stage.hubs, stage.hubs.shared
    await stage.clock.advance(1.0)

    async def seen(text: str, *, draft: str = "m1") -> list[str]:
        hubs.worker.draft("lobby", saying(draft, text))
        await worker.write(everything=False)
        await page.look()
        return [event["message"]["text"] for event in hubs.page.ongoing("lobby")]

    async with hubs.page.listen("lobby", OWNER):
        assert await seen("1") == ["1"]
        assert await seen("12") == await seen("123") == ["1"]
        await stage.clock.advance(PAUSE_SECONDS)
        assert await seen("1234") == ["1234"]
        assert await seen("12345") == ["1234"]
        assert await seen("a", draft="m2") == ["12345", "a"]


async def test_a_process_that_ends_takes_its_people_and_drafts_along(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER), hubs.other.listen("lobby", *BEN):
        hubs.other.draft("lobby", saying("m1"))
        await hubs.settle()
        assert await hubs.page.people("lobby") == [{"id": "8", "name": "Ben"}]
        await hubs.shared[2].leave()
        await hubs.shared[1].look()
        assert await hubs.page.people("lobby") == []
        assert hubs.page.ongoing("lobby") == []


async def test_people_whom_the_database_has_lost_are_put_there_again(stage: Stage) -> None:
    hubs = stage.hubs
    async with hubs.page.listen("lobby", OWNER):
        async with hubs.other.listen("lobby", *BEN):
            await hubs.settle()
            with psycopg.connect(stage.url, autocommit=True) as connection:
                connection.execute("DELETE FROM room_now")  # as a crash of the server does
            for _ in range(2):
                await hubs.settle()
            assert await hubs.page.people("lobby") == [{"id": "8", "name": "Ben"}]
            assert await hubs.worker.people("lobby") == [{"id": "8", "name": "Ben"}]
        for _ in range(2):
            await hubs.settle()
        assert await hubs.page.people("lobby") == []


async def test_the_draft_of_a_dead_holder_is_the_next_holder_s(stage: Stage) -> None:
    hubs, (worker, _page, other) = stage.hubs, stage.hubs.shared
    async with hubs.page.listen("lobby", OWNER) as page:
        hubs.worker.draft("lobby", saying("m1", "half"))
        await hubs.heard(page)
        silence(stage.url, worker.owner)
        assert [event["type"] for event in await hubs.heard(page)] == ["draft.removed"]
        hubs.other.draft("lobby", saying("m1", "again"))
        await other.write()
        hubs.worker.drop_draft("lobby", "m1")  # it is not so dead, but late
        (event,) = await hubs.heard(page)
        assert event["message"]["text"] == "again"
        assert len(hubs.page.ongoing("lobby")) == 1
