"""F: connections; on every channel that has what a line needs."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.contracts.texts import loop_time
from tests.fakes.openai.script import Text
from tests.kit.play import Play, opened, playing
from tests.kit.promised import promises
from tests.kit.visitor import visit

NOTICED = 60
"""Maximum seconds until a dead connection is noticed."""


async def seconds_pass(play: Play, seconds: int) -> None:
    """Advance the clock in steps that everything notices."""
    for _ in range(seconds // 5):
        await play.clock.advance(5)


def _all_ready(play: Play) -> bool:
    return all(state.state == "ready" for state in play.gateway.status.states.values())


async def until_connected(play: Play) -> None:
    """Advance the clock until the gateway listens."""
    for _ in range(NOTICED):
        if play.stage.listening() and _all_ready(play):
            return
        await play.clock.advance(1)
    raise AssertionError("the gateway does not listen")


@promises("F1")
async def test_f1_a_half_open_socket_is_noticed_and_a_hundred_messages_come_through(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        with loop_time(play.clock):
            await until_connected(play)
            play.stage.half_open()
            said = []
            for number in range(100):
                asks = number % 20 == 0
                said.append(await play.stage.say(chat, alice, f"number {number}", mention=asks))
                if number % 4 == 3:
                    await play.clock.advance(1)
            assert play.stage.untaken() == 100
            await seconds_pass(play, NOTICED - 25)
            assert play.stage.untaken() == 0
            await play.settle()  # the idle connections that went silent end by the loop's time
        taped = [entry.meta.get("message_id") for entry in await play.tape(chat)]
        assert [taped.count(one.id) for one in said] == [1] * 100
        asked = said[::20]
        assert [
            answer.reply_to
            for answer in play.stage.answers(chat)
            if answer.reply_to in {one.id for one in said}
        ] == [one.id for one in asked]


@promises("F1")
async def test_f1_it_is_noticed_in_time_whatever_is_set(channel: str, tmp_path: Path) -> None:
    async with opened(channel) as house:
        more = {"TAPE__URL": "memory:", **house.stage.patient()}
        async with house.playing(tmp_path, **more) as play:
            with loop_time(play.clock):
                await until_connected(play)
                await play.clock.advance(0.5)
                play.stage.half_open()
                said = await play.stage.say(play.chat(), play.person(), "one")
                await seconds_pass(play, NOTICED)
                assert play.stage.untaken() == 0
            await play.settle()
            play.answer(said)


@promises("F2")
async def test_f2_after_a_hundred_reconnects_one_connection_lives(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        said = []
        with loop_time(play.clock):
            for number in range(100):
                await until_connected(play)
                assert play.stage.listening() == 1
                play.stage.drop_connections()
                asks = number % 20 == 0
                said.append(await play.stage.say(chat, alice, f"number {number}", mention=asks))
                await play.clock.advance(0)
            await until_connected(play)
            assert play.stage.listening() == 1
            assert play.stage.connections() <= 2
        await play.settle()
        taped = [entry.meta.get("message_id") for entry in await play.tape(chat)]
        assert [taped.count(one.id) for one in said] == [1] * 100
        for one in said[::20]:
            play.answer(one)
        play.answer(await play.ask(chat, alice, "still there?"))


@promises("F3")
async def test_f3_a_quiet_chat_is_not_called_unhealthy(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        with loop_time(play.clock):
            for _ in range(10):
                await seconds_pass(play, 60)
                assert (await play.health())[0] == 200


@promises("F3")
async def test_f3_a_deaf_channel_is_named_with_since_when_though_its_sends_arrive(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, gate = play.chat(), asyncio.Event()
        play.model.enqueue(Text(("at ", "last"), gate=gate))
        said = await play.stage.say(chat, play.person(), "one")
        await play.taken()
        with loop_time(play.clock):
            await until_connected(play)
            play.stage.stall_events()
            await seconds_pass(play, NOTICED - 5)
            gate.set()
            await play.run(play.stage.until(lambda: "at last" in play.texts(chat)))
            play.answer(said)
            await seconds_pass(play, 5)
            status, body = await play.health()
            told = body["channels"][channel]
            assert status == 503
            assert told["state"] in ("deaf", "waiting")
            assert told["since"]
            since = told["since"]
            await seconds_pass(play, NOTICED)
            assert (await play.health())[1]["channels"][channel]["since"] == since
            play.stage.resume_events()
            await seconds_pass(play, NOTICED)
            assert (await play.health())[0] == 200


@promises("F4")
@pytest.mark.parametrize("when", ["from the start", "later"])
async def test_f4_a_token_that_is_no_good_is_told_with_its_remedy_and_others_run_on(
    channel: str, tmp_path: Path, when: str
) -> None:
    async with opened(channel) as house:
        if when == "from the start":
            house.stage.revoke()
        async with house.playing(tmp_path, also=["web"], TAPE__URL="memory:") as play:
            if when == "later":
                play.answer(await play.ask(play.chat(), play.person(), "before"))
                play.stage.revoke()
            await play.clock.advance(5)
            status, body = await play.health()
            told = body["channels"][channel]
            assert (status, told["state"]) == (503, "unfit")
            assert re.search(rf"TAPEWAY_{channel.upper()}__(\w+_)?TOKEN", told["why"])
            assert body["channels"]["web"]["state"] == "ready"
            sent = play.stage.outbound()
            async with visit(play.gateway.url, "Bob") as (bob,):
                answer = await play.run(bob.answer(await bob.say("and you?")))
            assert "and you?" in answer["text"]
            await play.clock.advance(3600)
            assert play.stage.outbound() == sent


@promises("F4", "exclusive")
async def test_f4_a_second_reader_of_the_same_token_is_told_and_tried_again(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await until_connected(play)
        play.stage.compete()
        await play.clock.advance(0.1)
        status, body = await play.health()
        assert status == 503
        assert "second" in body["channels"][channel]["why"]
        await until_connected(play)
        assert (await play.health())[0] == 200
        play.answer(await play.ask(chat, alice, "still there?"))
