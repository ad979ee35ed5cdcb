"""The gateway's benchmark measures what it says, on a small scale."""

from __future__ import annotations

import orjson

from bench.crowd import Crowd, chatter
from bench.figures import Bar, Figure, table
from bench.gateway import Size, group_figures, rooms_figures
from bench.stage import answer, staged
from bench.talk import TalkingRoom, answer_in_words
from tests.fakes.telegram.server import FakeTelegram


async def test_every_question_is_answered_once_and_later_than_its_model_was_asked() -> None:
    async with staged(answer) as stage:
        crowd = Crowd(stage, private=6, groups=2)
        asked = await crowd.ask_fast(8, at_once=4)
        await crowd.all_answered()
        outcome = crowd.outcome(asked)
        assert len(stage.telegram.calls_of("sendMessage")) == 8
    assert (outcome.missing, outcome.again) == (0, 0)
    pairs = list(zip(outcome.to_model, outcome.to_answer, strict=True))
    assert len(pairs) == 8
    assert all(0 < to_model < to_answer for to_model, to_answer in pairs)


async def test_what_is_said_in_groups_is_taped_and_asks_no_model() -> None:
    accepted, taped, _cpu = await group_figures(Size(group_messages=150))
    assert 0 < taped.value <= accepted.value


async def test_rooms_that_talk_are_answered_and_cost_something() -> None:
    figures = {one.name: one.value for one in await rooms_figures(Size(rooms=2, room_lines=45))}
    assert figures["2 rooms of 45 lines: CPU a line"] > 0
    assert figures["2 rooms of 45 lines: questions"] == 4
    assert figures["2 rooms of 45 lines: not answered, or twice"] == 0


async def test_a_room_says_the_same_each_time_with_replies_and_a_question_at_the_end() -> None:
    said: list[list[tuple[int, str, bool]]] = []
    async with staged(answer_in_words) as stage:
        for _time in range(2):
            crowd = Crowd(stage, 0, 0)
            TalkingRoom(crowd, 7).go_on(30, task=True)
            await crowd.all_answered()
            updates = stage.telegram.updates.all[-30:]
            messages = [orjson.loads(update.raw)["message"] for update in updates]
            said.append([(m["from"]["id"], m["text"], "reply_to_message" in m) for m in messages])
    assert said[0] == said[1]
    assert sum(replies for _who, _text, replies in said[0]) > 0
    asked = ["question" in text for _who, text, _replies in said[0]]
    assert asked == [False] * 29 + [True]
    assert said[0][-1][0] not in {who for who, _text, _replies in said[0][:-1]}


async def test_chatter_is_made_before_any_of_it_is_handed_out() -> None:
    async with FakeTelegram() as telegram:
        updates = chatter(telegram, 5, groups=2)
        assert [update.handed_out for update in updates] == [None] * 5
        await telegram.updates.poll(3, 0)
        assert [update.handed_out is None for update in updates] == [False] * 3 + [True] * 2


def test_the_table_shows_a_bar_that_is_not_met() -> None:
    shown = table([Figure("lag", 60, "ms", Bar("<", 50)), Figure("seen", 1, "")])
    assert [line.split()[-1] for line in shown.splitlines()[2:]] == ["NO", "1"]
