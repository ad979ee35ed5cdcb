"""Members of rooms: what they may use, and what others see of them."""

from __future__ import annotations

from pathlib import Path

import httpx2

from channels.room.session import NOBODY
from gateway.app import Gateway
from gateway.assembly import Internals
from gateway.http.sessions import Sessions
from gateway.settings.bounds import Bounds
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.http.browsers import (
    ELSEWHERE,
    OWNERS,
    TOKEN,
    browser,
    invited,
    member_of,
    outside,
    post,
)
from tests.kit.gateways import gateway_of, settled


async def test_a_member_uses_one_room_and_nothing_else(gateway: Gateway) -> None:
    async with member_of(gateway) as (_owner, guest):
        assert (await guest.get("/?room=lobby")).status_code == 200
        assert (await guest.post("/api/rooms/lobby/messages", json=post())).status_code == 202
        for method, path in OWNERS:
            answer = await guest.request(method, path, json=post() if method == "POST" else None)
            assert answer.status_code == 403, path
        for room in ("attic", "lobby%20", "LOBBY", "lobb", "."):
            for what in ("messages", "stop", "press"):
                answer = await guest.post(f"/api/rooms/{room}/{what}", json=post())
                assert answer.status_code in (403, 404, 422), (room, what)
            thumb, title = {"answer": "t-1:0", "value": "up"}, {"title": "Mine"}
            for what, body in (("reactions", thumb), ("title", title)):
                answer = await guest.post(f"/api/rooms/{room}/{what}", json=body)
                assert answer.status_code in (403, 404), (room, what)
            for what in ("events", "answers/t-1:0/images/0"):
                answer = await guest.get(f"/api/rooms/{room}/{what}")
                assert answer.status_code in (403, 404), (room, what)
        tapes = [info.name for info in await gateway.services.store.tapes()]
        assert len(tapes) == 1


async def test_a_member_is_no_owner_and_an_invitation_is_for_its_room(gateway: Gateway) -> None:
    async with member_of(gateway, "attic") as (_owner, guest):
        assert (await guest.post("/api/rooms/attic/messages", json=post(",reset"))).is_success
        entries = await settled(gateway, "web:attic")
        said = next(entry for entry in entries if entry.meta.get("text") == ",reset")
        assert said.meta["access"]["role"] == "member"
        answers = [entry.payload["data"] for entry in entries if entry.name == "outbound"]
        assert "admin" in answers[-1]["text"].lower()
        assert not any(entry.name == "session/reset" for entry in entries)
        assert (await guest.post("/api/rooms/lobby/messages", json=post())).status_code == 403


async def test_a_member_sees_why_but_not_where_the_console_has_it(gateway: Gateway) -> None:
    async with member_of(gateway) as (owner, guest):
        await owner.post("/api/rooms/lobby/messages", json=post("hello"))
        entries = await settled(gateway)
        turn = next(entry.meta["turn"] for entry in entries if entry.meta.get("final"))
        address = f"/api/rooms/lobby/why?answer={turn}:0"
        shown, known = (await guest.get(address)).json(), (await owner.get(address)).json()
        assert known.pop("session") == "web:lobby"
        assert shown == known


async def test_a_member_who_opens_the_bare_address_is_led_to_their_room(gateway: Gateway) -> None:
    room = "a b&c=é"
    async with member_of(gateway, room) as (owner, guest):
        for address in ("/", "/?room=lobby", "/?room="):
            led = await guest.get(address)
            assert led.status_code == 303
            to = httpx2.URL(gateway.url).join(led.headers["location"])
            assert (await guest.get(to)).status_code == 200
        assert (await owner.get("/")).status_code == 200


async def test_a_member_who_is_invited_to_another_room_stays_who_they_are_and_has_both(
    gateway: Gateway,
) -> None:
    async with member_of(gateway, "attic") as (owner, guest):
        await guest.post("/api/rooms/attic/messages", json=post("from the attic"))
        code = await invited(owner, "cellar", uses=2)
        for _ in range(2):  # the second time, they have it
            joined = await guest.post(f"{gateway.url}login/code", json={"code": code})
            led = {"room": "cellar", "path": str(guest.base_url.raw_path, "ascii")}
            assert (joined.json(), "set-cookie" in joined.headers) == (led, False)
        assert (await owner.get("/api/sessions")).json()["invitations"][0]["uses"] == 1
        await guest.post("/api/rooms/cellar/messages", json=post("from the cellar"))
        said = [*await settled(gateway, "web:attic"), *await settled(gateway, "web:cellar")]
        assert len({one.meta["author"] for one in said if "inbox" in one.meta}) == 1
        for room in ("attic", "cellar"):
            assert (await guest.get("/", params={"room": room})).status_code == 200
        assert (await guest.get("/")).headers["location"].endswith("/?room=cellar")
        listed = (await guest.get("/api/rooms")).json()
        assert [one["room"] for one in listed] == ["attic", "cellar"]
        assert (await guest.get("/?room=lobby")).status_code == 303
        (one,) = (await owner.get("/api/sessions")).json()["sessions"]
        assert one["rooms"] == ["attic", "cellar"]
        await owner.post("/api/sessions/end", json={"person": one["person"]})
        for room in ("attic", "cellar"):
            answer = await guest.post(f"/api/rooms/{room}/messages", json=post())
            assert answer.status_code == 401


