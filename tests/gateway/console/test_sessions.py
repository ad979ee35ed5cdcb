"""Who has a session of the console: owners see it, and end it."""

from __future__ import annotations

import pytest

from gateway.console.rights import COOKIE
from tests.gateway.console.scene import ADMIN, OWNER, Scene
from tests.gateway.console.test_live import following

pytestmark = pytest.mark.anyio

ME, PEOPLE = "/api/console/me", "/api/console/people"


def end(session: str) -> str:
    return f"/api/console/people/sessions/{session}/end"


async def test_an_owner_ends_a_session_and_what_is_open_by_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.console.live.CHECK_SECONDS", 0.2)
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
