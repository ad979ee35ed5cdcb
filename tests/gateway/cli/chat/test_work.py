"""The line that says what the agent does before it writes."""

from __future__ import annotations

from channels.room.hub import Json
from gateway.cli.chat.work import Work

CALL: Json = {"type": "tool", "id": "1", "name": "tape.search", "arguments": '{"query": "tea"}'}
RESULT: Json = {"type": "tool", "id": "1", "name": "tape.search", "elapsed_ms": 1500}


def thought(delta: str) -> Json:
    return {"type": "reasoning", "delta": delta}


def test_the_status_shows_the_end_of_the_thoughts_from_a_whole_word_on() -> None:
    work = Work(0)
    work.take(thought("They ask about the kettle, and which tea it was."), 2)
    assert work.status(3, 60) == "⋯ thinking (3.0 s): …the kettle, and which tea it was."


def test_the_status_shows_the_tool_that_runs_and_for_how_long() -> None:
    work = Work(0)
    work.take(CALL, 1)
    assert work.status(13, 60) == "⋯ tape.search query=tea (12 s)"
    assert work.status(13, 20) == "⋯ tape.search quer…"


def test_all_that_was_done_is_folded_to_one_line() -> None:
    work = Work(0)
    assert work.folded() == ""
    for event, now in ((thought("hm"), 2), (CALL, 3), (RESULT, 4.5)):
        work.take(event, now)
    assert work.folded() == "· thought for 2.0 s, tape.search query=tea (1.5 s)"


def test_arguments_are_shown_as_they_are_if_they_are_no_object_and_on_one_line() -> None:
    work = Work(0)
    work.take({**CALL, "arguments": '{"que\x1b\nry'}, 0)
    assert work.status(0, 60) == '⋯ tape.search {"que\\u001b ry (0.0 s)'
