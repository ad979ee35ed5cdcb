"""Faults of the fake REST API, and downloads that are not what was announced."""

from __future__ import annotations

import asyncio
import gzip

import aiohttp
import pytest

from tests.fakes.base.faults import Hang, LostAnswer, Reset, ServerError, Slow
from tests.fakes.discord.client import Api, at
from tests.fakes.discord.faults import RateLimited, Refuse
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User

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
