"""The fake REST API: sending, alerting and reading the history."""

from __future__ import annotations

import io
from typing import Any

import discord
import pytest

from tests.fakes.discord.client import Api, Bot, at
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Intent
from tests.fakes.discord.world import Channel, User

# -- who may ask, and for what


async def test_an_answer_has_exactly_the_content_type_that_the_sdk_reads(api: Api) -> None:
    status, body, headers = await api.call("GET", "/users/@me")
    assert (status, headers["content-type"]) == (200, "application/json")
    assert (body["username"], body["bot"]) == ("Tapeway", True)


async def test_without_the_token_nothing_is_told(api: Api, fake: FakeDiscord) -> None:
    for given in ("Bot wrong", fake.token, f"Bearer {fake.token}"):
        found = await api.refusal("GET", "/users/@me", headers={"Authorization": given})
        assert found == "401 0 401: Unauthorized"


async def test_what_does_not_exist_is_not_found(api: Api, room: Channel) -> None:
    assert await api.refusal("GET", "/nothing") == "404 0 404: Not Found"
    assert await api.refusal("PUT", "/users/@me") == "405 0 405: Method Not Allowed"
    assert await api.refusal("GET", "/channels/1") == "404 10003 Unknown Channel"
    assert await api.refusal("GET", at(room, "/1")) == "404 10008 Unknown Message"
    assert await api.refusal("GET", "/guilds/1") == "404 10004 Unknown Guild"
    assert await api.refusal("GET", "/users/12") == "404 10013 Unknown User"
    assert await api.refusal("GET", "/channels/abc") == (
        '400 50035 Invalid Form Body | channel_id: NUMBER_TYPE_COERCE Value "abc" is not snowflake.'
    )


async def test_where_the_gateway_is_can_be_asked(api: Api, fake: FakeDiscord) -> None:
    assert (await api.get("/gateway"))["url"] + "/" == fake.gateway_url
    assert (await api.get("/gateway/bot"))["shards"] == 1


async def test_a_body_that_is_no_json_is_refused(api: Api, room: Channel) -> None:
    json = {"Content-Type": "application/json"}
    found = await api.refusal("POST", at(room), data=b"{", headers=json)
    assert found == "400 50109 The request body contains invalid JSON."
    assert (await api.refusal("POST", at(room), data=b"a=b")).startswith("400 0 Expected")


# -- sending


async def test_a_message_is_sent_and_seen(api: Api, fake: FakeDiscord, room: Channel) -> None:
    sent = await api.post(room.id, "  hello\n")
    assert sent["content"] == "hello"
    assert fake.text_of(room) == "hello"
    (call,) = fake.calls_of("post")
    assert (call.ok, call.status, call.message_id) == (True, 200, int(sent["id"]))


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"content": ""}, "400 50006 Cannot send an empty message"),
        ({"content": " \n"}, "400 50006 Cannot send an empty message"),
        ({"content": "x" * 2001}, "content: BASE_TYPE_MAX_LENGTH Must be 2000 or fewer in length."),
        ({"content": 7}, "content: STRING_TYPE_CONVERT"),
        ({"content": "x", "nonce": "n" * 26}, "nonce: BASE_TYPE_MAX_LENGTH Must be 25 or fewer"),
        ({"content": "x", "flags": "many"}, "flags: NUMBER_TYPE_COERCE"),
        ({"embeds": ["x"]}, "embeds.0: DICT_TYPE_CONVERT"),
        ({"embeds": "x"}, "embeds: LIST_TYPE_CONVERT"),
        ({"embeds": [{"title": "x"}] * 11}, "embeds: BASE_TYPE_MAX_LENGTH Must be 10 or fewer"),
        ({"embeds": [{"title": "x" * 257}]}, "embeds.0.title: BASE_TYPE_MAX_LENGTH"),
        ({"embeds": [{"description": "x" * 3500}] * 2}, "embeds: MAX_EMBED_SIZE_EXCEEDED"),
        ({"content": "x", "allowed_mentions": {"parse": ["all"]}}, "BASE_TYPE_CHOICES"),
        (
            {"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}},
            "allowed_mentions: MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        ),
        ({"content": "x", "message_reference": {"message_id": "12"}}, "Unknown message"),
        ({"content": "x", "message_reference": {}}, "message_id: NUMBER_TYPE_COERCE"),
        (
            {"content": "x", "flags": 1 << 15, "components": [{"type": 10, "content": "y"}]},
            "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
        ),
    ],
)
async def test_a_message_that_is_not_well_formed_is_refused(
    api: Api, fake: FakeDiscord, room: Channel, fields: dict[str, Any], why: str
) -> None:
    assert why in await api.refusal("POST", at(room), fields)
    assert fake.messages(room) == []


async def test_two_thousand_characters_are_code_points(api: Api, room: Channel) -> None:
    assert len((await api.post(room.id, "\U0001f600" * 2000))["content"]) == 2000
    assert "2000 or fewer" in await api.refusal("POST", at(room), {"content": "\U0001f600" * 2001})


async def test_an_enforced_nonce_makes_one_message_for_a_while(room: Channel) -> None:
    now = [0.0]
    async with FakeDiscord(clock=lambda: now[0], nonce_seconds=60) as fake, Api(fake) as api:
        there = fake.text_channel(fake.guild())
        once = {"nonce": "a-key", "enforce_nonce": True}
        first = await api.post(there.id, "one", **once)
        now[0] = 59.0
        again = await api.post(there.id, "another text", **once)
        assert again["id"] == first["id"]
        assert (again["content"], again["nonce"]) == ("one", "a-key")
        assert len(fake.messages(there)) == 1
        await api.post(there.id, "not enforced", nonce="a-key")
        await api.post(there.id, "another key", nonce="b-key", enforce_nonce=True)
        now[0] = 200.0
        assert (await api.post(there.id, "later", **once))["id"] != first["id"]
        assert len(fake.messages(there)) == 4


