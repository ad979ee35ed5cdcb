"""What a question looks like: the end of a task, a new subject, or neither."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agent.testing import new_tape
from agent.tool import Role
from channels.message import InboundMessage
from gateway.pipeline.turn import Question
from gateway.turn.task_boundary import detect_boundary, looks_done, looks_new
from tape.entry import message
from tape.handle import Tape
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of


@pytest.mark.parametrize(
    "text",
    [
        "thanks",
        "Thank you so much!",
        "@robin thx, that worked",
        "<@123> it works now, thanks",
        "Perfect, problem solved 🎉",
        "Danke, das klappt",
        "merci beaucoup",
        "muchas gracias!",
        "спасибо большое",
        "谢谢",
        "谢谢\uff0c问题解决了",
        "ありがとうございます",
        "감사합니다",
        "👍",
    ],
)
def test_a_word_of_thanks_looks_like_the_end_of_a_task(text: str) -> None:
    assert looks_done(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ping",
        "what works?",
        "thanks, but the second table is still empty",
        "thanks! and how do I undo it?",
        "Thanks, now please translate the second chapter as well",
        "谢谢\uff0c那么第二章呢\uff1f",
        "how do I say thanks in Polish",
        "it did not work",
        "I hope this works",
        "dunno, it works on Windows",
        "that doesn't work",
        "this worked until yesterday, then the disk was full and nothing came back",
        "The thankless task of " + "x" * 80,
    ],
)
def test_whatever_asks_for_more_does_not(text: str) -> None:
    assert not looks_done(text)


@pytest.mark.parametrize(
    ("text", "before", "new"),
    [
        ("which train goes to Lisbon tomorrow", ["the nginx config has a typo"], True),
        ("does nginx reload after this", ["the nginx config has a typo"], False),
        ("and now", ["the nginx config has a typo"], False),
        ("明天去里斯本的火车", ["部署失败了"], True),
        ("部署又失败了怎么办", ["昨天部署失败了"], False),
    ],
)
def test_a_new_subject_shares_no_word_with_what_was_said(
    text: str, before: list[str], new: bool
) -> None:
    assert looks_new(text, before) is new


# On a tape


@pytest.fixture
def tape() -> Tape:
    return new_tape()


async def asked(tape: Tape, said: InboundMessage) -> Question:
    """Put a question on the tape, as intake does."""
    meta = {"inbox": 9, "author": said.sender.id, "lane": "a", "text": said.text, "addressed": True}
    (entry,) = await tape.append(message("user", said.text, **meta, said_at=said.date))
    row = replace(row_of(said), entry_id=entry.id, lane="a")
    return Question("plain:-100", tape.name, "a", Role.MEMBER, (row,))


async def answered(tape: Tape, said: InboundMessage) -> None:
    """Put a question and its answer on the tape."""
    await asked(tape, said)
    final = message("assistant", "a reply", lane="a", final=True, said_at=said.date)
    await tape.append(final)


QUESTION = replace(MESSAGE, text="does nginx reload itself", date="2026-01-01T10:00:00+00:00")
LATER = replace(QUESTION, text="which train goes to Lisbon", date="2026-01-02T10:00:00+00:00")


async def test_thanks_for_an_answer_are_the_end_of_a_task(tape: Tape) -> None:
    await answered(tape, QUESTION)
    thanks = replace(QUESTION, text="thanks, that worked")
    assert await detect_boundary(tape, await asked(tape, thanks)) == "done"


async def test_thanks_before_any_answer_are_not(tape: Tape) -> None:
    assert await detect_boundary(tape, await asked(tape, replace(QUESTION, text="thanks"))) == ""


async def test_thanks_of_somebody_who_did_not_ask_are_not(tape: Tape) -> None:
    await answered(tape, QUESTION)
    other = replace(QUESTION.sender, id="8")
    thanks = replace(QUESTION, text="thanks, that worked", sender=other)
    assert await detect_boundary(tape, await asked(tape, thanks)) == ""


async def test_thanks_for_what_was_handed_off_already_are_not(tape: Tape) -> None:
    await answered(tape, QUESTION)
    await tape.handoff("task/done", lane="a")
    assert await detect_boundary(tape, await asked(tape, replace(QUESTION, text="thanks"))) == ""


@pytest.mark.parametrize(
    ("change", "looks"),
    [
        ({}, "quiet"),
        ({"date": "2026-01-01T12:00:00+00:00"}, ""),
        ({"text": "does nginx reload by now"}, ""),
        ({"reply_to": "1"}, ""),
    ],
)
async def test_a_long_pause_and_then_a_new_subject_is_a_beginning(
    tape: Tape, change: dict[str, str], looks: str
) -> None:
    await answered(tape, QUESTION)
    said = replace(LATER, **change)  # type: ignore[arg-type]
    assert await detect_boundary(tape, await asked(tape, said)) == looks
