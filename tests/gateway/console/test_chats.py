"""Chats that were read before are not parsed again, and none is kept that has changed."""

from __future__ import annotations

from typing import Any

from channels.message import Author, InboundMessage
from gateway.console.chats import KnownChats
from tape.entry import dump


def row(number: int, **values: Any) -> dict[str, Any]:
    given = {"chat_kind": "group", "sender": Author("7", "Ada"), "text": "a secret plum", **values}
    said = InboundMessage("plain", str(number), "1", "1", date="2026-01-02", **given)
    return {
        "session_id": f"plain:{number}",
        "tape": f"tape {number}",
        "account_id": "plain",
        "chat_id": str(number),
        "received_at": "2026-01-02T10:00:00+00:00",
        "given_title": None,
        "payload": dump(said.to_payload()),
    }


def test_a_chat_is_parsed_again_only_when_its_row_has_changed() -> None:
    known = KnownChats()
    first = known.read([row(1), row(2)])
    again = known.read([row(1), row(2, chat_title="Bakers")])
    assert again[0] is first[0]
    assert [chat.title for chat in again] == ["1", "Bakers"]
    assert known.read([row(1)]) == [first[0]]
    assert "plum" not in repr(first)


def test_a_name_that_was_erased_from_the_same_message_is_not_kept() -> None:
    known = KnownChats()
    private = {"chat_kind": "private"}
    assert known.read([row(1, **private)])[0].title == "Ada"
    assert known.read([row(1, **private, sender=Author("7", ""))])[0].title == "1"


def test_a_message_that_cannot_be_read_is_left_out_each_time() -> None:
    known = KnownChats()
    broken = {**row(1), "payload": "{}"}
    assert known.read([broken]) == known.read([broken]) == []
    assert len(known.read([row(1)])) == 1


def test_more_chats_than_are_kept_are_read_all_the_same() -> None:
    known = KnownChats(most=1)
    first = known.read([row(1), row(2)])
    again = known.read([row(1), row(2)])
    assert first == again
    assert [one is other for one, other in zip(first, again, strict=True)] == [True, False]
