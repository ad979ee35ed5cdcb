"""Buttons on the fake Discord: what it refuses, and what a press begins."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.client import Api
from tests.fakes.discord.commands import Interaction
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User


def row(*buttons: JsonObject) -> JsonObject:
    return {"type": 1, "components": list(buttons)}


def button(custom_id: str = "a", **more: Any) -> JsonObject:
    return {"type": 2, "style": 2, "label": "Yes", "custom_id": custom_id, **more}


@pytest.mark.parametrize(
    ("rows", "refusal"),
    [
        ([row(button("x" * 101))], "Must be 100 or fewer in length."),
        ([row(button(), button())], "Component custom id cannot be duplicated"),
        ([row(button()), row(button())], "Component custom id cannot be duplicated"),
        ([row(*[button(str(n)) for n in range(6)])], "Must be between 1 and 5 in length."),
        ([row(button(str(n))) for n in range(6)], "Must be between 1 and 5 in length."),
        ([row()], "Must be between 1 and 5 in length."),
        ([button()], "must be one of (1,)"),
        ([row(button(""))], "A custom id is required"),
        ([row(button(label="x" * 81))], "Must be 80 or fewer in length."),
        ([row(button(label=""))], "A button must have a label"),
        ([row(button(style=None))], "This field is required"),
    ],
)
async def test_buttons_that_discord_refuses_are_refused(
    api: Api, room: Channel, rows: list[JsonObject], refusal: str
) -> None:
    body = {"content": "Shall I?", "components": rows}
    found = await api.refusal("POST", f"/channels/{room.id}/messages", body)
    assert found.startswith("400 50035")
    assert refusal in found


async def pressed(fake: FakeDiscord, api: Api, room: Channel, ann: User) -> Interaction:
    sent = await api.post(room.id, "Shall I?", components=[row(button("a"))])
    return fake.press(room, ann, room.messages[int(sent["id"])], "Yes")


def answer(kind: int, used: Interaction) -> tuple[str, str, JsonObject]:
    path = f"/interactions/{used.id}/{used.token}/callback"
    return "POST", path, {"type": kind, "data": {"content": "hi", "flags": 64}}


async def test_a_press_is_acknowledged_once_and_in_three_seconds(room: Channel, ann: User) -> None:
    del room, ann
    now = 0.0
    async with FakeDiscord(clock=lambda: now) as fake, Api(fake) as api:
        place, user = fake.text_channel(fake.guild("Team")), fake.user("Ann")
        used = await pressed(fake, api, place, user)
        status, _body, _headers = await api.call(*answer(6, used))
        assert status == 204
        assert "already been acknowledged" in await api.refusal(*answer(6, used))
        late = await pressed(fake, api, place, user)
        now = 4.0
        assert "Unknown interaction" in await api.refusal(*answer(6, late))
        now = 901.0
        path = f"/webhooks/{fake.application_id}/{used.token}"
        assert "Invalid Webhook Token" in await api.refusal("POST", path, {"content": "late"})


async def test_a_follow_up_before_the_acknowledgement_is_refused(
    fake: FakeDiscord, api: Api, room: Channel, ann: User
) -> None:
    used = await pressed(fake, api, room, ann)
    path = f"/webhooks/{fake.application_id}/{used.token}"
    assert "Unknown Webhook" in await api.refusal("POST", path, {"content": "early"})


async def test_a_press_can_change_its_message_and_a_command_cannot(
    fake: FakeDiscord, api: Api, room: Channel, ann: User
) -> None:
    used = await pressed(fake, api, room, ann)
    status, _body, _headers = await api.call(*answer(7, used))
    assert status == 204
    assert used.pressed is not None
    assert used.pressed.text == "hi"
    fake.commands.add(None, {"name": "ask", "description": "Ask"})
    asked = fake.slash(room, ann, "ask")
    assert "must be one of" in await api.refusal(*answer(6, asked))


async def test_a_button_that_is_not_there_cannot_be_pressed(
    fake: FakeDiscord, api: Api, room: Channel, ann: User
) -> None:
    used = await pressed(fake, api, room, ann)
    assert used.pressed is not None
    with pytest.raises(LookupError):
        fake.press(room, ann, used.pressed, "No")
    fake.delete(room, used.pressed.id)
    with pytest.raises(LookupError):
        fake.press(room, ann, used.pressed, "Yes")


async def test_a_command_is_offered_only_where_it_was_registered_for(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    fake.commands.add(None, {"name": "pair", "description": "Pair", "contexts": [1]})
    fake.slash(fake.dm(ann), ann, "pair")
    with pytest.raises(LookupError):
        fake.slash(room, ann, "pair")
