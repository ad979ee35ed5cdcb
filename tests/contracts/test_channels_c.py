"""C: several people at once; on every channel that has what a line needs."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from agent.process_pool import in_a_process
from agent.tool import Role, Tool
from channels.testing import Chat, Person, PersonMessage
from gateway.hooks.specs import hookimpl
from tests.contracts.burning import Burn, burn
from tests.fakes.openai.script import Call, Request, Text, ToolCalls
from tests.kit.play import Play, playing, prompt_of
from tests.kit.promised import is_at_length, promises

WORD = re.compile(r"word-(\d+)-(\d+)")


@promises("C1")
@pytest.mark.parametrize("later", [1, 16, 360])
async def test_c1_two_people_are_answered_each_on_their_own_message(
    channel: str, tmp_path: Path, later: int
) -> None:
    async with playing(channel, tmp_path) as play:
        group, gate = play.stage.group(), asyncio.Event()
        play.model.enqueue(Text(("for ", "Alice"), gate=gate), Text(("for Bob",)))
        first = await asked(play, group, play.person(), "one")
        await play.clock.advance(later)
        second = await asked(play, group, play.person("Bob"), "two")
        await play.run(play.stage.until(lambda: "for Bob" in play.texts(group)))
        assert play.answer(second).text == "for Bob"
        gate.set()
        await play.settle()
        assert play.answer(first).text == "for Alice"
        assert len(play.texts(group)) == 2


@promises("C1")
@pytest.mark.parametrize("later", [1, 16, 360])
async def test_c1_who_joins_a_conversation_that_is_being_answered_is_answered_next(
    channel: str, tmp_path: Path, later: int
) -> None:
    async with playing(channel, tmp_path) as play:
        group, gate = play.stage.group(), asyncio.Event()
        play.model.enqueue(Text(("for ", "Alice"), gate=gate), Text(("for Bob",)))
        first = await asked(play, group, play.person(), "one")
        await play.clock.advance(later)
        second = await asked(play, group, play.person("Bob"), "and why?", reply_to=first.id)
        assert len(play.model.requests) == 1
        gate.set()
        await play.settle()
        assert (play.answer(first).text, play.answer(second).text) == ("for Alice", "for Bob")
        assert prompt_of(play.model).index("for Alice") < prompt_of(play.model).index("and why?")


@promises("C2", "groups")
async def test_c2_requests_of_several_people_run_side_by_side(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        group, gates = play.stage.group(), [asyncio.Event() for _ in range(3)]
        play.model.enqueue(*(Text((f"answer {n}", "."), gate=g) for n, g in enumerate(gates)))
        said = [await asked(play, group, play.person(f"P{n}"), "go") for n in range(3)]
        assert len(play.model.requests) == 3
        for gate in reversed(gates):
            gate.set()
        await play.settle()
        assert [play.answer(one).text for one in said] == [f"answer {n}." for n in range(3)]


@promises("C2")
async def test_c2_requests_of_one_person_are_answered_in_order(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice, gate = play.chat(), play.person(), asyncio.Event()
        play.model.enqueue(Text(("the first ", "answer"), gate=gate), Text(("the second",)))
        first = await asked(play, chat, alice, "one")
        second = await asked(play, chat, alice, "two")
        assert len(play.model.requests) == 1
        gate.set()
        await play.settle()
        assert play.texts(chat) == ["the first answer", "the second"]
        assert play.answer(first).text == "the first answer"
        assert play.answer(second).text == "the second"


@promises("C2")
async def test_c2_what_somebody_adds_to_a_question_that_waits_is_answered_with_it_or_next(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice, gate = play.chat(), play.person(), asyncio.Event()
        play.model.enqueue(Text(("the first ", "answer"), gate=gate))
        first = await asked(play, chat, alice, "one")
        said = [await asked(play, chat, alice, text) for text in ("two", "three", "four")]
        assert len(play.model.requests) == 1
        gate.set()
        await play.settle()
        assert play.answer(first).text == "the first answer"
        answers = {(await play.answer_with(one)).id for one in said}
        assert len(answers) == (1 if play.adds else 3)
        assert len(play.texts(chat)) == len(play.model.requests) == 1 + len(answers)
        if play.adds:
            play.answer(said[-1])
            assert all(text in prompt_of(play.model) for text in ("two", "three", "four"))


@promises("C2")
async def test_c2_a_chat_with_a_hundred_questions_does_not_hold_up_another(
    channel: str, tmp_path: Path
) -> None:
    async with playing(
        channel, tmp_path, TURN__PARALLEL_TOTAL="1", TURN__QUEUE_PER_CHAT="500"
    ) as play:
        gate = asyncio.Event()
        play.model.enqueue(Text(("at ", "last"), gate=gate))
        alice, bob = play.person(), play.person("Bob")
        busy, other = play.chat(alice), play.chat(bob)
        first = await asked(play, busy, alice, "number 0")
        for number in range(1, crowd(channel) + 1):
            await play.stage.say(busy, alice, f"number {number}")
        await play.taken()
        said = [await asked(play, other, bob, word) for word in ("word-1-1", "word-1-2")]
        assert len(play.model.requests) == 1
        gate.set()
        answers = 1 if play.adds else 2
        await play.run(play.stage.until(lambda: len(play.stage.answers(other)) == answers))
        assert play.answer(first).text == "at last"
        for one in said:
            await play.answer_with(one)
        bodies = [str(request.body) for request in play.model.requests]
        turns = [next(n for n, b in enumerate(bodies) if f"word-1-{k}" in b) for k in (1, 2)]
        assert turns[0] <= 2
        assert turns[1] <= 4


@promises("C3")
async def test_c3_what_does_not_fit_the_queue_is_told_and_taped(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, TURN__QUEUE_PER_CHAT="1") as play:
        chat, alice, gate = play.chat(), play.person(), asyncio.Event()
        play.model.enqueue(Text(("at ", "last"), gate=gate))
        said = [await asked(play, chat, alice, f"number {n}") for n in range(3)]
        await play.run(
            play.stage.until(lambda: any("more questions" in t for t in play.texts(chat)))
        )
        assert "more questions" in play.answer(said[2]).text
        gate.set()
        await play.settle()
        assert play.answer(said[0]).text == "at last"
        assert "number 1" in play.answer(said[1]).text
        assert len(play.model.requests) == 2
        taped = {entry.meta.get("message_id") for entry in await play.tape(chat)}
        assert {one.id for one in said} <= taped


@promises("C4")
async def test_c4_stop_ends_the_turn_and_what_waits_behind_it_and_the_tape_says_who(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        silent = ToolCalls((Call("a", "tape_info", "{}"),), gate=asyncio.Event())
        play.model.enqueue(silent)
        first = await asked(play, chat, alice, "one")
        await asked(play, chat, alice, "two")
        await play.ask_command(chat, alice, "stop")
        await play.model.wait_for_disconnects(1)
        assert len(play.model.requests) == 1
        ends = await play.events(chat, "turn.end") + await play.events(chat, "message.end")
        assert [(end["status"], end["by"]) for end in ends] == [("stopped", alice.id)] * 2
        assert play.answer(first).text == "Stopped."
        play.answer(await play.ask(chat, alice, "three"))
        assert len(play.model.requests) == 2


@promises("C4")
async def test_c4_stop_keeps_what_was_said_and_names_who_stopped_it(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        chat, alice = play.chat(), play.person()
        play.model.enqueue(Text(("The kettle is ", "never"), gate=asyncio.Event()))
        first = await asked(play, chat, alice, "one")
        await play.run(play.stage.until(lambda: play.texts(chat) != []))
        (draft,) = play.stage.answers(chat)
        await play.ask_command(chat, alice, "stop")
        kept = play.answer(first)
        assert kept.id == draft.id
        assert kept.text.split() == ["The", "kettle", "is", *kept.text.split()[3:]]
        assert re.sub(r"[*_]", "", kept.text).casefold().endswith("stopped by alice.")
        (final,) = [entry for entry in await play.tape(chat) if entry.meta.get("final")]
        assert final.text.casefold() == "the kettle is\n\n*stopped by alice.*"
        assert final.meta["stopped"]["by"] == alice.id
        await play.ask(chat, alice, "two")
        assert final.text in prompt_of(play.model)


@promises("C5")
async def test_c5_a_hundred_chats_at_once_and_nothing_reaches_another(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        play.model.default = echo_of_words
        chats = [chat_of(play, number) for number in range(crowd(channel))]
        said = [
            (await play.stage.say(chat, person, f"word-{number}-{turn}"), f"word-{number}-{turn}")
            for turn in range(2)
            for number, (chat, person) in enumerate(chats)
        ]
        await play.settle()
        for one, word in said:
            found = play.answer(one)
            assert (found.text, found.thread) == (f"heard {word}", one.chat.thread)
        assert sum(len(play.stage.answers(chat)) for chat, _person in chats) == len(said)


def crowd(channel: str) -> int:
    """Return how many come at once: a hundred on one channel, fewer on the others.

    How chats are kept apart is not the channel's work.
    """
    return 100 if is_at_length(channel) else 20


def chat_of(play: Play, number: int) -> tuple[Chat, Person]:
    """Make one of many chats: private ones, groups, and topics of groups, as there are."""
    person = play.person(f"Person-{number}")
    if play.has("private") and (number % 3 == 0 or not play.has("groups")):
        return play.stage.private(person), person
    group = play.stage.group()
    if play.has("threads") and number % 3 == 1:
        return play.stage.thread(group), person
    return group, person


def echo_of_words(request: Request) -> Text:
    """Answer with the word that was asked; the words of others must not be in sight."""
    words = {match[1] for match in WORD.finditer(str(request.body["messages"]))}
    assert len(words) == 1, f"one chat sees what others say: {words}"
    found = [match[0] for match in WORD.finditer(request.last_user_text)]
    return Text(("heard ", found[-1]))


class Burns:
    """A plugin with a tool that computes."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        return [
            Tool("cpu.burn", "Burn a CPU.", Burn, in_a_process(burn), Role.STRANGER, first=True)
        ]


