"""What Slack refuses: each row of the table, codes that nobody listed, and pages in its place."""

from __future__ import annotations

from typing import Any

import pytest

from channels.errors import (
    ChannelDown,
    DraftGone,
    NotThePlatform,
    SendAmbiguous,
    SendPostponed,
    SendRefused,
    TooLarge,
)
from channels.slack.api import Refused
from channels.slack.refusals import ROWS, TABLE
from tests.channels.slack.rooms import Room
from tests.fakes.base.faults import ServerError
from tests.fakes.slack.faults import Refuse

CODES = [(row, code) for row in ROWS for code in row.codes]
IDS = [code for _row, code in CODES]
SHORT = "so **bold**, and done"
LONG = "word " * 100
UNLISTED = Refuse("nobody_listed_this", {"response_metadata": {"messages": ["[ERROR] it is odd"]}})


def refusal(code: str) -> Refuse:
    """Return Slack's answer with a code, and what it writes beside it."""
    return Refuse(code, {"response_metadata": {"messages": [f"[ERROR] {code}"]}})


async def end_of(room: Room, text: str, **more: Any) -> SendRefused | ChannelDown | DraftGone:
    with pytest.raises((SendRefused, ChannelDown, DraftGone)) as caught:
        await room.deliver(text, **more)
    error = caught.value
    assert isinstance(error, SendRefused | ChannelDown | DraftGone)
    return error


@pytest.mark.parametrize(("row", "code"), CODES, ids=IDS)
async def test_a_refused_post_takes_the_step_of_its_row(row: Any, code: str, room: Room) -> None:
    text = LONG if row.send == "parts" else SHORT
    room.fake.fail("chat.postMessage", refusal(code))
    if row.send in ("give_up", "wait", "parts"):
        error = await end_of(room, text)
        if row.send == "give_up":
            assert isinstance(error, Refused)
            assert (error.explanation, error.closed) == (row.trouble, row.closed)
        else:
            assert isinstance(error, SendPostponed if row.send == "wait" else TooLarge)
        return
    await room.deliver(text)
    (sent,) = room.messages
    assert "and done" in sent.text
    assert (sent.thread_ts is None) is (row.send == "unreplied")
    assert (sent.metadata is None) is (row.send == "bare")


@pytest.mark.parametrize(("row", "code"), CODES, ids=IDS)
@pytest.mark.parametrize("room", [{"streams": False}], indirect=True)
async def test_a_refused_edit_takes_the_step_of_its_row(row: Any, code: str, room: Room) -> None:
    text = LONG if row.edit == "parts" else SHORT
    ts = await room.show("so")
    room.fake.fail("chat.update", refusal(code))
    if row.edit in ("give_up", "wait", "parts", "gone"):
        error = await end_of(room, text, edits=ts)
        kinds = {"give_up": Refused, "wait": SendPostponed, "parts": TooLarge, "gone": DraftGone}
        assert isinstance(error, kinds[row.edit])
        return
    sent = await room.deliver(text, edits=ts)
    (message,) = room.messages
    assert "and done" in message.text
    assert (sent != ts) is (row.edit == "new")


@pytest.mark.parametrize("code", [*IDS, "nobody_listed_this", "unknown_method"])
async def test_a_stream_that_is_refused_at_its_end_leaves_the_whole_answer(
    code: str, room: Room
) -> None:
    ts = await room.show("word " * 50)
    room.fake.fail("chat.stopStream", *[refusal(code)] * 2)
    await room.deliver(LONG.strip(), edits=ts)
    assert room.texts() == [LONG.strip()]


@pytest.mark.parametrize("code", [*IDS, "nobody_listed_this"])
async def test_a_stream_that_takes_no_more_text_leaves_the_whole_answer(
    code: str, room: Room
) -> None:
    ts = await room.show("word " * 50)
    room.fake.fail("chat.appendStream", refusal(code))
    await room.show("word " * 60, ts)
    await room.deliver(LONG.strip(), edits=ts)
    assert room.texts() == [LONG.strip()]


@pytest.mark.parametrize("code", [*IDS, "nobody_listed_this"])
async def test_a_stream_that_is_refused_at_its_start_is_a_message(code: str, room: Room) -> None:
    room.fake.fail("chat.startStream", refusal(code))
    ts = await room.show("so")
    assert await room.deliver(SHORT, edits=ts) == ts
    assert len(room.messages) == 1


async def test_a_message_that_cannot_be_changed_is_replaced_once_however_often_it_is_tried(
    room: Room,
) -> None:
    ts = await room.show("begun")
    conflict = refusal("streaming_state_conflict")
    room.fake.fail("chat.update", *[conflict] * 4)
    room.fake.fail("chat.stopStream", *[refusal("user_not_found")] * 4)
    room.fake.fail("chat.delete", refusal("cant_delete_message"))
    first = await room.deliver(SHORT, edits=ts)
    assert await room.deliver(SHORT, edits=ts) == first
    assert [text for text in room.texts() if "done" in text] == ["so **bold**, and done"]


@pytest.mark.parametrize("direct", [False, True])
async def test_a_code_that_nobody_listed_gets_one_try_in_the_barest_form(
    room: Room, direct: bool
) -> None:
    room.fake.fail("chat.postMessage", UNLISTED)
    await room.deliver(SHORT)
    last = room.fake.calls_of("chat.postMessage")[-1].params
    assert set(last) & {"metadata", "markdown_text", "blocks"} == set()
    room.fake.fail("chat.postMessage", UNLISTED, UNLISTED)
    error = await end_of(room, SHORT)
    assert isinstance(error, Refused)
    assert error.explanation is TABLE.unknown.trouble
    assert not error.closed
    del direct


@pytest.mark.parametrize("status", [400, 401, 403, 404, 407, 451])
async def test_a_page_in_slack_s_place_postpones_and_is_shown(status: int, room: Room) -> None:
    room.fake.fail("chat.postMessage", ServerError(status))
    error = await end_of(room, SHORT)
    assert isinstance(error, NotThePlatform)
    assert f"{status} from 127.0.0.1" in str(error)
    await room.deliver(SHORT)
    assert room.app.host.blocks == [str(error), ""]


@pytest.mark.parametrize("status", [403, 404])
async def test_a_page_switches_no_streams_off(status: int, room: Room) -> None:
    room.fake.fail("chat.startStream", ServerError(status))
    with pytest.raises(NotThePlatform):
        await room.show("so")
    assert await room.show("so") is not None
    assert len(room.fake.calls_of("chat.startStream")) == 2


async def test_a_server_error_s_page_leaves_the_outcome_unknown(room: Room) -> None:
    room.fake.fail("chat.postMessage", ServerError(502))
    with pytest.raises(SendAmbiguous):
        await room.deliver(SHORT)


async def test_a_post_that_is_too_large_for_a_proxy_is_for_smaller_parts(room: Room) -> None:
    room.fake.fail("chat.postMessage", ServerError(413))
    assert isinstance(await end_of(room, LONG), TooLarge)
