"""Sending, editing, partial text and typing, and what to do where Telegram refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from channels.errors import DraftGone, SendRefused
from channels.message import OutboundMessage
from channels.telegram.address import address_of
from channels.telegram.api import BotApi, Migrated, NotAsSent
from channels.telegram.bodies import Body
from channels.telegram.outbound import MAX_SHOWN, TelegramSender, draft_id
from channels.telegram.settings import TelegramSettings
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, Message

GROUP = -100


@dataclass
class Bot:
    fake: FakeTelegram
    sender: TelegramSender
    group: Chat

    async def says(self, text: str, **more: str) -> str:
        """Send to the group; returns the id of the first message."""
        message = OutboundMessage("telegram", str(GROUP), text, **more)  # type: ignore[arg-type]
        return (await self.sender.deliver(message))[0].platform_id

    def shown(self) -> list[str]:
        return [message.text for message in self.fake.messages(GROUP)]

    def last(self) -> Message:
        return self.fake.messages(GROUP)[-1]


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    async with FakeTelegram() as fake:
        values = {"token": fake.token, "base_url": fake.base_url}
        api = BotApi(TelegramSettings.model_validate(values))
        await api.open()
        yield Bot(fake, TelegramSender(api), fake.group(GROUP, forum=True))
        await api.close()


async def test_a_message_is_sent_with_its_entities_and_without_previews(bot: Bot) -> None:
    message_id = await bot.says("so **bold** 😀")
    assert message_id == str(bot.last().message_id)
    assert bot.last().entities == [{"type": "bold", "offset": 3, "length": 4}]
    assert bot.fake.calls[-1].params["link_preview_options"] == {"is_disabled": True}


async def test_e1_a_reply_stands_at_its_question_in_its_topic(bot: Bot) -> None:
    ada = bot.fake.user(7, "Ada")
    topic = bot.fake.topic(bot.group, "Ops", ada)
    asked = bot.fake.say(bot.group, ada, "?", topic=topic.id)["message_id"]
    await bot.says("answer", thread_id=str(topic.id), reply_to=str(asked))
    assert (bot.last().topic, bot.last().reply_to) == (topic.id, asked)


async def test_e1_general_has_no_id_when_it_is_written_to_and_one_when_typing(bot: Bot) -> None:
    await bot.says("answer", thread_id="1")
    assert bot.last().topic is None
    assert len(bot.fake.calls) == 1
    await bot.sender.type(str(GROUP), "1")
    assert bot.fake.typing[0].thread_id == 1


@pytest.mark.parametrize("known", [True, False])
async def test_e1_the_topic_1_of_a_private_chat_is_like_any_other(bot: Bot, *, known: bool) -> None:
    ada = bot.fake.user(1, "Ada")
    chat = bot.fake.private_chat(ada)
    topic = bot.fake.topic(chat, "Roses", ada)
    assert topic.id == 1
    if not known:
        del chat.topics[1]
    await bot.sender.deliver(OutboundMessage("telegram", str(chat.id), "answer", thread_id="1"))
    answer = bot.fake.messages(chat.id)[-1]
    assert (answer.text, answer.topic) == ("answer", 1 if known else None)


async def test_a_question_that_is_gone_is_answered_without_a_reply(bot: Bot) -> None:
    await bot.says("one", reply_to="9999")
    bot.fake.fail("sendMessage", Refuse(400, "Bad Request: message to be replied not found"))
    await bot.says("two", reply_to="9999")
    assert bot.shown() == ["one", "two"]
    assert "reply_parameters" not in bot.fake.calls[-1].params


async def test_d4_a_topic_that_is_gone_and_a_question_too_leave_the_text(bot: Bot) -> None:
    gone = Refuse(400, "Bad Request: message to be replied not found")
    bot.fake.fail("sendMessage", gone)
    await bot.says("answer", thread_id="77", reply_to="5")
    assert bot.shown() == ["answer"]
    assert len(bot.fake.calls) == 3


async def test_d6_a_closed_topic_is_a_refusal(bot: Bot) -> None:
    topic = bot.fake.topic(bot.group, "Ops", bot.fake.user(7, "Ada"))
    bot.fake.close_topic(bot.group, topic)
    with pytest.raises(SendRefused, match=r"(?i)topic_closed"):
        await bot.says("answer", thread_id=str(topic.id))
    assert bot.shown() == []


async def test_d6_a_bot_that_was_thrown_out_is_refused_once(bot: Bot) -> None:
    bot.fake.kick_bot(bot.group)
    with pytest.raises(SendRefused, match="kicked") as caught:
        await bot.says("answer")
    assert not isinstance(caught.value, NotAsSent)
    assert len(bot.fake.calls) == 1


async def test_d5_a_draft_is_edited_into_the_answer(bot: Bot) -> None:
    place = await bot.sender.show(str(GROUP), None, None, None, "half")
    assert await bot.sender.show(str(GROUP), None, None, place, "half and more") == place
    assert await bot.says("the **whole**", edits=place) == place
    assert bot.shown() == ["the whole"]
    assert bot.last().history == ["half", "half and more", "the whole"]


async def test_a_showing_that_reads_so_already_costs_no_request_but_a_final_asks(bot: Bot) -> None:
    place = await bot.sender.show(str(GROUP), None, None, None, "whole")
    calls = len(bot.fake.calls)
    assert await bot.sender.show(str(GROUP), None, None, place, "whole") == place
    assert len(bot.fake.calls) == calls
    assert await bot.says("whole", edits=place) == place
    assert "not modified" in bot.fake.calls[-1].description


@pytest.mark.parametrize(
    ("chat", "shown"), [("7", "@someone"), ("-100", "@\u200bsomeone"), ("@news", "@\u200bsomeone")]
)
async def test_e5_a_name_is_left_alone_only_where_one_person_reads(
    bot: Bot, chat: str, shown: str
) -> None:
    bot.fake.user(7, "Ada")
    with suppress(SendRefused):  # the channel has no bot
        await bot.sender.deliver(OutboundMessage("telegram", chat, "@someone"))
    assert bot.fake.calls[-1].params["text"] == shown


@pytest.mark.parametrize("text", ["**", "```", "\u200b", "> "])
async def test_partial_text_that_shows_nothing_is_not_sent(bot: Bot, text: str) -> None:
    assert await bot.sender.show(str(GROUP), None, None, None, text) == ""
    await bot.sender.draft("7", None, "t-1:0", text)
    assert bot.fake.calls == []


async def test_d4_a_message_that_is_not_modified_is_as_wanted(bot: Bot) -> None:
    place = await bot.says("whole")
    other = TelegramSender(bot.sender.api)  # after a restart nobody remembers what is shown
    answer = OutboundMessage("telegram", str(GROUP), "whole", edits=place)
    assert (await other.deliver(answer))[0].platform_id == place
    assert "not modified" in bot.fake.calls[-1].description


@pytest.mark.parametrize("deleted", [True, False], ids=["deleted", "somebody else's"])
async def test_d4_where_the_draft_is_gone_it_is_told_and_nothing_sent(
    bot: Bot, deleted: bool
) -> None:
    ada = bot.fake.user(7, "Ada")
    place = await bot.sender.show(str(GROUP), None, None, None, "half")
    if deleted:
        bot.fake.delete(bot.group, int(place))
    else:
        place = str(bot.fake.say(bot.group, ada, "hers")["message_id"])
    before = bot.shown()
    with pytest.raises(DraftGone):
        await bot.says("whole", edits=place)
    assert bot.shown() == before


async def test_d4_an_edit_that_is_refused_for_another_reason_goes_up(bot: Bot) -> None:
    place = await bot.says("half")
    bot.fake.fail("editMessageText", Refuse(400, "Bad Request: chat not found"))
    with pytest.raises(NotAsSent):
        await bot.says("whole", edits=place)
    assert bot.shown() == ["half"]


UNFIT = Refuse(400, "Bad Request: can't parse entities: unsupported start tag")


@pytest.mark.parametrize("edit", [False, True])
async def test_e3_what_telegram_does_not_draw_is_said_plainly(bot: Bot, edit: bool) -> None:
    place = await bot.says("half") if edit else ""
    bot.fake.fail("editMessageText" if edit else "sendMessage", UNFIT)
    await bot.says("so **bold**", edits=place)
    assert bot.shown() == ["so bold"]
    assert bot.last().entities == []


async def test_e3_a_draft_that_is_gone_when_it_is_said_plainly_is_told_of(bot: Bot) -> None:
    place = await bot.says("half")
    bot.fake.delete(bot.group, int(place))
    bot.fake.fail("editMessageText", UNFIT)
    with pytest.raises(DraftGone):
        await bot.says("so **bold**", edits=place)
    assert bot.shown() == []


async def test_e2_a_text_that_is_too_long_after_all_is_said_in_parts(bot: Bot) -> None:
    text = "word " * 1000
    await bot.says(text, reply_to="")
    assert "\n".join(bot.shown()).split() == text.split()
    assert len(bot.shown()) == 2


@pytest.mark.parametrize("text", ["<!-- nothing -->", "[](https://example.org)", "---"])
async def test_a_text_that_shows_nothing_is_still_answered_with_something(
    bot: Bot, text: str
) -> None:
    await bot.says(text)
    assert len(bot.shown()) == 1


async def test_a_group_that_moved_is_written_to_where_it_is(bot: Bot) -> None:
    old = bot.fake.group(-5, kind="group")
    place = await bot.sender.show("-5", None, None, None, "half")
    new = bot.fake.migrate(old)
    await bot.sender.deliver(OutboundMessage("telegram", "-5", "one", reply_to=place))
    with pytest.raises(DraftGone):
        await bot.sender.deliver(OutboundMessage("telegram", "-5", "two", edits=place))
    assert [message.text for message in bot.fake.messages(new.id)] == ["one"]
    assert [message.reply_to for message in bot.fake.messages(new.id)] == [None]
    with pytest.raises(Migrated):
        await bot.sender.type("-5", None)


async def test_a_draft_in_a_private_chat_is_no_message_and_can_be_stopped(bot: Bot) -> None:
    bot.fake.private_chat(bot.fake.user(7, "Ada"))
    await bot.sender.draft("7", None, "t-1:0", "**half")
    number = draft_id("t-1:0")
    assert bot.fake.drafts == {(7, number): "half"}
    assert bot.fake.draft_history[0].can_stop
    assert bot.fake.messages(7) == []


def test_d1_a_draft_s_number_is_the_same_after_a_crash_and_never_0() -> None:
    assert draft_id("t-1:0") == draft_id("t-1:0") != draft_id("t-2:0")
    assert all(0 < draft_id(str(number)) < 2**31 for number in range(1000))


async def test_taking_a_draft_away_twice_is_fine(bot: Bot) -> None:
    place = await bot.says("half")
    await bot.sender.delete(str(GROUP), place)
    await bot.sender.delete(str(GROUP), place)
    assert bot.shown() == []


async def test_what_is_shown_is_remembered_of_so_many_messages_only(bot: Bot) -> None:
    for number in range(MAX_SHOWN + 5):
        bot.sender.remember("7", str(number), Body())
    assert len(bot.sender.shown) == MAX_SHOWN
    assert ("7", "0") not in bot.sender.shown


@pytest.mark.parametrize(("chat", "given"), [("7", 7), ("-100", -100), ("@ops", "@ops")])
def test_a_chat_is_a_number_or_a_name(chat: str, given: int | str) -> None:
    assert address_of(chat).chat == given
