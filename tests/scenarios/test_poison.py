"""Messages that cannot be taken in, and turns that end the process: answered so, and no wedge."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import InboundMessage
from gateway.app import Gateway
from gateway.hooks.specs import hookimpl
from gateway.scheduling.notices import GIVEN_UP
from gateway.scheduling.recovery import SUSPECT_SECONDS
from gateway.turn.stopped import STOPPED
from tests.fakes.openai.script import Request, Text
from tests.kit.gateways import gateway_of, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel
from tests.kit.play import Play, opened

UNREADABLE = replace(
    MESSAGE, kind="unreadable", ext_id="unreadable/9", text="", why="no such field", addressed=False
)


class Fussy:
    """A plugin that fails at one word."""

    @hookimpl
    def resolve_session(self, message: Any) -> str | None:
        if "poison" in message.text:
            raise ValueError("I do not like this")
        return None


async def rows(gateway: Gateway) -> list[dict[str, Any]]:
    found = await gateway.services.store.select("ledger.list_inbox", {"status": "", "limit": 9})
    return [dict(row) for row in found]


async def take(gateway: Gateway, channel: PlainChannel, *said: InboundMessage) -> None:
    for number, message in enumerate(said):
        if message.kind == "message":
            named = {"ext_id": f"-100/{number}", "message_id": str(number)}
            message = replace(message, **named)  # type: ignore[arg-type]
        await channel.host.accept([message])
    await gateway.idle()


async def test_a_question_that_cannot_be_taken_in_is_told_of_and_its_neighbours_are_answered(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    poison = replace(MESSAGE, text="poison")
    async with gateway_of(tmp_path, None, Fussy(), Brings(channel), ACCESS__MODE="open") as gateway:
        await take(gateway, channel, MESSAGE, poison, MESSAGE)
        dead = [row for row in await rows(gateway) if row["status"] == "dead"]
        await settled(gateway, "plain:-100")
    assert [row["why"] for row in dead] == [
        "it could not be taken in (ValueError: I do not like this)"
    ]
    told = [post.text for post in channel.posts if "couldn't process this message" in post.text]
    assert len(told) == 1
    assert f"in-{dead[0]['id']}" in told[0]
    assert len(channel.posts) == 3


async def test_b1_what_nobody_asked_and_cannot_be_taken_in_is_told_to_nobody(
    tmp_path: Path,
) -> None:
    channel = PlainChannel()
    poison = replace(MESSAGE, text="poison", addressed=False)
    async with gateway_of(tmp_path, None, Fussy(), Brings(channel), ACCESS__MODE="open") as gateway:
        await take(gateway, channel, poison, UNREADABLE)
        statuses = [row["status"] for row in await rows(gateway)]
    assert statuses == ["dead", "dead"]
    assert channel.posts == []


@pytest.mark.parametrize("mode", ["open", "paired"])
async def test_what_cannot_be_read_is_told_in_a_private_chat_that_is_open(
    tmp_path: Path, mode: str
) -> None:
    channel = PlainChannel()
    private = replace(UNREADABLE, chat_kind="private")
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE=mode) as gateway:
        await take(gateway, channel, private)
        (row,) = await rows(gateway)
    assert (row["status"], row["why"]) == ("dead", "no such field")
    assert len(channel.posts) == (1 if mode == "open" else 0)


def never_if(word: str) -> Callable[[Request], Text]:
    """Answer each question but those with a word."""

    def reply(request: Request) -> Text:
        if word in str(request.body["messages"][-1]["content"]):
            return Text(("never",), gate=asyncio.Event())
        return Text(("answered",))

    return reply


async def crash_during(play: Play, requests: int) -> None:
    """Kill the gateway once the model was asked so many questions and answered what it will."""
    await play.run(play.model.wait_for_requests(requests))
    await play.clock.advance(1)
    play.kill()


async def test_a_turn_in_every_crash_is_given_up_and_those_beside_it_are_answered(
    tmp_path: Path,
) -> None:
    async with opened("telegram", lasts=True) as house:
        people = [house.stage.person(name) for name in ("Alice", "Bob", "Cem", "Dora")]
        alice, bob, cem, dora = (house.stage.private(person) for person in people)
        house.model.default = never_if("")
        async with house.playing(tmp_path) as play:
            for chat, person, text in zip(
                (alice, bob, cem), people, ("fine", "poison", "fine"), strict=False
            ):
                await play.stage.say(chat, person, text)
            await crash_during(play, 3)
        async with house.playing(tmp_path) as play:  # all resume after a first crash
            await crash_during(play, 6)
        house.model.default = never_if("poison")
        async with house.playing(tmp_path) as play:  # suspects run one at a time
            begun = house.clock.monotonic()
            await play.run(play.model.wait_for_requests(7))
            assert house.clock.monotonic() >= begun + SUSPECT_SECONDS
            await crash_during(play, 8)
            assert [play.texts(chat) for chat in (alice, bob, cem)] == [["answered"], [], []]
        async with house.playing(tmp_path) as play:  # and beside whatever else there is
            await play.stage.say(dora, people[3], "hello")
            await crash_during(play, 11)
            assert [play.texts(chat) for chat in (bob, cem, dora)] == [[], *[["answered"]] * 2]
        async with house.playing(tmp_path) as play:
            await crash_during(play, 12)
        async with house.playing(tmp_path) as play:
            await play.settle()
            texts = [play.texts(chat) for chat in (alice, bob, cem, dora)]
            ends = await play.events(bob, "turn.end")
            (row,) = await play.gateway.services.store.select(
                "ledger.list_inbox", {"status": "dead", "limit": 9}
            )
    assert texts == [["answered"], [GIVEN_UP], ["answered"], ["answered"]]
    assert row["why"] == "it was running in 5 crashes"
    assert [(end["status"], end["why"]) for end in ends] == [("dead", row["why"])]


async def test_a_turn_that_is_stopped_before_it_resumes_leaves_a_notice_in_place_of_its_draft(
    tmp_path: Path,
) -> None:
    async with opened("telegram", lasts=True) as house:
        alice, chat = house.stage.person("Alice"), house.stage.group()
        house.model.default = lambda _request: Text(("half ", "never"), gate=asyncio.Event())
        for requests in (1, 2):
            async with house.playing(tmp_path) as play:
                if requests == 1:
                    await play.stage.say(chat, alice, "one")
                await play.run(play.model.wait_for_requests(requests))
                await play.run(play.stage.until(lambda: play.texts(chat) != []))
                (draft,) = play.stage.answers(chat)
                await play.clock.advance(1)
                play.kill()
        async with house.playing(tmp_path) as play:
            await play.ask_command(chat, alice, "stop")
            told = [(one.id, one.text) for one in play.stage.answers(chat)]
            ends = await play.events(chat, "turn.end")
    assert told == [(draft.id, STOPPED)]
    assert [(end["status"], end["by"]) for end in ends] == [("stopped", alice.id)]