async def test_the_echo_of_a_message_has_its_nonce(room: Channel, bot: Bot) -> None:
    sent = await bot.get_partial_messageable(room.id).send("hi", nonce="my-nonce")
    (echo,) = await bot.until("message")
    assert (echo.id, echo.nonce, echo.author.id) == (sent.id, "my-nonce", bot.fake.bot.id)


async def test_a_reply_names_what_it_answers_as_long_as_that_is_there(
    fake: FakeDiscord, room: Channel, ann: User, bot: Bot
) -> None:
    asked = fake.say(room, ann, "how old?")
    await bot.hears()
    (heard,) = bot.told("message")
    answer = await heard.reply("seven")
    assert answer.reference.resolved.content == "how old?"
    assert fake.messages(room)[0].reply_to == asked.id
    assert [ping.kind for ping in fake.pinged(room)] == ["replied"]
    fake.delete(room, asked.id)
    with pytest.raises(discord.HTTPException) as caught:
        await heard.reply("again")
    assert (caught.value.status, caught.value.code) == (400, 50035)
    gone = discord.MessageReference.from_message(heard, fail_if_not_exists=False)
    late = await heard.channel.send("late", reference=gone)
    assert (late.reference, fake.messages(room)[-1].reply_to) == (None, None)


async def test_a_file_is_stored_and_can_be_downloaded(room: Channel, bot: Bot) -> None:
    file = discord.File(io.BytesIO(b"abc"), "a.txt")
    sent = await bot.get_partial_messageable(room.id).send("look", file=file)
    assert [one.filename for one in sent.attachments] == ["a.txt"]
    assert await sent.attachments[0].read() == b"abc"


# -- whom a message alerts


@pytest.mark.parametrize(
    ("allowed", "kinds"),
    [
        (None, ["user", "role"]),
        ({"parse": []}, []),
        ({"parse": ["users"]}, ["user"]),
        ({"parse": ["roles", "everyone"]}, ["role"]),
        ({"parse": [], "users": ["USER"]}, ["user"]),
        ({"parse": [], "users": ["1"]}, []),
    ],
)
async def test_a_message_alerts_whom_it_may(
    api: Api, fake: FakeDiscord, ann: User, allowed: Any, kinds: list[str]
) -> None:
    guild = fake.guild()
    room = fake.text_channel(guild)
    role = fake.role(guild, "helpers", mentionable=True)
    quiet = fake.role(guild, "others")
    if allowed is not None and allowed.get("users") == ["USER"]:
        allowed = allowed | {"users": [str(ann.id)]}
    text = f"<@{ann.id}> <@&{role.id}> <@&{quiet.id}> @everyone `<@{ann.id}>`"
    await api.post(room.id, text, allowed_mentions=allowed)
    assert [ping.kind for ping in fake.pinged(room)] == kinds


async def test_everyone_is_alerted_by_who_may(api: Api, fake: FakeDiscord) -> None:
    guild = fake.guild(bot_permissions=int(Permission.MENTION_EVERYONE))
    room = fake.text_channel(guild)
    await api.post(room.id, "@here all of you")
    assert [ping.kind for ping in fake.pinged(room)] == ["everyone"]
    sent = await api.post(room.id, "@everyone", allowed_mentions={"parse": []})
    assert sent["mention_everyone"] is False
    assert len(fake.pinged(room)) == 1


# -- the history


async def test_the_history_is_read_page_by_page(api: Api, room: Channel, ann: User) -> None:
    said = [api.fake.say(room, ann, str(number)) for number in range(130)]

    async def texts(query: str) -> list[str]:
        return [one["content"] for one in await api.get(at(room, f"?{query}"))]

    assert await texts("") == [str(number) for number in range(129, 79, -1)]
    assert await texts("limit=3") == ["129", "128", "127"]
    assert await texts(f"limit=3&before={said[10].id}") == ["9", "8", "7"]
    assert await texts(f"limit=3&after={said[10].id}") == ["13", "12", "11"]
    assert await texts(f"limit=3&around={said[10].id}") == ["11", "10", "9"]
    assert await texts("limit=2&after=0") == ["1", "0"]
    for limit in ("0", "101", "many"):
        assert "limit: NUMBER_TYPE" in await api.refusal("GET", at(room, f"?limit={limit}"))


async def test_the_sdk_reads_a_long_history_from_the_oldest_on(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    said = [fake.say(room, ann, str(number)) for number in range(250)]
    async with Bot(fake) as bot:
        await bot.come_in()
        channel = bot.get_partial_messageable(room.id)
        after = discord.Object(said[9].id)
        found = channel.history(limit=None, after=after, oldest_first=True)
        assert [one.content async for one in found] == [str(number) for number in range(10, 250)]
        assert len(fake.calls_of("history")) == 3


async def test_without_the_intent_in_the_portal_the_history_says_little(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    fake.portal = Intent(0)
    fake.say(room, ann, "secret")
    fake.say(room, ann, f"<@{fake.bot.id}> open")
    assert [one["content"] for one in await api.get(at(room))] == [f"<@{fake.bot.id}> open", ""]
