"""Who may talk to the agent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat
from tests.kit.gateways import gateway_of, names, settled
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


async def test_b7_a_closed_chat_is_refused_once_a_day_and_its_text_is_not_kept(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        await channel.host.accept([MESSAGE, replace(MESSAGE, ext_id="-100/2", message_id="2")])
        await channel.host.accept([replace(MESSAGE, ext_id="-100/3", addressed=False)])
        await gateway.taken_in()
        entries = await settled(gateway, "plain:-100")
    assert model.requests == []
    (post,) = channel.posts
    assert post.text.startswith("I'm not enabled in this chat yet (`plain:-100`).")
    assert "`,open`" in post.text
    assert "TAPEWAY" not in post.text
    assert names(entries).count("access.refused") == 3
    assert "secret question" not in str([entry.payload for entry in entries])
    assert "secret question" not in str([entry.meta for entry in entries])


async def test_an_open_chat_is_answered_to_the_asking_message(group: GroupChat) -> None:
    await group.accept(MESSAGE)
    await group.gateway.taken_in()
    await group.settled()
    (post,) = group.posts
    assert (post.chat_id, post.reply_to) == ("-100", "1")
    assert "a secret question" in post.text
