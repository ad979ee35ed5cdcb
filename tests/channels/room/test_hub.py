"""What is going on in a room, and who hears of it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import anyio
import pytest

from channels.room.hub import MAX_PENDING_EVENTS, MAX_STREAMS, OWNERS, Hub, Json
from channels.room.session import OWNER, PageSession
from tests.channels.room.hubs import Hubs

ANNA: Json = {"id": "7", "name": "anna"}
BEN: Json = {"id": "8", "name": "Ben"}
AS_ANNA = (PageSession("7", rooms=("lobby",)), "anna")
AS_BEN = (PageSession("8", rooms=("lobby",)), "Ben")


def saying(message_id: str, text: str = "hi") -> Json:
    return {"id": message_id, "text": text}


async def test_every_listener_of_a_room_hears_and_nobody_else(hubs: Hubs) -> None:
    async with (
        hubs.page.listen("lobby", OWNER) as one,
        hubs.other.listen("lobby", OWNER) as two,
        hubs.other.listen("attic", OWNER) as other,
    ):
        hubs.worker.message("lobby", saying("m1"))
        expected = [{"type": "message", "message": saying("m1")}]
        assert await hubs.heard(one) == await hubs.heard(two) == expected
        assert await hubs.heard(other) == []


async def test_who_comes_and_goes_is_told_to_those_who_are_there(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", *AS_BEN) as ben:
        await hubs.settle()
        async with hubs.other.listen("lobby", *AS_ANNA), hubs.other.listen("lobby", OWNER):
            await hubs.settle()
            assert await hubs.worker.people("lobby") == [ANNA, BEN]
            assert await hubs.page.people("lobby") == [ANNA, BEN]
            assert await hubs.other.people("lobby") == [ANNA, BEN]
        await hubs.settle()
        assert await hubs.page.people("lobby") == [BEN]
        told = [event["people"] for event in await hubs.heard(ben)]
        assert told == [[BEN], [ANNA, BEN], [BEN]]
    await hubs.settle()
    assert await hubs.worker.people("lobby") == []


async def test_a_person_with_two_pages_is_there_once_until_both_are_closed(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", *AS_ANNA):
        async with hubs.other.listen("lobby", *AS_ANNA):
            await hubs.settle()
            assert await hubs.page.people("lobby") == [ANNA]
        await hubs.settle()
        assert await hubs.page.people("lobby") == [ANNA]


async def test_a_draft_is_shown_also_to_who_comes_later_until_the_message_takes_its_place(
    hubs: Hubs,
) -> None:
    async with hubs.page.listen("lobby", OWNER) as events:
        hubs.worker.draft("lobby", saying("m1", "h"))
        await hubs.settle()
        hubs.worker.draft("lobby", saying("m1", "hi"))
        await hubs.settle()
        async with hubs.other.listen("lobby", OWNER):
            ongoing = [{"type": "draft", "message": saying("m1", "hi")}]
            assert hubs.page.ongoing("lobby") == hubs.other.ongoing("lobby") == ongoing
            hubs.worker.message("lobby", saying("m1", "hi!"))
            await hubs.settle()
            assert hubs.page.ongoing("lobby") == hubs.other.ongoing("lobby") == []
        kinds = [event["type"] for event in await hubs.heard(events)]
        assert kinds == ["draft", "draft", "message"]


async def test_another_message_leaves_a_draft_alone(hubs: Hubs) -> None:
    hubs.worker.draft("lobby", saying("m1"))
    hubs.worker.message("lobby", saying("m2"))
    await hubs.settle()
    async with hubs.page.listen("lobby", OWNER):
        assert hubs.page.ongoing("lobby") == [{"type": "draft", "message": saying("m1")}]


async def test_a_dropped_draft_is_taken_away_once(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", OWNER) as events:
        hubs.worker.draft("lobby", saying("m1"))
        await hubs.settle()
        hubs.worker.drop_draft("lobby", "m1")
        hubs.worker.drop_draft("lobby", "m1")
        hubs.worker.drop_draft("nowhere", "m1")
        assert (await hubs.heard(events))[1:] == [{"type": "draft.removed", "id": "m1"}]
        assert hubs.page.ongoing("lobby") == []


async def test_typing_is_told_when_it_changes_and_to_who_comes_later(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", OWNER) as events:
        for on in (False, True, True, False, False):
            hubs.worker.typing("lobby", "7", on)
            await hubs.settle()
        assert [event["on"] for event in await hubs.heard(events)] == [True, False]
    hubs.worker.typing("lobby", "8", True)
    hubs.worker.typing("lobby", "7", True)
    await hubs.settle()
    async with hubs.page.listen("lobby", OWNER):
        assert [event["key"] for event in hubs.page.ongoing("lobby")] == ["7", "8"]


async def test_a_listener_that_falls_too_far_behind_is_let_go_and_the_others_hear_on() -> None:
    hub = Hub()
    async with hub.listen("lobby", OWNER) as slow, hub.listen("lobby", OWNER) as quick:
        for number in range(MAX_PENDING_EVENTS + 5):
            hub.message("lobby", saying(str(number)))
            assert quick.receive_nowait()
        for _ in range(MAX_PENDING_EVENTS):
            await slow.receive()
        with pytest.raises(anyio.EndOfStream):
            await slow.receive()


async def test_closing_lets_every_listener_go(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", *AS_ANNA) as one, hubs.page.listen("attic", OWNER) as two:
        await hubs.heard(one)
        hubs.page.close()
        for events in (one, two):
            with pytest.raises(anyio.EndOfStream):
                await events.receive()


async def test_what_is_said_while_the_listeners_are_let_go_harms_nobody(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", *AS_ANNA), hubs.page.listen("lobby", *AS_BEN):
        hubs.page.close()
        hubs.page.message("lobby", saying("m1"))
        hubs.page.typing("lobby", "7", True)
        await hubs.settle()
    await hubs.settle()
    assert await hubs.page.people("lobby") == []


async def test_a_room_with_nothing_in_it_is_forgotten() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA):
        hub.draft("lobby", saying("m1"))
        hub.typing("lobby", "7", True)
    hub.typing("lobby", "7", False)
    hub.message("lobby", saying("m1"))
    hub.typing("lobby", "7", False)
    hub.message("attic", saying("m2"))
    assert hub.rooms == {}


async def test_an_event_can_be_for_one_person_or_for_owners(hubs: Hubs) -> None:
    async with (
        hubs.page.listen("lobby", *AS_ANNA) as anna,
        hubs.other.listen("lobby", OWNER) as owner,
    ):
        await hubs.heard(anna), await hubs.heard(owner)
        hubs.worker.publish("lobby", {"type": "a"}, "7")
        hubs.worker.publish("lobby", {"type": "b"}, OWNERS)
        assert [event["type"] for event in await hubs.heard(anna)] == ["a"]
        assert [event["type"] for event in await hubs.heard(owner)] == ["b"]


async def test_a_person_whose_session_ended_is_disconnected_everywhere_and_nobody_else(
    hubs: Hubs,
) -> None:
    async with (
        hubs.page.listen("lobby", *AS_ANNA) as anna,
        hubs.other.listen("lobby", *AS_ANNA) as tab,
        hubs.other.listen("lobby", *AS_BEN) as ben,
    ):
        for events in (anna, tab, ben):
            await hubs.heard(events)
        hubs.page.dismiss("7")
        await hubs.settle()
        for events in (anna, tab):
            with pytest.raises(anyio.EndOfStream):
                await events.receive()
        hubs.worker.message("lobby", saying("m1"))
        assert len(await hubs.heard(ben)) == 1


async def test_a_stream_that_begins_when_its_session_has_just_ended_is_closed(hubs: Hubs) -> None:
    async with hubs.page.listen("lobby", *AS_BEN) as ben:
        hubs.page.dismiss("7")
        await hubs.settle()
        async with hubs.other.listen("lobby", *AS_ANNA) as events:
            with pytest.raises(anyio.EndOfStream):
                events.receive_nowait()
        assert not any(ANNA in event["people"] for event in await hubs.heard(ben))


async def test_a_member_has_some_streams_and_the_oldest_makes_way(hubs: Hubs) -> None:
    async with AsyncExitStack() as stack:

        async def open_streams(*who: Any) -> list[Any]:
            listening = (hubs.page.listen("lobby", *who) for _ in range(20))
            return [await stack.enter_async_context(one) for one in listening]

        anna, owner = await open_streams(*AS_ANNA), await open_streams(OWNER)
        hubs.worker.message("lobby", saying("m1"))
        said = {"type": "message", "message": saying("m1")}
        heard = [said in await hubs.heard(one) for one in anna]
        assert heard == [False] * 4 + [True] * MAX_STREAMS
        assert all([said in await hubs.heard(one) for one in owner])
