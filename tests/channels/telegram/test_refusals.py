"""What Telegram refuses: each row of the table, words that nobody listed, and pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from channels.errors import DraftGone, NotThePlatform, SendPostponed, SendRefused, TooLarge
from channels.message import Button, OutboundMessage
from channels.refusals import Row
from channels.telegram.api import BotApi, BotApiRefused
from channels.telegram.outbound import TelegramSender
from channels.telegram.refusals import ROWS, TABLE
from channels.telegram.settings import TelegramSettings
from tests.fakes.base.faults import ServerError, Slow
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat

GROUP = -100
TEXT = "so **bold**, and done"
WORDS = [(row, words) for row in ROWS for words in row.codes]
IDS = [words.replace(" ", "-") for _row, words in WORDS]
UNLISTED = Refuse(400, "Bad Request: NOBODY_LISTED_THIS")
ENDS: dict[str, type[Exception]] = {
    "give_up": BotApiRefused,
    "wait": SendPostponed,
    "gone": DraftGone,
}


@dataclass
class Group:
    """A group with a topic in which somebody has asked something."""

    fake: FakeTelegram
    sender: TelegramSender
    chat: Chat
    topic: str
    asked: str
    blocks: list[str] = field(default_factory=list)

    async def says(self, text: str = TEXT, **more: Any) -> str:
        given = {"thread_id": self.topic, "reply_to": self.asked, **more}
        return (await self.sender.deliver(OutboundMessage("telegram", str(GROUP), text, **given)))[
            0
        ].platform_id

    def shown(self) -> list[str]:
        ours = (one for one in self.fake.messages(GROUP) if one.message_id != int(self.asked))
        return [one.text for one in ours if one.text]


@pytest.fixture
async def group() -> AsyncIterator[Group]:
    blocks: list[str] = []
    async with FakeTelegram() as fake:
        values = {"token": fake.token, "base_url": fake.base_url}
        api = BotApi(TelegramSettings.model_validate(values), blocked=blocks.append)
        await api.open()
        ada, chat = fake.user(7, "Ada"), fake.group(GROUP, forum=True)
        topic = fake.topic(chat, "Ops", ada)
        asked = fake.say(chat, ada, "?", topic=topic.id)["message_id"]
        yield Group(fake, TelegramSender(api), chat, str(topic.id), str(asked), blocks)
        await api.close()


def refusal(words: str) -> Refuse:
    """Return Telegram's answer with some words."""
    return Refuse(400, f"Bad Request: {words}")


@pytest.mark.parametrize(("row", "words"), WORDS, ids=IDS)
async def test_a_refused_send_takes_the_step_of_its_row(row: Row, words: str, group: Group) -> None:
    group.fake.fail("sendMessage", refusal(words))
    if row.send in ENDS:
        with pytest.raises(ENDS[row.send]) as caught:
            await group.says()
        if isinstance(caught.value, BotApiRefused):
            assert (caught.value.explanation, caught.value.closed) == (row.trouble, row.closed)
        return
    await group.says()
    last = group.fake.messages(GROUP)[-1]
    assert last.text == "so bold, and done"
    assert (last.topic is None) is (row.send == "chat")
    assert (last.reply_to is None) is (row.send in ("unreplied", "bare"))
    assert bool(last.entities) is (row.send in ("chat", "unreplied"))


@pytest.mark.parametrize(("row", "words"), WORDS, ids=IDS)
async def test_a_refused_edit_takes_the_step_of_its_row(row: Row, words: str, group: Group) -> None:
    draft = await group.says("so")
    group.fake.fail("editMessageText", refusal(words))
    if row.edit in ENDS:
        with pytest.raises(ENDS[row.edit]):
            await group.says(edits=draft)
        return
    assert await group.says(edits=draft) == draft
    shown = "so" if row.edit == "done" else "so bold, and done"  # the fake did not change it
    assert group.shown() == [shown]


@pytest.mark.parametrize("status", [400, 403])
async def test_words_that_nobody_listed_get_one_try_in_the_barest_form(
    status: int, group: Group
) -> None:
    group.fake.fail("sendMessage", Refuse(status, "BotApiRefused: NOBODY_LISTED_THIS"))
    await group.says(buttons=(Button("Yes", "c:y"),))
    last = group.fake.calls[-1].params
    assert set(last) == {"chat_id", "message_thread_id", "text", "link_preview_options"}
    assert ",choose c y" in str(last["text"])


async def test_words_that_nobody_listed_are_given_up_after_the_barest_form(group: Group) -> None:
    group.fake.fail("sendMessage", UNLISTED, UNLISTED)
    with pytest.raises(BotApiRefused, match=r"(?i)nobody_listed_this") as caught:
        await group.says()
    assert caught.value.explanation is TABLE.unknown.trouble
    assert group.shown() == []


async def test_an_edit_that_is_refused_in_every_form_is_replaced_and_its_message_deleted(
    group: Group,
) -> None:
    draft = await group.says("so")
    group.fake.fail("editMessageText", UNLISTED, UNLISTED)
    assert await group.says(edits=draft) != draft
    assert group.shown() == ["so bold, and done"]


async def test_a_text_of_which_a_part_is_in_the_chat_is_not_sent_again(group: Group) -> None:
    text = "word " * 1_700  # too long for one message: it is said plainly, in parts
    group.fake.fail("sendMessage", Slow(0), Slow(0), UNLISTED)
    with pytest.raises(SendRefused) as caught:
        await group.says(text)
    assert not isinstance(caught.value, BotApiRefused)
    assert len(group.shown()) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_page_in_telegram_s_place_postpones_and_is_shown(status: int, group: Group) -> None:
    group.fake.fail("sendMessage", ServerError(status))
    with pytest.raises(NotThePlatform) as caught:
        await group.says()
    assert f"{status} from 127.0.0.1" in str(caught.value)
    await group.says()
    assert group.blocks == [str(caught.value), ""]


@pytest.mark.parametrize("method", ["sendMessageDraft", "sendRichMessage"])
async def test_a_404_page_is_no_word_about_a_method(method: str, group: Group) -> None:
    group.fake.fail(method, ServerError(404))
    with pytest.raises(NotThePlatform):
        await group.sender.api.call(method, chat_id=7)


async def test_a_message_that_is_too_large_for_a_proxy_is_for_smaller_parts(group: Group) -> None:
    group.fake.fail("sendMessage", ServerError(413))
    with pytest.raises(TooLarge) as caught:
        await group.says()
    assert isinstance(caught.value, SendRefused)
