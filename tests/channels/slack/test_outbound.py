"""Posting, editing, streams, and refusals."""

from __future__ import annotations

from typing import Any

import pytest

from channels.draft import DraftReference
from channels.errors import (
    ChannelDown,
    ChannelError,
    DraftGone,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
)
from channels.slack.adapter import SlackChannel
from tests.channels.slack.rooms import Room
from tests.fakes.base.faults import LostAnswer, Reset, ServerError
from tests.fakes.slack.faults import RateLimited, Refuse


async def test_an_answer_goes_to_the_thread_of_its_question_with_its_key_and_unfurls_nothing(
    room: Room,
) -> None:
    ts = await room.deliver("see https://example.org @here")
    (sent,) = room.messages
    assert (sent.ts, sent.thread_ts) == (ts, room.question.message_id)
    assert sent.metadata == {
        "event_type": "tapeway",
        "event_payload": {"key": "t-1:0", "reply_to": room.question.message_id},
    }
    params = room.fake.calls_of("chat.postMessage")[0].params
    assert params["unfurl_links"] is params["unfurl_media"] is False
    assert params["markdown_text"] == "see https://example.org @\u200bhere"
    assert room.fake.pinged(room.place.id) == []


async def test_later_pieces_stay_in_the_thread(room: Room) -> None:
    await room.deliver("one")
    await room.deliver("two", idem="t-1:0.1", piece=1, reply_to=None)
    assert {message.thread_ts for message in room.messages} == {room.question.message_id}


@pytest.mark.parametrize("room", [{"direct": True}], indirect=True)
async def test_a_direct_message_is_answered_outside_threads_unless_it_is_in_one(room: Room) -> None:
    await room.deliver()
    assert room.messages[0].thread_ts is None
    await room.deliver(idem="t-2:0", thread_id=room.question.message_id)
    assert room.messages[1].thread_ts == room.question.message_id


async def test_d5_partial_text_is_a_stream_that_becomes_the_answer(room: Room) -> None:
    ts = await room.show("Hel")
    assert ts is not None
    assert room.app.channel.streams(room.question)
    assert await room.show("Hello **wor", ts) == ts
    assert room.texts() == ["Hello **wor"]
    assert await room.deliver("Hello **world**!", edits=ts) == ts
    assert room.texts() == ["Hello **world**!"]
    assert room.messages[0].metadata is not None
    methods = [call.method for call in room.fake.calls if call.method.startswith("chat.")]
    assert methods == ["chat.startStream", "chat.appendStream", "chat.stopStream"]
    started = room.fake.calls_of("chat.startStream")[0].params
    assert started["recipient_user_id"] == room.ada.id
    assert started["recipient_team_id"] == room.ada.team_id


TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
SECTIONS = "\n\n".join(f"### Step {number}\n\n- do {number}\n- check it" for number in range(35))


@pytest.mark.parametrize("text", [SECTIONS, f"{TABLE}\n\nand then\n\n{TABLE}\n\nend"])
@pytest.mark.parametrize("room", [{}, {"streams": False}], indirect=True)
async def test_slack_refuses_nothing_of_an_answer_with_many_blocks_or_tables(
    room: Room, text: str
) -> None:
    ts: str | None = None
    for end in range(5, len(text), 40):
        ts = await room.show(text[:end], ts)
    first, *rest = room.app.channel.split(text)
    assert rest
    await room.deliver(first, edits=ts)
    for number, piece in enumerate(rest, 1):
        await room.deliver(piece, idem=f"t-1:0.{number}", piece=number, reply_to=None)
    assert room.texts() == [first, *rest]
    assert len(room.messages[0].history) > 2


async def test_text_that_starts_over_ends_the_stream_and_edits_the_same_message(room: Room) -> None:
    ts = await room.show("A first try")
    assert await room.show("Another", ts) == ts
    assert room.texts() == ["Another"]
    assert await room.deliver("Another one", edits=ts) == ts
    assert room.texts() == ["Another one"]


async def test_a_stream_that_timed_out_continues_as_an_edited_message(room: Room) -> None:
    ts = await room.show("begun")
    await room.app.clock.advance(301)
    assert await room.show("begun and more", ts) == ts
    assert not room.app.channel.streams(room.question)
    assert await room.deliver("begun and more, and done", edits=ts) == ts
    assert room.texts() == ["begun and more, and done"]


async def test_a_stream_that_times_out_before_the_answer_is_edited_into_it(room: Room) -> None:
    ts = await room.show("begun")
    await room.app.clock.advance(301)
    assert await room.deliver("begun, and done", edits=ts) == ts
    assert room.texts() == ["begun, and done"]


async def test_a_stream_that_neither_ends_nor_takes_edits_is_replaced_by_the_whole_answer(
    room: Room,
) -> None:
    ts = await room.show("begun")
    over = Refuse("message_not_in_streaming_state")
    room.fake.fail("chat.stopStream", over, over)
    assert await room.deliver("begun, and done", edits=ts) != ts
    assert room.texts() == ["begun, and done"]


@pytest.mark.parametrize("room", [{"streams": False}], indirect=True)
async def test_a_server_without_streams_gets_an_edited_message(room: Room) -> None:
    ts = await room.show("one **tw")
    assert room.texts() == ["one **tw**"]
    assert await room.show("one **two**", ts) == ts
    assert await room.deliver("one **two** three", edits=ts) == ts
    assert room.texts() == ["one **two** three"]
    assert len(room.fake.calls_of("chat.startStream")) == 1


