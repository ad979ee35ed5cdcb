"""A person who asks to be forgotten while what they said waits, in chats that a plugin joins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from channels.message import Author, Excerpt, InboundMessage, Quote
from gateway.hooks.specs import hookimpl
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.erasing.stage import erased
from tests.kit.chats import open_group
from tests.kit.doors import Door, held, talk, texts_of
from tests.kit.gateways import tape_of


class OneSession:
    """A plugin that puts chats together."""

    @hookimpl
    def resolve_session(self, message: InboundMessage) -> str | None:
        return "plain:both" if message.chat_id in ("-2", "-3") else None


async def test_what_waits_of_a_person_who_is_forgotten_is_not_placed(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, eve = Door(), Author("9", "Eve")
    said = [*talk("-2", range(1, 6)), *talk("-3", range(6, 9), sender=eve)]
    async with open_group(tmp_path, model, door, OneSession()) as group:
        await held(group, door, *said)
        begun = group.gateway.parts.eraser.begin
        await begun(what="person", asked_by="operator", channel="plain", person="9")
        await erased(group.gateway, at_least=1)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:both").read()
    assert texts_of(entries) == [one.text for one in said[:5]]


async def test_others_words_that_wait_do_not_bring_back_a_quote_of_who_is_forgotten(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    door, eve = Door(), Author("9", "Eve")
    said, quoting, passing = talk("-2", [1, 2, 3])
    said = replace(said, sender=eve, text="my umbrella is in the library")
    quote = Quote("Eve", "9", said.text)
    quoting = replace(quoting, reply_to="1", quote=quote)
    card = Excerpt("forwarded message", said.text, "Eve", author_id="9")
    passing = replace(passing, excerpts=(card,))
    async with open_group(tmp_path, model, door) as group:
        await held(group, door, said, quoting, passing)
        begun = group.gateway.parts.eraser.begin
        await begun(what="person", asked_by="operator", channel="plain", person="9")
        await erased(group.gateway, at_least=1)
        door.opened.set()
        await group.gateway.taken_in()
        entries = await tape_of(group.gateway, "plain:-2").read()
    assert texts_of(entries) == [quoting.text, passing.text]
    assert "umbrella" not in str([(entry.payload, entry.meta) for entry in entries])
