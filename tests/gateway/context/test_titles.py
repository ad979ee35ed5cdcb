"""Titles of rooms: given by whoever may write there, kept on the tape, gone with their person."""

from __future__ import annotations

import anyio
import httpx2

from gateway.app import Gateway
from gateway.console.chats import ConsoleChat
from gateway.context.titles import MAX_TITLES, TITLED
from tests.gateway.erasing.stage import erased
from tests.kit.gateways import settled
from tests.kit.visitor import Visitor, visit


async def give(url: str, visitor: Visitor, title: str) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=visitor.cookie) as client:
        return await client.post("/api/rooms/lobby/title", json={"title": title})


async def test_a_title_is_shown_to_the_room_its_list_and_the_console(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann", "Bob") as (ann, bob):
        await ann.answer(await ann.say("hello"))
        said = len(await settled(gateway))
        assert ann.of_type("hello")[0]["title"] == ""
        for visitor, title in ((ann, " Kitchen "), (bob, "Küche 厨房"), (bob, "Küche 厨房")):
            response = await give(gateway.url, visitor, title)
            assert (response.status_code, response.json()["title"]) == (200, title.strip())
        await ann.until(lambda event: event.get("titled_at") == said + 2)
        for title in ("x" * 81, "two\nlines", "left \u202eright"):
            assert (await give(gateway.url, ann, title)).status_code == 422
    given = [entry for entry in await settled(gateway) if entry.name == TITLED]
    assert [(one.payload["data"]["title"], one.payload["data"]["author"]) for one in given] == [
        ("Kitchen", ann.id),
        ("Küche 厨房", bob.id),
    ]
    async with visit(gateway.url, "Cid") as (cid,):
        hello = cid.of_type("hello")[0]
        assert (hello["title"], hello["titled_at"]) == ("Küche 厨房", said + 2)
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as owner:
        rooms = (await owner.get("/api/rooms")).json()
    assert rooms == [{"room": "lobby", "title": "Küche 厨房"}]
    (row,) = await gateway.services.store.select("ledger.console_chats", {})
    chat = ConsoleChat.read(row)
    assert chat is not None
    assert chat.title == "Küche 厨房"


async def test_one_person_gives_a_room_no_more_titles_than_they_may(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann", "Bob") as (ann, bob):
        await ann.answer(await ann.say("hello"))
        for number in range(MAX_TITLES - 1):
            assert (await give(gateway.url, ann, f"Room {number}")).is_success
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(give, gateway.url, ann, f"Attic {number}")
        given = [entry for entry in await settled(gateway) if entry.name == TITLED]
        assert len(given) == MAX_TITLES
        refused = await give(gateway.url, ann, "Cellar")
        assert refused.status_code == 422
        why = "You have changed the title 20 times within a day: try again tomorrow."
        assert refused.json() == {"error": why}
        assert (await give(gateway.url, bob, "Cellar")).is_success


async def test_a_title_goes_with_the_person_who_gave_it(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann", "Bob") as (ann, bob):
        await ann.answer(await ann.say("hello"))
        await give(gateway.url, ann, "Kitchen")
        await give(gateway.url, bob, "Bob's own")
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=bob.id, asked_by="operator"
        )
        await erased(gateway)
        of_room = {"session_id": "web:lobby"}
        assert await gateway.services.store.select("ledger.title", of_room) == []
        assert "Bob's own" not in str([entry.payload for entry in await settled(gateway)])
        assert (await give(gateway.url, ann, "Attic")).json()["title"] == "Attic"