async def test_a_room_that_was_joined_at_another_process_is_open_at_once(gateway: Gateway) -> None:
    here, there = Sessions(gateway.services, ""), Sessions(gateway.services, "")
    came = await here.redeem(await here.issue(room="attic"), NOBODY)
    assert came is not None
    member = await there.find(came[0], "attic")
    assert member is not None
    assert await here.redeem(await here.issue(room="cellar"), member) == (
        "",
        "cellar",
        member.person,
    )
    found = await there.find(came[0], "cellar")
    assert found is not None
    assert found.rooms == ("attic", "cellar")
    await here.end(member.person)
    assert await here.redeem(await here.issue(room="loft"), member) is None


async def test_a_slash_before_a_command_asks_no_model(model: FakeOpenAI, gateway: Gateway) -> None:
    async with member_of(gateway) as (_owner, guest):
        for text in ("/reset", "/start", "/choose 1 yes", "/tape.info", "/help"):
            await guest.post("/api/rooms/lobby/messages", json=post(text))
        await settled(gateway)
        assert model.requests == []
        model.enqueue(Text(("it is a file",)))
        await guest.post("/api/rooms/lobby/messages", json=post("/etc/hosts is broken"))
        await settled(gateway)
        assert len(model.requests) == 1


async def test_the_cookie_is_for_https_where_browsers_come_by_it_through_a_proxy(
    tmp_path: Path,
) -> None:
    public = "https://tapeway.example.org"
    async with (
        gateway_of(tmp_path, HTTP__TOKEN=TOKEN, HTTP__PUBLIC_URL=public) as gateway,
        outside(gateway.url) as web,
    ):
        entered = await web.post("/login", data={"token": TOKEN})
    assert "Secure" in entered.headers["set-cookie"].split("; ")


async def test_by_plain_http_at_another_address_than_the_public_one_one_can_log_in(
    tmp_path: Path,
) -> None:
    public, form = "https://tapeway.example.org", {"token": TOKEN}
    async with gateway_of(tmp_path, HTTP__TOKEN=TOKEN, HTTP__PUBLIC_URL=public) as gateway:
        here = gateway.url.rstrip("/")
        async with browser(here, Origin=here) as web:
            entered = await web.post("/login", data=form)
            assert "Secure" not in entered.headers["set-cookie"].split("; ")
            assert (await web.get("/")).status_code == 200
        plain = {"Host": "tapeway.example.org:8080", "Origin": "http://tapeway.example.org:8080"}
        forwarded = {"Origin": here, **ELSEWHERE}
        for headers in (plain, forwarded):
            async with browser(here, **headers) as web:
                entered = await web.post("/login", data=form)
            assert "Secure" in entered.headers["set-cookie"].split("; ")


async def test_the_rooms_of_the_newest_messages_are_listed_first(tmp_path: Path) -> None:
    two = Internals(bounds=Bounds(listed_rooms=2))
    own = gateway_of(tmp_path, internals=two)
    async with own as gateway, browser(gateway.url) as owner:
        for room in ("a", "b", "c", "b"):
            await owner.post(f"/api/rooms/{room}/messages", json=post())
            await settled(gateway, f"web:{room}")
        listed = (await owner.get("/api/rooms")).json()
        assert [one["room"] for one in listed] == ["b", "c"]


async def test_no_name_reverses_the_text_beside_it(gateway: Gateway) -> None:
    async with member_of(gateway) as (_owner, guest):
        said = post("hi", "Gus \u202elive")
        answer = await guest.post("/api/rooms/lobby/messages", json=said)
        assert answer.status_code == 422
        room = "/api/rooms/lobby/events"
        async with guest.stream("GET", room, params={"name": "Gus \u202elive"}) as events:
            lines = events.aiter_lines()
            while '"people"' not in (line := await anext(lines)):
                pass
            assert '"Gus live"' in line
