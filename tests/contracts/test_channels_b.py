"""B: when the agent speaks; on every channel that has what a line needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.testing import PersonMessage
from gateway.storage.ledger.access import AccessRule
from tests.fakes.openai.script import Text
from tests.kit.play import Play, playing, prompt_of
from tests.kit.promised import promises

RULES = ("private", "mention", "reply", "name", "thread")


@promises("B1")
async def test_b1_what_nobody_asks_is_on_the_tape_and_nothing_happens(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        group, alice = play.stage.group(), play.person()
        said = await play.ask(group, alice, "lunch at noon?", mention=False)
        await play.clock.advance(30)
        taped = [entry.meta["message_id"] for entry in await play.tape(group) if entry.meta]
        assert taped == [said.id]
        assert play.stage.answers(group) == []
        assert play.stage.typed(group) == 0
        assert play.model.requests == []


@promises("B2", "groups")
async def test_b2_a_mention_is_answered(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        assert await answers_to("mention", play)


@promises("B2", "groups")
async def test_b2_a_reply_to_the_agent_is_answered(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        assert await answers_to("reply", play)


@promises("B2", "private")
async def test_b2_a_direct_message_is_answered(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        assert await answers_to("private", play)


@promises("B2", "names")
async def test_b2_who_calls_the_agent_by_a_configured_name_is_answered(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, AGENT__MORE_NAMES="Robin") as play:
        group, alice = play.stage.group(), play.person()
        said = await play.ask(group, alice, "what do you think, robin?", mention=False)
        play.answer(said)
        await play.ask(group, alice, "the robins are back", mention=False)
        assert len(play.model.requests) == 1


@promises("B2", "rules", "threads")
@pytest.mark.parametrize("rule", RULES)
async def test_b2_each_way_of_asking_works_alone(channel: str, tmp_path: Path, rule: str) -> None:
    async with playing(channel, tmp_path, rules=needed_by(rule)) as play:
        assert await answers_to(rule, play)


@promises("B2", "rules", "threads", storeless="what is switched off is a setting")
@pytest.mark.parametrize("rule", RULES)
async def test_b2_each_way_of_asking_can_be_switched_off(
    channel: str, tmp_path: Path, rule: str
) -> None:
    others = [other for other in RULES if other != rule]
    async with playing(channel, tmp_path, rules=others) as play:
        assert not await answers_to(rule, play)


@promises("B3")
@pytest.mark.parametrize(
    "text",
    [
        "{bob} can you look at this?",
        "@everyone lunch",
        "@here who has the key?",
        "write `{agent}` to call it",
        "```\n{agent} help\n```",
        "see https://example.org/{agent}/about",
        "the log says `Tapeway started`",
        "see https://example.org/Tapeway and https://tapeway.example.org/",
    ],
)
async def test_b3_a_mention_of_others_and_a_name_in_code_or_a_link_ask_nothing(
    channel: str, tmp_path: Path, text: str
) -> None:
    async with playing(channel, tmp_path) as play:
        group, alice, bob = play.stage.group(), play.person(), play.person("Bob")
        await play.ask(group, bob, "hello all", mention=False)
        filled = text.format(bob=play.stage.calling(bob), agent=play.stage.calling())
        await play.ask(group, alice, filled, mention=False)
        assert play.model.requests == []
        assert play.stage.answers(group) == []


@promises("B4")
async def test_b4_a_bare_mention_is_answered_from_the_recent_conversation(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        group = play.stage.group()
        await play.ask(group, play.person("Bob"), "is the plum tree dead?", mention=False)
        play.answer(await play.ask(group, play.person(), ""))
        assert "is the plum tree dead?" in prompt_of(play.model)


@promises("B5")
async def test_b5_the_agent_s_own_messages_are_ignored(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        group = play.stage.group()
        play.model.enqueue(Text((f"{play.stage.calling()} Tapeway, hello",)))
        asked = await play.ask(group, play.person(), "say your name")
        await play.stage.echo(group, play.answer(asked))
        await play.settle()
        assert len(play.model.requests) == 1
        assert sum("inbox" in entry.meta for entry in await play.tape(group)) == 1


@promises("B5")
async def test_b5_other_bots_are_heard_and_not_answered(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        group, robot = play.stage.group(), play.stage.person("Robot", is_bot=True)
        said = await play.ask(group, robot, "hello, colleague")
        assert play.model.requests == []
        assert play.stage.answers(group) == []
        assert said.id in [entry.meta.get("message_id") for entry in await play.tape(group)]


@promises("B5")
async def test_b5_the_21st_message_of_a_bot_in_a_minute_is_suppressed_and_people_are_not(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__BOTS="answer") as play:
        group, robot = play.stage.group(), play.stage.person("Robot", is_bot=True)
        said = [await play.stage.say(group, robot, f"number {number}") for number in range(21)]
        await play.taken()
        asked = await play.ask(group, play.person(), "and me?")
        assert len(play.model.requests) == 21
        answered = {answer.reply_to for answer in play.stage.answers(group)}
        assert answered == {one.id for one in said[:20]} | {asked.id}
        await play.clock.advance(61)
        play.answer(await play.ask(group, robot, "a minute later"))


@promises("B6")
async def test_b6_a_burst_of_one_person_is_one_turn(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="1") as play:
        chat, alice = play.chat(), play.person()
        for text in ("first", "second", "third"):
            await play.clock.advance(0.9)
            last = await play.stage.say(chat, alice, text)
            await play.taken()
        await play.clock.advance(0.9)
        assert play.model.requests == []
        await play.clock.advance(0.2)
        await play.settle()
        assert len(play.model.requests) == 1
        assert all(text in prompt_of(play.model) for text in ("first", "second", "third"))
        play.answer(last)


@promises("B6")
async def test_b6_a_burst_is_never_waited_for_longer_than_ten_seconds(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="1") as play:
        chat, alice = play.chat(), play.person()
        for number in range(12):
            await play.clock.advance(0.9 if number else 0)
            await play.stage.say(chat, alice, f"word {number}")
            await play.taken()
            assert play.model.requests == []
        await play.clock.advance(0.2)
        assert len(play.model.requests) == 1
        await play.settle()


@promises("B6")
async def test_b6_a_command_goes_through_at_once(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path, BUFFER__DEBOUNCE="1") as play:
        chat, alice = play.chat(), play.person()
        await play.stage.say(chat, alice, "think about it")
        await play.taken()
        told = await play.stage.command(chat, alice, "help")
        await play.taken()
        await play.run(play.stage.until(lambda: play.stage.answers(chat) != []))
        assert "stop" in play.answer(told).text
        assert play.model.requests == []
        await play.settle()


@promises("B7", "groups")
async def test_b7_who_is_not_let_in_is_told_once_a_day_and_nothing_is_spent(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, days=True, ACCESS__MODE="paired") as play:
        group, alice, bob = play.stage.group(), play.person(), play.person("Bob")
        await play.ask(group, alice, "tell me of the canary")
        await play.ask(group, bob, "and me of the canary")
        await play.ask(group, bob, "the canary is nobody's business", mention=False)
        assert len(play.texts(group)) == 1
        assert "not enabled" in play.texts(group)[0]
        assert (play.stage.typed(group), play.model.requests) == (0, [])
        refusals = await play.events(group, "access.refused")
        assert [(one["author"], bool(one["why"])) for one in refusals] == [
            (alice.id, True),
            (bob.id, True),
            (bob.id, True),
        ]
        assert "canary" not in str(await play.tape(group))
        await play.clock.advance(24 * 3600)
        await play.ask(group, alice, "today?")
        assert len(play.texts(group)) == 2


@promises("B7", "groups")
@pytest.mark.parametrize("by", ["chat", "person"])
async def test_b7_a_listed_chat_is_open_and_a_listed_person_is_let_in_in_private(
    channel: str, tmp_path: Path, by: str
) -> None:
    async with playing(channel, tmp_path) as play:
        group, alice = play.stage.group(), play.person()
        listed = group.id if by == "chat" else alice.id
    allow = f"{channel}:{listed}"
    async with playing(channel, tmp_path, ACCESS__MODE="paired", ACCESS__ALLOW=allow) as play:
        group, alice = play.stage.group(), play.person()
        asked = await play.ask(group, alice, "let me in")
        if by == "chat":
            play.answer(asked)
            return
        assert "not enabled" in play.answer(asked).text
        if play.has("private"):
            private = await play.ask(play.stage.private(alice), alice, "let me in")
            assert "not enabled" not in play.answer(private).text


@promises("B7", "groups")
async def test_b7_an_owner_opens_a_chat_where_it_stands_and_nobody_else_does(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        group, alice, eve = play.stage.group(), play.person(), play.person("Eve")
        openings = play.gateway.parts.requests.openings
        await openings.apply(AccessRule(channel, alice.id, "owner"))
        await play.ask(group, eve, ",open", mention=False)
        await play.ask(group, alice, "am I let in, as the owner?")
        assert ["not enabled" in text for text in play.texts(group)] == [True]
        assert play.model.requests == []
        opened = await play.ask(group, alice, ",open", mention=False)
        assert "remember" in play.answer(opened).text
        assert "not enabled" not in play.answer(await play.ask(group, eve, "and now?")).text
        await openings.apply(AccessRule(channel, group.id, "none"))
        spent = len(play.model.requests)
        await play.ask(group, eve, "and now?")
        assert len(play.model.requests) == spent


@promises("B7", "groups", "private", "strangers")
async def test_b7_a_code_makes_an_owner_in_private_only_and_stands_nowhere(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="paired") as play:
        group, alice, eve = play.stage.group(), play.person(), play.person("Eve")
        private = play.stage.private(alice)
        lost, code = await play.pairing_code(), await play.pairing_code()
        void = code
        await play.ask(private, alice, f"pair {lost}")
        await play.ask(group, eve, f"pair {code}", mention=False)
        await play.ask(private, alice, f"pair {code}")
        assert [("too old" in text) for text in play.texts(private)] == [True, True]
        code = await play.pairing_code()
        await play.ask(private, alice, f"pair {code}")
        assert "You are now my owner here." in play.texts(private)[-1]
        await play.ask(group, eve, "may I?")
        asked = play.texts(private)[-1]
        assert "asked me something in" in asked
        assert "I've asked my owner" in play.texts(group)[-1]
        shown = f"{await play.tape(group)}{await play.tape(private)}"
        assert not [one for one in (lost, void, code) if one in shown]


def needed_by(rule: str) -> list[str]:
    """Return what must be answered for a way of asking: a thread is one that was asked in."""
    return ["mention", "thread"] if rule == "thread" else [rule]


async def answers_to(rule: str, play: Play) -> bool:
    """Ask in one way only; tells whether that was answered."""
    asked = await ask_by(rule, play)
    return any(answer.reply_to == asked.id for answer in play.stage.answers(asked.chat))


async def ask_by(rule: str, play: Play) -> PersonMessage:
    alice = play.person()
    if rule == "private":
        return await play.ask(play.stage.private(alice), alice, "hello")
    group = play.stage.group()
    if rule == "mention":
        return await play.ask(group, alice, "hello")
    if rule == "name":
        return await play.ask(group, alice, "Tapeway, hello", mention=False)
    if rule == "reply":
        told = play.answer(await play.ask_command(group, alice, "help"))
        return await play.ask(group, alice, "and?", mention=False, reply_to=told.id)
    thread = play.stage.thread(group)
    await play.ask(thread, alice, "hello")
    return await play.ask(thread, play.person("Bob"), "and what of me?", mention=False)
