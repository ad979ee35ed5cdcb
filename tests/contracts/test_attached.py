"""A process without a connection can send: another process listens, and this one only attaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.draft import DraftReference
from channels.facts import OwnFacts
from channels.message import Button, OutboundMessage
from channels.registry import CHANNELS
from channels.testing import Chat
from tests.contracts.pairs import answer, attached, pair
from tests.kit.clock import RestingClock
from tests.kit.promised import class_of
from tests.kit.stages.registry import STAGES

CONNECTED = sorted(name for name in CHANNELS if "remote" in class_of(name).features)

pytestmark = [pytest.mark.parametrize("channel", CONNECTED)]


async def test_attaching_opens_no_connection_for_events(channel: str, tmp_path: Path) -> None:
    clock = RestingClock()
    async with STAGES[channel](clock) as stage:
        facts = OwnFacts(clock, shared=True)
        async with attached(channel, tmp_path, stage, clock, facts) as (sender, host):
            await clock.run(sender.attach(host))  # once more, as before each run
            await clock.advance(5)
            assert stage.listening() == 0
            assert host.times_ready == 0


async def test_it_shows_partial_text_and_edits_it_into_the_answer(
    channel: str, tmp_path: Path
) -> None:
    async with pair(channel, tmp_path) as both:
        group, bob = both.stage.group(), both.stage.person("Bob")
        await both.stage.say(group, bob, "what is it?")
        said = await both.heard("what is it?")
        draft = DraftReference(f"{said.ext_id}:0")
        shown = await both.clock.run(both.sender.show(said, draft, "It is"))
        await both.clock.run(both.sender.send(answer(said, "It is a test.", shown)))
        await both.clock.run(both.stage.seen())
        assert [one.text for one in both.stage.answers(group)] == ["It is a test."]


async def test_it_answers_in_the_thread_of_the_question(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        thread = both.stage.thread(both.stage.group())
        await both.stage.say(thread, both.stage.person("Bob"), "here?")
        said = await both.heard("here?")
        await both.clock.run(both.sender.send(answer(said, "Here.")))
        assert [(one.text, one.thread) for one in both.stage.answers(thread)] == [
            ("Here.", thread.thread)
        ]


async def test_it_shows_typing(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        group = both.stage.group()
        thread = both.stage.thread(group)
        await both.stage.say(thread, both.stage.person("Bob"), "are you there?")
        said = await both.heard("are you there?")
        await both.clock.run(both.sender.show_typing(said, True))
        await both.clock.run(both.stage.until(lambda: both.stage.typing(thread)))


async def test_it_writes_to_a_person_in_private(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        ann = both.stage.person("Ann")
        private = both.stage.private(ann)
        chat = await both.clock.run(both.sender.private_chat(ann.id))
        message = OutboundMessage(channel, chat, "Psst.", idem="n-1", kind="notice")
        await both.clock.run(both.sender.send(message))
        assert Chat(chat) == private
        assert [one.text for one in both.stage.answers(private)] == ["Psst."]


async def test_it_knows_who_administers_a_chat(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        group, ann, bob = both.stage.group(), both.stage.person("Ann"), both.stage.person("Bob")
        both.stage.appoint(group, ann)
        found = {}
        for person in (ann, bob):
            await both.stage.say(group, person, f"I am {person.name}")
            said = await both.heard(f"I am {person.name}")
            found[person.name] = await both.clock.run(both.sender.administers(said))
        assert found == {"Ann": True, "Bob": False}


async def test_it_fetches_files(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        group, bob = both.stage.group(), both.stage.person("Bob")
        await both.stage.send_file(group, bob, b"some words", "a.txt", "text/plain", "read this")
        said = await both.heard("read this")
        (media,) = said.media
        assert await both.clock.run(both.sender.fetch(media, 1_000)) == b"some words"


async def test_it_answers_the_press_of_a_button(channel: str, tmp_path: Path) -> None:
    async with pair(channel, tmp_path) as both:
        group, bob = both.stage.group(), both.stage.person("Bob")
        await both.stage.say(group, bob, "may I?")
        asked = answer(await both.heard("may I?"), "May he?")
        asked = OutboundMessage(
            channel,
            asked.chat_id,
            "May he?",
            idem="c-1",
            kind="notice",
            account=asked.account,
            date=asked.date,
            buttons=(Button("Yes", "card:yes"),),
        )
        await both.clock.run(both.sender.send(asked))
        (card,) = both.stage.answers(group)
        await both.stage.press(group, bob, card, "Yes")
        accepted = both.host.accepted
        await both.clock.run(both.host.until(lambda: accepted[-1].kind == "press"))
        await both.clock.run(both.sender.answer_press(accepted[-1], "He may."))
        assert both.stage.shown(bob) == ["He may."]
