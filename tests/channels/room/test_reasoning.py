"""Reasoning on the page: in pieces, and nothing of it afterwards."""

from __future__ import annotations

import anyio
import pytest

from agent.events import AgentEvent
from channels.message import Author, InboundMessage
from channels.room.hub import Hub, Json
from channels.room.reasoning import PIECE_SECONDS, ReasoningFeed
from channels.room.session import OWNER, PageSession
from tests.kit.clock import RestingClock

ASKED = InboundMessage(
    channel="web",
    chat_id="lobby",
    ext_id="lobby/1",
    message_id="1",
    sender=Author("7", "Alice"),
    text="why?",
    date="2026-01-02T03:04:05+00:00",
)


MEMBER = PageSession("8", rooms=("lobby",))


def thinks(delta: str) -> AgentEvent:
    return AgentEvent("reasoning", {"delta": delta})


async def test_many_small_deltas_become_few_pieces_and_none_is_lost() -> None:
    hub, clock = Hub(), RestingClock()
    feed = ReasoningFeed(hub, clock)
    async with hub.listen("lobby", OWNER) as events, hub.listen("lobby", MEMBER) as other:
        for word in ("one ", "two ", "three "):
            feed.take(thinks(word), ASKED)
        await clock.advance(PIECE_SECONDS)
        feed.take(thinks("four "), ASKED)
        feed.take(thinks("five"), ASKED)
        feed.take(AgentEvent("text", {"delta": "So."}), ASKED)
        feed.take(AgentEvent("final", {"text": "So."}), ASKED)
        heard: list[Json] = []
        while events.statistics().current_buffer_used:
            heard.append(events.receive_nowait())
        assert other.statistics().current_buffer_used == 0  # a member sees no reasoning
    assert [event["delta"] for event in heard] == ["one ", "two three four ", "five"]
    assert {(event["type"], event["reply_to"]) for event in heard} == {("reasoning", "1")}


async def test_a_reset_discards_what_was_thought() -> None:
    hub = Hub()
    feed = ReasoningFeed(hub, RestingClock())
    async with hub.listen("lobby", OWNER) as events:
        feed.take(thinks("one"), ASKED)
        feed.take(thinks("two"), ASKED)
        feed.take(AgentEvent("reset", {"why": "it begins again"}), ASKED)
        feed.take(AgentEvent("final", {}), ASKED)
        assert events.receive_nowait()["delta"] == "one"
        assert events.receive_nowait()["reset"]
        with pytest.raises(anyio.WouldBlock):
            events.receive_nowait()
