"""What the button of the page refuses to write; tests/pages/test_room_model.py presses it."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette

from gateway.cli.setup.page_setup import PageSetup
from tests.canaries import KEY
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import make_environ

pytestmark = pytest.mark.anyio


async def asked(environ: dict[str, str], **given: str) -> tuple[int, str]:
    """Post a choice; return the status and the sentence."""
    setup = PageSetup(environ)
    transport = httpx2.ASGITransport(app=Starlette(routes=setup.routes()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://page") as client:
        answer = await client.post("/api/model", json=given)
    assert setup.changed.is_set() == (answer.status_code == 200)
    body = answer.json()
    return answer.status_code, body.get("said") or body["error"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Name a model"),
        ({"model": "offline"}, "Name a model"),
        ({"model": "m"}, "Enter the server's address"),
        ({"model": "m", "address": "127.0.0.1:9/v1", "key": KEY}, "begins with http"),
        ({"model": "m", "server": "anthropic"}, "Enter your API key for Anthropic"),
    ],
)
async def test_what_is_missing_is_named(
    tmp_path: Path, given: dict[str, str], sentence: str
) -> None:
    status, says = await asked(make_environ(tmp_path), **given)
    assert (status, sentence in says, KEY in says) == (422, True, False)
    assert not (tmp_path / "tapeway.toml").exists()


async def test_what_the_environment_sets_is_not_written_over(tmp_path: Path) -> None:
    async with FakeOpenAI() as server:
        environ = make_environ(tmp_path, server)
        status, says = await asked(environ, model="other", address=server.base_url, key="k")
        assert (status, server.requests) == (422, [])
    assert "TAPEWAY_AGENT__MODEL is set otherwise in the environment" in says
    assert not (tmp_path / "tapeway.toml").exists()


async def test_processes_of_one_database_are_set_up_one_by_one(tmp_path: Path) -> None:
    environ = make_environ(tmp_path, None, TAPE__URL="postgresql://nobody@127.0.0.1:9/none")
    status, says = await asked(environ, model="m", address="http://127.0.0.1:9/v1")
    assert (status, "Several processes" in says) == (422, True)