async def test_stopping_a_stream_is_a_command_of_the_question_s_author(room: Room) -> None:
    ts = await room.show("a long st")
    assert ts is not None
    room.fake.events.subscribed -= {"agent_session_stopped"}
    room.fake.press_stop(room.place, room.ada, ts)
    await room.show("a long story", ts)
    await room.app.heard(2)
    command = room.app.host.accepted[1]
    assert (command.text, command.sender.id, command.addressed) == (",stop", room.ada.id, True)
    assert command.thread_id == room.question.message_id
    assert await room.deliver("Stopped.", edits=ts) == ts
    assert room.texts() == ["Stopped."]


async def test_a_stop_reported_twice_is_one_command(room: Room) -> None:
    ts = await room.show("a long st")
    assert ts is not None
    room.fake.press_stop(room.place, room.ada, ts)
    await room.app.heard(2)
    await room.show("a long story", ts)
    await room.app.clock.advance(1)
    assert [one.text for one in room.app.host.accepted[1:]] == [",stop"]


@pytest.mark.parametrize("lost", [LostAnswer(), ServerError(503), Refuse("internal_error")])
async def test_d1_a_lost_response_is_ambiguous_and_the_message_can_be_found(
    lost: Any, room: Room
) -> None:
    room.fake.fail("chat.postMessage", lost)
    with pytest.raises(SendAmbiguous):
        await room.deliver()
    found = await room.app.channel.find(room.answer())
    assert [one.platform_id for one in found] == [message.ts for message in room.messages]
    assert len(found) == isinstance(lost, LostAnswer)


@pytest.mark.parametrize(
    ("room", "method"),
    [({"streams": False}, "chat.postMessage"), ({}, "chat.startStream")],
    indirect=["room"],
    ids=["a message", "a stream"],
)
async def test_d1_a_draft_whose_response_was_lost_becomes_the_answer(
    room: Room, method: str
) -> None:
    room.fake.fail(method, LostAnswer())
    with pytest.raises(SendAmbiguous):
        await room.show("beg")
    ts = room.messages[0].ts
    assert await room.deliver("begun, and done") == ts
    assert room.texts() == ["begun, and done"]


async def test_partial_text_left_by_a_crash_is_continued(room: Room) -> None:
    ts = await room.show("beg")
    room.app.channel.open_streams.forget(room.question.ext_id)
    assert await room.show("begun", again=True) == ts
    assert room.texts() == ["begun"]


async def test_messages_with_another_key_are_not_found(room: Room) -> None:
    await room.deliver("other", idem="t-0:0")
    assert await room.app.channel.find(room.answer()) == []


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (Refuse("channel_not_found"), SendRefused, "/invite"),
        (Refuse("is_archived"), SendRefused, "archived"),
        (Refuse("not_in_channel"), SendRefused, "/invite"),
        (Refuse("account_inactive"), SendRefused, "no longer installed"),
        (RateLimited(40), SendDelayed, "40 s"),
        (Reset(), SendAmbiguous, "no answer"),
    ],
)
async def test_each_refusal_becomes_its_own_error(
    fault: Any, kind: type[ChannelError], text: str, room: Room
) -> None:
    room.fake.fail("chat.postMessage", fault)
    with pytest.raises(kind, match=text):
        await room.deliver()


@pytest.mark.parametrize("code", ["message_not_found", "edit_window_closed", "cant_update_message"])
async def test_d4_editing_a_missing_message_raises_draft_gone(code: str, room: Room) -> None:
    room.fake.fail("chat.update", Refuse(code))
    with pytest.raises(DraftGone):
        await room.deliver(edits="1700000000.000001")


async def test_if_slack_is_unreachable_the_channel_is_down_and_nothing_was_sent(room: Room) -> None:
    room.app.channel.workspaces.of("").api.client.base_url = "http://127.0.0.1:9/api/"
    with pytest.raises(ChannelDown):
        await room.deliver()


async def test_if_the_thread_is_gone_the_answer_goes_to_the_channel(room: Room) -> None:
    await room.deliver(thread_id="1700000000.000001")
    assert room.messages[0].thread_ts is None


@pytest.mark.parametrize("room", [{"limits": True}], indirect=True)
async def test_partial_text_is_skipped_at_the_rate_limit(room: Room) -> None:
    ts = await room.show("0")
    for number in range(1, 120):
        assert await room.show("0" + "x" * number, ts) == ts
    assert room.fake.too_many == 0
    assert await room.deliver("0" + "x" * 120, edits=ts) == ts
    assert room.texts() == ["0" + "x" * 120]
    assert room.app.clock.monotonic() == 0


async def test_an_unwanted_draft_is_deleted(room: Room) -> None:
    ts = await room.show("never mind")
    await room.app.channel.remove_draft(room.question, DraftReference("t-1:0", ts))
    assert room.messages == []
    await room.app.channel.remove_draft(room.question, DraftReference("t-1:0", ts))


async def test_e6_the_status_is_shown_and_refreshed_while_somebody_waits(room: Room) -> None:
    thread = room.question.message_id
    await room.app.channel.show_typing(room.question, True)
    await room.fake.wait_for(lambda it: it.status(room.place.id, thread) != "")
    await room.app.clock.advance(100)
    await room.fake.wait_for_calls("assistant.threads.setStatus", 2)
    await room.app.channel.show_typing(room.question, False)
    await room.fake.wait_for(lambda it: it.status(room.place.id, thread) == "")


async def test_a_status_ends_when_another_channel_takes_over(room: Room) -> None:
    thread, former = room.question.message_id, room.app.channel
    await former.show_typing(room.question, True)
    await room.fake.wait_for(lambda it: it.status(room.place.id, thread) != "")
    await room.app.clock.advance(100)
    await room.fake.wait_for_calls("assistant.threads.setStatus", 2)
    channel = SlackChannel(former.settings)
    await channel.attach(room.app.host)
    try:
        channel.take_over(former)
        await room.fake.wait_for(lambda it: it.status(room.place.id, thread) == "")
    finally:
        await channel.close()
