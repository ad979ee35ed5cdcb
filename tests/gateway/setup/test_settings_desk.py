"""What the owner of the instance sets in the console: models, and what is never written or sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from gateway.embeddings.registry import make_embedder
from gateway.settings import load_settings
from tape.errors import EmbedderFailed
from tests.canaries import KEY
from tests.fakes.openai.script import Text, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import until
from tests.gateway.intake.test_access import MESSAGE, Brings, PlainChannel
from tests.gateway.setup.desk import save, set_up, shown, try_out
from tests.gateways import gateway_of, tape_of, with_plugins

pytestmark = pytest.mark.anyio

OTHER_KEY = "sk-canary-of-another-server-77aa"


def stored(server: FakeOpenAI, model: str = "first") -> str:
    """Return the lines of a `.env` with a model."""
    return (
        f"# mine\nTAPEWAY_AGENT__MODEL={model}\nTAPEWAY_AGENT__BASE_URL={server.base_url}\n"
        f"TAPEWAY_AGENT__API_KEY={KEY}\n"
    )


def fields(may: dict[str, object], part: str = "model") -> dict[str, dict[str, object]]:
    """Return what is shown of a part's fields, by name."""
    parts = may["parts"]
    assert isinstance(parts, list)
    (found,) = [one for one in parts if one["name"] == part]
    return {field["name"]: field for field in found["fields"]}


async def test_another_model_answers_from_the_next_turn_on(tmp_path: Path) -> None:
    gate, channel = asyncio.Event(), PlainChannel()
    plugins = with_plugins(Brings(channel))
    async with (
        FakeOpenAI(api_key=KEY) as server,
        set_up(
            tmp_path / "h", stored(server), plugins=plugins, only=["plain"], ACCESS__MODE="open"
        ) as (_gateway, client),
    ):
        server.enqueue(Text(("slow ", "answer"), gate=gate))
        await channel.host.accept([MESSAGE])
        await until(lambda: _is(len(server.requests) == 1))
        answer = await save(client, "model", base_url=server.base_url, model="second", key="")
        assert answer.json()["well"], answer.text
        gate.set()
        await until(lambda: _is(len(channel.posts) == 1))
        await channel.host.accept([replace(MESSAGE, ext_id="-100/2", message_id="2")])
        await until(lambda: _is(len(channel.posts) == 2))
        assert channel.posts[0].text == "slow answer"
        models = [one.body["model"] for one in server.requests if one.method == "POST"]
        assert models == ["first", "second", "second"]  # the one in the middle tried it
        assert (await client.get("/api/console/channels")).json()["model"]["name"] == "second"
        may = await shown(client)
        assert fields(may)["model"]["value"] == "second"
        rows = (await client.get("/api/console/settings")).json()["settings"]
        (row,) = [row for row in rows if row["name"] == "TAPEWAY_AGENT__MODEL"]
        assert (row["value"], row["origin"]) == ("second", "env-file")


async def test_a_turn_has_the_prices_of_the_model_that_began_it(tmp_path: Path) -> None:
    gate, channel = asyncio.Event(), PlainChannel()
    plugins, prices = with_plugins(Brings(channel)), {"AGENT__PRICE_OUTPUT": "1000000"}
    async with (
        FakeOpenAI(api_key=KEY) as server,
        set_up(
            tmp_path / "h",
            stored(server),
            plugins=plugins,
            only=["plain"],
            ACCESS__MODE="open",
            **prices,
        ) as (gateway, client),
    ):
        server.enqueue(Text(("slow ", "answer"), gate=gate, usage=Usage(100, 3)))
        await channel.host.accept([MESSAGE])
        await until(lambda: _is(len(server.requests) == 1))
        answer = await save(client, "model", base_url=server.base_url, model="second", key="")
        assert answer.json()["well"], answer.text
        gate.set()
        await until(lambda: _is(len(channel.posts) == 1))
        await gateway.idle()
        (row,) = await gateway.services.ledger.usage.read("turn", "2000-01-01")
        assert row["cost"] == 3
        figures = await channel.host.figures("plain", MESSAGE.chat_id, channel.posts[0].idem)
        assert figures is not None
        assert (figures["model"], figures["cost"]) == ("first", 3)


