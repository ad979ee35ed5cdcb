"""Sessions of the page: whom they stand for, and what ends them."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from channels.message import OutboundMessage
from channels.room.session import OWNER
from channels.web.adapter import WebChannel
from gateway.app import Gateway
from gateway.http.sessions import SHARED_KNOWN_SECONDS, Sessions
from gateway.settings.intervals import INTERVALS
from gateway.sharing.rooms.shared_rooms import SharedRooms
from tape.entry import load
from tape.store import UnitStore
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.http.browsers import TOKEN, browser, invited, member_of, outside, post
from tests.kit.clock import ManualClock
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit


async def test_neither_a_name_nor_an_id_in_a_request_makes_anybody_somebody(
    gateway: Gateway,
) -> None:
    async with member_of(gateway) as (owner, guest):
        await owner.post("/api/rooms/lobby/messages", json=post("mine", "Ann"))
        forged = post("forged", "Ann", owner=True, invited=False, role="owner")
        forged["person"] |= {"id": "owner", "owner": True}
        query = {"person": "owner", "name": "Ann", "role": "owner"}
        answer = await guest.post("/api/rooms/lobby/messages", json=forged, params=query)
        assert answer.status_code == 202
        entries = [entry for entry in await settled(gateway) if "inbox" in entry.meta]
        mine, other = (entry.meta for entry in entries)
        assert (mine["author"], mine["access"]["role"]) == ("owner", "owner")
        assert other["author"].startswith("w-")
        assert other["access"]["role"] == "member"


async def test_two_names_in_one_session_are_one_person(gateway: Gateway) -> None:
    async with member_of(gateway) as (_owner, guest):
        for name in ("Gus", "Ann"):
            await guest.post("/api/rooms/lobby/messages", json=post(name, name))
        said = [entry.meta for entry in await settled(gateway) if "inbox" in entry.meta]
        assert [one["name"] for one in said] == ["Gus", "Ann"]
        assert len({one["author"] for one in said}) == 1


async def test_a_member_stops_their_own_answers_alone(model: FakeOpenAI, gateway: Gateway) -> None:
    model.enqueue(Text(("for ", "ever"), gate=asyncio.Event()))
    async with member_of(gateway) as (_owner, guest), visit(gateway.url, "Ann") as (ann,):
        asked = await ann.say("go on")
        draft = await ann.draft(asked)
        body = {"person": {"name": "Ann", "id": ann.id}}
        newest = await guest.post("/api/rooms/lobby/stop", json=body)
        assert not newest.json()["stopped"]
        this = await guest.post("/api/rooms/lobby/stop", json={**body, "answer": draft["id"]})
        assert this.status_code == 422
        assert "admin" in this.json()["error"]
        assert await ann.stop()
        await ann.answer(asked)


async def test_a_code_works_as_often_as_it_says_and_not_after_its_time(gateway: Gateway) -> None:
    async with browser(gateway.url) as owner:
        twice = await invited(owner, uses=2)
        statuses = []
        for _ in range(3):
            async with outside(gateway.url) as guest:
                statuses.append((await guest.post("/login/code", json={"code": twice})).status_code)
        assert statuses == [200, 200, 403]
        listed = (await owner.get("/api/sessions")).json()
        assert [one["rooms"] for one in listed["sessions"]] == [["lobby"], ["lobby"]]
        assert listed["invitations"] == []
        for wrong in ({"uses": 0}, {"uses": 1000}, {"minutes": 0}, {"uses": True}, {"room": "a/b"}):
            answer = await owner.post("/api/invitations", json={"room": "lobby", **wrong})
            assert answer.status_code == 422


async def test_two_who_use_one_code_at_once_get_one_session(gateway: Gateway) -> None:
    async with browser(gateway.url) as owner:
        code = await invited(owner)
        statuses: list[int] = []

        async def use() -> None:
            async with outside(gateway.url) as guest:
                statuses.append((await guest.post("/login/code", json={"code": code})).status_code)

        async with anyio.create_task_group() as group:
            for _ in range(8):
                group.start_soon(use)
        assert statuses.count(200) == 1


async def test_an_invitation_that_was_withdrawn_opens_nothing(gateway: Gateway) -> None:
    async with browser(gateway.url) as owner, outside(gateway.url) as guest:
        code = await invited(owner)
        (listed,) = (await owner.get("/api/sessions")).json()["invitations"]
        assert code not in str(listed)
        await owner.post("/api/invitations/withdraw", json={"code": listed["code"]})
        assert (await guest.post("/login/code", json={"code": code})).status_code == 403


async def test_an_ended_session_is_over_at_once_also_for_an_open_stream(gateway: Gateway) -> None:
    async with member_of(gateway) as (owner, guest):
        async with guest.stream("GET", "/api/rooms/lobby/events", params={"name": "Gus"}) as events:
            (one,) = (await owner.get("/api/sessions")).json()["sessions"]
            await owner.post("/api/sessions/end", json={"person": one["person"]})
            with anyio.fail_after(60):
                async for _line in events.aiter_lines():
                    pass
        assert (await guest.post("/api/rooms/lobby/messages", json=post())).status_code == 401


class LateStore:
    """A database whose rows arrive a little later than those of others."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store
        self.commit = store.commit
        self.read, self.gate = anyio.Event(), anyio.Event()

    async def select(self, name: str, values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        rows = await self._store.select(name, values)
        self.read.set()
        await self.gate.wait()
        return rows


async def test_a_session_that_ends_while_it_is_looked_up_is_not_found_again(
    gateway: Gateway,
) -> None:
    late = LateStore(gateway.services.store)
    sessions = Sessions(replace(gateway.services, store=cast(UnitStore, late)), "")
    cookie = await sessions.open()
    known = await Sessions(gateway.services, "").find(cookie)
    assert known is not None
    async with anyio.create_task_group() as group:
        group.start_soon(sessions.find, cookie)
        await late.read.wait()
        await sessions.end(known.person)
        late.gate.set()
    assert await sessions.find(cookie) is None


async def test_who_signs_out_is_out_and_the_cookie_is_worth_nothing(gateway: Gateway) -> None:
    async with member_of(gateway) as (_owner, guest):
        (cookie,) = {one.value for one in guest.cookies.jar}
        page = guest.base_url
        assert (await guest.post("/api/session/end", json={})).status_code == 200
        async with outside(str(page), Cookie=f"tapeway_guest={cookie}") as thief:
            assert (await thief.post("/api/rooms/lobby/messages", json=post())).status_code == 401


async def test_after_the_token_was_changed_neither_cookies_nor_codes_of_before_work(
    tmp_path: Path,
) -> None:
    async with gateway_of(tmp_path, HTTP__TOKEN=TOKEN) as gateway, browser(gateway.url) as owner:
        await owner.post("/login", data={"token": TOKEN})
        code = await invited(owner)
        cookie = {"Cookie": f"tapeway_session={owner.cookies['tapeway_session']}"}
        stored = await gateway.services.store.select(
            "ledger.page_sessions", {"token": "", "now": ""}
        )
        assert cookie["Cookie"] not in str(stored)
    async with gateway_of(tmp_path, HTTP__TOKEN=TOKEN) as gateway:
        async with browser(gateway.url, **cookie) as same:
            assert (await same.get("/api/tapes")).status_code == 200  # a restart ends nothing
    async with gateway_of(tmp_path, HTTP__TOKEN=f"{TOKEN}-changed") as gateway:
        async with browser(gateway.url, **cookie) as old:
            assert (await old.get("/api/tapes")).status_code == 401
            assert (await old.post("/login/code", json={"code": code})).status_code == 403
            old_token = {"Authorization": f"Bearer {TOKEN}"}
            assert (await old.get("/api/tapes", headers=old_token)).status_code in (401, 429)


async def test_an_owner_s_link_changes_nothing_for_an_owner_and_is_not_used_up(
    gateway: Gateway,
) -> None:
    async with browser(gateway.url) as owner:
        code = (await owner.post("/api/codes", json={})).json()["code"]
        tried = await owner.post("/login/code", json={"code": code})
        assert (tried.json(), "set-cookie" in tried.headers) == ({"room": "", "path": "/"}, False)
        async with outside(gateway.url) as another:
            assert (await another.post("/login/code", json={"code": code})).status_code == 200
            assert (await another.get("/api/sessions")).status_code == 200


async def test_a_post_that_is_repeated_by_another_person_changes_nothing(gateway: Gateway) -> None:
    async with member_of(gateway) as (owner, guest):
        said = post("the first", "Ann")
        for web, text in ((owner, "the first"), (owner, "the first"), (guest, "another")):
            answer = await web.post("/api/rooms/lobby/messages", json={**said, "text": text})
            assert answer.status_code == 202
        entries = [entry for entry in await settled(gateway) if "inbox" in entry.meta]
        assert [entry.meta["text"] for entry in entries] == ["the first"]


@pytest.mark.settings(HTTP__TOKEN=TOKEN)
async def test_of_a_hundred_wrong_logins_a_second_one_is_answered_and_the_owner_gets_in(
    gateway: Gateway,
) -> None:
    async with browser(gateway.url) as web:
        statuses = []
        for number in range(100):
            wrong = await web.post("/login", data={"token": f"guess {number}"})
            statuses.append(wrong.status_code)
            if number % 20 == 10:
                async with browser(gateway.url) as owner:
                    right = await owner.post("/login", data={"token": TOKEN})
                    assert right.headers["location"] == "/"
                    assert (await owner.get("/api/tapes")).status_code == 200
        assert statuses[0] == 303
        assert statuses.count(429) >= 90


async def test_a_page_of_another_site_reads_nothing_with_its_visitor_s_user_id(
    tmp_path: Path,
) -> None:
    for site in ("cross-site", "same-site"):
        async with (
            gateway_of(tmp_path) as gateway,
            browser(gateway.url, **{"Sec-Fetch-Site": site}) as web,
        ):
            assert (await web.get("/api/tapes")).status_code == 403
            assert (await web.get("/")).status_code == 200


async def test_slack_s_install_page_is_behind_the_login_and_its_events_are_not(
    gateway: Gateway,
) -> None:
    async with outside(gateway.url) as web:
        assert (await web.get("/slack/install")).headers["location"] == "/login"
        assert (await web.post("/slack/events", json={})).status_code == 404  # Slack is off


async def test_an_import_that_the_disk_cannot_hold_is_refused_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = type(shutil.disk_usage(tmp_path))(10**9, 10**9, 1000)
    async with gateway_of(tmp_path) as gateway, browser(gateway.url) as owner:
        monkeypatch.setattr(shutil, "disk_usage", lambda _path: full)
        answer = await owner.post("/api/tapes/import?tape=x", content=b'{"a": 1}\n')
        assert answer.status_code == 422
        assert "too full" in answer.json()["error"]
        assert [name for name in os.listdir(tmp_path) if "import-" in name] == []  # noqa: PTH208


async def test_a_press_replaces_the_message_with_its_button_and_no_other(gateway: Gateway) -> None:
    async with member_of(gateway) as (owner, guest):
        mine = post("mine", "Ann")
        await owner.post("/api/rooms/lobby/messages", json=mine)
        await guest.post("/api/rooms/lobby/messages", json=post(",forget me"))
        await settled(gateway)
        values = {"account_id": "web", "chat_id": "lobby", "now": "2000-01-01"}
        (row,) = await gateway.services.store.select("ledger.open_card_sends", values)
        card = OutboundMessage.from_payload(load(row["payload"]))
        web = gateway.services.router.channels["web"]
        assert isinstance(web, WebChannel)
        async with web.hub.listen("lobby", OWNER, "Ann") as events:
            press = {**post(), "message": mine["id"], "button": card.buttons[1].token}
            assert (await guest.post("/api/rooms/lobby/press", json=press)).status_code == 202
            await settled(gateway)
            shown = [
                events.receive_nowait() for _ in range(events.statistics().current_buffer_used)
            ]
    replaced = [event["message"]["id"] for event in shown if event["type"] == "message"]
    assert replaced == [card.idem]


async def test_a_session_that_another_process_ended_is_forgotten_when_it_says_so_or_soon(
    gateway: Gateway,
) -> None:
    clock = ManualClock()
    services = replace(gateway.services, clock=clock)
    here, there = Sessions(services, ""), Sessions(services, "")
    rooms = SharedRooms(services.store, clock, Unheard(), "there", INTERVALS)
    there.share(rooms)
    cookies = [await here.open() for _ in range(2)]
    found = [await there.find(cookie) for cookie in cookies]
    assert found[0] is not None
    assert found[1] is not None
    for session in found:
        assert session is not None
        await here.end(session.person)
    for call in rooms.at_dismissal:
        call(found[0].person)
    assert await there.find(cookies[0]) is None
    assert await there.find(cookies[1]) is not None
    await clock.advance(SHARED_KNOWN_SECONDS)
    assert await there.find(cookies[1]) is None


class Unheard:
    """A bus on which nobody says anything."""

    def on(self, topic: str, heard: Callable[[frozenset[int]], None]) -> None: ...

    def send(self, topic: str, *numbers: int) -> None: ...
