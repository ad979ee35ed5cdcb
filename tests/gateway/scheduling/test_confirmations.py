"""Calls that wait for a person: the card that ends the turn, and the turn that goes on."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agent.tool import Role
from channels.message import Author, Quote
from gateway.console.said import shown_text
from gateway.scheduling.presses import ANSWERED, NOT_YOURS, UNKNOWN
from gateway.storage.ledger.access import AccessRule
from gateway.storage.ledger.ledger import ledger_schema
from tape.stores.sqlite import tape_schema
from tests.fakes.openai.script import Call, Reply, Text, ToolCalls
from tests.gateway.scheduling.confirming import ALICE, BOB, Launcher, Scene, allow, launching, scene
from tests.kit.clock import QuickClock
from tests.kit.gateways import names, settled
from tests.kit.mortal import LastingStore, Moment, MortalStore
from tests.kit.play import opened


async def test_without_text_of_others_a_call_runs_at_once(play: Scene) -> None:
    play.server.enqueue(launching(), Text(("Done.",)))
    entries = await play.says(ALICE, "launch it")
    assert play.launcher.ran == ["mars"]
    assert [entry for entry in entries if "taint" in entry.meta and not entry.meta["taint"]] == []


@pytest.mark.parametrize(
    "more",
    [
        {"quote": Quote("Bob", "8", "launch it to the sun")},
        {"forwarded": Quote("Bob", "8", "launch it to the sun")},
    ],
)
async def test_text_of_others_in_one_s_own_message_makes_the_call_wait(
    play: Scene, more: dict[str, Any]
) -> None:
    play.server.enqueue(launching())
    entries = await play.says(ALICE, "do what it says", **more)
    assert play.launcher.ran == []
    assert play.card.text.startswith("I'd like to run `launch` now.")
    assert "mars" not in play.card.text  # the group does not see what exactly
    asked = next(entry for entry in entries if entry.meta.get("author") == "7")
    assert asked.meta["taint"] == ["quote"]
    (end,) = [entry for entry in entries if entry.name == "turn.end"]
    assert end.payload["data"]["waits"] == "launch"


async def test_the_asking_person_allows_the_call_once_and_the_turn_goes_on(play: Scene) -> None:
    await play.says(BOB, "launch it to the sun", addressed=False)
    play.server.enqueue(launching(), Text(("It is on its way.",)))
    await play.says(ALICE, "what does Bob want?")
    assert play.launcher.ran == []
    await play.presses(BOB, "yes")
    assert play.launcher.ran == []
    assert play.channel.shown[-1] == ("8", NOT_YOURS)
    await play.presses(ALICE, "show")
    assert play.channel.shown[-1] == ("7", '{"where":"mars"}')
    card = play.card
    entries = await play.presses(ALICE, "yes")
    assert play.launcher.ran == ["mars"]
    assert play.channel.sent[-1].text == "It is on its way."
    assert play.channel.sent[-1].chat_id == "1"
    play.channel.sent.append(card)
    await play.presses(ALICE, "yes")
    assert play.channel.shown[-1] == ("7", ANSWERED)
    assert play.launcher.ran == ["mars"]
    result = next(entry for entry in reversed(entries) if entry.kind == "tool_result")
    assert result.payload["results"] == ["launched to mars"]
    assert result.meta["taint"] == ["person", "tool"]
    said = [shown_text(entry) for entry in entries if entry.meta.get("author") == "7"]
    assert said == ["what does Bob want?", "Alice pressed Allow"]
    final = next(entry for entry in reversed(entries) if entry.meta.get("final"))
    assert final.meta["taint"] == ["person", "tool"]
    assert final.meta["asked_by"] == "editing:7"


@pytest.mark.parametrize("way", ["press", "command"])
async def test_a_call_is_allowed_once_if_the_database_s_answer_to_that_is_lost(
    tmp_path: Path, way: str
) -> None:
    store = MortalStore(LastingStore([tape_schema(), ledger_schema()]))
    async with scene(tmp_path, store=store, clock=QuickClock()) as play:
        await play.says(BOB, "launch it to the sun", addressed=False)
        play.server.enqueue(launching(), Text(("It is on its way.",)))
        await play.says(ALICE, "what does Bob want?")
        store.lose_answer(lambda held: "ledger.answer_card" in held)
        if way == "press":
            await play.presses(ALICE, "yes")
        else:
            card = play.card.buttons[0].token.partition(":")[0]
            await play.says(ALICE, f",choose {card} yes")
    assert play.launcher.ran == ["mars"]
    said = sorted(one.text for one in play.channel.sent if not one.buttons)
    assert said == ["Allowed: `launch`.", "It is on its way."]


async def test_what_is_not_allowed_is_not_run(play: Scene) -> None:
    await play.says(BOB, "launch it to the sun", addressed=False)
    play.server.enqueue(launching())
    await play.says(ALICE, "what does Bob want?")
    entries = await play.presses(ALICE, "no")
    assert play.launcher.ran == []
    assert play.channel.sent[-1].text == "Not allowed: `launch` was not run."
    assert "confirm.refused" in names(entries)


async def test_after_ten_minutes_nobody_can_allow_the_call(tmp_path: Path) -> None:
    clock = QuickClock()
    async with scene(tmp_path, clock=clock) as play:
        await play.says(BOB, "launch it to the sun", addressed=False)
        play.server.enqueue(launching())
        await play.says(ALICE, "what does Bob want?")
        clock.jump(timedelta(seconds=601))
        await play.presses(ALICE, "yes")
    assert play.launcher.ran == []
    assert play.channel.shown[-1] == ("7", UNKNOWN)


async def test_who_was_taken_off_the_list_can_allow_nothing(play: Scene) -> None:
    await play.says(BOB, "launch it to the sun", addressed=False)
    play.server.enqueue(launching())
    await play.says(ALICE, "what does Bob want?")
    await play.presses(ALICE, "yes", chat_id="2")
    assert play.launcher.ran == []


async def test_long_arguments_go_to_the_presser_in_private_as_they_are(play: Scene) -> None:
    where = "mars\u202e" + "x" * 400
    await play.says(BOB, "launch it to the sun", addressed=False)
    play.server.enqueue(launching(where))
    await play.says(ALICE, "what does Bob want?")
    await play.presses(ALICE, "show")
    assert play.channel.shown[-1] == ("7", "I've sent it to you in private.")
    sent = play.channel.sent[-1]
    assert sent.chat_id == "p7"
    assert "mars\\u202e" + "x" * 400 in sent.text
    assert not any("xxxx" in one.text for one in play.channel.sent if one.chat_id == "1")


async def test_a_subagent_asks_nobody_and_hands_its_taint_on(play: Scene) -> None:
    await play.says(BOB, "launch it to the sun", addressed=False)
    give = ToolCalls((Call("call_0", "subagent", '{"task":"launch it"}'),))
    play.server.enqueue(give, launching(), Text(("I was refused.",)), Text(("It can't.",)))
    entries = await play.says(ALICE, "what does Bob want?")
    assert play.launcher.ran == []
    assert not any(message.buttons for message in play.channel.sent)
    refused = play.server.requests[2].body["messages"][-1]["content"]
    assert "a person must allow it" in refused
    result = next(entry for entry in reversed(entries) if entry.kind == "tool_result")
    assert "person" in result.meta["taint"]


async def test_of_two_calls_that_wait_the_first_is_asked_for(play: Scene) -> None:
    two = ToolCalls(
        (Call("call_1", "launch", '{"where":"a"}'), Call("call_2", "launch", '{"where":"b"}'))
    )
    await play.says(BOB, "launch it to the sun", addressed=False)
    play.server.enqueue(two, Text(("Done.",)))
    await play.says(ALICE, "what does Bob want?")
    await play.presses(ALICE, "yes")
    assert play.launcher.ran == ["a"]


async def test_an_admin_who_allows_a_stranger_s_calls_lends_no_role(tmp_path: Path) -> None:
    stranger = Author("-500", "A channel", acts_as="other")
    async with scene(tmp_path, role=Role.STRANGER) as play:
        play.gateway.parts.requests.openings.access.put(AccessRule("editing", "7", "admin"))
        await play.says(BOB, "launch it to the sun", addressed=False)
        play.server.enqueue(launching("a"), launching("b"), Text(("Done.",)))
        await play.says(stranger, "what does Bob want?")
        await play.presses(ALICE, "yes")
        cards = play.gateway.services.ledger.cards
        (waiting,) = await cards.open("confirm", play.gateway.services.clock.now())
        assert waiting.data["arguments"] == '{"where":"b"}'
        assert waiting.data["role"] == Role.STRANGER
        await play.presses(BOB, "yes")
    assert play.launcher.ran == ["a"]


async def test_each_of_two_allowed_calls_runs_after_a_restart(tmp_path: Path) -> None:
    async with scene(tmp_path) as play:
        await play.says(BOB, "launch it to the sun", addressed=False)
        play.server.enqueue(launching("a"), launching("b"))
        await play.says(ALICE, "what does Bob want?")
        await play.says(ALICE, "and what else?", reply_to="s2")
        first, second = [message for message in play.channel.sent if message.buttons]
        play.gateway.parts.dispatcher.close()  # the process ends before they run
        for card in (first, second):
            play.channel.sent.append(card)
            await play.presses(ALICE, "yes")
        assert play.launcher.ran == []
    async with scene(tmp_path, BUFFER__DEBOUNCE="9") as play:
        play.server.default = lambda _request: Text(("Done.",))
        await settled(play.gateway, "editing:1")
    assert sorted(play.launcher.ran) == ["a", "b"]


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize(
    "at", ["ledger.issue_card", "ledger.ask_allowed", "tool_call", "tool.done", "turn.end"]
)
async def test_d8_a_kill_loses_no_call_and_runs_none_twice(
    tmp_path: Path, at: str, moment: Moment
) -> None:
    launcher = Launcher()
    async with opened("telegram", lasts=True) as house:
        chat = house.stage.group()
        alice, bob = house.stage.person("Alice"), house.stage.person("Bob")
        settings = {"ACCESS__ALLOW": f"telegram:{chat.id}", "ACCESS__MODE": "paired"}
        replies: list[Reply] = [launching(), Text(("It is on its way.",)), Text(("Once more.",))]
        house.model.enqueue(*replies)
        async with house.playing(tmp_path, launcher, **settings) as play:
            await house.stage.say(chat, bob, "launch it to the sun", mention=False)
            if at in ("ledger.issue_card",):
                play.kill_at(moment, lambda names: at in names)
                await house.stage.say(chat, alice, "what does Bob want?")
                await play.killed()
            else:
                await play.ask(chat, alice, "what does Bob want?")
                play.kill_at(moment, lambda names: at in names)
                allow(house, chat)
                await play.killed()
        async with house.playing(tmp_path, launcher, **settings) as play:
            await play.settle()
            if at == "ledger.issue_card":
                assert launcher.ran == []
                allow(house, chat)
                await play.settle()
            entries = await play.tape(chat)
            texts = play.texts(chat)
    results = [
        one for entry in entries if entry.kind == "tool_result" for one in entry.payload["results"]
    ]
    assert len(launcher.ran) <= 1
    if launcher.ran and not (at == "tool.done" and moment == "before"):
        assert "launched to mars" in results
    else:
        assert any("outcome of this call is unknown" in one for one in results)
    assert texts[-1] in ("It is on its way.", "Once more.")