async def test_a_model_s_section_that_was_written_since_the_start_is_used_as_it_was_tried(
    tmp_path: Path,
) -> None:
    home, channel = tmp_path / "h", PlainChannel()
    plugins = with_plugins(Brings(channel))
    lines = f"TAPEWAY_AGENT__API_KEY={KEY}\nTAPEWAY_AGENT__MODEL=first\n"
    async with (
        FakeOpenAI() as former,
        FakeOpenAI() as other,
        set_up(home, lines, plugins=plugins, only=["plain"], ACCESS__MODE="open") as (_, client),
    ):
        section = '[models.{0}]\nbase_url = "{1}"\n'
        (home / "tapeway.toml").write_text(
            section.format("second", other.base_url) + section.format("first", former.base_url)
        )
        answer = await save(client, "model", base_url="", model="second", key=OTHER_KEY)
        assert answer.json()["well"], answer.text
        tried = len(other.requests)
        await channel.host.accept([MESSAGE])
        await until(lambda: _is(len(channel.posts) == 1))
        assert len(other.requests) == tried + 1
        assert other.requests[-1].headers["authorization"] == f"Bearer {OTHER_KEY}"
        assert former.requests == []


async def test_a_report_hides_a_key_that_was_set_since_the_start(tmp_path: Path) -> None:
    channel = PlainChannel()
    plugins = with_plugins(Brings(channel))
    async with (
        FakeOpenAI() as server,
        set_up(
            tmp_path / "h", stored(server), plugins=plugins, only=["plain"], ACCESS__MODE="open"
        ) as (gateway, client),
    ):
        await channel.host.accept([replace(MESSAGE, text=f"is it {OTHER_KEY}?")])
        await until(lambda: _is(len(channel.posts) == 1))
        await gateway.idle()
        asked = {"message": "in-1"}
        assert OTHER_KEY in (await client.get("/api/explain", params=asked)).text
        answer = await save(client, "model", base_url=server.base_url, model="m", key=OTHER_KEY)
        assert answer.json()["well"], answer.text
        assert OTHER_KEY not in (await client.get("/api/explain", params=asked)).text


async def test_one_file_is_written_which_only_its_owner_may_read(tmp_path: Path) -> None:
    home = tmp_path / "h"
    async with (
        FakeOpenAI() as server,
        set_up(home, stored(server), only=["web"]) as (_gateway, client),
        FakeOpenAI(api_key=OTHER_KEY) as other,
    ):
        toml = '[agent]\nname = "Robin"\n'
        (home / "tapeway.toml").write_text(toml)
        (home / ".env").chmod(0o644)
        with capture_logs() as logs:
            answer = await save(
                client, "model", base_url=f"{other.base_url}/", model="m", key=OTHER_KEY
            )
        assert answer.json()["well"], answer.text
        assert OTHER_KEY not in answer.text
        assert OTHER_KEY not in (await client.get("/api/console/settings")).text
    assert (home / ".env").read_text() == (
        f"# mine\nTAPEWAY_AGENT__MODEL=m\nTAPEWAY_AGENT__BASE_URL={other.base_url}\n"
        f"TAPEWAY_AGENT__API_KEY={OTHER_KEY}\n"
    )
    assert (home / ".env").stat().st_mode & 0o777 == 0o600
    assert (home / "tapeway.toml").read_text() == toml
    assert not list(home.glob(".env.*"))
    (said,) = [line for line in logs if line["event"] == "settings.saved"]
    assert said["names"] == [
        "TAPEWAY_AGENT__MODEL",
        "TAPEWAY_AGENT__BASE_URL",
        "TAPEWAY_AGENT__API_KEY",
    ]
    assert (said["person"].startswith("web:"), said["part"]) == (True, "model")
    assert OTHER_KEY not in str(logs)


