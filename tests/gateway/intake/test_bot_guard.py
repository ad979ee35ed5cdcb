"""Two bots do not answer each other for ever."""

from __future__ import annotations

from dataclasses import replace

from channels.message import Author
from gateway.intake.planner import MAX_ANSWERS, WINDOW_SECONDS, BotGuard
from tests.kit.clock import ManualClock
from tests.kit.plain_channels import MESSAGE

BOT = replace(MESSAGE, sender=Author("8", "Bot", is_bot=True))


def test_b5_a_bot_is_ignored_by_default_and_a_person_is_not() -> None:
    guard = BotGuard(ManualClock(), "ignore")
    told = guard.judge(BOT)
    assert (told.addressed, told.why) == (False, "said by a bot")
    assert guard.judge(MESSAGE) is MESSAGE
    aside = replace(BOT, addressed=False, why="said to the group")
    assert guard.judge(aside) is aside


def test_b5_the_21st_message_of_a_bot_in_a_minute_is_suppressed() -> None:
    guard = BotGuard(ManualClock(), "answer")
    assert all(guard.judge(BOT).addressed for _ in range(MAX_ANSWERS))
    told = guard.judge(BOT)
    assert (told.addressed, told.why) == (False, "said by a bot, too often in a minute")
    assert all(guard.judge(MESSAGE).addressed for _ in range(MAX_ANSWERS * 2))
    assert guard.judge(replace(BOT, sender=Author("9", "Other", is_bot=True))).addressed
    assert guard.judge(replace(BOT, channel="other")).addressed


def test_a_bot_in_two_chats_has_one_count() -> None:
    guard = BotGuard(ManualClock(), "answer")
    for number in range(MAX_ANSWERS):
        assert guard.judge(replace(BOT, chat_id=str(number))).addressed
    assert not guard.judge(replace(BOT, chat_id="another")).addressed


async def test_what_was_suppressed_does_not_count_and_the_window_slides() -> None:
    clock = ManualClock()
    guard = BotGuard(clock, "answer")
    guard.judge(BOT)
    await clock.advance(WINDOW_SECONDS - 1)
    for _ in range(MAX_ANSWERS * 2):
        guard.judge(BOT)
    assert not guard.judge(BOT).addressed
    await clock.advance(1)
    assert guard.judge(BOT).addressed
    assert not guard.judge(BOT).addressed


async def test_bots_that_went_quiet_are_forgotten() -> None:
    clock = ManualClock()
    guard = BotGuard(clock, "answer")
    for number in range(50):
        guard.judge(replace(BOT, sender=Author(str(number), "Bot", is_bot=True)))
    await clock.advance(WINDOW_SECONDS)
    guard.judge(BOT)
    assert len(guard.answered) == 1
