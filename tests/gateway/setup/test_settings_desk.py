"""What the owner of the instance sets in the console: models, and what is never written or sent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from gateway.app import Gateway
from tests.fakes.openai.script import Text, Usage
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.console.scene import until
from tests.gateway.setup.desk import OTHER_KEY, fields, save, set_up, shown, stored, try_out
from tests.kit.canaries import KEY
from tests.kit.gateways import tape_of, with_plugins
from tests.kit.plain_channels import MESSAGE, Brings, PlainChannel


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


async def test_a_report_hides_a_key_that_was_set_since_the_start(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = PlainChannel()
    plugins = with_plugins(Brings(channel))
    async with set_up(
        tmp_path / "h", stored(model), plugins=plugins, only=["plain"], ACCESS__MODE="open"
    ) as (gateway, client):
        await channel.host.accept([replace(MESSAGE, text=f"is it {OTHER_KEY}?")])
        await until(lambda: _is(len(channel.posts) == 1))
        await gateway.idle()
        asked = {"message": "in-1"}
        assert OTHER_KEY in (await client.get("/api/explain", params=asked)).text
        answer = await save(client, "model", base_url=model.base_url, model="m", key=OTHER_KEY)
        assert answer.json()["well"], answer.text
        assert OTHER_KEY not in (await client.get("/api/explain", params=asked)).text


async def test_one_file_is_written_which_only_its_owner_may_read(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "h"
    async with (
        set_up(home, stored(model), only=["web"]) as (_gateway, client),
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


async def test_what_the_environment_sets_is_shown_as_such_and_stays(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with FakeOpenAI() as other:
        environ = {"AGENT__API_KEY": KEY, "AGENT__BASE_URL": model.base_url}
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
            given = {"base_url": model.base_url, "model": "m"}
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


async def test_trying_writes_nothing(model: FakeOpenAI, tmp_path: Path) -> None:
    async with set_up(tmp_path / "h", only=["web"]) as (gateway, client):
        answer = await try_out(client, "model", base_url=model.base_url, model="m", key=OTHER_KEY)
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


async def test_of_two_people_who_save_the_second_reads_that_it_has_changed(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with set_up(tmp_path / "h", stored(model), only=["web"]) as (gateway, client):
        version = (await shown(client))["version"]
        given = {"base_url": model.base_url, "key": ""}
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


async def test_a_gateway_without_an_environment_has_no_button_either(gateway: Gateway) -> None:
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as client:
        assert (await client.get("/api/model")).status_code == 404
    assert await tape_of(gateway).read() == []


async def _is(value: bool) -> bool:
    return value
