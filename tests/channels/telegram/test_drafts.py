"""How an answer grows in Telegram's chats: drafts, edits, the sign that somebody types."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from channels.typing_indicator import TYPING_INTERVAL_SECONDS
from tests.channels.telegram.bots import GROUP, Bot, in_group, in_private, telegram_bot
from tests.fakes.openai.script import Text
from tests.fakes.telegram.faults import Refuse


async def test_the_stop_of_a_draft_ends_the_answer(bot: Bot) -> None:
    bot.model.enqueue(Text(("half ", "never"), gate=asyncio.Event()))
    bot.fake.say(7, in_private(bot), "hi")
    await bot.until(lambda: bot.fake.drafts)
    ((_, number),) = bot.fake.drafts
    bot.fake.stop_draft(7, number)
    await bot.settled(7)
    assert [message.text for message in bot.fake.messages(7)] == ["half\n\nStopped by Ada."]


async def test_the_stop_of_a_draft_in_a_topic_ends_the_answer_there_alone(bot: Bot) -> None:
    ada, gate = in_private(bot), asyncio.Event()
    topics = []
    for name in ("Roses", "Trains"):
        bot.fake.say(7, ada, f"let us open {name}")
        await bot.settled(7)
        topics.append(bot.fake.topic(7, name, ada).id)
    bot.model.enqueue(Text(("roses ", "bloom"), gate=gate))
    bot.fake.say(7, ada, "roses?", topic=topics[0])
    await bot.until(lambda: len(bot.fake.drafts) == 1)
    bot.model.enqueue(Text(("trains ", "run"), gate=asyncio.Event()))
    bot.fake.say(7, ada, "trains?", topic=topics[1])
    await bot.until(lambda: any(one.topic == topics[1] for one in bot.fake.draft_history))
    draft = next(one for one in bot.fake.draft_history if one.topic == topics[1])
    bot.fake.stop_draft(7, draft.draft_id, topics[1])
    await bot.model.wait_for_disconnects(1)
    gate.set()
    await bot.settled(7)
    said = {message.topic: message.text for message in bot.fake.messages(7)}
    assert said[topics[0]] == "roses bloom"
    assert said[topics[1]].startswith("trains")
    assert said[topics[1]].endswith("Stopped by Ada.")


async def test_a_private_chat_has_drafts_that_cost_nothing_and_a_group_edits(bot: Bot) -> None:
    ada = in_group(bot)
    in_private(bot)
    gate = asyncio.Event()
    bot.model.enqueue(Text(("half ", "whole"), gate=gate))
    bot.fake.say(7, ada, "hi")
    await bot.until(lambda: bot.fake.draft_history)
    assert bot.fake.messages(7) == []
    gate.set()
    await bot.settled(7)
    (answer,) = bot.fake.messages(7)
    assert (answer.text, answer.edits, bot.fake.drafts) == ("half whole", 0, {})

    gate = asyncio.Event()
    bot.model.enqueue(Text(("half ", "whole"), gate=gate))
    bot.fake.say(GROUP, ada, "@tapeway_bot hi")
    await bot.until(lambda: bot.fake.messages(GROUP))
    gate.set()
    await bot.settled(GROUP)
    (answer,) = bot.fake.messages(GROUP)
    assert answer.history == ["half", "half whole"]
    assert all(draft.chat_id == 7 for draft in bot.fake.draft_history)


async def test_d1_where_an_unknown_send_is_held_a_private_answer_grows_by_edits(
    tmp_path: Path,
) -> None:
    async with telegram_bot(tmp_path, DELIVERY__AMBIGUOUS="hold") as bot:
        gate = asyncio.Event()
        bot.model.enqueue(Text(("half ", "whole"), gate=gate))
        bot.fake.say(7, in_private(bot), "hi")
        await bot.until(lambda: bot.fake.messages(7))
        gate.set()
        await bot.settled(7)
        (answer,) = bot.fake.messages(7)
        assert answer.history == ["half", "half whole"]
        assert bot.fake.draft_history == []


async def test_a_server_without_drafts_gets_edits_instead(bot: Bot) -> None:
    bot.fake.fail("sendMessageDraft", Refuse(404, "Not Found: method not found"))
    gate = asyncio.Event()
    bot.model.enqueue(Text(("half ", *["more "] * 300), gate=gate, delay=0.002))
    bot.fake.say(7, in_private(bot), "hi")
    await bot.until(lambda: bot.fake.calls_of("sendMessageDraft"))
    gate.set()
    await bot.settled(7)
    (answer,) = bot.fake.messages(7)
    assert answer.text.count("more") == 300
    assert len(answer.history) > 1
    assert len(bot.fake.calls_of("sendMessageDraft")) == 1


async def test_e6_typing_is_shown_at_once_every_few_seconds_and_ends(bot: Bot) -> None:
    gate = asyncio.Event()
    bot.model.enqueue(Text(("all",), gate=gate))
    began = bot.clock.monotonic()
    bot.fake.say(7, in_private(bot), "hi")
    for number in range(1, 4):
        await bot.fake.wait_for(lambda fake, number=number: len(fake.typing) == number)  # type: ignore[misc]
        await bot.clock.advance(TYPING_INTERVAL_SECONDS)
    await bot.fake.wait_for(lambda fake: len(fake.typing) == 4)
    times = [action.at - began for action in bot.fake.typing]
    assert times == pytest.approx([TYPING_INTERVAL_SECONDS * number for number in range(4)])
    gate.set()
    await bot.settled(7)
    await bot.pass_by(10)
    assert len(bot.fake.typing) == 4


async def test_a_quick_answer_is_sent_whole_without_partial_text(bot: Bot) -> None:
    gate = asyncio.Event()
    bot.model.enqueue(Text(("all ", "of ", "it"), gate=gate))
    bot.fake.say(GROUP, in_group(bot), "@tapeway_bot hi")
    await bot.until(lambda: bot.model.requests)
    await bot.pass_by(0.3)
    gate.set()
    await bot.settled(GROUP)
    (answer,) = bot.fake.messages(GROUP)
    assert answer.history == ["all of it"]


async def test_d3_a_group_s_budget_holds_while_long_answers_stream(tmp_path: Path) -> None:
    async with telegram_bot(tmp_path, limits=True) as bot:
        bot.moment = 0.01
        ada, bob = in_group(bot), bot.fake.user(8, "Bob")
        bot.model.default = lambda _request: Text(("word ",) * 300, delay=0.004)
        for person in (ada, bob, ada):
            bot.fake.say(GROUP, person, "@tapeway_bot tell me")
        await bot.settled(GROUP)
        answers = bot.fake.messages(GROUP)
        assert [len(answer.text.split()) for answer in answers] == [300] * 3
        assert sum(answer.edits for answer in answers) > 5
        assert bot.fake.too_many == 0
