"""Buttons in messages: what the fake Slack takes, refuses and tells."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.client import Web, error_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel


def button(label: str = "Yes", **more: str) -> JsonObject:
    text = {"type": "plain_text", "text": label}
    return {"type": "button", "text": text, "action_id": "a.0", "value": "a:yes"} | more


def row(*elements: JsonObject) -> list[JsonObject]:
    text = {"type": "mrkdwn", "text": "Shall I?"}
    return [{"type": "section", "text": text}, {"type": "actions", "elements": list(elements)}]


@pytest.mark.parametrize(
    "elements",
    [
        (button("x" * 76),),
        (button(value="x" * 2001),),
        (button(action_id="x" * 256),),
        (button(), button("No")),
        (),
    ],
    ids=["label", "value", "id", "one id twice", "none"],
)
async def test_buttons_that_are_not_as_they_must_be_are_refused(
    slack: FakeSlack, web: Web, room: Channel, elements: tuple[JsonObject, ...]
) -> None:
    call = web.chat_postMessage(channel=room.id, text="Shall I?", blocks=row(*elements))
    assert await error_of(call) == "invalid_blocks"
    assert slack.messages(room.id) == []


async def test_blocks_stay_at_an_edit_that_brings_none(web: Web, room: Channel) -> None:
    sent = await web.chat_postMessage(channel=room.id, text="Shall I?", blocks=row(button()))
    given: dict[str, Any] = {"channel": room.id, "ts": sent["ts"]}
    await web.chat_update(**given, text="Done.")
    (message,) = web.slack.messages(room.id)
    assert list(message.buttons) == ["Yes"]
    await web.api_call("chat.update", json={**given, "text": "Done.", "blocks": []})
    assert message.buttons == {}


async def test_a_button_is_pressed_by_its_label_where_it_is_seen_and_buttons_are_on(
    slack: FakeSlack, web: Web, room: Channel
) -> None:
    ada = slack.user("Ada")
    sent = await web.chat_postMessage(channel=room.id, text="Shall I?", blocks=row(button()))
    told = slack.tap(room, ada, str(sent["ts"]), "Yes")
    (action,) = told.payload["actions"]
    assert (action["action_id"], action["value"]) == ("a.0", "a:yes")
    with pytest.raises(KeyError):
        slack.tap(room, ada, str(sent["ts"]), "No")
    slack.events.interactive = False
    with pytest.raises(LookupError, match="interactive"):
        slack.tap(room, ada, str(sent["ts"]), "Yes")


async def test_who_invited_somebody_is_told(slack: FakeSlack) -> None:
    ada, place = slack.user("Ada"), slack.channel("new", member=False)
    slack.join(place, by=ada)
    told = [it.event for it in slack.deliveries.all if it.event["type"] == "member_joined_channel"]
    assert [event["inviter"] for event in told] == [ada.id]


async def test_a_guest_shows_whose_it_is_and_what_that_company_made_of_it(web: Web) -> None:
    elsewhere = web.slack.add_workspace("Elsewhere", "xoxb-2")
    guest = web.slack.guest("Eve", home=elsewhere)
    guest.is_admin = True
    user = (await web.users_info(user=guest.id))["user"]
    assert (user["team_id"], user["is_admin"]) == (elsewhere.team_id, True)


@pytest.mark.parametrize(("unfurl", "seen"), [(None, True), (False, False)])
async def test_a_link_is_previewed_unless_the_message_says_no(
    slack: FakeSlack, web: Web, room: Channel, unfurl: bool | None, seen: bool
) -> None:
    await web.chat_postMessage(
        channel=room.id, text="https://example.org", unfurl_links=unfurl, unfurl_media=unfurl
    )
    assert slack.messages(room.id)[-1].unfurls is seen
