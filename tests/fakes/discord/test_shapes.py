"""The fake Discord's payloads, as the SDK's own types describe them."""

from __future__ import annotations

from typing import Any

import orjson

from tests.fakes.discord.client import Api
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Session
from tests.fakes.discord.shapes import misfits, shape
from tests.fakes.discord.world import Channel, Guild, User

EVENTS = {
    "READY": ("gateway", "ReadyEvent"),
    "GUILD_CREATE": ("guild", "Guild"),
    "GUILD_DELETE": ("guild", "UnavailableGuild"),
    "GUILD_MEMBER_ADD": ("gateway", "GuildMemberAddEvent"),
    "GUILD_ROLE_CREATE": ("gateway", "_GuildRoleEvent"),
    "CHANNEL_CREATE": ("channel", "GuildChannel"),
    "CHANNEL_UPDATE": ("channel", "GuildChannel"),
    "CHANNEL_DELETE": ("channel", "GuildChannel"),
    "THREAD_CREATE": ("gateway", "ThreadCreateEvent"),
    "THREAD_UPDATE": ("threads", "Thread"),
    "THREAD_DELETE": ("gateway", "ThreadDeleteEvent"),
    "THREAD_MEMBERS_UPDATE": ("gateway", "ThreadMembersUpdate"),
    "MESSAGE_CREATE": ("message", "Message"),
    "MESSAGE_UPDATE": ("message", "Message"),
    "MESSAGE_DELETE": ("gateway", "MessageDeleteEvent"),
    "MESSAGE_DELETE_BULK": ("gateway", "MessageDeleteBulkEvent"),
    "MESSAGE_REACTION_ADD": ("gateway", "MessageReactionAddEvent"),
    "TYPING_START": ("gateway", "TypingStartEvent"),
    "INTERACTION_CREATE": ("interactions", "ApplicationCommandInteraction"),
}


async def test_every_event_is_as_the_sdk_s_own_types_say(
    fake: FakeDiscord, guild: Guild, room: Channel, ann: User
) -> None:
    session = fake.gateway.new_session((1 << 26) - 1)
    assert unfit("READY", fake.ready(session)) == []
    for event in fake.arrivals(session):
        assert unfit(event.name, event.data) == []
    everything_happens(fake, guild, room, ann)
    told = events(session)
    assert {name for name, _data in told} == set(EVENTS) - {"READY"}
    assert [found for name, data in told for found in unfit(name, data)] == []


async def test_every_answer_is_as_the_sdk_s_own_types_say(
    fake: FakeDiscord, guild: Guild, room: Channel, ann: User
) -> None:
    fake.thread(room, ann, "talk")
    fake.say(room, ann, "hi", files=[fake.attachment(b"x", dimensions=(1, 1))])
    async with Api(fake) as api:
        for path, module, name in (
            ("/users/@me", "user", "User"),
            ("/oauth2/applications/@me", "appinfo", "AppInfo"),
            ("/gateway/bot", "gateway", "GatewayBot"),
            (f"/channels/{room.id}", "channel", "TextChannel"),
            (f"/guilds/{guild.id}", "guild", "_BaseGuildPreview"),
            (f"/guilds/{guild.id}/members/{ann.id}", "member", "MemberWithUser"),
        ):
            body = await api.get(path)
            assert list(misfits(body, shape(module, name))) == []
        for one in await api.get(f"/channels/{room.id}/messages"):
            assert list(misfits(one, shape("message", "Message"))) == []


def everything_happens(fake: FakeDiscord, guild: Guild, room: Channel, ann: User) -> None:
    fake.guild("Another")
    fake.role(guild, "helpers")
    forum = fake.forum(guild)
    said = fake.say(room, ann, "hi", files=[fake.attachment(b"x", dimensions=(1, 1))])
    fake.say(room, ann, f"<@{fake.bot.id}>", reply_to=said.id)
    fake.say(fake.dm(ann), ann, "psst")
    fake.react(room, ann, said.id, "👍")
    fake.type_in(room, ann)
    fake.edit(room, said.id, "ho")
    thread = fake.thread(room, ann, "talk", at=said.id)
    fake.say(thread, fake.user("Bob"), "me too")
    fake.thread(room, ann, "secret", private=True)
    fake.forum_post(forum, ann, "How?", "How does it work?")
    fake.commands.add(None, {"name": "ask", "description": "Ask"})
    fake.slash(room, ann, "ask", {"question": "why?", "times": 3, "loud": True})
    fake.set_archived(thread)
    fake.delete(room, said.id)
    fake.delete_bulk(room, list(room.messages))
    fake.deny(room)
    fake.delete_channel(thread)
    fake.delete_channel(room)
    fake.kick_bot(guild)


def events(session: Session) -> list[tuple[str, Any]]:
    payloads = [orjson.loads(kept.payload) for kept in session.kept]
    assert [payload["s"] for payload in payloads] == list(range(1, len(payloads) + 1))
    return [(payload["t"], payload["d"]) for payload in payloads]


def unfit(name: str, data: Any) -> list[str]:
    return list(misfits(data, shape(*EVENTS[name]), name))


def test_the_kit_notices_a_payload_that_is_wrong() -> None:
    right = {"id": "1", "channel_id": "2"}
    wanted = shape("gateway", "MessageDeleteEvent")
    assert list(misfits(right, wanted)) == []
    assert list(misfits({"id": "1"}, wanted)) == ["it.channel_id is missing"]
    assert list(misfits(right | {"guild_id": 1.5}, wanted)) != []
    assert list(misfits([], wanted)) == ["it is [], not an object"]
