"""What the fake Discord takes and refuses, asked without an SDK and with one."""

from __future__ import annotations

import asyncio
import gzip
import io
from typing import Any

import aiohttp
import discord
import pytest

from tests.fakes.base.faults import Hang, LostAnswer, Reset, ServerError, Slow
from tests.fakes.discord.client import Api, Bot
from tests.fakes.discord.faults import RateLimited, Refuse
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Intent
from tests.fakes.discord.world import Channel, User

pytestmark = pytest.mark.anyio


def at(room: Channel, more: str = "") -> str:
    return f"/channels/{room.id}/messages{more}"


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


async def test_the_echo_of_a_message_has_its_nonce(fake: FakeDiscord, room: Channel) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        sent = await bot.get_partial_messageable(room.id).send("hi", nonce="my-nonce")
        (echo,) = await bot.until("message")
        assert (echo.id, echo.nonce, echo.author.id) == (sent.id, "my-nonce", fake.bot.id)


async def test_a_reply_names_what_it_answers_as_long_as_that_is_there(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
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


async def test_a_file_is_stored_and_can_be_downloaded(fake: FakeDiscord, room: Channel) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
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


# -- what the bot may not do


async def test_what_the_bot_cannot_see_it_cannot_use(
    api: Api, fake: FakeDiscord, room: Channel
) -> None:
    fake.deny(room, Permission.VIEW_CHANNEL)
    assert await api.refusal("GET", f"/channels/{room.id}") == "403 50001 Missing Access"
    assert await api.refusal("POST", at(room), {"content": "x"}) == "403 50001 Missing Access"


async def test_what_the_bot_may_not_it_cannot(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    said = fake.say(room, ann, "mine")
    no = "403 50013 Missing Permissions"
    assert await api.refusal("DELETE", at(room, f"/{said.id}")) == no
    fake.deny(room, Permission.SEND_MESSAGES)
    assert await api.refusal("POST", at(room), {"content": "x"}) == no
    assert await api.refusal("POST", f"/channels/{room.id}/typing") == no
    fake.deny(room, Permission.READ_MESSAGE_HISTORY)
    assert await api.get(at(room)) == []
    fake.allow(room, Permission.SEND_MESSAGES)
    await api.post(room.id, "again")
    assert await api.get(at(room)) == []


async def test_only_its_own_messages_can_be_edited(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    said = fake.say(room, ann, "mine")
    assert await api.refusal("PATCH", at(room, f"/{said.id}"), {"content": "x"}) == (
        "403 50005 Cannot edit a message authored by another user"
    )
    own = await api.post(room.id, "one")
    there = at(room, f"/{own['id']}")
    status, body, _headers = await api.call("PATCH", there, {"content": "two"})
    assert (status, body["content"], body["edited_timestamp"] is None) == (200, "two", False)
    assert fake.messages(room)[0].history == ["one", "two"]
    assert "50006" in await api.refusal("PATCH", there, {"content": ""})
    status, _body, _headers = await api.call("DELETE", there)
    assert (status, fake.messages(room)) == (204, [])
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


# -- the history


async def test_the_history_is_read_page_by_page(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    said = [fake.say(room, ann, str(number)) for number in range(130)]

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


# -- too much


async def test_a_channel_takes_five_messages_in_five_seconds(room: Channel) -> None:
    now = [100.0]
    async with FakeDiscord(limits=True, clock=lambda: now[0]) as fake, Api(fake) as api:
        here, there = (fake.text_channel(fake.guild()) for _ in range(2))
        names = set()
        for left in range(4, -1, -1):
            status, _body, headers = await api.call("POST", at(here), {"content": "x"})
            assert (status, headers["x-ratelimit-remaining"]) == (200, str(left))
            assert (headers["x-ratelimit-limit"], headers["x-ratelimit-reset-after"]) == (
                "5",
                "5.000",
            )
            names.add(headers["x-ratelimit-bucket"])
        now[0] = 101.5
        status, body, headers = await api.call("POST", at(here), {"content": "x"})
        assert (status, body["retry_after"], body["global"]) == (429, 3.5, False)
        assert (headers["retry-after"], headers["x-ratelimit-scope"]) == ("4", "user")
        assert fake.too_many == 1
        own = fake.messages(here)[0]
        status, _body, headers = await api.call("PATCH", at(here, f"/{own.id}"), {"content": "y"})
        assert status == 200
        assert headers["x-ratelimit-bucket"] not in names
        status, _body, headers = await api.call("POST", at(there), {"content": "x"})
        assert (status, {headers["x-ratelimit-bucket"]}) == (200, names)
        now[0] = 105.0
        status, _body, _headers = await api.call("POST", at(here), {"content": "x"})
        assert status == 200


async def test_all_routes_together_take_fifty_a_second() -> None:
    async with FakeDiscord(limits=True, clock=lambda: 100.0) as fake, Api(fake) as api:
        guild = fake.guild()
        rooms = [fake.text_channel(guild) for _ in range(51)]
        for room in rooms[:50]:
            await api.post(room.id, "x")
        status, body, headers = await api.call("POST", at(rooms[50]), {"content": "x"})
        assert (status, body["global"], headers["x-ratelimit-global"]) == (429, True, "true")


async def test_the_sdk_obeys_the_headers() -> None:
    async with FakeDiscord(limits=True) as fake:
        room = fake.text_channel(fake.guild())
        async with Bot(fake) as bot:
            await bot.come_in()
            channel = bot.get_partial_messageable(room.id)
            sends = [asyncio.create_task(channel.send(str(one))) for one in range(7)]
            await fake.wait_for(lambda it: len(it.messages(room)) == 5)
            await asyncio.sleep(0.1)
            assert (len(fake.messages(room)), fake.too_many) == (5, 0)
            for send in sends:
                send.cancel()
            await asyncio.gather(*sends, return_exceptions=True)


# -- faults


async def test_faults_happen_once_each_to_their_kind_and_channel(
    api: Api, fake: FakeDiscord, room: Channel
) -> None:
    other = fake.text_channel(room.guild_id or 0, "other")
    fake.fail("post", RateLimited(40), ServerError(503), channel=room)
    fake.fail("*", Refuse(403, 50013, "Missing Permissions"))
    assert len(fake.faults_left) == 3
    status, body, headers = await api.call("POST", at(room), {"content": "x"})
    assert (status, body["retry_after"], headers["via"] != "") == (429, 40, True)
    assert "50013" in await api.refusal("POST", at(other), {"content": "x"})
    status, _body, _headers = await api.call("POST", at(room), {"content": "x"})
    assert status == 503
    assert fake.faults_left == []
    await api.post(room.id, "at last")
    assert fake.too_many == 0


async def test_a_lost_answer_is_a_message_all_the_same(
    api: Api, fake: FakeDiscord, room: Channel
) -> None:
    fake.fail("post", LostAnswer(), Reset())
    for _ in range(2):
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await api.post(room.id, "x")
    assert len(fake.messages(room)) == 1


async def test_a_request_can_hang_before_or_after_it_is_done(
    api: Api, fake: FakeDiscord, room: Channel
) -> None:
    before, after = Hang(), Hang(done_first=True)
    fake.fail("post", before, after, Slow(0.01))
    first = asyncio.create_task(api.post(room.id, "one"))
    await fake.wait_for_calls("post", 1)
    second = asyncio.create_task(api.post(room.id, "two"))
    await fake.wait_for(lambda it: it.text_of(room) == "two")
    before.release()
    assert (await first)["content"] == "one"
    after.release()
    await second
    await api.post(room.id, "three")
    assert fake.text_of(room) == "two\none\nthree"


async def test_a_ban_by_what_stands_in_front_is_no_json(
    fake: FakeDiscord, api: Api, room: Channel
) -> None:
    fake.fail("post", RateLimited(3600, cloudflare=True))
    status, body, headers = await api.call("POST", at(room), {"content": "x"})
    assert (status, body, "via" in headers) == (429, b"error code: 1015", False)


async def test_cut_off_nothing_is_answered(api: Api, fake: FakeDiscord) -> None:
    fake.cut_off = True
    with pytest.raises(aiohttp.ClientError):
        await api.get("/users/@me")
    assert fake.calls == []


# -- downloads


async def test_a_download_can_be_other_than_it_was_announced(
    api: Api, fake: FakeDiscord, room: Channel, ann: User
) -> None:
    files = [
        fake.attachment(b"abc", "a.txt", size=99),
        fake.attachment(b"", "big.bin", pieces=lambda: iter([b"x" * 1000] * 3)),
        fake.attachment(b"abc", "gone.txt", status=404),
        fake.attachment(b"abc", "short.txt", length=10),
    ]
    fake.say(room, ann, "look", files=files)
    (message,) = await api.get(at(room))
    sizes = [one["size"] for one in message["attachments"]]
    urls = [one["url"] for one in message["attachments"]]
    assert sizes == [99, 0, 3, 3]
    assert (await api.call("GET", urls[0]))[1] == b"abc"
    assert len((await api.call("GET", urls[1]))[1]) == 3000
    assert (await api.call("GET", urls[2]))[0] == 404
    with pytest.raises(aiohttp.ClientPayloadError):
        await api.call("GET", urls[3])
    assert (await api.call("GET", f"{fake.cdn_url}/attachments/1/x"))[0] == 404
    assert len(fake.calls_of("cdn")) == 5


async def test_a_download_can_be_slow_and_grow_when_it_is_unpacked(
    api: Api, fake: FakeDiscord
) -> None:
    slow = fake.attachment(b"", pieces=lambda: iter([b"x"] * 3), seconds_between=0.02)
    begun = asyncio.get_running_loop().time()
    assert (await api.call("GET", slow.url))[1] == b"xxx"
    assert asyncio.get_running_loop().time() - begun > 0.05
    bomb = fake.attachment(gzip.compress(b"x" * 100_000), encoding="gzip")
    assert bomb.size < 1000
    assert len((await api.call("GET", bomb.url))[1]) == 100_000


async def test_a_download_can_fail_like_any_request(api: Api, fake: FakeDiscord) -> None:
    file = fake.attachment(b"abc")
    fake.fail("cdn", Reset(), ServerError(503), Slow(0.01))
    # The client itself asks a second time where it was hung up on: a GET changes nothing.
    assert (await api.call("GET", file.url))[0] == 503
    assert len(fake.calls_of("cdn")) == 2
    assert (await api.call("GET", file.url))[1] == b"abc"
