"""The way into the console: a link for one person, once, while they have a role."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import anyio

from gateway.access.console_door import LINK_SECONDS, NO_PAGE, SESSION_HOURS
from gateway.console.entrance import ADMITTED_EACH_SECONDS, MAX_ADDRESSES, Admissions
from gateway.console.rights import COOKIE
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import (
    ADMIN,
    GROUP,
    MEMBER,
    OWNER,
    STRANGER,
    TOKEN,
    LeapingClock,
    Scene,
    scene_of,
    until,
)
from tests.kit.clock import ManualClock
from tests.kit.gateways import make_settings, running, with_plugins
from tests.kit.plain_channels import Brings, PlainChannel

ME = "/api/console/me"


async def test_an_owner_enters_with_a_link_from_a_private_chat(scene: Scene) -> None:
    code = await scene.code(OWNER)
    async with scene.outside() as browser:
        assert (await browser.get(ME)).status_code == 401
        entered = await browser.post("/console/code", json={"code": code})
        cookie = entered.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=")
        assert {"HttpOnly", "SameSite=strict", "Path=/api/console", "Max-Age=43200"} <= set(
            cookie.split("; ")
        )
        assert "Secure" not in cookie
        found = (await browser.get(ME)).json()
    assert (found["person"], found["role"], found["account"]) == ("plain:1", "owner", "plain")
    assert found["instance"] is False


async def test_a_link_works_once_also_for_two_at_once(scene: Scene) -> None:
    code, found = await scene.code(ADMIN), []

    async def use() -> None:
        async with scene.outside() as browser:
            found.append((await browser.post("/console/code", json={"code": code})).status_code)

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(use)
    assert sorted(set(found) - {429}) == [200, 403] or found.count(200) == 1
    assert found.count(200) == 1


async def test_a_newer_link_ends_the_earlier_one(scene: Scene) -> None:
    earlier = await scene.code(OWNER)
    newer = await scene.code(OWNER)
    async with scene.outside() as browser:
        assert (await browser.post("/console/code", json={"code": earlier})).status_code == 403
        assert (await browser.post("/console/code", json={"code": newer})).status_code == 200


async def test_a_link_and_a_session_end_by_themselves(scene: Scene, clock: LeapingClock) -> None:
    async with scene.enter(OWNER) as browser:
        late = await scene.code(OWNER)
        clock.ahead += timedelta(seconds=LINK_SECONDS)
        assert (await browser.post("/console/code", json={"code": late})).status_code == 403
        assert (await browser.get(ME)).status_code == 200
        clock.ahead += timedelta(hours=SESSION_HOURS)
        assert (await browser.get(ME)).status_code == 401


async def test_a_link_opens_nothing_for_whom_has_lost_the_role_since(scene: Scene) -> None:
    code = await scene.code(ADMIN)
    await scene.grant(ADMIN, "none")
    async with scene.outside() as browser:
        answer = await browser.post("/console/code", json={"code": code})
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers
        assert (await browser.get(ME)).status_code == 401
    assert await scene.rows("console_openings", every=1, sessions="[]", limit=5) == []


async def test_a_role_that_is_lost_ends_what_it_opened_and_one_that_is_changed_changes_it(
    scene: Scene,
) -> None:
    async with scene.enter(ADMIN) as browser:
        await scene.grant(ADMIN, "owner")
        assert (await browser.get(ME)).json()["role"] == "owner"
        await scene.grant(ADMIN, "member")
        refused = await browser.get(ME)
    assert refused.status_code == 403
    assert refused.json() == {"error": "The console is for owners and admins."}


async def test_members_strangers_and_groups_get_no_link(scene: Scene) -> None:
    await scene.grant(MEMBER, "member")
    for person in (MEMBER, STRANGER):
        text = await scene.ask_for_link(person)
        assert text.startswith("Only owners and admins get into the console")
    before = len(scene.channel.posts)
    for person in (OWNER, ADMIN):
        await scene.say(person, ",console", GROUP, addressed=True)
    said = [post.text for post in scene.channel.posts[before:]]
    assert len(said) == 2
    assert all("#code=" not in text and "in private" in text for text in said)


async def test_a_process_without_a_page_says_so_to_everybody(tmp_path: Path) -> None:
    channel = PlainChannel()
    settings, plugins = make_settings(tmp_path, None), with_plugins(Brings(channel))
    async with running(settings, plugins=plugins, http=False) as gateway:
        scene = Scene(gateway, channel, FakeOpenAI())
        await scene.grant(ADMIN, "admin")
        for person in (ADMIN, STRANGER):
            assert await scene.ask_for_link(person) == NO_PAGE


async def test_the_code_stands_on_no_tape(scene: Scene) -> None:
    code = await scene.code(OWNER)
    words = await scene.words_of_tape(OWNER)
    assert "The console, for you alone" in words
    assert code not in words


async def test_signing_out_ends_the_session(scene: Scene) -> None:
    async with scene.enter(OWNER) as browser:
        cookie = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
        assert (await browser.post("/api/console/leave", json={})).status_code == 200
        async with scene.outside() as other:
            assert (await other.get(ME, headers=cookie)).status_code == 401


async def test_who_is_erased_has_no_link_and_no_session_any_more(scene: Scene) -> None:
    async with scene.enter(ADMIN) as browser, scene.enter(OWNER) as owner:
        code = await scene.code(ADMIN)
        async with scene.holder() as holder:
            body = {"what": "person", "name": f"plain:{ADMIN}", "sure": "erase"}
            begun = await holder.post("/api/console/people/erase", json=body)
            path = f"/api/console/people/erasures/{begun.json()['erasure']}"

            async def is_done() -> bool:
                return bool((await holder.get(path)).json()["state"] == "done")

            await until(is_done)
        assert (await browser.get(ME)).status_code == 401
        assert (await browser.post("/console/code", json={"code": code})).status_code == 403
        assert (await owner.get(ME)).status_code == 200


async def test_another_access_token_ends_links_and_sessions(
    tmp_path: Path, database: dict[str, str]
) -> None:
    async with scene_of(tmp_path, **database) as first:
        code = await first.code(OWNER)
        async with first.enter(ADMIN) as browser:
            cookie = {"Cookie": f"{COOKIE}={browser.cookies[COOKIE]}"}
            assert (await browser.get(ME)).status_code == 200
    async with scene_of(tmp_path, **database) as same, same.outside() as browser:
        assert (await browser.get(ME, headers=cookie)).status_code == 200
    again = {**database, "HTTP__TOKEN": f"another-{TOKEN}"}
    async with scene_of(tmp_path, **again) as second, second.outside() as browser:
        assert (await browser.get(ME, headers=cookie)).status_code == 401
        assert (await browser.post("/console/code", json={"code": code})).status_code == 403


async def test_the_token_s_holder_owns_the_instance(scene: Scene) -> None:
    async with scene.holder() as client:
        found = (await client.get(ME)).json()
    assert (found["role"], found["instance"]) == ("owner", True)


async def test_wrong_codes_are_answered_once_a_second(scene: Scene) -> None:
    async with scene.outside() as browser:
        found = [
            (await browser.post("/console/code", json={"code": "0" * 32})).status_code
            for _ in range(4)
        ]
    assert found[0] == 403
    assert 429 in found


async def test_an_address_has_its_turn_once_a_second_and_asking_early_costs_nothing() -> None:
    clock = ManualClock()
    admissions = Admissions(clock)
    assert [admissions.may_enter("192.0.2.1") for _ in range(3)] == [True, False, False]
    assert admissions.may_enter("192.0.2.2")
    assert admissions.may_enter("2001:db8::1")
    assert not admissions.may_enter("2001:db8::2")  # one customer has the whole network
    await clock.advance(ADMITTED_EACH_SECONDS * 0.75)
    assert not admissions.may_enter("192.0.2.1")
    await clock.advance(ADMITTED_EACH_SECONDS * 0.25)
    assert admissions.may_enter("192.0.2.1")
    for number in range(MAX_ADDRESSES):
        assert admissions.may_enter(f"198.18.{number // 250}.{number % 250}")
    assert admissions.may_enter("192.0.2.1")  # it is no longer known


async def test_the_link_names_the_public_address(tmp_path: Path) -> None:
    public = "https://tapeway.example.org"
    async with scene_of(tmp_path, HTTP__PUBLIC_URL=public) as scene:
        text = await scene.ask_for_link(OWNER)
        code = text.partition("#code=")[2].split()[0]
        async with scene.outside() as browser:
            entered = await browser.post("/console/code", json={"code": code})
    assert "Secure" in entered.headers["set-cookie"].split("; ")  # also behind a proxy
    assert f"{public}/console#code=" in text
    assert "only opens on the machine" not in text
