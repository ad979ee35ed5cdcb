"""What the fake Slack takes and refuses to write, asked by the real SDK."""

from __future__ import annotations

from typing import Any

import pytest
from slack_sdk.models.blocks import MarkdownBlock, SectionBlock
from slack_sdk.models.metadata import Metadata

from tests.fakes.slack.client import Web, error_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User
from tests.kit.clock import ManualClock


async def test_a_post_needs_a_channel_the_bot_is_in_and_something_to_say(
    slack: FakeSlack, web: Web, room: Channel
) -> None:
    outside, secret = slack.channel("out", member=False), slack.channel("s", "group", member=False)
    assert await error_of(web.chat_postMessage(channel="C1", text="x")) == "channel_not_found"
    assert await error_of(web.chat_postMessage(channel=outside.id, text="x")) == "not_in_channel"
    assert await error_of(web.chat_postMessage(channel=secret.id, text="x")) == "channel_not_found"
    empty = {"channel": room.id, "text": " "}
    assert await error_of(web.api_call("chat.postMessage", json=empty)) == "no_text"
    slack.archive(room)
    assert await error_of(web.chat_postMessage(channel=room.id, text="x")) == "is_archived"


async def test_a_long_text_is_cut_with_a_warning_and_long_markdown_refused(
    slack: FakeSlack, web: Web, room: Channel
) -> None:
    posted = await web.chat_postMessage(channel=room.id, text="x" * 40_001)
    assert len(slack.text_of(room.id)) == 40_000
    assert posted["response_metadata"]["warnings"] == ["message_truncated"]
    call = web.chat_postMessage(channel=room.id, markdown_text="x" * 12_001)
    assert await error_of(call) == "msg_too_long"
    call = web.chat_postMessage(channel=room.id, markdown_text="x\n\n" * 51)
    assert await error_of(call) == "invalid_blocks"
    table = "| a |\n|---|\n| 1 |\n\n"
    call = web.chat_postMessage(channel=room.id, markdown_text=f"{table}and\n\n{table}")
    assert await error_of(call) == "invalid_attachments"
    await web.chat_postMessage(channel=room.id, markdown_text=f"{table}```\n{table}\n```")
    call = web.chat_postMessage(channel=room.id, markdown_text="x", text="y")
    assert await error_of(call) == "markdown_text_conflict"
    ts = posted["ts"]
    call = web.chat_update(channel=room.id, ts=ts, text="x" * 4_001)
    assert await error_of(call) == "msg_too_long"
    await web.chat_update(channel=room.id, ts=ts, markdown_text="x" * 12_000)


async def test_blocks_keep_their_limits(web: Web, room: Channel) -> None:
    async def told(*blocks: Any) -> str:
        return await error_of(web.chat_postMessage(channel=room.id, text="x", blocks=blocks))

    section = {"type": "section", "text": {"type": "mrkdwn", "text": "x" * 3_001}}
    assert await told(section) == "invalid_blocks"
    assert await told({"type": "heading"}) == "invalid_blocks"
    assert await told(*[{"type": "divider"}] * 51) == "invalid_blocks"
    assert await told(MarkdownBlock(text="x" * 6_001), MarkdownBlock(text="x" * 6_000)) == (
        "msg_blocks_too_long"
    )
    await web.chat_postMessage(
        channel=room.id, text="x", blocks=[SectionBlock(text="x" * 3_000), MarkdownBlock(text="y")]
    )


async def test_only_own_messages_can_be_changed_and_deleted(
    slack: FakeSlack, web: Web, room: Channel, ada: User
) -> None:
    theirs = slack.say(room, ada, "mine")
    ts = str((await web.chat_postMessage(channel=room.id, text="one"))["ts"])
    assert await error_of(web.chat_update(channel=room.id, ts=theirs.ts, text="x")) == (
        "cant_update_message"
    )
    assert await error_of(web.chat_delete(channel=room.id, ts=theirs.ts)) == "cant_delete_message"
    await web.chat_update(channel=room.id, ts=ts, text="two")
    assert slack.messages(room.id)[0].history == ["one", "two"]
    slack.chat.edit_window = -1
    assert await error_of(web.chat_update(channel=room.id, ts=ts, text="x")) == "edit_window_closed"
    await web.chat_delete(channel=room.id, ts=ts)
    assert slack.messages(room.id) == []
    assert await error_of(web.chat_update(channel=room.id, ts=ts, text="x")) == "message_not_found"


