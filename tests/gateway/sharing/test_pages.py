"""People on the pages of several processes over one database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest
from anyio.lowlevel import checkpoint

from tests.channels.room.hubs import silence
from tests.gateway.sharing.pages import ROOM, Process, at, processes
from tests.kit.visitor import Visitor
from tests.postgres import owned_database

pytestmark = pytest.mark.postgresql


@pytest.fixture
def database() -> Iterator[str]:
    with owned_database() as url:
        yield url


def shown(visitor: Visitor) -> list[str]:
    """Return the messages that came live, in their order."""
    return [event["message"]["text"] for event in visitor.of_type("message")]


def past(visitor: Visitor) -> list[str]:
    """Return the messages that were there when the page was opened."""
    return [one["text"] for one in visitor.of_type("history")[0]["messages"]]


async def drafted(visitor: Visitor, text: str) -> None:
    await visitor.until(lambda event: event["type"] == "draft" and event["message"]["text"] == text)


async def came(visitor: Visitor, text: str) -> None:
    await visitor.until(
        lambda event: event["type"] == "message" and event["message"]["text"] == text
    )


async def people_are(visitor: Visitor, *names: str) -> None:
    await visitor.until(
        lambda event: (
            event["type"] == "people" and [one["name"] for one in event["people"]] == [*names]
        )
    )


async def ask(visitor: Visitor, ingress: Process, worker: Process, text: str) -> Any:
    """Say something on one process, and have another take it."""
    await visitor.say(text)
    asked = ingress.host.accepted[-1]
    await worker.take(asked)
    return asked


async def test_two_people_at_two_processes_follow_the_answer_of_a_third(database: str) -> None:
    async with processes(database, 3) as (one, two, worker):
        async with at(one, "Alice") as (alice,), at(two, "Bob") as (bob,):
            await people_are(alice, "Alice", "Bob")
            asked = await ask(alice, one, worker, "What is it?")
            await worker.write(asked, "Half ")
            await drafted(alice, "Half ")
            await drafted(bob, "Half ")
            async with at(one, "Bob") as (again,):  # another process, in the middle
                await drafted(again, "Half ")
                await worker.write(asked, "and half.")
                await drafted(again, "Half and half.")
                await worker.answer(asked, "Half and half.")
                for visitor in (alice, bob, again):
                    await came(visitor, "Half and half.")
                await ask(bob, two, worker, "Thanks!")
                for visitor in (alice, bob, again):
                    await came(visitor, "Thanks!")
                assert past(again) == ["What is it?"]
                assert shown(again) == ["Half and half.", "Thanks!"]
            assert shown(alice) == shown(bob) == ["What is it?", "Half and half.", "Thanks!"]
        async with at(two, "Alice") as (alice,):
            assert past(alice) == ["What is it?", "Half and half.", "Thanks!"]
            assert alice.of_type("draft") == []


async def test_people_survive_the_death_of_their_process_at_another_one(database: str) -> None:
    async with processes(database, 3) as (one, two, worker), at(two, "Bob") as (bob,):
        async with at(one, "Alice") as (alice,):
            await people_are(bob, "Alice", "Bob")
            asked = await ask(alice, one, worker, "What is it?")
            await worker.write(asked, "Half ")
            await drafted(alice, "Half ")
            one.kill()
            silence(database, one.owner)
        async with at(two, "Alice") as (alice,):
            await drafted(alice, "Half ")
            await worker.answer(asked, "Whole.")
            await came(alice, "Whole.")
            assert (past(alice), shown(alice)) == (["What is it?"], ["Whole."])
        await people_are(bob, "Bob")
        await came(bob, "Whole.")
        assert shown(bob) == ["What is it?", "Whole."]


async def test_a_dead_worker_s_draft_goes_and_comes_again_from_the_next_one(database: str) -> None:
    async with processes(database, 3) as (one, two, worker), at(one, "Alice") as (alice,):
        asked = await ask(alice, one, worker, "What is it?")
        await worker.write(asked, "Half ")
        await drafted(alice, "Half ")
        worker.kill()
        silence(database, worker.owner)
        await alice.until(lambda event: event["type"] == "draft.removed")
        await two.write(asked, "Anew ")
        await drafted(alice, "Anew ")
        await two.answer(asked, "Anew done.")
        await came(alice, "Anew done.")
        assert shown(alice) == ["What is it?", "Anew done."]


async def test_a_session_that_ends_at_one_process_closes_its_streams_at_the_others(
    database: str,
) -> None:
    async with processes(database, 2) as (one, two), at(two, "Alice") as (alice,):
        ended: list[str] = []
        two.rooms.at_dismissal.append(ended.append)
        async with at(two, "Bob"):
            await people_are(alice, "Alice", "Bob")
            alice.events.clear()
            one.channel.hub.dismiss("w-bob")
            await people_are(alice, "Alice")
        assert ended == ["w-bob"]


async def test_a_post_to_a_process_without_listeners_knows_who_is_in_the_room(
    database: str,
) -> None:
    async with processes(database, 2) as (one, two), at(one, "Alice", "Bob") as (alice, bob):
        await people_are(alice, "Alice", "Bob")
        while len(await two.channel.hub.people("lobby")) < 2:  # they are written a moment later
            await checkpoint()
        async with httpx2.AsyncClient(base_url=two.url, trust_env=False) as client:
            elsewhere = Visitor(client, "lobby", "Bob")
            elsewhere.cookie = bob.cookie
            await elsewhere.say("@Alice, lunch?")
        assert [message.addressed for message in two.host.accepted] == [False]


async def test_what_comes_while_a_page_opens_is_shown_once(database: str) -> None:
    async with processes(database, 2) as (one, worker), at(one, "Bob") as (bob,):
        gate, one.host.asked = anyio.Event(), anyio.Event()
        one.host.reads.append(gate)
        async with anyio.create_task_group() as group:

            async def open_page() -> None:
                async with at(one, "Alice") as (alice,):
                    await ask(bob, one, worker, "And after?")
                    await came(alice, "And after?")
                    assert (past(alice), shown(alice)) == (["And before?"], ["And after?"])

            group.start_soon(open_page)
            await one.host.asked.wait()
            await ask(bob, one, worker, "And before?")
            await came(bob, "And before?")
            gate.set()
        assert shown(bob) == ["And before?", "And after?"]


async def test_what_one_process_erased_is_gone_from_the_pages_of_all(database: str) -> None:
    async with processes(database, 2) as (one, worker):
        async with at(one, "Alice") as (alice,), at(worker, "Bob") as (bob,):
            await ask(alice, one, worker, "my secret plum")
            await came(bob, "my secret plum")
            worker.channel.erased(ROOM)
            for visitor in (alice, bob):
                await visitor.until(lambda _event: len(visitor.of_type("history")) == 2)  # noqa: B023
