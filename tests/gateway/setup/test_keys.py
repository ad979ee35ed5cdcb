"""Keys that are set in the console: each stays with the server that it is meant for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.embeddings.registry import make_embedder
from gateway.settings import load_settings
from tape.errors import EmbedderFailed
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.setup.desk import OTHER_KEY, save, set_up, stored, try_out
from tests.kit.canaries import KEY


async def test_a_stored_key_is_never_sent_to_a_new_address(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with (
        FakeOpenAI() as other,
        set_up(tmp_path / "h", stored(model), only=["web"]) as (_gateway, client),
    ):
        before = (tmp_path / "h" / ".env").read_text()
        for answer in (
            await try_out(client, "model", base_url=other.base_url, model="m", key=""),
            await save(client, "model", base_url=other.base_url, model="m", key=""),
        ):
            assert answer.status_code == 422
            assert "Enter the key for this address" in answer.json()["error"]
        assert (other.requests, other.refused) == ([], [])
        assert (tmp_path / "h" / ".env").read_text() == before
        answer = await save(
            client, "model", base_url=other.base_url, model="m", key="", keyless="yes"
        )
        assert answer.json()["well"], answer.text
        assert {one.headers["authorization"] for one in other.requests} == {"Bearer none"}


async def test_a_section_of_the_model_with_another_address_demands_the_key_too(
    tmp_path: Path,
) -> None:
    home = tmp_path / "h"
    home.mkdir()
    async with FakeOpenAI() as other:
        section = f'[models.elsewhere]\nbase_url = "{other.base_url}"\n'
        (home / "tapeway.toml").write_text(section)
        lines = f"TAPEWAY_AGENT__API_KEY={KEY}\n"
        async with set_up(home, lines, only=["web"]) as (_gateway, client):
            answer = await save(client, "model", base_url="", model="elsewhere", key="")
        assert (answer.status_code, other.requests) == (422, [])
        assert "Enter the key for this address" in answer.json()["error"]


@pytest.mark.parametrize("name", ["HEADERS", "BODY"])
async def test_what_was_meant_for_one_server_stays_with_it(
    model: FakeOpenAI, tmp_path: Path, name: str
) -> None:
    async with FakeOpenAI() as other:
        lines = stored(model) + f'TAPEWAY_AGENT__{name}=\'{{"x-token": "abc"}}\'\n'
        async with set_up(tmp_path / "h", lines, only=["web"]) as (_gateway, client):
            answer = await save(client, "model", base_url=other.base_url, model="m", key="k")
        assert (answer.status_code, other.requests) == (422, [])
        assert f"TAPEWAY_AGENT__{name} is meant for the present server" in answer.json()["error"]


@pytest.mark.parametrize("model", ["m", "spare"])
@pytest.mark.parametrize(
    "line", ['api_key = "abc"', 'headers = { x-token = "abc" }', 'body = { user = "abc" }']
)
async def test_a_section_without_an_address_stays_with_the_server_that_it_follows(
    tmp_path: Path, line: str, model: str
) -> None:
    home = tmp_path / "h"
    home.mkdir()
    (home / "tapeway.toml").write_text(f"[models.spare]\n{line}\n")
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        lines = stored(server) + "TAPEWAY_AGENT__FALLBACK_MODELS=spare\n"
        given = {"base_url": other.base_url, "model": model, "key": OTHER_KEY}
        of_the_page = {"address": other.base_url, "model": model}
        async with set_up(home, lines, only=["web"]) as (_gateway, client):
            for answer in (
                await try_out(client, "model", **given),
                await save(client, "model", **given),
                await client.post("/api/model", json={**of_the_page, "key": OTHER_KEY}),
                await client.post("/api/model", json=of_the_page),
            ):
                assert answer.status_code == 422
                name = line.partition(" ")[0]
                said = f"{name} in [models.spare] is meant for the present server"
                assert said in answer.json()["error"]
                assert str(home / "tapeway.toml") in answer.json()["error"]
            assert (other.requests, other.refused) == ([], [])
            answer = await save(client, "model", base_url=server.base_url, model="second", key="")
            assert answer.json()["well"], answer.text


async def test_a_section_with_an_address_of_its_own_stands_in_no_way(tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir()
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        section = f'[models.spare]\nbase_url = "{server.base_url}"\napi_key = "{KEY}"\n'
        (home / "tapeway.toml").write_text(section)
        async with set_up(home, stored(server), only=["web"]) as (_gateway, client):
            given = {"base_url": other.base_url, "key": OTHER_KEY}
            for model in ("m", "spare"):  # as the first model, the section's key is not its key
                answer = await save(client, "model", model=model, **given)
                assert answer.json()["well"], answer.text
        assert {one.headers["authorization"] for one in other.requests} == {f"Bearer {OTHER_KEY}"}


async def test_the_key_of_search_stays_with_the_server_that_search_shares(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "h"
    async with FakeOpenAI() as other:
        own = "TAPEWAY_SEARCH__EMBEDDER=openai\nTAPEWAY_SEARCH__API_KEY=sk-canary-of-search-41f0\n"
        given = {"base_url": other.base_url, "model": "m", "key": OTHER_KEY}
        async with set_up(home, stored(model) + own, only=["web"], SEARCH__API_KEY="") as (
            _gateway,
            client,
        ):
            for answer in (
                await try_out(client, "model", **given),
                await save(client, "model", **given),
            ):
                assert answer.status_code == 422
                said = "TAPEWAY_SEARCH__API_KEY is meant for the present server"
                assert said in answer.json()["error"]
            assert (other.requests, other.refused) == ([], [])
            with (home / ".env").open("a") as file:
                file.write(f"TAPEWAY_SEARCH__BASE_URL={model.base_url}\n")
            answer = await save(client, "model", **given)
            assert answer.json()["well"], answer.text


async def test_search_without_a_key_uses_the_new_key_with_the_new_server_at_the_next_start(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "h"
    async with FakeOpenAI() as other:
        lines = stored(model) + "TAPEWAY_SEARCH__EMBEDDER=openai\n"
        async with set_up(home, lines, only=["web"], SEARCH__API_KEY="") as (_gateway, client):
            answer = await save(client, "model", base_url=other.base_url, model="m", key=OTHER_KEY)
            assert answer.json()["well"], answer.text
        environ = {"TAPEWAY_HOME": str(home), "TAPEWAY_SECRETS": "none"}
        embedder = make_embedder(load_settings(environ))
        assert embedder is not None
        with pytest.raises(EmbedderFailed):  # it has no embeddings, but hears what is sent
            await embedder.embed(["a"])
        await embedder.aclose()
        (asked,) = other.refused
        assert asked.request.path == "/v1/embeddings"
        assert asked.request.headers["authorization"] == f"Bearer {OTHER_KEY}"
        assert model.requests == []


async def test_the_key_of_openai_goes_to_no_section_s_server(tmp_path: Path) -> None:
    home = tmp_path / "h"
    home.mkdir()
    async with FakeOpenAI() as other:
        section = f'[models.elsewhere]\nbase_url = "{other.base_url}"\n'
        (home / "tapeway.toml").write_text(section)
        async with set_up(home, only=["web"]) as (gateway, client):
            assert gateway.desk is not None
            gateway.desk.environ["OPENAI_API_KEY"] = KEY
            given = {"base_url": "", "model": "elsewhere", "key": "", "keyless": "yes"}
            answer = await save(client, "model", **given)
            assert answer.json()["well"], answer.text
        assert {one.headers["authorization"] for one in other.requests} == {"Bearer none"}


async def test_the_key_of_openai_takes_no_section_s_place(
    model: FakeOpenAI, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    home = tmp_path / "h"
    home.mkdir()
    section = f'[models.first]\nbase_url = "{model.base_url}"\napi_key = "{KEY}"\n'
    (home / "tapeway.toml").write_text(section)
    async with set_up(home, "TAPEWAY_AGENT__MODEL=first\n", only=["web"]) as (_one, client):
        given = {"base_url": model.base_url, "model": "m", "key": ""}
        answer = await save(client, "model", **given)
        assert answer.status_code == 422
        assert "Enter the key for this address" in answer.json()["error"]
        assert model.requests == []
        answer = await save(client, "model", keyless="yes", **given)
        assert answer.json()["well"], answer.text
    assert {one.headers["authorization"] for one in model.requests} == {"Bearer none"}


async def test_a_key_of_the_environment_goes_to_no_new_address(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeOpenAI() as other:
        lines = f"TAPEWAY_AGENT__MODEL=m\nTAPEWAY_AGENT__BASE_URL={model.base_url}\n"
        async with set_up(tmp_path / "h", lines, only=["web"], AGENT__API_KEY=KEY) as (_one, owner):
            answer = await save(owner, "model", base_url=other.base_url, model="m", keyless="yes")
        assert (answer.status_code, other.requests) == (422, [])
        assert "TAPEWAY_AGENT__API_KEY" in answer.json()["error"]
