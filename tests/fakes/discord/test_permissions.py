"""What the fake REST API refuses a bot."""

from __future__ import annotations

from tests.fakes.discord.client import Api, at
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User


async def test_what_the_bot_cannot_see_it_cannot_use(api: Api, room: Channel) -> None:
    api.fake.deny(room, Permission.VIEW_CHANNEL)
    assert await api.refusal("GET", f"/channels/{room.id}") == "403 50001 Missing Access"
    assert await api.refusal("POST", at(room), {"content": "x"}) == "403 50001 Missing Access"


async def test_what_the_bot_may_not_it_cannot(api: Api, room: Channel, ann: User) -> None:
    said = api.fake.say(room, ann, "mine")
    no = "403 50013 Missing Permissions"
    assert await api.refusal("DELETE", at(room, f"/{said.id}")) == no
    api.fake.deny(room, Permission.SEND_MESSAGES)
    assert await api.refusal("POST", at(room), {"content": "x"}) == no
    assert await api.refusal("POST", f"/channels/{room.id}/typing") == no
    api.fake.deny(room, Permission.READ_MESSAGE_HISTORY)
    assert await api.get(at(room)) == []
    api.fake.allow(room, Permission.SEND_MESSAGES)
    await api.post(room.id, "again")
    assert await api.get(at(room)) == []


async def test_only_its_own_messages_can_be_edited(api: Api, room: Channel, ann: User) -> None:
    said = api.fake.say(room, ann, "mine")
    assert await api.refusal("PATCH", at(room, f"/{said.id}"), {"content": "x"}) == (
        "403 50005 Cannot edit a message authored by another user"
    )
    own = await api.post(room.id, "one")
    there = at(room, f"/{own['id']}")
    status, body, _headers = await api.call("PATCH", there, {"content": "two"})
    assert (status, body["content"], body["edited_timestamp"] is None) == (200, "two", False)
    assert api.fake.messages(room)[0].history == ["one", "two"]
    assert "50006" in await api.refusal("PATCH", there, {"content": ""})
    status, _body, _headers = await api.call("DELETE", there)
    assert (status, api.fake.messages(room)) == (204, [])
    assert "10008" in await api.refusal("PATCH", there, {"content": "x"})


async def test_an_edit_alerts_nobody(api: Api, fake: FakeDiscord, room: Channel, ann: User) -> None:
    own = await api.post(room.id, "one")
    await api.call("PATCH", at(room, f"/{own['id']}"), {"content": f"<@{ann.id}>"})
    assert fake.pinged(room) == []


async def test_who_was_thrown_out_has_no_access(api: Api, fake: FakeDiscord, room: Channel) -> None:
    fake.kick_bot(room.guild_id or 0)
    assert await api.refusal("POST", at(room), {"content": "x"}) == "403 50001 Missing Access"
    assert await api.refusal("GET", f"/guilds/{room.guild_id}") == "404 10004 Unknown Guild"


async def test_a_deleted_channel_is_unknown(api: Api, fake: FakeDiscord, room: Channel) -> None:
    fake.delete_channel(room)
    assert await api.refusal("POST", at(room), {"content": "x"}) == "404 10003 Unknown Channel"


async def test_a_person_may_take_no_messages(api: Api, fake: FakeDiscord, ann: User) -> None:
    wanted = {"recipient_id": str(ann.id)}
    _status, dm, _headers = await api.call("POST", "/users/@me/channels", wanted)
    assert (dm["type"], dm["recipients"][0]["id"]) == (1, str(ann.id))
    assert (await api.post(int(dm["id"]), "hi"))["content"] == "hi"
    ann.takes_dms = False
    path = f"/channels/{dm['id']}/messages"
    found = await api.refusal("POST", path, {"content": "x"})
    assert found == "403 50007 Cannot send messages to this user"


async def test_a_locked_thread_is_closed_and_an_archived_one_opens_with_a_message(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    thread = fake.thread(room, ann, "talk")
    own = await api.post(thread.id, "hi")
    fake.set_archived(thread)
    there = at(thread, f"/{own['id']}")
    assert await api.refusal("PATCH", there, {"content": "x"}) == "400 50083 Thread is archived"
    await api.post(thread.id, "open again")
    assert not thread.archived
    fake.set_archived(thread, locked=True)
    found = await api.refusal("POST", at(thread), {"content": "x"})
    assert found == "400 50083 Thread is archived"


async def test_who_may_write_may_open_a_thread_that_is_not_locked(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    thread = fake.thread(room, ann, "talk")
    fake.set_archived(thread)
    path = f"/channels/{thread.id}"
    assert "50013" in await api.refusal("PATCH", path, {"name": "mine"})
    status, body, _headers = await api.call("PATCH", path, {"archived": False})
    assert (status, body["thread_metadata"]["archived"]) == (200, False)
    fake.set_archived(thread, locked=True)
    assert "50013" in await api.refusal("PATCH", path, {"archived": False})


async def test_a_forum_takes_posts_and_no_messages(api: Api, fake: FakeDiscord) -> None:
    forum = fake.forum(fake.guild())
    assert "50008" in await api.refusal("POST", at(forum), {"content": "x"})
