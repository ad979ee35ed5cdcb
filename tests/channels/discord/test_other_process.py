"""What one process hears from Discord, and another one needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from channels.message import MessageLink, OutboundMessage
from tests.contracts.pairs import answer, pair


async def test_a_process_without_a_connection_links_to_a_message(tmp_path: Path) -> None:
    async with pair("discord", tmp_path) as both:
        thread = both.stage.thread(both.stage.group())
        await both.stage.say(thread, both.stage.person("Bob"), "hello")
        said = await both.heard("hello")
        place = MessageLink(said.message_id, said.chat_id, said.thread_id or "")
        assert both.sender.link_to(place) == both.listener.link_to(place)
        assert both.sender.link_to(place).endswith(f"/{thread.thread}/{said.message_id}")


async def test_it_replies_to_the_note_that_another_process_posted(tmp_path: Path) -> None:
    async with pair("discord", tmp_path) as both:
        group, bob = both.stage.group(), both.stage.person("Bob")
        note = await both.clock.run(both.stage.command(group, bob, "help"))
        said = await both.heard(",help")
        await both.clock.run(both.sender.send(answer(said, "Here is help.")))
        (sent,) = both.stage.answers(group)
        assert sent.reply_to == note.id != said.message_id


@pytest.mark.parametrize("known", [True, False])
async def test_a_message_of_another_process_is_not_a_second_gateway_s(
    tmp_path: Path, known: bool
) -> None:
    async with pair("discord", tmp_path) as both:
        group, bob = both.stage.group(), both.stage.person("Bob")
        message = OutboundMessage("discord", group.id, "hello", idem="t-1:0")
        if known:
            both.host.sends.append((message, ""))
        await both.clock.run(both.sender.send(message))
        await both.stage.say(group, bob, "and then")
        await both.heard("and then")
        await both.clock.advance(1)
        assert bool(both.host.warnings) != known