async def test_metadata_comes_back_when_it_is_asked_for(web: Web, room: Channel, ada: User) -> None:
    key = Metadata(event_type="tapeway_post", event_payload={"key": "abc"})
    said = web.slack.say(room, ada, "question")
    await web.chat_postMessage(channel=room.id, text="one", metadata=key)
    await web.chat_postMessage(channel=room.id, text="two", metadata=key, thread_ts=said.ts)
    bare = await web.conversations_history(channel=room.id)
    assert all("metadata" not in it for it in bare["messages"])
    whole = await web.conversations_history(channel=room.id, include_all_metadata=True)
    assert whole["messages"][0]["metadata"] == key.to_dict()
    thread = await web.conversations_replies(channel=room.id, ts=said.ts, include_all_metadata=True)
    assert thread["messages"][1]["metadata"]["event_payload"] == {"key": "abc"}


async def test_threads_count_their_answers(web: Web, room: Channel, ada: User) -> None:
    said = web.slack.say(room, ada, "question")
    call = web.chat_postMessage(channel=room.id, text="x", thread_ts="1700000000.000001")
    assert await error_of(call) == "thread_not_found"
    one = await web.chat_postMessage(channel=room.id, text="one", thread_ts=said.ts)
    # An answer to an answer stays in the thread.
    two = await web.chat_postMessage(
        channel=room.id, text="two", thread_ts=one["ts"], reply_broadcast=True
    )
    assert two["message"]["thread_ts"] == said.ts
    assert two["message"]["subtype"] == "thread_broadcast"
    assert said.json["reply_count"] == 2
    history = await web.conversations_history(channel=room.id)
    assert [it["text"] for it in history["messages"]] == ["two", "question"]
    replies = await web.conversations_replies(channel=room.id, ts=said.ts)
    assert [it["text"] for it in replies["messages"]] == ["question", "one", "two"]


async def test_an_ephemeral_message_is_for_one_member(web: Web, room: Channel, ada: User) -> None:
    bob = web.slack.user("Bob")
    call = web.chat_postEphemeral(channel=room.id, user=bob.id, text="psst")
    assert await error_of(call) == "user_not_in_channel"
    await web.chat_postEphemeral(channel=room.id, user=ada.id, text="psst")
    assert [(it.user, it.text) for it in web.slack.ephemerals] == [(ada.id, "psst")]
    assert web.slack.messages(room.id) == []


async def test_reactions_are_put_on_once(web: Web, room: Channel, ada: User) -> None:
    said = web.slack.say(room, ada, "question")
    await web.reactions_add(channel=room.id, timestamp=said.ts, name="eyes")
    call = web.reactions_add(channel=room.id, timestamp=said.ts, name="eyes")
    assert await error_of(call) == "already_reacted"
    assert said.json["reactions"] == [
        {"name": "eyes", "users": [web.slack.workspace.bot.id], "count": 1}
    ]
    await web.reactions_remove(channel=room.id, timestamp=said.ts, name="eyes")
    assert said.json["reactions"] == []


# -- streams


async def test_the_sdk_s_stream_helper_writes_one_message(
    slack: FakeSlack, web: Web, room: Channel, ada: User
) -> None:
    said = slack.say(room, ada, "question")
    stream = await web.chat_stream(
        channel=room.id,
        thread_ts=said.ts,
        recipient_team_id=ada.team_id,
        recipient_user_id=ada.id,
        buffer_size=4,
    )
    for piece in ("**Hel", "lo** ", "you"):
        await stream.append(markdown_text=piece)
    await stream.stop(
        markdown_text="!", metadata={"event_type": "post", "event_payload": {"key": "k"}}
    )
    message = slack.messages(room.id)[0]
    assert message.text == "**Hello** you!"
    assert message.thread_ts == said.ts
    assert message.stream is not None
    assert message.stream.state == "stopped"
    assert message.metadata == {"event_type": "post", "event_payload": {"key": "k"}}
    call = web.chat_appendStream(channel=room.id, ts=message.ts, markdown_text="x")
    assert await error_of(call) == "message_not_in_streaming_state"
    await web.chat_update(channel=room.id, ts=message.ts, text="now like any other")