async def test_a_stored_key_is_never_sent_to_a_new_address(tmp_path: Path) -> None:
    async with (
        FakeOpenAI() as server,
        FakeOpenAI() as other,
        set_up(tmp_path / "h", stored(server), only=["web"]) as (_gateway, client),
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
async def test_what_was_meant_for_one_server_stays_with_it(tmp_path: Path, name: str) -> None:
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        lines = stored(server) + f'TAPEWAY_AGENT__{name}=\'{{"x-token": "abc"}}\'\n'
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


async def test_the_key_of_search_stays_with_the_server_that_search_shares(tmp_path: Path) -> None:
    home = tmp_path / "h"
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        own = "TAPEWAY_SEARCH__EMBEDDER=openai\nTAPEWAY_SEARCH__API_KEY=sk-canary-of-search-41f0\n"
        given = {"base_url": other.base_url, "model": "m", "key": OTHER_KEY}
        async with set_up(home, stored(server) + own, only=["web"], SEARCH__API_KEY="") as (
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
                file.write(f"TAPEWAY_SEARCH__BASE_URL={server.base_url}\n")
            answer = await save(client, "model", **given)
            assert answer.json()["well"], answer.text


async def test_search_without_a_key_uses_the_new_key_with_the_new_server_at_the_next_start(
    tmp_path: Path,
) -> None:
    home = tmp_path / "h"
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        lines = stored(server) + "TAPEWAY_SEARCH__EMBEDDER=openai\n"
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
        assert server.requests == []


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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    home = tmp_path / "h"
    home.mkdir()
    async with FakeOpenAI() as server:
        section = f'[models.first]\nbase_url = "{server.base_url}"\napi_key = "{KEY}"\n'
        (home / "tapeway.toml").write_text(section)
        async with set_up(home, "TAPEWAY_AGENT__MODEL=first\n", only=["web"]) as (_one, client):
            given = {"base_url": server.base_url, "model": "m", "key": ""}
            answer = await save(client, "model", **given)
            assert answer.status_code == 422
            assert "Enter the key for this address" in answer.json()["error"]
            assert server.requests == []
            answer = await save(client, "model", keyless="yes", **given)
            assert answer.json()["well"], answer.text
        assert {one.headers["authorization"] for one in server.requests} == {"Bearer none"}


async def test_what_the_environment_sets_is_shown_as_such_and_stays(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        environ = {"AGENT__API_KEY": KEY, "AGENT__BASE_URL": server.base_url}
        async with set_up(tmp_path / "h", only=["web"], **environ) as (_gateway, client):
            found = fields(await shown(client))
            assert found["key"] == {
                "name": "key",
                "variable": "TAPEWAY_AGENT__API_KEY",
                "secret": True,
                "set": True,
                "value": "",
                "fixed": "environment",
                "place": "the environment",
            }
            assert found["model"]["fixed"] == ""
            given = {"base_url": server.base_url, "model": "m"}
            for values, named in (
                ({**given, "key": "another"}, "TAPEWAY_AGENT__API_KEY"),
                ({**given, "base_url": other.base_url}, "TAPEWAY_AGENT__BASE_URL"),
            ):
                answer = await save(client, "model", **values)
                assert answer.status_code == 422
                assert f"{named} is set in the environment" in answer.json()["error"]
            answer = await save(client, "model", **given)
            assert answer.json()["well"], answer.text
        assert (tmp_path / "h" / ".env").read_text().endswith("\nTAPEWAY_AGENT__MODEL=m\n")
        assert other.requests == []


async def test_a_key_of_the_environment_goes_to_no_new_address(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, FakeOpenAI() as other:
        lines = f"TAPEWAY_AGENT__MODEL=m\nTAPEWAY_AGENT__BASE_URL={server.base_url}\n"
        async with set_up(tmp_path / "h", lines, only=["web"], AGENT__API_KEY=KEY) as (_one, owner):
            answer = await save(owner, "model", base_url=other.base_url, model="m", keyless="yes")
        assert (answer.status_code, other.requests) == (422, [])
        assert "TAPEWAY_AGENT__API_KEY" in answer.json()["error"]


async def test_a_model_that_does_not_answer_is_not_saved(tmp_path: Path) -> None:
    async with (
        FakeOpenAI(api_key=KEY) as server,
        set_up(tmp_path / "h", stored(server), only=["web"]) as (gateway, client),
    ):
        before = (tmp_path / "h" / ".env").read_text()
        given = {"base_url": server.base_url, "model": "m", "key": "sk-wrong-one-that-is-long"}
        for answer in (
            await try_out(client, "model", **given),
            await save(client, "model", **given),
        ):
            found = answer.json()
            assert found["well"] is False
            assert "refuses the API key: set TAPEWAY_AGENT__API_KEY" in found["lines"][0]["says"]
            assert "sk-wrong" not in answer.text
        assert (tmp_path / "h" / ".env").read_text() == before
        assert gateway.services.settings.agent.model == "first"


async def test_trying_writes_nothing(tmp_path: Path) -> None:
    async with FakeOpenAI() as server, set_up(tmp_path / "h", only=["web"]) as (gateway, client):
        answer = await try_out(client, "model", base_url=server.base_url, model="m", key=OTHER_KEY)
        assert answer.json()["well"], answer.text
        assert gateway.services.settings.agent.model == "offline"
    assert not (tmp_path / "h" / ".env").exists()


@pytest.mark.parametrize(
    ("part", "values", "sentence"),
    [
        ("model", {"model": ""}, "Name a model"),
        ("model", {"model": "m", "base_url": "file:///etc/passwd"}, "begins with http"),
        ("model", {"model": "m\nTAPEWAY_HTTP__HOST=0.0.0.0"}, "has characters"),
        ("model", {"model": "m", "key": "k" * 2001}, "too long"),
        ("model", {"model": "m", "workspace": "/"}, "Only base_url, key, keyless, model"),
        ("model", {"model": "m", "base_url": "http://(redacted)@h/v1"}, "Enter the whole value"),
        ("telegram", {"token": "not a token"}, "TAPEWAY_TELEGRAM__TOKEN"),
        ("telegram", {"token": ""}, "Enter the token"),
        ("telegram", {"token": "1:x", "base_url": "http://evil"}, "Only token"),
        ("slack", {"bot_token": "xapp-1-2"}, "it begins with xoxb-"),
        ("http", {"host": "0.0.0.0"}, "nothing of that name"),
    ],
)
async def test_what_is_not_valid_is_refused_with_a_sentence(
    tmp_path: Path, part: str, values: dict[str, str], sentence: str
) -> None:
    async with set_up(tmp_path / "h", only=["web"]) as (_gateway, client):
        answer = await save(client, part, **values)
    assert (answer.status_code, sentence in answer.json()["error"]) == (422, True), answer.text
    assert not (tmp_path / "h" / ".env").exists()


async def test_of_two_people_who_save_the_second_reads_that_it_has_changed(tmp_path: Path) -> None:
    async with (
        FakeOpenAI() as server,
        set_up(tmp_path / "h", stored(server), only=["web"]) as (gateway, client),
    ):
        version = (await shown(client))["version"]
        given = {"base_url": server.base_url, "key": ""}
        first, second = await asyncio.gather(
            *(save(client, "model", version, model=name, **given) for name in ("one", "two"))
        )
        codes = sorted([first.status_code, second.status_code])
        assert codes == [200, 409]
        loser = first if first.status_code == 409 else second
        assert "have changed meanwhile" in loser.json()["error"]
        kept = "one" if first.is_success else "two"
        assert gateway.services.settings.agent.model == kept
        assert f"TAPEWAY_AGENT__MODEL={kept}\n" in (tmp_path / "h" / ".env").read_text()
        assert (await save(client, "model", "", model="m", **given)).status_code == 409


async def test_a_gateway_without_an_environment_has_no_button_either(tmp_path: Path) -> None:
    async with gateway_of(tmp_path) as gateway:
        async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client:
            assert (await client.get("/api/model")).status_code == 404
        assert await tape_of(gateway).read() == []


async def _is(value: bool) -> bool:
    return value
