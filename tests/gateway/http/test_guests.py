"""A guest beside the owner in one browser: what is asked below the guest's page is the guest's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import orjson
import pytest

from gateway.app import Gateway
from gateway.home import find_running
from tests.gateway.http.browsers import OWNERS, TOKEN, browser, invited, member_of, outside, post
from tests.kit.gateways import gateway_of, settled


@asynccontextmanager
async def both(
    gateway: Gateway, room: str = "lobby"
) -> AsyncIterator[tuple[httpx2.AsyncClient, str]]:
    """Have a browser of the loopback owner, who opened an invitation; yield the guest's page."""
    async with browser(gateway.url) as one:
        used = await one.post("/login/code", json={"code": await invited(one, room)})
        path = used.json()["path"]
        assert (used.json()["room"], path.startswith("/g/w-")) == (room, True)
        yield one, path.rstrip("/")


async def test_an_invitation_wins_over_loopback_and_leaves_the_owner_be(gateway: Gateway) -> None:
    async with both(gateway) as (one, guest):
        assert (await one.get("/api/sessions")).status_code == 200
        for base, text in (("", "from the owner"), (guest, "from the guest")):
            answer = await one.post(f"{base}/api/rooms/lobby/messages", json=post(text))
            assert answer.status_code == 202
        said = {one.meta["text"]: one.meta for one in await settled(gateway) if "text" in one.meta}
        roles = {text: meta["access"]["role"] for text, meta in said.items()}
        assert roles == {"from the owner": "owner", "from the guest": "member"}
        assert len({meta["author"] for meta in said.values()}) == 2


async def test_below_the_guest_s_page_nothing_is_the_owner_s(
    tmp_path: Path, gateway: Gateway
) -> None:
    running = find_running(tmp_path)
    assert running is not None
    bearer = {"Authorization": f"Bearer {running.token}"}
    async with both(gateway) as (one, guest):
        for headers in ({}, bearer):
            for method, path in OWNERS:
                body = post() if method == "POST" else None
                answer = await one.request(method, guest + path, json=body, headers=headers)
                assert answer.status_code == 403, path
            wrong = await one.post(
                f"{guest}/api/rooms/attic/messages", json=post(), headers=headers
            )
            assert wrong.status_code == 403
        for path in (
            "/console",
            "/login",
            "/login/guest",
            "/static/room.js",
            "/health/ready",
            "/api/console/me",
            "/webhooks/telegram",
            "//console",
            guest + "/api/sessions",
        ):
            answer = await one.get(guest + path)
            assert answer.status_code in (403, 404), path
        led = await one.get(guest)
        assert (led.status_code, led.headers["location"]) == (303, f"{guest}/")


@pytest.mark.parametrize("other", ["/g/w-000000000000", "/g/w-0", "/g/", "/g/owner", "/g//"])
async def test_another_guest_s_page_is_not_opened_by_the_owner_or_by_a_guest_s_cookie(
    gateway: Gateway, other: str
) -> None:
    async with both(gateway) as (one, _guest):
        (cookie,) = {one.value for one in one.cookies.jar if one.name == "tapeway_guest"}
        for headers in ({}, {"Cookie": f"tapeway_guest={cookie}"}):
            asked = await one.post(
                f"{other}/api/rooms/lobby/messages", json=post(), headers=headers
            )
            assert asked.status_code in (401, 404, 405), headers
        # Nor does the cookie open anything elsewhere, under whatever name.
        async with outside(gateway.url) as stranger:
            for name in ("tapeway_guest", "tapeway_session"):
                headers = {"Cookie": f"{name}={cookie}"}
                for path in ("/api/sessions", "/api/tapes"):
                    assert (await stranger.get(path, headers=headers)).status_code in (401, 403)


async def test_an_owner_s_cookie_under_a_guest_s_name_opens_nothing(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, HTTP__TOKEN=TOKEN) as gateway:
        async with browser(gateway.url) as one:
            await one.post("/login", data={"token": TOKEN})
            owner = one.cookies["tapeway_session"]
            used = await one.post("/login/code", json={"code": await invited(one)})
            path = used.json()["path"]
            assert (await one.get("/api/sessions")).status_code == 200
        async with browser(gateway.url, Cookie=f"tapeway_guest={owner}") as other:
            for asked in (f"{path}api/rooms", f"{path}api/sessions"):
                assert (await other.get(asked)).status_code == 401
            assert (await other.get("/login/guest")).json() == {"path": ""}


async def test_cookies_are_for_the_guest_s_path_alone_and_go_when_they_leave(
    gateway: Gateway,
) -> None:
    async with both(gateway) as (one, guest):
        paths = {cookie.path for cookie in one.cookies.jar}
        assert paths == {guest, "/login"}
        assert (await one.get("/login/guest")).json() == {"path": f"{guest}/"}
        again = await one.post("/login/code", json={"code": await invited(one, "attic")})
        assert again.json() == {"room": "attic", "path": f"{guest}/"}
        foreign = {"Origin": "https://evil.example"}
        ended = await one.post(f"{guest}/api/session/end", json={}, headers=foreign)
        assert ended.status_code == 403
        for site in ("cross-site", "same-site"):
            asked = await one.get(f"{guest}/api/rooms", headers={"Sec-Fetch-Site": site})
            assert asked.status_code == 403
        assert (await one.post(f"{guest}/api/session/end", json={})).status_code == 200
        assert list(one.cookies.jar) == []
        assert (await one.get(f"{guest}/?room=lobby")).headers["location"] == "/login"
        assert (await one.get("/api/sessions")).json()["sessions"] == []


async def test_a_message_on_its_way_when_the_session_ended_is_refused(gateway: Gateway) -> None:
    async with member_of(gateway) as (owner, guest):
        body = orjson.dumps(post("too late"))
        person = guest.base_url.path.split("/")[2]

        async def slowly() -> AsyncIterator[bytes]:
            yield body[:9]
            ended = await owner.post("/api/sessions/end", json={"person": person})
            assert ended.json() == {"ended": True}
            yield body[9:]

        headers = {"Content-Type": "application/json"}
        answer = await guest.post("/api/rooms/lobby/messages", content=slowly(), headers=headers)
        assert answer.status_code == 401
        await owner.post("/api/rooms/lobby/messages", json=post("in time"))
        texts = [one.meta["text"] for one in await settled(gateway) if "text" in one.meta]
        assert texts == ["in time"]
