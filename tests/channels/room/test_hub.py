"""What is going on in a room, and who hears of it."""

from __future__ import annotations

from contextlib import AsyncExitStack

import anyio
import pytest
from anyio.streams.memory import MemoryObjectReceiveStream

from channels.room.hub import MAX_PENDING_EVENTS, MAX_STREAMS, Hub, Json
from channels.room.session import OWNER, PageSession

pytestmark = pytest.mark.anyio

ANNA: Json = {"id": "7", "name": "anna"}
BEN: Json = {"id": "8", "name": "Ben"}
AS_ANNA = (PageSession("7", room="lobby"), "anna")
AS_BEN = (PageSession("8", room="lobby"), "Ben")


def heard(events: MemoryObjectReceiveStream[Json]) -> list[Json]:
    """Return what has come so far."""
    found: list[Json] = []
    try:
        while True:
            found.append(events.receive_nowait())
    except (anyio.WouldBlock, anyio.EndOfStream):
        return found


def saying(message_id: str, text: str = "hi") -> Json:
    return {"id": message_id, "text": text}


async def test_every_listener_of_a_room_hears_and_nobody_else() -> None:
    hub = Hub()
    async with (
        hub.listen("lobby", OWNER) as one,
        hub.listen("lobby", OWNER) as two,
        hub.listen("attic", OWNER) as other,
    ):
        hub.message("lobby", saying("m1"))
        expected = [{"type": "message", "message": saying("m1")}]
        assert heard(one) == heard(two) == expected
        assert heard(other) == []


async def test_who_comes_and_goes_is_told_to_those_who_are_there() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_BEN) as ben:
        async with hub.listen("lobby", *AS_ANNA), hub.listen("lobby", OWNER):
            assert hub.people("lobby") == [ANNA, BEN]
        assert hub.people("lobby") == [BEN]
        told = [event["people"] for event in heard(ben)]
        assert told == [[BEN], [ANNA, BEN], [BEN]]
    assert hub.people("lobby") == []


async def test_a_person_with_two_pages_is_there_once_until_both_are_closed() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA):
        async with hub.listen("lobby", *AS_ANNA):
            assert hub.people("lobby") == [ANNA]
        assert hub.people("lobby") == [ANNA]


async def test_a_draft_is_shown_also_to_who_comes_later_until_the_message_takes_its_place() -> None:
    hub = Hub()
    async with hub.listen("lobby", OWNER) as events:
        hub.draft("lobby", saying("m1", "h"))
        hub.draft("lobby", saying("m1", "hi"))
        assert hub.ongoing("lobby") == [{"type": "draft", "message": saying("m1", "hi")}]
        hub.message("lobby", saying("m1", "hi!"))
        assert hub.ongoing("lobby") == []
        assert [event["type"] for event in heard(events)] == ["draft", "draft", "message"]


async def test_another_message_leaves_a_draft_alone() -> None:
    hub = Hub()
    hub.draft("lobby", saying("m1"))
    hub.message("lobby", saying("m2"))
    assert hub.ongoing("lobby") == [{"type": "draft", "message": saying("m1")}]


async def test_a_dropped_draft_is_taken_away_once() -> None:
    hub = Hub()
    async with hub.listen("lobby", OWNER) as events:
        hub.draft("lobby", saying("m1"))
        hub.drop_draft("lobby", "m1")
        hub.drop_draft("lobby", "m1")
        hub.drop_draft("nowhere", "m1")
        assert heard(events)[1:] == [{"type": "draft.removed", "id": "m1"}]
    assert hub.ongoing("lobby") == []


async def test_typing_is_told_when_it_changes_and_to_who_comes_later() -> None:
    hub = Hub()
    async with hub.listen("lobby", OWNER) as events:
        for on in (False, True, True, False, False):
            hub.typing("lobby", "7", on)
        assert [event["on"] for event in heard(events)] == [True, False]
    hub.typing("lobby", "8", True)
    hub.typing("lobby", "7", True)
    assert [event["key"] for event in hub.ongoing("lobby")] == ["7", "8"]


async def test_a_listener_that_falls_too_far_behind_is_let_go_and_the_others_hear_on() -> None:
    hub = Hub()
    async with hub.listen("lobby", OWNER) as slow, hub.listen("lobby", OWNER) as quick:
        for number in range(MAX_PENDING_EVENTS + 5):
            hub.message("lobby", saying(str(number)))
            assert len(heard(quick)) == 1
        for _ in range(MAX_PENDING_EVENTS):
            await slow.receive()
        with pytest.raises(anyio.EndOfStream):
            await slow.receive()


async def test_closing_lets_every_listener_go() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA) as one, hub.listen("attic", OWNER) as two:
        heard(one)
        hub.close()
        for events in (one, two):
            with pytest.raises(anyio.EndOfStream):
                await events.receive()


async def test_what_is_said_while_the_listeners_are_let_go_harms_nobody() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA), hub.listen("lobby", *AS_BEN):
        hub.close()
        hub.message("lobby", saying("m1"))
        hub.typing("lobby", "7", True)
    assert hub.people("lobby") == []


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


async def test_an_event_can_be_for_one_person_or_for_owners() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA) as anna, hub.listen("lobby", OWNER) as owner:
        heard(anna), heard(owner)
        hub.publish("lobby", {"type": "a"}, lambda session: session.person == "7")
        hub.publish("lobby", {"type": "b"}, lambda session: session.owner)
        assert [event["type"] for event in heard(anna)] == ["a"]
        assert [event["type"] for event in heard(owner)] == ["b"]


async def test_a_person_whose_session_ended_is_disconnected_everywhere_and_nobody_else() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_ANNA) as anna, hub.listen("lobby", *AS_BEN) as ben:
        heard(anna), heard(ben)
        hub.dismiss("7")
        with pytest.raises(anyio.EndOfStream):
            await anna.receive()
        hub.message("lobby", saying("m1"))
        assert len(heard(ben)) == 1


async def test_a_stream_that_begins_when_its_session_has_just_ended_is_closed() -> None:
    hub = Hub()
    async with hub.listen("lobby", *AS_BEN) as ben:
        hub.dismiss("7")
        async with hub.listen("lobby", *AS_ANNA) as events:
            with pytest.raises(anyio.EndOfStream):
                events.receive_nowait()
        assert not any(ANNA in event["people"] for event in heard(ben))


async def test_a_member_has_some_streams_and_the_oldest_makes_way() -> None:
    hub = Hub()
    async with AsyncExitStack() as stack:
        anna = [await stack.enter_async_context(hub.listen("lobby", *AS_ANNA)) for _ in range(20)]
        owner = [await stack.enter_async_context(hub.listen("lobby", OWNER)) for _ in range(20)]
        hub.message("lobby", saying("m1"))
        said = {"type": "message", "message": saying("m1")}
        assert [said in heard(one) for one in anna] == [False] * 4 + [True] * MAX_STREAMS
        assert all(said in heard(one) for one in owner)