async def test_a_stream_in_a_channel_needs_who_it_is_for_and_a_thread(
    slack: FakeSlack, web: Web, room: Channel, ada: User
) -> None:
    said = slack.say(room, ada, "question")
    start = web.chat_startStream
    assert await error_of(start(channel=room.id, thread_ts="")) == "invalid_arguments"
    assert await error_of(start(channel=room.id, thread_ts=said.ts)) == "missing_recipient_team_id"
    call = start(channel=room.id, thread_ts=said.ts, recipient_team_id=ada.team_id)
    assert await error_of(call) == "missing_recipient_user_id"
    direct = slack.say(slack.im(ada), ada, "hi")
    await start(channel=slack.im(ada).id, thread_ts=direct.ts, markdown_text="x")
    call = start(channel=slack.im(ada).id, thread_ts=direct.ts, markdown_text="x" * 12_001)
    assert await error_of(call) == "msg_too_long"


async def test_a_stream_dies_after_five_minutes_or_when_it_is_stopped(
    slack: FakeSlack, clock: ManualClock
) -> None:
    web, ada = Web(slack), slack.user("Ada")
    direct = slack.im(ada)
    said = slack.say(direct, ada, "hi")

    async def begin() -> str:
        started = await web.chat_startStream(
            channel=direct.id, thread_ts=said.ts, markdown_text="a"
        )
        return str(started["ts"])

    old = await begin()
    await clock.advance(299)
    await web.chat_appendStream(channel=direct.id, ts=old, markdown_text="b")
    call = web.chat_update(channel=direct.id, ts=old, text="x")
    assert await error_of(call) == "streaming_state_conflict"
    await clock.advance(1)
    call = web.chat_stopStream(channel=direct.id, ts=old)
    assert await error_of(call) == "message_not_in_streaming_state"
    await web.chat_update(channel=direct.id, ts=old, text="goes on")
    stopped = await begin()
    slack.press_stop(direct, ada, stopped)
    told = slack.deliveries.all[-1].event
    assert (told["type"], told["streaming_message_ts"]) == ("agent_session_stopped", [stopped])
    call = web.chat_appendStream(channel=direct.id, ts=stopped, markdown_text="b")
    assert await error_of(call) == "stopped_by_user"


async def test_a_server_may_have_no_streams() -> None:
    async with FakeSlack(streams=False) as slack:
        ada = slack.user("Ada")
        said = slack.say(slack.im(ada), ada, "hi")
        call = Web(slack).chat_startStream(channel=slack.im(ada).id, thread_ts=said.ts)
        assert await error_of(call) == "unknown_method"


async def test_a_status_lasts_two_minutes_or_until_the_next_message(
    slack: FakeSlack, clock: ManualClock
) -> None:
    web, ada = Web(slack), slack.user("Ada")
    room = slack.channel("room", members=[ada])
    said = slack.say(room, ada, "question")

    async def think() -> None:
        await web.assistant_threads_setStatus(
            channel_id=room.id, thread_ts=said.ts, status="is thinking ..."
        )

    await think()
    assert slack.status(room.id, said.ts) == "is thinking ..."
    await clock.advance(120)
    assert slack.status(room.id, said.ts) == ""
    await think()
    await web.chat_postMessage(channel=room.id, text="elsewhere")
    assert slack.status(room.id, said.ts) == "is thinking ..."
    await web.chat_postMessage(channel=room.id, text="here", thread_ts=said.ts)
    assert slack.status(room.id, said.ts) == ""
    assert len(slack.statuses) == 2


# -- whom it alerts


@pytest.mark.parametrize(
    ("given", "alerted"),
    [
        ({"text": "@here <@W1> &lt;!here&gt;"}, ["<@W1>"]),
        ({"text": "<!here|here> `<!channel>`"}, ["<!here>", "<!channel>"]),
        ({"markdown_text": "<!here> `<!channel>`\n```\n<!here>\n```"}, ["<!here>"]),
        ({"text": "@everyone", "link_names": True}, ["<!everyone>"]),
        ({"text": "mail@here.org @channel", "parse": "full"}, ["<!channel>"]),
        ({"markdown_text": "**<!subteam^S1>** @here"}, ["<!subteam^S1>"]),
        ({"text": "x", "blocks": [{"type": "markdown", "text": "<!channel>"}]}, ["<!channel>"]),
        (
            {
                "text": "x",
                "blocks": [{"type": "section", "text": {"type": "plain_text", "text": "<!here>"}}],
            },
            [],
        ),
        (
            {
                "text": "x",
                "blocks": [{"type": "section", "text": {"type": "mrkdwn", "text": "@here"}}],
            },
            ["<!here>"],
        ),
    ],
)
async def test_who_is_alerted_by_what_the_bot_says(
    slack: FakeSlack, web: Web, room: Channel, given: dict[str, Any], alerted: list[str]
) -> None:
    await web.chat_postMessage(channel=room.id, **given)
    assert slack.pinged(room.id) == alerted
