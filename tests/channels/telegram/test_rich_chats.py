"""Which chats get rich messages: sent, edited and drafted so, and with entities where refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from channels.errors import DraftGone, SendDelayed, SendRefused
from channels.message import Button, OutboundMessage
from channels.telegram.api import BotApi, NotAsSent
from channels.telegram.bodies import MAX_REFUSED, REFUSED_SECONDS, UNKNOWN_SECONDS, RichChats
from channels.telegram.outbound import TelegramSender, draft_id
from channels.telegram.settings import TelegramSettings
from tests.fakes.telegram.faults import Fault, Refuse, RetryAfter
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Message
from tests.kit.clock import ManualClock

GROUP, OTHER, ADA = -100, -200, 7
TABLE = "| a |\n|---|\n| b |"
CONTENT = Refuse(400, "Bad Request: RICH_MESSAGE_CONTENT_REQUIRED")


@dataclass
class Bot:
    fake: FakeTelegram
    sender: TelegramSender
    clock: ManualClock

    async def says(self, text: str, chat: object = GROUP, **more: object) -> str:
        message = OutboundMessage("telegram", str(chat), text, **more)  # type: ignore[arg-type]
        return (await self.sender.deliver(message))[0].platform_id

    async def shows(self, text: str, shown: str | None = None) -> str:
        return await self.sender.show(str(GROUP), None, None, shown, text)

    def last(self, chat: int = GROUP) -> Message:
        return self.fake.messages(chat)[-1]

    def is_rich(self, chat: int = GROUP) -> bool:
        return self.last(chat).rich is not None


@asynccontextmanager
async def bot_of(fake: FakeTelegram) -> AsyncIterator[Bot]:
    """Run a sender whose group and private chat get rich messages."""
    async with fake:
        api = BotApi(
            TelegramSettings.model_validate({"token": fake.token, "base_url": fake.base_url})
        )
        await api.open()
        clock = ManualClock()
        for chat in (GROUP, OTHER):
            fake.group(chat, forum=True)
        fake.private_chat(fake.user(ADA, "Ada"))
        yield Bot(fake, TelegramSender(api, RichChats({GROUP, ADA}, clock.monotonic)), clock)
        await api.close()


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    async with bot_of(FakeTelegram()) as made:
        yield made


async def test_an_answer_is_rich_in_the_chats_that_are_named_and_nowhere_else(bot: Bot) -> None:
    await bot.says(TABLE)
    await bot.says(TABLE, OTHER)
    await bot.says(TABLE, ADA)
    assert [bot.is_rich(chat) for chat in (GROUP, OTHER, ADA)] == [True, False, True]
    assert [one["type"] for one in bot.last(OTHER).entities] == ["pre"]


async def test_e1_a_rich_answer_stands_at_its_question_in_its_topic_with_its_buttons(
    bot: Bot,
) -> None:
    ada = bot.fake.user(ADA, "Ada")
    topic = bot.fake.topic(GROUP, "Ops", ada)
    asked = bot.fake.say(GROUP, ada, "?", topic=topic.id)["message_id"]
    place = {"thread_id": str(topic.id), "reply_to": str(asked)}
    await bot.says(TABLE, **place, buttons=(Button("Yes", "ask:1"),))
    sent = bot.last()
    assert (sent.topic, sent.reply_to, sent.buttons) == (topic.id, asked, {"Yes": "ask:1"})
    assert bot.is_rich()
    assert not sent.previews
    bot.fake.delete(GROUP, asked)
    await bot.says(TABLE, thread_id="999", reply_to=str(asked))
    assert (bot.last().topic, bot.is_rich()) == (None, True)


async def test_an_answer_grows_and_ends_as_a_rich_message(bot: Bot) -> None:
    place = await bot.shows("# a\n\n**ha")
    calls = len(bot.fake.calls)
    assert await bot.shows("# a\n\n**ha", place) == place
    assert len(bot.fake.calls) == calls
    assert await bot.shows("# a\n\n**half**", place) == place
    await bot.says("# a\n\nwhole", edits=place)
    assert (bot.last().history, bot.is_rich()) == (["a\nha", "a\nhalf", "a\nwhole"], True)
    assert bot.last().edits == 2


async def test_a_text_that_no_rich_message_shows_is_edited_in_with_entities(bot: Bot) -> None:
    place = await bot.shows("a")
    await bot.says("> " * 20 + "deep", edits=place)
    assert not bot.is_rich()
    assert bot.last().text == "deep"
    await bot.says("shallow", edits=place)
    assert bot.is_rich()


async def test_a_draft_is_rich_and_can_be_stopped(bot: Bot) -> None:
    await bot.sender.draft(str(ADA), None, "t-1:0", TABLE)
    (draft,) = bot.fake.draft_history
    assert (draft.draft_id, draft.can_stop) == (draft_id("t-1:0"), True)
    assert draft.rich is not None


@pytest.mark.parametrize("text", ["\u200b", "   "])
async def test_partial_text_that_shows_nothing_is_not_sent(text: str, bot: Bot) -> None:
    assert await bot.shows(text) == ""
    await bot.sender.draft(str(ADA), None, "t-1:0", text)
    assert bot.fake.calls == []


async def test_what_is_refused_as_rich_is_sent_with_entities_once_and_for_a_while(bot: Bot) -> None:
    bot.fake.fail("sendRichMessage", CONTENT)
    await bot.says(TABLE)
    assert len(bot.fake.messages(GROUP)) == 1
    assert not bot.is_rich()
    await bot.clock.advance(REFUSED_SECONDS - 1)
    await bot.says("again")
    await bot.says("elsewhere", ADA)
    assert (bot.is_rich(), bot.is_rich(ADA)) == (False, True)
    await bot.clock.advance(2)
    await bot.says("and now")
    assert bot.is_rich()


async def test_partial_text_that_is_refused_as_rich_is_shown_with_entities(bot: Bot) -> None:
    bot.fake.fail("sendRichMessage", CONTENT)
    bot.fake.fail("sendRichMessageDraft", CONTENT)
    place = await bot.shows("half")
    assert (bot.last().text, bot.is_rich()) == ("half", False)
    assert await bot.shows("half and more", place) == place
    assert not bot.is_rich()
    await bot.sender.draft(str(ADA), None, "t-1:0", "half")
    assert [draft.rich for draft in bot.fake.draft_history] == [None]


async def test_an_edit_that_is_refused_as_rich_is_made_with_entities(bot: Bot) -> None:
    place = await bot.shows("half")
    bot.fake.fail("editMessageText", CONTENT)
    await bot.says("whole", edits=place)
    assert (bot.last().text, bot.is_rich(), bot.last().edits) == ("whole", False, 1)


async def test_a_message_that_was_deleted_is_not_edited_in_the_other_form(bot: Bot) -> None:
    place = await bot.shows("half")
    bot.fake.delete(GROUP, int(place))
    with pytest.raises(NotAsSent, match="not found"):
        await bot.shows("half and more", place)
    assert len(bot.fake.calls_of("editMessageText")) == 1


OTHERS: dict[str, tuple[Fault, type[Exception]]] = {
    "the way": (RetryAfter(3), SendDelayed),
    "a right": (Refuse(403, "Forbidden: bot was kicked from the group chat"), SendRefused),
    "the chat": (Refuse(400, "Bad Request: chat not found"), NotAsSent),
    "a reason that nobody listed": (Refuse(400, "Bad Request: WIDGET_UNFIT"), NotAsSent),
}


@pytest.mark.parametrize("reason", OTHERS)
async def test_a_refusal_for_another_reason_switches_nothing_off(reason: str, bot: Bot) -> None:
    fault, error = OTHERS[reason]
    tries = 2 if reason == "a reason that nobody listed" else 1  # the second in the barest form
    bot.fake.fail("sendRichMessage", fault)
    bot.fake.fail("sendMessage", *[fault] * tries)
    with pytest.raises(error):
        await bot.says("a")
    assert bot.fake.messages(GROUP) == []
    await bot.says("b")
    assert bot.is_rich()


async def test_a_message_that_neither_form_can_change_is_replaced(bot: Bot) -> None:
    place = await bot.shows("half")
    for _ in range(3):
        bot.fake.fail("editMessageText", Refuse(400, "Bad Request: MESSAGE_FORM_INVALID"))
    await bot.says("whole", edits=place)
    assert [one.text for one in bot.fake.messages(GROUP)] == ["whole"]
    calls = len(bot.fake.calls)
    with pytest.raises(DraftGone):
        await bot.says("whole", edits=place)
    assert len(bot.fake.calls) == calls + 1


async def test_a_server_that_knows_no_rich_messages_is_asked_once_an_hour() -> None:
    async with bot_of(FakeTelegram(knows_rich=False)) as bot:
        for chat in (GROUP, ADA, GROUP):
            await bot.says(TABLE, chat)
            await bot.sender.draft(str(ADA), None, "t-1:0", "half")
        assert len(bot.fake.calls_of("sendRichMessage", "sendRichMessageDraft")) == 1
        assert len(bot.fake.messages(GROUP)) == 2
        await bot.clock.advance(UNKNOWN_SECONDS)
        await bot.says("a")
        assert len(bot.fake.calls_of("sendRichMessage")) == 2


async def test_a_server_that_ignores_a_rich_edit_gets_text() -> None:
    async with bot_of(FakeTelegram(knows_rich=False)) as bot:
        place = await bot.says("half", OTHER)
        bot.sender.rich = RichChats({OTHER}, bot.clock.monotonic)
        await bot.says("whole", OTHER, edits=place)
        assert bot.last(OTHER).text == "whole"


async def test_a_server_that_says_yes_to_everything_still_gets_the_answer() -> None:
    async with bot_of(FakeTelegram(unknown_methods_true=True)) as bot:
        assert await bot.says(TABLE)
        assert bot.last().text.startswith("a\n")


async def test_an_answer_that_one_person_sees_is_rich_where_its_group_is(bot: Bot) -> None:
    ada = bot.fake.user(ADA, "Ada")
    bot.fake.promote(GROUP, bot.fake.world.bot)
    bot.fake.chat(GROUP).bot_status = "administrator"
    chat = f"{GROUP}.E{ada.id}"
    place = await bot.sender.show(chat, None, None, None, "half")
    await bot.says(TABLE, chat, edits=place)
    ((sent, _),) = bot.fake.chat(GROUP).ephemerals.values()
    assert (sent.history, sent.rich is not None) == (["half", "a\nb"], True)


async def test_refusals_of_a_thousand_chats_are_remembered_and_no_more() -> None:
    now = 5.0
    chats = RichChats({GROUP}, lambda: now)
    for number in range(MAX_REFUSED + 1):
        chats.refused(f"{GROUP}.E{number}", NotAsSent("no"))
    assert chats.body(f"{GROUP}.E0", "a") is not None
    assert chats.body(f"{GROUP}.E1", "a") is None
