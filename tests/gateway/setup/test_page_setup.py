"""What the button of the page refuses to write; tests/pages/test_room_model.py presses it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.setup.desk import set_up
from tests.kit.canaries import KEY


async def asked(home: Path, environ: dict[str, str], **given: str) -> tuple[int, str]:
    """Post a choice; return the status and the sentence."""
    async with set_up(home, only=["web"], **environ) as (_gateway, client):
        answer = await client.post("/api/model", json=given)
        body = answer.json()
        return answer.status_code, body.get("said") or body["error"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "Name a model"),
        ({"model": "offline", "address": "http://127.0.0.1:9/v1"}, "Name a model"),
        ({"model": "m"}, "Enter the server's address"),
        ({"model": "m", "address": "127.0.0.1:9/v1", "key": KEY}, "begins with http"),
        ({"model": "m", "server": "anthropic"}, "Enter your API key for Anthropic"),
    ],
)
async def test_what_is_missing_is_named(
    tmp_path: Path, given: dict[str, str], sentence: str
) -> None:
    status, says = await asked(tmp_path, {}, **given)
    assert (status, sentence in says, KEY in says) == (422, True, False)
    assert not (tmp_path / ".env").exists()


async def test_what_the_environment_sets_is_not_written_over(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    environ = {"AGENT__MODEL": "m", "AGENT__BASE_URL": model.base_url, "AGENT__API_KEY": KEY}
    status, says = await asked(tmp_path, environ, model="other", address=model.base_url, key="k")
    assert (status, model.requests) == (422, [])
    assert "TAPEWAY_AGENT__MODEL is set in the environment" in says
    assert not (tmp_path / ".env").exists()
