"""Read-only links: who may make them, and what a reader gets."""

from __future__ import annotations

import anyio
import httpx2
from structlog.testing import capture_logs

from gateway.access.console_links import MAX_LINKS, READER_HOURS
from gateway.console.rights import READER_COOKIE, READS_BEFORE_READERS
from tape.deletions import deletion
from tests.gateway.console.readers import API, listed, made, reading, secret_of, tape, trade
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OTHER_GROUP,
    OWNER,
    STRANGER,
    Scene,
    key,
)
from tests.kit.gateways import tape_of

THREAD = "99"


async def test_a_reader_sees_the_tape_and_nothing_else(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    await scene.say(STRANGER, "elsewhere", OTHER_GROUP)
    async with reading(scene, await secret_of(owner)) as reader:
        page = (await reader.get(tape())).json()
        assert "plums are ripe" in str(page)
        assert [name for row in page["rows"] for name in row if name == "inbox"] == []
        shown = (await reader.get(tape(rest=""))).json()
        assert shown["title"] == f"Group {GROUP}"
        assert shown.keys() & {"account", "heard"} == set()
        assert (await reader.get(tape(rest="/chapter?at=1"))).is_success
        for rest in ("/names?lane=1", "/lanes", "/changed?after=1"):
            assert (await reader.get(tape(rest=rest))).is_success
        assert (await reader.get(tape(rest="/reader"))).json()["size"] == shown["size"]
        by_hand = {"Cookie": f"{READER_COOKIE}={reader.cookies[READER_COOKIE]}"}
        async with scene.outside() as other:
            assert (await other.get(tape(), headers=by_hand)).is_success
            for path in (
                *(tape(rest=f"/{one}") for one in ("search?q=plums", "room", "steps")),
                *(tape(rest=f"/{one}") for one in ("chapter/1.md", "chapter/1.html")),
                *(tape(OTHER_GROUP, rest) for rest in ("", "/page", "/chapter", "/names")),
                *(tape(OTHER_GROUP, rest) for rest in ("/changed", "/lanes")),
                *(f"{API}/{one}" for one in ("me", "deck", "chats", "live", "people", "links")),
                *(f"{API}/{one}" for one in ("money", "ledger", "why/1", f"chats/{key(GROUP)}")),
            ):
                answer = await other.get(path, headers=by_hand)
                assert answer.status_code == 401, path
                assert list(answer.json()) == ["error"]
            for path in ("links", "links/1/revoke", "people/grant", "leave"):
                answer = await other.post(f"{API}/{path}", json={}, headers=by_hand)
                assert answer.status_code == (200 if path == "leave" else 401), path
            ended = await other.get(tape(OTHER_GROUP, "/reader"), headers=by_hand)
            assert ended.status_code == 403


async def test_the_cookie_is_for_one_tape_and_the_database_knows_no_secret(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    with capture_logs() as log:
        secret = await secret_of(owner)
        async with scene.outside() as browser:
            traded = await trade(browser, secret)
            cookie = traded.headers["set-cookie"]
            assert traded.json() == {"chat": key(GROUP)}
            assert {
                "HttpOnly",
                "SameSite=strict",
                f"Path={API}/tape/{key(GROUP)}",
                f"Max-Age={READER_HOURS * 3600}",
            } <= set(cookie.split("; "))
            value = browser.cookies[READER_COOKIE]
    rows = str(await scene.rows("console_links", every=1, sessions="[]", now="", token="", limit=9))
    assert "plain:-100" in rows
    for one in (secret, value):
        assert one not in rows
        assert one not in str(log)
    assert {"console.link_made", "console.link_opened"} <= {str(line["event"]) for line in log}


async def test_owners_and_admins_make_links_to_what_they_see_and_nobody_else(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    await scene.say(STRANGER, "elsewhere", OTHER_GROUP)
    await scene.grant(MEMBER, "member")
    async with (
        scene.enter(ADMIN) as admin,
        scene.holder() as holder,
        scene.outside() as stranger,
        scene.outside() as guest,
        reading(scene, await secret_of(owner)) as reader,
    ):
        invited = await holder.post("/api/invitations", json={"room": "lobby"})
        await guest.post("/login/code", json=invited.json())
        for browser, chat, status in (
            (owner, OTHER_GROUP, 200),
            (holder, OTHER_GROUP, 200),
            (admin, GROUP, 200),
            (admin, OTHER_GROUP, 404),
            (owner, "-999", 404),
            (guest, GROUP, 401),
            (stranger, GROUP, 401),
            (reader, GROUP, 401),
        ):
            assert (await made(browser, chat)).status_code == status, (chat, status)
        for hours in (0, 2, 169, "24", True, None):
            assert (await made(owner, hours=hours)).status_code == 422
        found = await listed(admin)
        assert {(one["title"], one["by"]) for one in found} == {
            ("Group -100", "plain:1"),
            ("Group -100", "plain:2"),
        }
        assert len(await listed(owner)) == 4
        assert len(await listed(owner, f"?chat={key(OTHER_GROUP)}")) == 2
        assert (await admin.get(f"{API}/links?chat={key(OTHER_GROUP)}")).status_code == 404
        other = next(one for one in await listed(owner) if one["title"] == "Group -200")
        for browser, status in ((admin, 404), (guest, 401), (stranger, 401), (reader, 401)):
            answer = await browser.post(f"{API}/links/{other['link']}/revoke", json={})
            assert answer.status_code == status


async def test_several_browsers_use_a_link_and_how_often_is_counted(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    secret = await secret_of(owner)
    async with reading(scene, secret) as first, reading(scene, secret) as second:
        assert (await first.get(tape())).is_success
        assert (await second.get(tape())).is_success
        (link,) = await listed(owner, f"?chat={key(GROUP)}")
        assert (link["opened"], link["state"], link["by"], link["own"]) == (
            2,
            "open",
            "plain:1",
            True,
        )


async def test_a_private_chat_is_shown_by_its_person_alone(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    await scene.say(ADMIN, "psst", ADMIN)
    async with scene.enter(ADMIN) as admin, scene.holder() as holder:
        for browser in (owner, holder):
            refused = await made(browser, ADMIN)
            assert refused.status_code == 403
            assert "Only the person of a private chat" in refused.json()["error"]
            found = (await browser.get(f"{API}/links?chat={key(ADMIN)}")).json()
            assert found == {"links": [], "may": False}
        async with reading(scene, await secret_of(admin, ADMIN)) as reader:
            assert "psst" in (await reader.get(tape(ADMIN))).text


async def test_a_private_thread_is_shown_by_who_is_alone_there(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    await scene.say(ADMIN, "between us", THREAD, parent_id=GROUP)
    async with scene.enter(ADMIN) as admin, scene.holder() as holder:
        for browser in (owner, holder):
            assert (await made(browser, THREAD)).status_code == 403
        async with reading(scene, await secret_of(admin, THREAD)) as reader:
            assert "between us" in (await reader.get(tape(THREAD))).text
            await scene.say(STRANGER, "and me", THREAD, parent_id=GROUP)
            assert (await reader.get(tape(THREAD))).status_code == 401
        assert (await made(admin, THREAD)).status_code == 403


async def test_wrong_secrets_open_nothing_and_are_answered_once_a_second(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    await secret_of(owner)
    async with scene.outside() as browser:
        found: list[int] = []

        async def guess() -> None:
            found.append((await trade(browser, "0" * 43, "192.0.2.1")).status_code)

        async with anyio.create_task_group() as group:
            for _ in range(20):
                group.start_soon(guess)
        assert set(found) == {403, 429}
        assert found.count(429) > found.count(403)
        assert (await browser.post("/console/link", json=[])).status_code == 422
        for cookie in ("", "0" * 43):
            headers = {"Cookie": f"{READER_COOKIE}={cookie}"}
            assert (await browser.get(tape(), headers=headers)).status_code == 401


async def test_of_one_address_a_link_admits_one_browser_a_second(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    secret, found = await secret_of(owner), []
    async with reading(scene, secret) as reader, scene.outside() as browser:

        async def rush() -> None:
            found.append((await trade(browser, secret, "192.0.2.1")).status_code)

        async with anyio.create_task_group() as group:
            for _ in range(40):
                group.start_soon(rush)
        assert set(found) == {200, 429}
        assert found.count(429) > found.count(200)
        (link,) = await listed(owner, f"?chat={key(GROUP)}")
        assert link["opened"] == found.count(200) + 1
        assert (await reader.get(tape())).is_success
        assert (await trade(browser, secret, "192.0.2.2")).is_success


async def test_another_secret_s_kind_opens_nothing(scene: Scene, owner: httpx2.AsyncClient) -> None:
    secret, code = await secret_of(owner), await scene.code(OWNER)
    async with reading(scene, secret) as reader, scene.outside() as other:
        cookie = reader.cookies[READER_COOKIE]
        assert (await other.post("/console/code", json={"code": secret})).status_code == 403
        for wrong in (code, cookie):
            assert (await trade(other, wrong)).status_code in (403, 429)
        for name, value in (("tapeway_console", cookie), (READER_COOKIE, secret)):
            headers = {"Cookie": f"{name}={value}"}
            assert (await other.get(tape(), headers=headers)).status_code == 401


async def test_what_was_deleted_is_not_shown_by_a_link(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    entries = await tape_of(scene.gateway, f"plain:{GROUP}").read()
    said = next(one for one in entries if "plums are ripe" in str(one.payload))
    async with reading(scene, await secret_of(owner)) as reader:
        assert "plums are ripe" in (await reader.get(tape())).text
        await tape_of(scene.gateway, f"plain:{GROUP}").append(deletion(said.id, "9"))
        assert "plums are ripe" not in (await reader.get(tape())).text


async def test_of_links_made_at_once_a_chat_has_no_more_than_it_may(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    found = [(await made(owner)).status_code for _ in range(MAX_LINKS - 2)]
    async with scene.enter(ADMIN) as admin, anyio.create_task_group() as group:

        async def make(browser: httpx2.AsyncClient) -> None:
            found.append((await made(browser)).status_code)

        for browser in (owner, admin, owner):
            group.start_soon(make, browser)
    assert found.count(200) >= MAX_LINKS
    assert (await made(owner)).status_code == 422
    assert (await made(owner, OWNER)).status_code == 200
    (first, *_) = await listed(owner, f"?chat={key(OWNER)}")
    assert (await owner.post(f"{API}/links/{first['link']}/revoke", json={})).is_success


async def test_readers_come_back_later_when_the_console_reads_much(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    secret = await secret_of(owner)
    async with reading(scene, secret) as reader, scene.outside() as other:
        reads = scene.gateway.pulse.reads
        reads.turns.waiting += READS_BEFORE_READERS
        assert (await reader.get(tape())).status_code == 503
        assert (await trade(other, secret)).status_code == 503
        assert (await owner.get(tape())).is_success
        reads.turns.waiting -= READS_BEFORE_READERS
        assert (await reader.get(tape())).is_success
        assert (await trade(other, secret)).is_success
        (link,) = await listed(owner, f"?chat={key(GROUP)}")
        assert link["opened"] == 2
