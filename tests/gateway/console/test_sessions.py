"""Who has a session of the console: owners see it, and end it."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Final

import pytest

from gateway.assembly import Internals
from gateway.console.rights import COOKIE
from gateway.settings.bounds import Bounds
from tests.gateway.console.following import following
from tests.gateway.console.scene import ADMIN, GROUP, OWNER, LeapingClock, Scene, hasty, key

ME, PEOPLE = "/api/console/me", "/api/console/people"


def end(session: str) -> str:
    return f"/api/console/people/sessions/{session}/end"


@hasty
async def test_an_owner_ends_a_session_and_what_is_open_by_it(scene: Scene) -> None:
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin:
        answer = await owner.get(PEOPLE)
        found = {one["person"]: one for one in answer.json()["sessions"]}
        assert found.keys() == {"plain:1", "plain:2"}
        assert found["plain:2"]["since"] < found["plain:2"]["until"]
        assert admin.cookies[COOKIE] not in answer.text
        async with following(admin) as follower:
            ended = await owner.post(end(found["plain:2"]["session"]), json={})
            assert ended.is_success
            await follower.is_sent_away()
        assert (await admin.get(ME)).status_code == 401
        again = await owner.post(end(found["plain:2"]["session"]), json={})
        assert again.status_code == 404
        (left,) = (await owner.get(PEOPLE)).json()["sessions"]
        assert left["person"] == "plain:1"


async def test_ending_a_session_ends_its_person_s_unused_link_but_not_what_they_show(
    scene: Scene,
) -> None:
    async with scene.enter(OWNER) as owner, scene.enter(ADMIN) as admin, scene.outside() as other:
        await scene.say(ADMIN, "here I am")
        body = {"chat": key(GROUP), "hours": 1}
        shown = (await admin.post("/api/console/links", json=body)).json()["secret"]
        codes = {person: await scene.code(person) for person in (ADMIN, OWNER)}
        found = (await owner.get(PEOPLE)).json()["sessions"]
        (name,) = [one["session"] for one in found if one["person"] == "plain:2"]
        assert (await owner.post(end(name), json={})).is_success
        for person, status in ((ADMIN, 403), (OWNER, 200)):
            used = await other.post("/console/code", json={"code": codes[person]})
            assert used.status_code == status
        assert (await other.post("/console/link", json={"link": shown})).is_success


FEW: Final = Internals(bounds=Bounds(sessions_read=2, console_sessions=3))


@pytest.mark.parametrize("internals", [FEW], ids=["few"])
async def test_of_many_sessions_the_newest_are_listed_and_each_can_be_ended(
    scene: Scene, clock: LeapingClock
) -> None:
    await scene.grant("5", "owner", account="second")
    async with AsyncExitStack() as stack:
        other = await stack.enter_async_context(scene.enter("5", account="second"))
        owner = await stack.enter_async_context(scene.enter(OWNER))
        people = (await owner.get(PEOPLE)).json()
        own = people["sessions"][0]["session"]
        assert people["sessions"][0]["person"] == "plain:1"
        assert people["more_sessions"] is False
        for _ in range(3):
            clock.ahead += timedelta(seconds=1)
            await stack.enter_async_context(scene.enter(ADMIN))
        people = (await owner.get(PEOPLE)).json()
        assert [one["person"] for one in people["sessions"]] == ["plain:2"] * 3
        assert people["more_sessions"] is True
        since = [one["since"] for one in people["sessions"]]
        assert since == sorted(since, reverse=True)
        behind = (await other.get(PEOPLE)).json()  # others' sessions come before the only one
        assert [one["person"] for one in behind["sessions"]] == ["plain:5"]
        assert behind["more_sessions"] is False
        assert (await owner.post(end(own), json={})).is_success
        assert (await owner.get(ME)).status_code == 401


async def test_each_owner_sees_the_sessions_of_their_account_and_an_admin_none(
    scene: Scene,
) -> None:
    await scene.grant("5", "owner", account="second")
    async with (
        scene.enter("5", account="second") as other,
        scene.enter(ADMIN) as admin,
        scene.holder() as holder,
    ):
        every = (await holder.get(PEOPLE)).json()["sessions"]
        assert {one["person"] for one in every} == {"plain:5", "plain:2"}
        own = (await other.get(PEOPLE)).json()["sessions"]
        assert [(one["person"], one["account"]) for one in own] == [("plain:5", "second")]
        assert (await admin.get(PEOPLE)).json()["sessions"] == []
        for one in every:
            assert (await admin.post(end(one["session"]), json={})).status_code == 404
        (admins,) = [one["session"] for one in every if one["person"] == "plain:2"]
        assert (await other.post(end(admins), json={})).status_code == 404
        assert (await admin.get(ME)).status_code == 200
        assert (await holder.post(end(admins), json={})).is_success
        assert (await admin.get(ME)).status_code == 401
