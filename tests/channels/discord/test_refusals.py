"""What Discord refuses: each row of the table, codes that nobody listed, and pages in its place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from channels.discord.refusals import ROWS, TABLE, codes_of
from channels.refusals import Row
from gateway.delivery.refusal_notices import PREFIX
from tests.channels.discord.hosts import Bot, House
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.faults import Refuse
from tests.fakes.discord.permissions import Permission
from tests.fakes.openai.script import Text

WHOLE = "This is the first sentence. And this is the last one of them."
LONG = " ".join(f"Sentence {number} of a long answer." for number in range(30))
CODES = [(row, code) for row in ROWS for code in row.codes]
UNLISTED = 987_654


def refusal(code: str | int) -> Refuse:
    """Return Discord's answer with a code; `50035/FIELD` is the error of a field."""
    number, _slash, field = str(code).partition("/")
    fault = {"_errors": [{"code": "SOME_RULE", "message": "It breaks a rule"}]}
    return Refuse(400, int(number), "Refused", {field: fault} if field else None)


def drafted(bot: Bot, text: str = WHOLE) -> asyncio.Event:
    """Enqueue an answer that waits behind its first words; return what lets it go on."""
    gate = asyncio.Event()
    first, rest = text[:20], text[20:]
    bot.model.enqueue(Text((first, rest), gate=gate))
    return gate


async def names(bot: Bot) -> list[str]:
    return [str(entry.name) for entry in await bot.tape()]


def answers(bot: Bot, *places: Any) -> list[str]:
    """Return what the bot has said, without its notices about answers."""
    return [text for text in bot.texts(*places) if "can't post it" not in text]


def private(bot: Bot) -> list[str]:
    return bot.texts(bot.fake.dm(bot.ada))


@pytest.mark.parametrize(("row", "code"), CODES, ids=[code for _row, code in CODES])
async def test_a_refused_answer_comes_in_another_form_or_its_person_is_told(
    row: Row, code: str, bot: Bot
) -> None:
    bot.model.enqueue(Text((LONG if row.send == "parts" else WHOLE,)))
    bot.fake.fail("post", refusal(code))
    await bot.ask("hello")
    given_up = row.send in ("give_up", "token", "chat", "reopened")  # it is no thread, no command
    if given_up and row.closed:
        await bot.until(lambda: private(bot))
    told = [text for text in (*bot.texts(), *private(bot)) if row.trouble.remedy in text]
    if given_up:
        assert answers(bot) == []
        assert len(told) == 1
        assert (told[0] in private(bot)) is row.closed
        assert (await names(bot)).count("send.dead") == 1
        return
    assert told == []
    joined = " ".join(answers(bot))
    assert joined.split() == (LONG if row.send == "parts" else WHOLE).split()
    reply = bot.fake.messages(bot.general)[0].reply_to
    assert (reply is None) is (row.send in ("unreplied", "bare"))


@pytest.mark.parametrize(("row", "code"), CODES, ids=[code for _row, code in CODES])
async def test_an_answer_whose_draft_cannot_be_edited_comes_whole_and_once_or_is_told_of(
    row: Row, code: str, bot: Bot
) -> None:
    text = LONG if row.edit == "parts" else WHOLE
    gate = drafted(bot, text)
    bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: bot.texts())
    bot.fake.fail("edit", refusal(code))
    gate.set()
    await bot.settled()
    if row.edit in ("give_up", "token", "reopened"):
        if row.closed:
            await bot.until(lambda: private(bot))
        told = [text for text in (*bot.texts(), *private(bot)) if row.trouble.remedy in text]
        assert len(told) == 1
        return
    shown = answers(bot)
    if row.edit == "gone":  # the fake's message is still there: Discord's own would be gone
        shown = shown[1:]
    assert " ".join(shown).split() == text.split()


@pytest.mark.parametrize("kind", ["post", "edit"])
async def test_a_code_that_nobody_listed_gets_one_try_in_the_barest_form(
    kind: str, bot: Bot
) -> None:
    gate = drafted(bot)
    bot.say(f"<@{bot.fake.bot.id}> hello")
    if kind == "edit":
        await bot.until(lambda: bot.texts())
    bot.fake.fail(kind, refusal(UNLISTED))
    gate.set()
    await bot.settled()
    assert answers(bot) == [WHOLE]
    last = bot.fake.calls_of(kind)[-1].params
    assert set(last) <= {"content", "allowed_mentions", "nonce", "enforce_nonce"}


async def test_a_code_that_nobody_listed_is_given_up_after_the_barest_form_and_told(
    bot: Bot,
) -> None:
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("post", refusal(UNLISTED), refusal(UNLISTED))
    question = await bot.ask("hello")
    (notice,) = bot.fake.messages(bot.general)
    assert TABLE.unknown.trouble.remedy in notice.text
    assert notice.reply_to == question.id
    ended = [entry for entry in await bot.tape() if entry.name == "send.dead"]
    assert str(UNLISTED) in ended[0].payload["data"]["why"]


async def test_an_edit_that_is_refused_in_every_form_is_replaced_and_its_message_deleted(
    bot: Bot,
) -> None:
    gate = drafted(bot)
    bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: bot.texts())
    bot.fake.fail("edit", refusal(UNLISTED), refusal(UNLISTED))
    gate.set()
    await bot.settled()
    assert answers(bot) == [WHOLE]


