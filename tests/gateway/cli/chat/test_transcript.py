"""The lines of a conversation, under the names of those who speak."""

from __future__ import annotations

import re
from typing import Any

from channels.room.hub import Json
from gateway.cli.chat.transcript import ChatTranscript
from tests.kit.clock import ManualClock


def message(text: str, message_id: str = "a1", **more: Any) -> Json:
    agent = {"author": {"id": "agent", "name": "Tapeway"}, "role": "agent", "reply_to": "q1"}
    return {"id": message_id, "text": text, "cut": False, **agent, **more}


def said(name: str, text: str, message_id: str) -> Json:
    author = {"id": name, "name": name}
    return message(text, message_id, role="person", author=author, reply_to=None)


def event(kind: str, of: Json) -> Json:
    return {"type": kind, "message": of}


HELLO: Json = {"type": "hello", "agent": "Tapeway", "hint": None}


class Chat:
    """A conversation in 40 columns."""

    def __init__(self) -> None:
        self.transcript = ChatTranscript(lambda: 40, ManualClock())
        self.take(HELLO)

    def take(self, *events: Json) -> list[str]:
        for one in events:
            self.transcript.take(one)
        return plain(self.transcript.new_lines())

    def live(self) -> list[str]:
        return plain(self.transcript.live_lines(10))


def plain(lines: list[str]) -> list[str]:
    return [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]


def test_each_speaker_is_named_once() -> None:
    lines = Chat().take(
        event("message", said("Bob", "Hi.", "q1")),
        event("message", message("Hello.")),
        event("message", message("More.", "a2")),
    )
    assert lines == ["", "Bob", "Hi.", "", "Tapeway", "Hello.", "More."]


def test_one_s_own_question_is_not_repeated() -> None:
    chat = Chat()
    chat.transcript.asked("q1")
    assert chat.take(event("message", said("Ann", "Hi.", "q1"))) == []


def test_a_second_answer_waits_until_the_first_has_ended() -> None:
    chat = Chat()
    first = chat.take(event("draft", message("one\n\ntw")), event("draft", message("2", "a2")))
    assert first == ["", "Tapeway", "one"]
    assert chat.take(event("message", message("2.", "a2", reply_to="q2"))) == []
    assert chat.take(event("message", message("one\n\ntwo"))) == ["", "two", "2."]


def test_work_is_live_while_it_lasts_and_then_folded_above_the_text() -> None:
    chat = Chat()
    chat.take({"type": "typing", "on": True, "key": "q1"})
    call = {"type": "tool", "reply_to": "q1", "id": "1", "name": "dig", "arguments": "{}"}
    assert chat.take(call) == []
    assert chat.live() == ["⋯ dig {} (0.0 s)"]
    result = {"type": "tool", "reply_to": "q1", "id": "1", "name": "dig", "elapsed_ms": 100}
    assert chat.take(result, event("draft", message("Found"))) == [
        "",
        "Tapeway",
        "· dig {} (0.1 s)",
    ]
    assert chat.live() == ["Found"]


def test_work_between_two_texts_stands_between_them() -> None:
    chat = Chat()
    chat.take({"type": "typing", "on": True, "key": "q1"}, event("draft", message("I look.")))
    call = {"type": "tool", "reply_to": "q1", "id": "1", "name": "dig", "arguments": "{}"}
    result = {"type": "tool", "reply_to": "q1", "id": "1", "name": "dig", "elapsed_ms": 100}
    lines = chat.take(call, result, event("message", message("I look.\n\nFound.")))
    assert lines == ["", "Tapeway", "I look.", "· dig {} (0.1 s)", "", "Found."]


def test_below_an_answer_that_was_cut_off_it_says_how_to_get_the_rest() -> None:
    lines = Chat().take(event("message", message("half", cut=True)))
    assert lines == ["", "Tapeway", "half", "(Write `go on` to get the rest.)"]


def test_a_withdrawn_draft_is_marked() -> None:
    chat = Chat()
    lines = chat.take(event("draft", message("No")), {"type": "draft.removed", "id": "a1"})
    assert lines == ["", "Tapeway", "No", "(withdrawn)"]


def test_an_answer_goes_on_where_it_was_when_the_gateway_is_back() -> None:
    chat = Chat()
    chat.take({"type": "history", "messages": []}, event("draft", message("one\n\ntw")))
    chat.take({"type": "lost"})
    assert chat.live() == ["tw", "⋯ the gateway has stopped; waiting until it is back"]
    back = [
        HELLO,
        {"type": "history", "messages": [said("Ann", "Hi.", "q0"), message("one\n\ntwo")]},
    ]
    lines = chat.take(*back)
    assert lines == ["", "(The gateway is back.)", "", "Tapeway", "two", "", "Ann", "Hi."]
    assert chat.live() == []


def test_the_past_is_shown_with_one_line_a_message() -> None:
    chat = Chat()
    past = [message("word " * 50, f"a{n}") for n in range(9)]
    lines = chat.take({"type": "history", "messages": past})
    assert len(lines) == 6
    assert all(len(line) <= 40 for line in lines)


def test_names_and_texts_of_others_cannot_move_the_cursor() -> None:
    lines = Chat().take(event("message", said("B\x1b[2Job", "a\x1b[1A\u202eb", "q1")))
    assert lines == ["", "B\\u001b[2Job", "a\\u001b[1A\\u202eb"]


def test_folded_code_is_shown_whole_the_newest_first() -> None:
    chat = Chat()
    for name in ("a", "b"):
        code = "\n".join(f"{name}{n}" for n in range(30))
        chat.take(event("message", message(f"```\n{code}\n```", name)))
    shown = [plain(chat.transcript.unfold()) for _ in range(3)]
    assert [lines[-2:] for lines in shown[:2]] == [["  b29", "╰─"], ["  a29", "╰─"]]
    assert shown[2] == ["(Nothing is folded.)"]
