"""Thumbs below answers: kept on the tape, counted for the room, erased with their person."""

from __future__ import annotations

import anyio
import httpx2

from gateway.app import Gateway
from gateway.context.reactions import MAX_CHANGES, REACTION
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.gateways import settled
from tests.kit.visitor import Json, Visitor, visit


async def react(
    url: str, visitor: Visitor, answer: str, value: str, room: str = "lobby"
) -> httpx2.Response:
    async with httpx2.AsyncClient(base_url=url, trust_env=False, headers=visitor.cookie) as client:
        body = {"answer": answer, "value": value}
        return await client.post(f"/api/rooms/{room}/reactions", json=body)


def counted(visitor: Visitor) -> list[Json]:
    return [event["reactions"] for event in visitor.of_type("reactions") if "mine" not in event]


async def test_thumbs_are_events_that_the_room_sees_as_counts_and_the_model_not_at_all(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    async with visit(gateway.url, "Ann", "Bob") as (ann, bob):
        answer = (await ann.answer(await ann.say("hello")))["id"]
        said = await settled(gateway)
        for visitor, value in ((ann, "up"), (bob, "up"), (bob, "up"), (ann, "down"), (ann, "")):
            response = await react(gateway.url, visitor, answer, value)
            assert (response.status_code, response.json()["mine"]) == (200, value)
        await bob.until(lambda event: event.get("reactions", {}).get("at", 0) == len(said) + 4)
        shown = [(one["up"], one["down"]) for one in counted(bob)]
        assert shown == [(1, 0), (2, 0), (2, 0), (1, 1), (1, 0)]
        own = [event["mine"] for event in bob.of_type("reactions") if "mine" in event]
        assert own == ["up", "up"]
        entries = (await settled(gateway))[len(said) :]
        final = next(entry.id for entry in said if entry.meta.get("final"))
        values = [entry.payload["data"] for entry in entries]
        assert [entry.name for entry in entries] == [REACTION] * 4
        assert {data["entry"] for data in values} == {final}
        assert [(data["author"], data["value"]) for data in values] == [
            (ann.id, "up"),
            (bob.id, "up"),
            (ann.id, "down"),
            (ann.id, ""),
        ]
        await ann.answer(await ann.say("and now?"))
        assert REACTION not in str(model.requests[-1])
    async with visit(gateway.url, "Cid") as (cid,):
        (past,) = cid.of_type("history")
        found = next(one for one in past["messages"] if one["id"] == answer)
        assert (found["reactions"]["up"], found["mine"]) == (1, "")


async def test_only_answers_of_the_room_are_judged_and_not_without_end(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann") as (ann,):
        asked = await ann.say("hello")
        answer = (await ann.answer(asked))["id"]
        for what, room in ((asked, "lobby"), (answer, "attic"), ("t-1:0", "lobby"), ("", "lobby")):
            assert (await react(gateway.url, ann, what, "up", room)).status_code == 404
        assert (await react(gateway.url, ann, answer, "sideways")).status_code == 422
        for number in range(MAX_CHANGES):
            assert (await react(gateway.url, ann, answer, ("up", "")[number % 2])).is_success
        refused = await react(gateway.url, ann, answer, "up")
        assert refused.status_code == 422
        assert refused.json() == {"error": "You have changed this too often."}


async def test_of_thumbs_at_once_no_more_count_than_one_person_may_give(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann") as (ann,):
        answer = (await ann.answer(await ann.say("hello")))["id"]
        for number in range(MAX_CHANGES - 1):
            await react(gateway.url, ann, answer, ("up", "")[number % 2])
        async with anyio.create_task_group() as group:
            for number in range(12):
                group.start_soon(react, gateway.url, ann, answer, ("down", "")[number % 2])
        given = [entry for entry in await settled(gateway) if entry.name == REACTION]
        assert len(given) == MAX_CHANGES


async def test_an_erased_person_s_thumbs_are_gone_and_others_stay(gateway: Gateway) -> None:
    async with visit(gateway.url, "Ann", "Bob") as (ann, bob):
        answer = (await ann.answer(await ann.say("hello")))["id"]
        for visitor in (ann, bob):
            await react(gateway.url, visitor, answer, "down")
        await gateway.parts.eraser.begin(
            what="person", channel="web", person=bob.id, asked_by="operator"
        )
        await erased(gateway)
    assert all(bob.id not in str(entry.payload) for entry in await settled(gateway))
    async with visit(gateway.url, "Cid") as (cid,):
        (past,) = cid.of_type("history")
        assert [one["reactions"]["down"] for one in past["messages"]] == [0, 1]
