"""What the fake Slack tells an app of what happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from slack_sdk.models.blocks import RichTextBlock
from slack_sdk.webhook.async_client import AsyncWebhookClient

from tests.fakes.slack.client import Bot, Web
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.text import typed
from tests.fakes.slack.world import Channel, User


def told(slack: FakeSlack) -> list[dict[str, Any]]:
    return [delivery.event for delivery in slack.deliveries.all]


def kinds(slack: FakeSlack) -> list[str]:
    return [str(event.get("subtype", event["type"])) for event in told(slack)]


@pytest.mark.parametrize(
    ("text", "encoded"),
    [
        ("hi @ada & <you>", "hi <@U1> &amp; &lt;you&gt;"),
        ("@here @channel @everyone", "<!here> <!channel> <!everyone>"),
        ("see https://x.org/a?b=1&c.", "see <https://x.org/a?b=1&amp;c>."),
        ("in #room and #nowhere", "in <#C1|room> and #nowhere"),
        ("mail me@ada.org", "mail me@ada.org"),
        ("`@ada` and ```\n@here\n```", "`@ada` and ```\n@here\n```"),
    ],
)
def test_text_is_encoded_as_slack_keeps_it(text: str, encoded: str) -> None:
    found = typed(text, {"ada": "U1"}, {"room": "C1"})
    assert found.text == encoded
    assert RichTextBlock.parse(found.block) is not None


async def test_timestamps_of_a_channel_are_unlike_and_increase(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    stamps = [slack.say(room, ada, "x").ts for _ in range(1_000)]
    assert stamps == sorted(set(stamps))


async def test_a_message_says_where_it_is_and_for_whom(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    slack.say(room, ada, "hello")
    slack.say(slack.im(ada), ada, "psst @tapeway")
    first, second = slack.deliveries.all
    assert first.event["channel_type"] == "channel"
    assert second.event["channel_type"] == "im"
    assert first.payload["authorizations"][0]["user_id"] == slack.workspace.bot.id
    assert first.payload["team_id"] == slack.workspace.team_id == first.event["team"]
    assert first.payload["event_id"] != second.payload["event_id"]
    assert "client_msg_id" in first.event


@pytest.mark.parametrize("kind", ["group", "mpim"])
async def test_a_mention_in_any_room_comes_twice(slack: FakeSlack, ada: User, kind: Any) -> None:
    room = slack.channel("x", kind, members=[ada])
    slack.say(room, ada, "@tapeway hello")
    assert kinds(slack) == ["message", "app_mention"]
    message, mention = told(slack)
    assert message["ts"] == mention["ts"]
    assert "channel_type" not in mention


async def test_edits_deletions_and_previews_are_told_as_changes(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    said = slack.say(room, ada, "one")
    slack.unfurl(room, said, "https://x.org")
    slack.edit(room, said, "two")
    slack.delete(room, said)
    _, preview, edit, deletion = told(slack)
    assert preview["message"]["text"] == preview["previous_message"]["text"] == "one"
    assert "edited" not in preview["message"]
    assert (edit["message"]["text"], edit["previous_message"]["text"]) == ("two", "one")
    assert edit["message"]["edited"]["user"] == ada.id
    assert (deletion["deleted_ts"], deletion["previous_message"]["text"]) == (said.ts, "two")
    assert len({event["ts"] for event in told(slack)}) == 4


async def test_a_deleted_parent_leaves_a_stone(slack: FakeSlack, ada: User, room: Channel) -> None:
    said = slack.say(room, ada, "one")
    slack.say(room, ada, "answer", thread=said)
    slack.delete(room, said)
    event = told(slack)[-1]
    assert event["subtype"] == "message_changed"
    assert event["message"]["subtype"] == "tombstone"
    assert event["previous_message"]["text"] == "one"


async def test_subtypes_of_what_people_and_bots_do(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    said = slack.say(room, ada, "one")
    slack.say(room, ada, "also there", thread=said, broadcast=True)
    slack.say(room, slack.user("Robot", is_bot=True), "beep")
    slack.say(room, slack.user("Old", is_bot=True), "beep", classic=True)
    slack.say(room, ada, "", files=[slack.file("a.txt", b"x", "text/plain", ada)])
    slack.join(room, slack.user("Bob"))
    assert kinds(slack) == [
        "message",
        "thread_broadcast",
        "message",
        "bot_message",
        "file_share",
        "channel_join",
        "member_joined_channel",
    ]
    _, broadcast, robot, old, *_ = told(slack)
    assert broadcast["root"]["ts"] == broadcast["thread_ts"] == said.ts
    assert robot["bot_id"]
    assert "user" not in old


async def test_the_bot_s_own_doings_echo(slack: FakeSlack, room: Channel) -> None:
    web = Web(slack)
    ts = str((await web.chat_postMessage(channel=room.id, text="one"))["ts"])
    await web.chat_update(channel=room.id, ts=ts, text="two")
    await web.reactions_add(channel=room.id, timestamp=ts, name="eyes")
    await web.chat_delete(channel=room.id, ts=ts)
    assert kinds(slack) == ["message", "message_changed", "reaction_added", "message_deleted"]
    bot = slack.workspace.bot
    echo = told(slack)[0]
    assert (echo["user"], echo["bot_id"], echo["app_id"]) == (bot.id, bot.bot_id, bot.app_id)


@pytest.mark.parametrize(
    "forbid",
    [
        lambda slack: slack.events.scopes.discard("channels:history"),
        lambda slack: slack.events.subscribed.discard("message.channels"),
    ],
)
async def test_what_the_manifest_does_not_name_is_not_told(
    slack: FakeSlack, ada: User, room: Channel, forbid: Callable[[FakeSlack], None]
) -> None:
    forbid(slack)
    slack.say(room, ada, "@tapeway hello")
    slack.say(slack.im(ada), ada, "hello")
    assert kinds(slack) == ["app_mention", "message"]


async def test_a_channel_without_the_bot_is_silent_and_leaving_it_is_told(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    outside = slack.channel("out", members=[ada], member=False)
    slack.say(outside, ada, "@tapeway hello")
    assert told(slack) == []
    slack.archive(room)
    slack.archive(room, False)
    slack.kick_bot(room)
    slack.say(room, ada, "gone?")
    assert kinds(slack) == ["channel_archive", "channel_unarchive", "channel_left"]


async def test_a_new_name_of_a_channel_is_told(slack: FakeSlack, room: Channel) -> None:
    slack.rename(room, "hall")
    assert told(slack)[0]["type"] == "channel_rename"
    assert told(slack)[0]["channel"] == {"id": room.id, "name": "hall", "created": 1700000000}


async def test_what_reached_the_app_is_told_from_what_did_not(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    slack.say(room, ada, "to nobody")
    assert not slack.deliveries.all[0].arrived
    async with Bot(slack):
        slack.say(room, ada, "to the app")
        assert slack.deliveries.all[1].arrived
        slack.half_open()
        slack.say(room, ada, "into the void")
        assert not slack.deliveries.all[2].arrived
        slack.drop_connections()  # the SDK would wait ten seconds for a farewell


async def test_a_delivery_can_be_made_again_as_itself_or_as_another(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    slack.say(room, ada, "hello")
    first = slack.deliveries.all[0]
    again = slack.events.again(first)
    anew = slack.events.again(first, new_id=True)
    assert again.payload == first.payload
    assert again.attempt >= 1
    assert anew.payload["event_id"] != first.payload["event_id"]
    assert anew.event == first.event


async def test_a_command_says_who_and_where_and_can_be_answered_later(
    slack: FakeSlack, ada: User, room: Channel
) -> None:
    asked = slack.slash(room, ada, "stop")
    assert (asked.payload["command"], asked.payload["text"]) == ("/tapeway", "stop")
    assert (asked.payload["user_id"], asked.channel) == (ada.id, room.id)
    later = AsyncWebhookClient(asked.payload["response_url"])
    await later.send(text="only for you")
    await later.send(text="for all", response_type="in_channel")
    assert [(it.user, it.text) for it in slack.ephemerals] == [(ada.id, "only for you")]
    assert slack.text_of(room.id) == "for all"


async def test_looking_at_the_app_s_page_is_told(slack: FakeSlack, ada: User) -> None:
    slack.open_home(ada)
    assert kinds(slack) == ["app_home_opened"]
