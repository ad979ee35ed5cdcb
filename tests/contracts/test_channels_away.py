"""D2 and D7: the gateway, or its database, was away; on every channel."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.play import opened, prompt_of
from tests.kit.promised import promises

HOUR = 3600.0


@promises("D2")
async def test_d2_what_was_said_while_the_gateway_was_away_is_answered_in_order(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            chat, alice, bob = play.chat(), play.person(), play.person("Bob")
            other = play.chat(bob)
            await play.ask(chat, alice, "before")
        said = []
        for number in range(3):
            said.append(await house.stage.say(chat, alice, f"number {number}"))
            await house.clock.advance(7 * HOUR)
        elsewhere = await house.stage.say(other, bob, "elsewhere")
        async with house.playing(tmp_path) as play:
            await play.settle()
            told = [a for a in play.stage.answers(chat) if a.reply_to in {one.id for one in said}]
            assert [answer.reply_to for answer in told] == [one.id for one in said]
            for one, answer in zip(said, told, strict=True):
                assert one.text.partition("number")[2] in answer.text
            play.answer(elsewhere)
            assert len(play.model.requests) == 5


@promises("D2")
async def test_d2_what_is_older_than_the_replay_age_is_recorded_counted_and_told_once(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house:
        async with house.playing(tmp_path) as play:
            chat, alice = play.chat(), play.person()
            await play.ask(chat, alice, "before")
        old = [await house.stage.say(chat, alice, f"old {number}") for number in range(3)]
        await house.clock.advance(25 * HOUR)
        new = await house.stage.say(chat, alice, "new")
        for _ in range(2):
            async with house.playing(tmp_path) as play:
                await play.settle()
                await play.clock.advance(10)
                await play.settle()
                (told,) = [text for text in play.texts(chat) if text.startswith("I was away")]
                assert "(3 here)" in told
                play.answer(new)
                assert len(play.model.requests) == 2
                taped = [entry.meta.get("message_id") for entry in await play.tape(chat)]
                assert [taped.count(one.id) for one in [*old, new]] == [1] * 4
                assert all(one.text.split()[-1] in prompt_of(play.model) for one in old)


@promises("D7")
async def test_d7_while_the_database_is_away_nothing_is_taken_and_it_resumes_by_itself(
    channel: str, tmp_path: Path
) -> None:
    async with opened(channel, lasts=True) as house, house.playing(tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        assert (await play.health())[0] == 200
        play.store.away = True
        said = [await play.stage.say(chat, alice, f"number {number}") for number in range(3)]
        for _ in range(30):
            await play.clock.advance(1)
        assert play.stage.untaken() == 3
        status, body = await play.health()
        assert (status, body["store"]["state"]) == (503, "away")
        assert body["store"]["seconds"] >= 20
        assert len(play.texts(chat)) == 1
        play.store.away = False
        await play.settle()
        assert play.stage.untaken() == 0
        answers = {(await play.answer_with(one)).id for one in said}
        assert len(answers) == 3 or (play.adds and len(answers) == 2)
        assert len(play.model.requests) == 1 + len(answers)
        assert (await play.health())[0] == 200


@promises("D7")
@pytest.mark.parametrize("tool", [False, True])
async def test_d7_a_turn_that_runs_when_the_database_goes_away_is_answered_once(
    channel: str, tmp_path: Path, tool: bool
) -> None:
    async with opened(channel, lasts=True) as house, house.playing(tmp_path) as play:
        chat, gate = play.chat(), asyncio.Event()
        call = ToolCalls((Call("a", "tape_info", "{}"),), pieces=("wait ", "."), gate=gate)
        play.model.enqueue(call if tool else Text(("at ", "last"), gate=gate))
        play.model.enqueue(*[Text(("at last",))] * tool)
        said = await play.stage.say(chat, play.person(), "one")
        await play.run(play.stage.until(lambda: play.texts(chat) != []))
        play.store.away = True
        gate.set()
        await play.clock.advance(20)
        assert (await play.health())[0] == 503
        assert await play.events(chat, "turn.end") == []
        play.store.away = False
        await play.settle()
        assert play.texts(chat) == ["at last"]
        play.answer(said)
        assert len(await play.events(chat, "turn.end")) == 1


@promises("D7")
async def test_d7_what_nobody_asked_is_not_lost_either(channel: str, tmp_path: Path) -> None:
    async with opened(channel, lasts=True) as house, house.playing(tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        play.store.away = True
        said = await play.stage.say(chat, alice, "by the way", mention=False)
        await play.clock.advance(10)
        play.store.away = False
        await play.settle()
        assert [e.meta.get("message_id") for e in await play.tape(chat)].count(said.id) == 1
