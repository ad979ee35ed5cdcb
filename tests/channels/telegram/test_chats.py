"""What happens in Telegram's chats: the whole gateway between two fakes."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.scheduling.opening.place import GREETING
from tests.channels.telegram.bots import GROUP, Bot, in_group, in_private, telegram_bot
from tests.fakes.base.faults import LostAnswer, ServerError
from tests.fakes.openai.script import EmptyStream, Text
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.gateways import names
from tests.kit.images import bomb, image


async def test_a3_an_album_is_one_message_with_its_media_in_order(bot: Bot) -> None:
    ada = in_group(bot)
    for number in range(3):
        caption = "Robin @tapeway_bot what is this?" if number == 1 else ""
        data = image(size=(2 + number, 3))
        bot.fake.send_photo(GROUP, ada, data=data, caption=caption, media_group="m1")
    entries = await bot.settled(GROUP)
    assert [names(entries).count(name) for name in ("message", "turn.start")] == [2, 1]
    said = next(entry for entry in entries if "inbox" in entry.meta)
    assert [media["file"] for media in said.meta["media"]] == ["file-3", "file-6", "file-9"]
    (prompt,) = bot.prompts()
    assert prompt.count("[an image]") == 3
    (answer,) = bot.fake.messages(GROUP)
    assert answer.reply_to == said_id(bot, 0)


def said_id(bot: Bot, number: int) -> int:
    """Return the id of what a person said in the group."""
    theirs = [one for one in bot.fake.chat(GROUP).messages.values() if not one.mine]
    return theirs[number].message_id


async def test_a3_a_paste_of_three_parts_is_one_message(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, CONTEXT__PROMPT_TOKENS="30000") as bot:
        ada = in_private(bot)
        for text in ("a" * 4096, "b" * 4096, "c end"):
            bot.fake.say(7, ada, text)
        entries = await bot.settled(7)
        assert names(entries).count("turn.start") == 1
        said = next(entry for entry in entries if "inbox" in entry.meta)
        assert said.meta["text"] == "a" * 4096 + "b" * 4096 + "c end"


async def test_a4_an_edit_before_the_turn_is_what_the_turn_sees(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, BUFFER__DEBOUNCE="2") as bot:
        ada = in_private(bot)
        asked = bot.fake.say(7, ada, "frist")["message_id"]
        await bot.pass_by(0.5)
        bot.fake.edit(7, asked, "first")
        await bot.until(lambda: bot.model.requests)
        await bot.settled(7)
        (prompt,) = bot.prompts()
        assert "first" in prompt
        assert "frist" not in prompt
        assert len(bot.fake.messages(7)) == 1


async def test_a4_an_edit_after_the_turn_is_told_at_the_next_and_starts_none(bot: Bot) -> None:
    ada = in_private(bot)
    asked = bot.fake.say(7, ada, "at four")["message_id"]
    await bot.settled(7)
    bot.fake.edit(7, asked, "at five")
    await bot.settled(7)
    assert len(bot.model.requests) == 1
    bot.fake.say(7, ada, "when?")
    await bot.settled(7)
    first, second = (request.body["messages"] for request in bot.model.requests)
    assert second[: len(first)] == first
    assert "edited and now reads" in str(second[len(first) :])
    assert "at five" in str(second[len(first) :])


async def test_a4_each_later_edit_is_told_once_also_one_that_goes_back(bot: Bot) -> None:
    ada = in_private(bot)
    asked = bot.fake.say(7, ada, "at four")["message_id"]
    await bot.settled(7)
    for text in ("at five", "at five", "at four"):
        await bot.pass_by(1)
        bot.fake.edit(7, asked, text)
        entries = await bot.settled(7)
    edits = [entry for entry in entries if entry.name == "message.edit"]
    assert [edit.payload["data"]["text"] for edit in edits] == ["at five", "at four"]


async def test_a4_an_edited_paste_keeps_its_other_parts(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, BUFFER__DEBOUNCE="3") as bot:
        ada = in_private(bot)
        bot.fake.say(7, ada, "a" * 4096)
        last = bot.fake.say(7, ada, "frist")["message_id"]
        await bot.pass_by(0.5)
        bot.fake.edit(7, last, "first")
        await bot.until(lambda: bot.model.requests)
        await bot.settled(7)
        (prompt,) = bot.prompts()
        assert "aaaa" in prompt
        assert "first" in prompt
        assert "frist" not in prompt


async def test_a_group_that_becomes_a_supergroup_keeps_its_tape_and_its_place_on_the_list(
    tmp_path: Path,
) -> None:
    allowed: dict[str, Any] = {"ACCESS__MODE": "paired", "ACCESS__ALLOW": "telegram:-5"}
    for restarted in (False, True):
        fake = FakeTelegram()
        async with telegram_bot(tmp_path / str(restarted), fake=fake, **allowed) as bot:
            ada = bot.fake.user(7, "Ada")
            bot.fake.group(-5, "Ops", kind="group")
            bot.fake.say(-5, ada, "@tapeway_bot one")
            await bot.settled(-5)
            new = bot.fake.migrate(-5).id
            entries = await bot.settled(-5)
            assert "chat.change" in names(entries)
            if not restarted:
                bot.fake.say(new, ada, "@tapeway_bot two")
                await bot.settled(-5)
                assert len(bot.fake.messages(new)) == 1
                assert "one" in bot.prompts()[-1]
        if restarted:
            fake = FakeTelegram()
            async with telegram_bot(tmp_path / str(restarted), fake=fake, **allowed) as bot:
                bot.fake.group(new, "Ops")
                bot.fake.say(new, bot.fake.user(7, "Ada"), "@tapeway_bot two")
                entries = await bot.settled(-5)
                assert names(entries).count("turn.start") == 2
                assert len(bot.fake.messages(new)) == 1


async def test_d6_a_block_is_recorded_and_the_answer_is_not_tried_again(bot: Bot) -> None:
    ada = in_private(bot)
    bot.fake.say(7, ada, "hi")
    bot.fake.block_bot(ada)
    entries = await bot.settled(7)
    assert {"chat.change", "send.dead"} <= set(names(entries))
    assert len(bot.fake.calls_of("sendMessage")) == 1
    in_group(bot)
    bot.fake.say(GROUP, ada, "@tapeway_bot hi")
    await bot.settled(GROUP)
    assert len(bot.fake.messages(GROUP)) == 1


async def test_f4_a_token_that_is_revoked_is_unfit_and_the_rest_runs(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, WEB__ENABLED="true") as bot:
        bot.fake.token_revoked = True
        await bot.until(lambda: bot.state() == "unfit")
        states = bot.gateway.status.states
        assert "@BotFather" in states["telegram"].why
        assert states["web"].state == "ready"


async def test_f4_a_second_reader_makes_it_wait_and_then_it_goes_on(bot: Bot) -> None:
    ada = in_private(bot)
    conflict = Refuse(409, "Conflict: terminated by other getUpdates request")
    bot.fake.fail("getUpdates", *[conflict] * 3)
    bot.fake.updates.end_poll()
    await bot.until(lambda: bot.state() == "waiting")
    assert "one reader" in bot.gateway.status.states["telegram"].why
    bot.fake.say(7, ada, "hi")
    await bot.settled(7)
    assert bot.state() == "ready"
    assert len(bot.fake.messages(7)) == 1


async def test_e2_a_hundred_thousand_characters_arrive_whole(tmp_path: Path) -> None:
    text = "\n\n".join(f"{number} " + "word " * 18 for number in range(1000))
    async with telegram_bot(tmp_path) as bot:
        bot.model.enqueue(Text((text,)))
        bot.fake.say(7, in_private(bot), "all of it")
        await bot.settled(7)
        assert bot.fake.text_of(7).split() == text.split()


@pytest.mark.parametrize("text", ["😀", "a\ud800b", "1 < 2 & 3", "*", "\\"])
async def test_an_odd_answer_and_an_odd_question_arrive(text: str, bot: Bot) -> None:
    ada = in_private(bot)
    bot.model.enqueue(Text((text.replace("\ud800", "?"),)))
    chat = {"id": 7, "type": "private"}
    said = {"message_id": 900, "date": 1, "chat": chat, "from": ada.as_json(), "text": text}
    bot.fake.push_update(json.dumps({"update_id": 900_000_000, "message": said}).encode())
    await bot.settled(7)
    assert len(bot.fake.messages(7)) == 1


async def test_an_image_that_is_a_bomb_is_told_of(bot: Bot) -> None:
    bot.fake.send_photo(7, in_private(bot), data=bomb(), caption="look")
    await bot.settled(7)
    (prompt,) = bot.prompts()
    assert "it has too many pixels (60000x60000)" in prompt
    assert len(bot.fake.messages(7)) == 1


async def test_e7_an_empty_answer_of_the_model_is_told(bot: Bot) -> None:
    bot.model.enqueue(EmptyStream())
    bot.fake.say(7, in_private(bot), "hi")
    await bot.settled(7)
    (told,) = bot.fake.messages(7)
    assert told.text.startswith("Sorry, I couldn't answer")


@pytest.mark.parametrize("kind", ["code", "blockquote"])
async def test_a_command_that_is_only_shown_is_the_model_s_to_answer(kind: str, bot: Bot) -> None:
    ada = in_private(bot)
    bot.model.enqueue(Text(("It starts over.",)))
    bot.fake.say(7, ada, "/reset", entities=[{"type": kind, "offset": 0, "length": 6}])
    assert "session/reset" not in names(await bot.settled(7))
    assert len(bot.model.requests) == 1


async def test_a_group_that_the_bot_is_added_to_is_greeted_once(bot: Bot) -> None:
    ada = bot.fake.user(7, "Ada")
    bot.fake.group(GROUP, "Ops", member=False)
    bot.fake.join(GROUP, by=ada)
    await bot.settled(GROUP)
    assert bot.fake.text_of(GROUP).startswith(GREETING.format(name="Tapeway")[:30])
    bot.fake.leave(GROUP, by=ada)
    bot.fake.join(GROUP, by=ada)
    await bot.settled(GROUP)
    assert len(bot.fake.messages(GROUP)) == 1


async def test_b7_a_closed_group_is_told_how_to_open_it_once_a_day_whatever_the_reason(
    tmp_path: Path,
) -> None:
    async with telegram_bot(tmp_path, ACCESS__MODE="paired") as bot:
        ada = bot.fake.user(7, "Ada")
        bot.fake.group(GROUP, "Ops", member=False)
        bot.fake.join(GROUP, by=ada)
        await bot.settled(GROUP)
        bot.fake.say(GROUP, ada, "@tapeway_bot hi")
        await bot.settled(GROUP)
        (told,) = bot.fake.messages(GROUP)
        assert f"telegram:{GROUP}" in told.text
        assert bot.model.requests == []


async def test_b2_a_topic_that_the_bot_was_asked_in_is_followed_where_that_is_set(
    tmp_path: Path,
) -> None:
    async with telegram_bot(tmp_path, TELEGRAM__ANSWERS="mention,topic") as bot:
        ada = bot.fake.user(7, "Ada")
        forum = bot.fake.group(GROUP, "Ops", forum=True)
        ours, other = (bot.fake.topic(forum, name, ada).id for name in ("ours", "other"))
        bot.fake.say(forum, ada, "before", topic=ours)
        bot.fake.say(forum, ada, "@tapeway_bot hello", topic=ours)
        await bot.settled(GROUP)
        bot.fake.say(forum, ada, "and now?", topic=ours)
        bot.fake.say(forum, ada, "not for it", topic=other)
        await bot.settled(GROUP)
        assert [message.topic for message in bot.fake.messages(GROUP)] == [ours, ours]
        assert {action.thread_id for action in bot.fake.typing} == {ours}


async def test_f_updates_come_by_webhook_through_the_gateway_s_own_server(tmp_path: Path) -> None:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    url = f"http://127.0.0.1:{port}/webhooks/telegram"
    async with telegram_bot(tmp_path, HTTP__PORT=str(port), TELEGRAM__WEBHOOK_URL=url) as bot:
        ada = in_private(bot)
        bot.fake.say(7, ada, "hi")
        await bot.settled(7)
        bot.fake.redeliver(bot.fake.updates.all[0].update_id)
        await bot.settled(7)
        assert len(bot.fake.messages(7)) == 1
        assert bot.fake.calls_of("getUpdates") == []


async def test_h2_the_token_is_in_no_log_and_on_no_tape(tmp_path: Path) -> None:
    fake = FakeTelegram(token="123456:canary-token")
    with capture_logs() as logs:
        async with telegram_bot(tmp_path, fake=fake) as bot:
            ada = in_private(bot)
            for fault in (ServerError(), LostAnswer(), Refuse(400, "Bad Request: canary no")):
                fake.fail("sendMessage", fault)
                fake.fail("getUpdates", ServerError())
                fake.say(7, ada, "hi")
                entries = await bot.settled(7)
    assert logs
    assert "canary-token" not in str(logs)
    assert "canary-token" not in str(entries)
