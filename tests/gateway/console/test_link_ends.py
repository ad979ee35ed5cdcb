"""Read-only links: how they end, by themselves and by what people do."""

from __future__ import annotations

from datetime import timedelta

import anyio
import httpx2

from gateway.access.console_door import OPENING_DAYS
from gateway.access.console_links import MAX_READERS, READER_HOURS
from gateway.storage.holding import hold_all
from tape.unit_of_work import Unit
from tests.gateway.console.readers import API, DAY, listed, reading, secret_of, tape, trade
from tests.gateway.console.scene import ADMIN, OWNER, LeapingClock, Scene, until


async def test_a_revoked_link_is_shut_at_once_and_who_did_it_is_known(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    secret = await secret_of(owner)
    async with scene.enter(ADMIN) as admin, reading(scene, secret) as reader:
        (link,) = await listed(admin)
        assert (await reader.get(tape())).is_success
        found: list[bool] = []

        async def revoke(browser: httpx2.AsyncClient) -> None:
            answer = await browser.post(f"{API}/links/{link['link']}/revoke", json={})
            found.append(answer.json()["revoked"])

        async with anyio.create_task_group() as group:
            for browser in (admin, owner, admin, owner):
                group.start_soon(revoke, browser)
        assert sorted(found) == [False, False, False, True]
        assert (await reader.get(tape())).status_code == 401
        assert (await reader.get(tape(rest="/reader"))).status_code == 403
        assert (await trade(reader, secret)).status_code == 403
        (link,) = await listed(owner)
        assert link["state"] == "revoked"
        assert link["revoked"]
        assert link["revoker"] in ("plain:1", "plain:2")


async def test_links_and_cookies_end_by_themselves(
    scene: Scene, owner: httpx2.AsyncClient, clock: LeapingClock
) -> None:
    short, long = await secret_of(owner, hours=1), await secret_of(owner, hours=7 * DAY)
    async with reading(scene, short) as hour, reading(scene, long) as week:
        clock.ahead += timedelta(minutes=59)
        assert (await hour.get(tape())).is_success
        clock.ahead += timedelta(minutes=2)
        assert (await hour.get(tape())).status_code == 401
        assert (await trade(hour, short)).status_code == 403
        clock.ahead += timedelta(hours=READER_HOURS)
        assert (await week.get(tape())).status_code == 401
        assert (await trade(week, long)).is_success
        assert (await week.get(tape())).is_success
        clock.ahead += timedelta(days=7)
        assert (await week.get(tape())).status_code == 401
    async with scene.enter(OWNER) as again:
        assert [one["state"] for one in await listed(again)] == ["ended", "ended"]
        clock.ahead += timedelta(days=90)
    async with scene.enter(OWNER) as again:
        await secret_of(again)
        assert [one["state"] for one in await listed(again)] == ["open"]


async def test_a_link_is_dead_while_its_maker_may_not_see_the_chat(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    async with scene.enter(ADMIN) as admin:
        secret = await secret_of(admin)
    async with reading(scene, secret) as reader:
        await scene.grant(ADMIN, "member")
        assert (await reader.get(tape())).status_code == 401
        assert (await reader.get(tape(rest="/reader"))).status_code == 403
        async with scene.outside() as other:
            assert (await trade(other, secret)).status_code == 403
        assert [one["state"] for one in await listed(owner)] == ["lost"]
        await scene.grant(ADMIN, "admin")
        assert (await reader.get(tape())).is_success


async def test_who_is_erased_leaves_no_link(scene: Scene, owner: httpx2.AsyncClient) -> None:
    async with scene.enter(ADMIN) as admin, scene.holder() as holder:
        for revoking in (admin, owner):
            await secret_of(owner)
            (link,) = [one for one in await listed(owner) if one["state"] == "open"]
            await revoking.post(f"{API}/links/{link['link']}/revoke", json={})
        revokers = {one["revoker"] for one in await listed(owner)}
        assert revokers == {f"plain:{ADMIN}", f"plain:{OWNER}"}
        secret = await secret_of(admin)
        async with reading(scene, secret) as reader:
            body = {"what": "person", "name": f"plain:{ADMIN}", "sure": "erase"}
            begun = await holder.post(f"{API}/people/erase", json=body)
            path = f"{API}/people/erasures/{begun.json()['erasure']}"

            async def is_done() -> bool:
                return bool((await holder.get(path)).json()["state"] == "done")

            await until(is_done)
            assert (await reader.get(tape())).status_code == 401
        found = await listed(owner)
        assert [one["by"] for one in found] == [f"plain:{OWNER}"] * 2
        assert {one["revoker"] for one in found} == {"", f"plain:{OWNER}"}


async def test_links_of_long_ago_are_dropped_when_links_are_listed(
    scene: Scene, owner: httpx2.AsyncClient, clock: LeapingClock
) -> None:
    every = {"every": 1, "sessions": "[]", "now": "", "token": "", "limit": 9}
    await secret_of(owner)
    async with scene.holder() as holder:
        for days, left in ((OPENING_DAYS - 1, 1), (2, 0)):
            clock.ahead += timedelta(days=days)
            assert len(await listed(holder)) == left
            assert len(await scene.rows("console_links", **every)) == left


async def test_one_browser_more_than_a_link_admits_ends_the_oldest(
    scene: Scene, owner: httpx2.AsyncClient
) -> None:
    secret = await secret_of(owner)
    async with reading(scene, secret) as oldest, scene.outside() as browser:
        for _ in range(MAX_READERS - 1):
            assert (await trade(browser, secret)).is_success
        assert (await oldest.get(tape())).is_success
        assert (await trade(browser, secret)).is_success
        assert (await oldest.get(tape())).status_code == 401
        assert (await browser.get(tape())).is_success


async def test_a_restore_ends_all_links(scene: Scene, owner: httpx2.AsyncClient) -> None:
    services, unit = scene.gateway.services, Unit()
    async with reading(scene, await secret_of(owner)) as reader:
        hold_all(unit, services.clock.now(), "2026-01-02T00:00:00+00:00")
        await services.store.commit(unit)
        assert (await reader.get(tape())).status_code == 401
    assert [(one["state"], one["revoker"]) for one in await listed(owner)] == [("revoked", "")]


async def test_another_access_token_ends_links(scene: Scene, owner: httpx2.AsyncClient) -> None:
    async with reading(scene, await secret_of(owner)) as reader:
        scene.gateway.parts.door.open(scene.gateway.url, "another-token-of-sixteen")
        assert (await reader.get(tape())).status_code == 401