async def test_a_notice_that_is_refused_too_is_not_told_of(bot: Bot) -> None:
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("post", *[refusal(200000)] * 3)
    await bot.ask("hello")
    assert bot.texts() == []
    ended = [e.payload["data"]["idem"] for e in await bot.tape() if e.name == "send.dead"]
    assert [idem.startswith(PREFIX) for idem in ended] == [False]
    assert len(bot.fake.faults_left) == 1


async def test_where_the_bot_may_not_write_the_person_is_told_in_private(bot: Bot) -> None:
    bot.fake.deny(bot.general, Permission.SEND_MESSAGES)
    await bot.ask("hello")
    await bot.until(lambda: private(bot))
    (notice,) = private(bot)
    assert "Permissions" in notice
    assert bot.texts() == []


@pytest.mark.parametrize("permission", [Permission.SEND_MESSAGES, Permission.VIEW_CHANNEL])
async def test_a_command_is_answered_by_its_token_where_the_bot_may_not_write(
    permission: Permission, bot: Bot
) -> None:
    await bot.until(lambda: bot.fake.commands.find("ask", None))
    bot.fake.deny(bot.general, permission)
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.slash(bot.general, bot.ada, "ask", {"question": "hello?"})
    await bot.until(lambda: WHOLE in bot.texts())
    await bot.settled()
    assert bot.texts() == ["**/ask** hello?", WHOLE]
    assert private(bot) == []


async def test_a_command_whose_token_is_old_is_answered_with_a_notice_in_private(bot: Bot) -> None:
    await bot.until(lambda: bot.fake.commands.find("ask", None))
    bot.fake.deny(bot.general, Permission.SEND_MESSAGES)
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("followup", refusal(50027))
    bot.fake.slash(bot.general, bot.ada, "ask", {"question": "hello?"})
    await bot.until(lambda: private(bot))
    assert "can't post it" in private(bot)[0]


@pytest.mark.parametrize("code", ["50035", str(UNLISTED)])
async def test_a_note_of_a_command_is_tried_in_its_barest_form(code: str, bot: Bot) -> None:
    await bot.until(lambda: bot.fake.commands.find("help", None))
    bot.fake.fail("callback", refusal(code))
    used = bot.fake.slash(bot.general, bot.ada, "help")
    await bot.until(lambda: len(bot.texts()) == 2)
    assert used.acknowledged


@pytest.mark.parametrize("status", [400, 401, 403, 404, 407, 408, 451])
async def test_a_page_in_discords_place_delays_the_answer_and_no_other_chat(
    status: int, bot: Bot
) -> None:
    other = bot.fake.text_channel(bot.guild, "other")
    state = bot.gateway.status.states["discord"]
    bot.model.enqueue(Text((WHOLE,)), Text((WHOLE,)))
    bot.fake.fail("post", *[ServerError(status)] * 9, channel=bot.general)
    bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: state.notes)
    bot.say(f"<@{bot.fake.bot.id}> hello", bot.bob, place=other)
    await bot.until(lambda: bot.texts(other))
    assert bot.texts() == []
    (note,) = state.notes
    assert f"{status} from 127.0.0.1" in note
    assert "in front of Discord" in note
    await bot.settled()
    assert bot.texts() == [WHOLE]
    assert bot.gateway.status.states["discord"].notes == []


async def test_cloudflares_own_code_is_a_page_too(bot: Bot) -> None:
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("post", Refuse(403, 40333, "internal network error"))
    await bot.ask("hello")
    assert answers(bot) == [WHOLE]


async def test_an_answer_waits_behind_a_page_no_longer_than_a_question_may(place: House) -> None:
    async with place.bot(DELIVERY__REPLAY_HOURS="1") as bot:
        bot.model.enqueue(Text((WHOLE,)))
        bot.fake.fail("post", *[ServerError(403)] * 400)
        bot.say(f"<@{bot.fake.bot.id}> hello")
        await bot.until(lambda: bot.fake.calls_of("post"))
        await bot.pass_by(3_700, step=20)
        await bot.settled()
        (ended,) = [entry for entry in await bot.tape() if entry.name == "send.dead"]
        assert "waited too long" in ended.payload["data"]["why"]


async def test_an_answer_that_is_too_large_for_a_proxy_comes_in_smaller_parts(bot: Bot) -> None:
    bot.model.enqueue(Text((LONG,)))
    bot.fake.fail("post", ServerError(413), ServerError(413))
    question = await bot.ask("hello")
    sent = bot.fake.messages(bot.general)
    assert len(sent) == 3
    assert " ".join(message.text for message in sent).split() == LONG.split()
    assert sent[0].reply_to == question.id
    assert (await names(bot)).count("send.receipt") == 1


async def test_a_short_answer_that_is_too_large_is_told_of(bot: Bot) -> None:
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("post", ServerError(413))
    await bot.ask("hello")
    (notice,) = bot.texts()
    assert "can't post it" in notice


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ({"code": 50035, "errors": {"content": {}, "embeds": {}}}, ["50035/content", "50035"]),
        ({"code": 50035, "errors": ["odd"]}, ["50035"]),
        ({"code": "50035"}, [""]),
        ({}, [""]),
    ],
)
def test_the_fields_at_fault_come_before_the_code(body: Any, codes: list[str]) -> None:
    found = codes_of(body)
    assert (found[0], found[-1]) == (codes[0], codes[-1])
