"""Typing signs: from the question to its answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace

import anyio
import pytest
from anyio.abc import TaskGroup

from channels.errors import SendRefused
from channels.message import Author, InboundMessage
from channels.pacing import Budget, Pacing, Priority
from channels.typing_indicator import TYPING_INTERVAL_SECONDS, TypingIndicator
from tests.kit.clock import ManualClock, settle

MESSAGE = InboundMessage("telegram", "7", "7/1", "1", Author("7", "Anna"), "hi", "2026-01-02")
LATER = replace(MESSAGE, ext_id="7/2", message_id="2")


class Typing:
    """Signs, and when and where they were shown."""

    def __init__(self, group: TaskGroup) -> None:
        self.clock = ManualClock()
        self.pacing = Pacing(lambda _chat: Budget(1.0), self.clock)
        self.shown: list[tuple[float, str, str | None]] = []
        self.refuses = False
        self._group = group
        self.signs = TypingIndicator(self._show, self.pacing, self.clock, self._spawn)

    def _spawn(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        async def run() -> None:
            await work()

        self._group.start_soon(run)

    async def _show(self, message: InboundMessage) -> None:
        if self.refuses:
            raise SendRefused("kicked")
        self.shown.append((self.clock.monotonic(), message.chat_id, message.thread_id))

    def times(self) -> list[float]:
        return [moment for moment, _, _ in self.shown]


@pytest.fixture
async def typing() -> AsyncIterator[Typing]:
    async with anyio.create_task_group() as group:
        yield Typing(group)
        group.cancel_scope.cancel()


async def test_e6_a_sign_is_shown_at_once_and_again_until_the_answer(typing: Typing) -> None:
    typing.signs.begin(MESSAGE)
    await typing.clock.advance(TYPING_INTERVAL_SECONDS * 2 + 1)
    assert typing.times() == [0, TYPING_INTERVAL_SECONDS, TYPING_INTERVAL_SECONDS * 2]
    typing.signs.end(MESSAGE)
    await typing.clock.advance(60)
    assert len(typing.shown) == 3


async def test_questions_of_one_place_share_its_signs_until_the_last_is_answered(
    typing: Typing,
) -> None:
    typing.signs.begin(MESSAGE)
    await typing.clock.advance(1)
    typing.signs.begin(LATER)
    typing.signs.begin(LATER)
    typing.signs.end(MESSAGE)
    await typing.clock.advance(TYPING_INTERVAL_SECONDS)
    assert typing.times() == [0, TYPING_INTERVAL_SECONDS]
    typing.signs.end(LATER)
    await typing.clock.advance(60)
    assert len(typing.shown) == 2


async def test_the_end_of_a_question_that_nobody_knows_ends_nothing(typing: Typing) -> None:
    typing.signs.end(MESSAGE)
    typing.signs.begin(MESSAGE)
    typing.signs.end(LATER)
    await typing.clock.advance(TYPING_INTERVAL_SECONDS)
    assert len(typing.shown) == 2


async def test_e6_the_next_question_is_shown_at_once_after_an_answer(typing: Typing) -> None:
    typing.signs.begin(MESSAGE)
    await typing.clock.advance(1)
    typing.signs.end(MESSAGE)
    await typing.clock.advance(1)
    typing.signs.begin(LATER)
    await typing.clock.advance(0.5)
    assert typing.times() == [0, 2]


async def test_e6_two_topics_of_a_chat_both_show_that_an_answer_comes(typing: Typing) -> None:
    typing.signs.begin(replace(MESSAGE, thread_id="5"))
    await typing.clock.advance(1)
    typing.signs.begin(replace(LATER, thread_id="6"))
    await typing.clock.advance(TYPING_INTERVAL_SECONDS - 1)
    assert typing.shown == [(0, "7", "5"), (1, "7", "6"), (TYPING_INTERVAL_SECONDS, "7", "5")]


async def test_a_closed_gate_shows_none_and_the_signs_go_on_after_it(typing: Typing) -> None:
    typing.pacing.close("7", TYPING_INTERVAL_SECONDS * 2)
    typing.signs.begin(MESSAGE)
    await typing.clock.advance(TYPING_INTERVAL_SECONDS * 3)
    assert typing.times() == [TYPING_INTERVAL_SECONDS * 2, TYPING_INTERVAL_SECONDS * 3]


async def test_d3_a_sign_costs_no_slot(typing: Typing) -> None:
    typing.signs.begin(MESSAGE)
    await settle()
    await typing.pacing.permit("7", Priority.FINAL)
    assert typing.clock.monotonic() == 0


async def test_a_platform_that_refuses_is_asked_again_with_the_next_event(typing: Typing) -> None:
    typing.refuses = True
    typing.signs.begin(MESSAGE)
    await typing.clock.advance(60)
    typing.refuses = False
    assert typing.shown == []
    typing.signs.begin(MESSAGE)
    await settle()
    assert typing.times() == [60]


async def test_signs_that_end_before_they_began_are_never_shown(typing: Typing) -> None:
    typing.signs.begin(MESSAGE)
    typing.signs.end(MESSAGE)
    await typing.clock.advance(60)
    assert typing.shown == []


async def test_all_signs_end_where_another_channel_takes_over(typing: Typing) -> None:
    typing.signs.begin(MESSAGE)
    typing.signs.begin(replace(MESSAGE, chat_id="8"))
    await settle()
    typing.signs.end_all()
    await typing.clock.advance(TYPING_INTERVAL_SECONDS * 2)
    assert (len(typing.shown), typing.signs.threads) == (2, {})
    typing.signs.end(MESSAGE)