@promises("C6")
async def test_c6_a_tool_that_burns_a_cpu_holds_up_nobody_else(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, Burns()) as play:
        busy, bob = play.chat(), play.person("Bob")
        other = play.chat(bob)
        await play.ask(other, bob, "are you there?")
        end = tmp_path / "burnt enough"
        burning = json.dumps({"until": str(end)})
        play.model.enqueue(ToolCalls((Call("a", "cpu_burn", burning),)))
        await asked(play, busy, play.person(), "burn")
        for _ in range(3):
            await play.clock.advance(5)
            await notice(play, other, bob)
        assert not play.stage.answers(busy), "the others were noticed while it computed"
        end.touch()
        while not any("burnt" in str(request.body) for request in play.model.requests):
            await play.model.wait_for_requests(len(play.model.requests) + 1)
        await play.settle()
        assert len(play.stage.answers(busy)) == 1


async def notice(play: Play, chat: Chat, person: Person) -> None:
    """Ask, and wait until people see that the agent is there."""
    before = signs(play, chat)
    await play.stage.say(chat, person, "and me?")
    await play.stage.until(lambda: signs(play, chat) > before)


def signs(play: Play, chat: Chat) -> int:
    """Count what people see of the agent; an answer may be quicker than the typing before it."""
    return play.stage.typed(chat) + len(play.stage.answers(chat))


async def asked(
    play: Play, chat: Chat, person: Person, text: str, reply_to: str | None = None
) -> PersonMessage:
    """Ask while hardly any time passes."""
    said = await play.stage.say(chat, person, text, reply_to=reply_to)
    await play.begun()
    return said
