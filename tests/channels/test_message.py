"""Messages as payloads: what goes into the ledger comes out of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Author, InboundMessage, OutboundMessage

text = st.text(max_size=10)
maybe = st.none() | text
raw = st.dictionaries(
    text,
    st.recursive(
        st.none() | st.booleans() | st.integers() | text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)
inbound_messages = st.builds(
    InboundMessage,
    channel=text,
    chat_id=text,
    ext_id=text,
    message_id=text,
    sender=st.builds(Author, text, text, st.booleans()),
    text=text,
    date=text,
    account=text,
    chat_kind=st.sampled_from(["private", "group"]),
    chat_title=text,
    thread_id=maybe,
    reply_to=maybe,
    mentions=st.lists(text, max_size=3).map(tuple),
    addressed=st.booleans(),
    why=text,
    alt_id=maybe,
    owner=st.booleans(),
    output_channel=maybe,
    raw=raw,
)
outbound_messages = st.builds(
    OutboundMessage,
    channel=text,
    chat_id=text,
    text=text,
    idem=text,
    account=text,
    thread_id=maybe,
    reply_to=maybe,
    answers=maybe,
    edits=maybe,
    kind=st.sampled_from(["answer", "notice"]),
    turn=text,
    part=st.integers(0, 99),
    date=text,
)


def through_json(payload: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(payload))
    return read


@given(inbound_messages)
def test_an_inbound_message_comes_back_from_its_payload(message: InboundMessage) -> None:
    assert InboundMessage.from_payload(through_json(message.to_payload())) == message


@given(outbound_messages)
def test_an_outbound_message_comes_back_from_its_payload(message: OutboundMessage) -> None:
    assert OutboundMessage.from_payload(through_json(message.to_payload())) == message


def test_a_payload_of_an_earlier_version_without_the_later_fields_is_read() -> None:
    payload = {
        "channel": "web",
        "chat_id": "lobby",
        "ext_id": "lobby/1",
        "message_id": "1",
        "sender": {"id": "7", "name": "Anna"},
        "text": "hi",
        "date": "2026-01-02T00:00:00+00:00",
    }
    message = InboundMessage.from_payload(payload)
    assert message.sender == Author("7", "Anna")
    assert (message.mentions, message.addressed, message.owner) == ((), False, False)


@pytest.mark.parametrize(
    "payload", [{}, {"sender": "Anna"}, {"sender": {}}, {"sender": {"id": "7", "name": "A"}}]
)
def test_what_is_no_message_is_a_type_or_key_error(payload: dict[str, Any]) -> None:
    with pytest.raises((TypeError, KeyError)):
        InboundMessage.from_payload(payload)
    with pytest.raises(TypeError):
        OutboundMessage.from_payload(payload)


def test_a_payload_is_not_the_messages_own() -> None:
    sender = Author("7", "Anna")
    message = InboundMessage("web", "c", "c/1", "1", sender, "hi", "d", raw={"a": [1]})
    message.to_payload()["raw"]["a"].append(2)
    assert message.raw == {"a": [1]}
