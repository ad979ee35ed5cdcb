"""The stream of what changes: to whom it says what, and when it ends."""

from __future__ import annotations

from typing import Final

import anyio
import orjson
import pytest

from gateway.assembly import Internals
from gateway.settings.bounds import Bounds
from tests.fakes.openai.script import Failure
from tests.gateway.console.following import following
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    TOKEN,
    Scene,
    hasty,
    key,
)
from tests.kit.waiting import Patience

CHAT = ("chat", key(GROUP))


async def test_what_is_said_and_what_fails_is_heard_without_words(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser, following(browser) as follower:
        since = len(follower.heard)
        await scene.say(MEMBER, "a whispered plum")
        await follower.hears(CHAT, since)
        since = len(follower.heard)
        scene.server.enqueue(Failure(400, "no"))
        await scene.say(MEMBER, "answer me", addressed=True)
        await follower.hears(CHAT, since)
        scene.gateway.status.down("plain", "asleep")
        await follower.hears(("channels", ""), since)
    assert "plum" not in follower.words
    assert "asleep" not in follower.words


async def test_an_admin_hears_nothing_of_others_chats(scene: Scene) -> None:
    await scene.say(ADMIN, "here I am", OTHER_GROUP)
    await scene.say(MEMBER, "first")
    async with scene.enter(ADMIN) as browser, following(browser) as follower:
        await scene.say(MEMBER, "in a chat that is not theirs")
        await scene.say(MEMBER, "in theirs", OTHER_GROUP)
        await follower.hears(("chat", key(OTHER_GROUP)))
    assert CHAT not in follower.heard


@hasty
async def test_a_role_that_is_lost_ends_the_stream_also_a_busy_one(scene: Scene) -> None:
    async with scene.enter(ADMIN) as browser, following(browser) as follower:
        await scene.grant(ADMIN, "none")

        async def talk() -> None:
            while True:
                await scene.say(MEMBER, "on and on")

        async with anyio.create_task_group() as group:
            group.start_soon(talk)
            await follower.is_sent_away()
            group.cancel_scope.cancel()
        assert (await browser.get("/api/console/live")).status_code == 403


@hasty
@pytest.mark.parametrize("by", ["themselves", "another owner"])
async def test_a_session_of_the_page_that_ends_ends_its_stream(scene: Scene, by: str) -> None:
    async with scene.outside() as browser, scene.holder() as other:
        await browser.post("/login", data={"token": TOKEN})
        async with following(browser) as follower:
            if by == "themselves":
                await browser.post("/api/session/end", json={})
            else:
                (one,) = (await other.get("/api/sessions")).json()["sessions"]
                await other.post("/api/sessions/end", json={"person": one["person"]})
            with anyio.fail_after(60):
                await follower.is_sent_away()
        assert (await browser.get("/api/console/live")).status_code == 401


async def test_who_comes_back_hears_what_they_missed(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser, scene.holder() as other, following(other) as stays:
        async with following(browser) as follower:
            await scene.say(MEMBER, "one")
            await follower.hears(CHAT)
            last = follower.last
        since = len(stays.heard)
        await scene.say(MEMBER, "two", OTHER_GROUP)
        await stays.hears(("chat", key(OTHER_GROUP)), since)
        async with browser.stream(
            "GET", "/api/console/live", headers={"Last-Event-ID": last}
        ) as response:
            async for line in response.aiter_lines():
                if line.startswith("data: "):
                    missed = [
                        (one["topic"], one["data"].get("chat")) for one in orjson.loads(line[6:])
                    ]
                    break
    assert ("chat", key(OTHER_GROUP)) in missed
    assert ("all", None) not in missed


async def test_who_was_away_too_long_asks_for_everything(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser:
        async with following(browser) as follower:
            await scene.say(MEMBER, "one")
            await follower.hears(CHAT)
        for last in ("", "unknown-7", "x", follower.last.partition("-")[0] + "-999999"):
            async with following(browser, last) as again:
                assert again.heard[0] == ("all", "")


ONE_STREAM: Final = Internals(bounds=Bounds(console_streams=1))


@pytest.mark.parametrize("internals", [ONE_STREAM], ids=["one"])
async def test_one_person_has_a_limited_number_of_streams(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser, scene.holder() as other:
        async with following(browser), following(other):
            assert (await browser.get("/api/console/live")).status_code == 429
        patience = Patience("the closed stream has given its place back")
        while True:  # the gateway finds out that the stream was closed
            async with browser.stream("GET", "/api/console/live") as response:
                if response.status_code == 200:
                    break
            await patience.pause()


async def test_a_stopping_gateway_ends_its_streams(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser, following(browser):
        scene.gateway.pulse.close()
        async with browser.stream("GET", "/api/console/live") as response:
            lines = [line async for line in response.aiter_lines()]
    assert any(line.startswith("data: ") for line in lines)
