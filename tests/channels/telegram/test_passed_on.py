"""What is passed on by who is nobody in particular: an anonymous admin, and a channel."""

from __future__ import annotations

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.posting import ANONYMOUS
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import User
from tests.kit.play import Play, prompt_of
from tests.kit.stages.telegram import TelegramStage

SAID = "The hall costs 300."


def fake_of(telegram: Play) -> FakeTelegram:
    assert isinstance(telegram.stage, TelegramStage)
    return telegram.stage.fake


def forwarded() -> JsonObject:
    """Return what makes a message a forward of Zed's."""
    zed = User(99, "Zed").as_json()
    return {"text": SAID, "forward_origin": {"type": "user", "date": 1, "sender_user": zed}}


async def test_a6_an_anonymous_admin_passes_zed_s_words_on_as_the_group(telegram: Play) -> None:
    fake = fake_of(telegram)
    group = fake.group(title="Ops")
    fake.send(group, ANONYMOUS, forwarded() | {"sender_chat": group.as_json()})
    await telegram.settle()
    assert telegram.model.requests == []
    fake.say_as(group, group, "@tapeway_bot which one?")
    await telegram.settle()
    assert f"#1 Ops, forwarding #2 Zed] {SAID}" in prompt_of(telegram.model)


async def test_a6_a_channel_s_posts_are_read_as_messages_are(telegram: Play) -> None:
    fake = fake_of(telegram)
    news = fake.group(-1007, "News", kind="channel", admin=True)
    fake.post(news, forwarded())
    await telegram.settle()
    assert telegram.model.requests == []
    fake.post(news, {"text": "@tapeway_bot which one?", "author_signature": "Ann"})
    await telegram.settle()
    asked = prompt_of(telegram.model)
    assert f"#1 News, forwarding #2 Zed] {SAID}" in asked
    assert "#1 News (Ann)] @tapeway_bot which one?" in asked
    assert len(fake.messages(news.id)) == 1
