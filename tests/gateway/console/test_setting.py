"""Who sets something in the console, and where nothing can be set."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import OUTSIDE, OWNER, TOKEN, scene_of
from tests.gateway.setup.desk import save, set_up, shown
from tests.postgres import owned_database


async def test_only_the_owner_of_the_instance_sets_anything(tmp_path: Path) -> None:
    async with scene_of(tmp_path) as scene, scene.enter(OWNER) as owner_of_account:
        for path in ("model", "model/try", "telegram", "telegram/remove"):
            body = {"values": {"model": "m"}, "version": ""}
            answer = await owner_of_account.post(f"/api/console/settings/{path}", json=body)
            assert answer.status_code == 403, answer.text
        assert (await owner_of_account.get("/api/console/settings")).status_code == 403
        async with scene.holder() as holder:  # of a gateway that was given no way to do it
            assert "without the means" in (await shown(holder))["why"]
            assert (await save(holder, "model", "", model="m")).status_code == 403


async def test_another_site_saves_nothing(model: FakeOpenAI, tmp_path: Path) -> None:
    async with (
        set_up(tmp_path / "h", only=["web"]) as (gateway, _client),
        httpx2.AsyncClient(base_url=gateway.url, trust_env=False, headers=OUTSIDE) as browser,
    ):
        signed_in = await browser.post("/login", data={"token": TOKEN})
        assert signed_in.status_code == 303, signed_in.text
        values = {"base_url": model.base_url, "model": "m", "key": "k"}
        body = {"values": values, "version": (await shown(browser))["version"]}
        foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        answer = await browser.post("/api/console/settings/model", json=body, headers=foreign)
        assert (answer.status_code, model.requests) == (403, [])
        own = {"Origin": gateway.url.rstrip("/"), "Sec-Fetch-Site": "same-origin"}
        answer = await browser.post("/api/console/settings/model", json=body, headers=own)
        assert answer.is_success, answer.text


@pytest.mark.postgresql
async def test_processes_of_one_database_are_set_up_one_by_one(tmp_path: Path) -> None:
    with owned_database() as url:
        async with set_up(tmp_path / "h", only=["web"], TAPE__URL=url) as (_gateway, client):
            found = await shown(client)
            assert ("Several processes" in found["why"], found["parts"]) == (True, [])
            answer = await save(client, "model", "", model="m", base_url="http://127.0.0.1:9/v1")
            assert (answer.status_code, "Several processes" in answer.text) == (422, True)
    assert not (tmp_path / "h" / ".env").exists()
