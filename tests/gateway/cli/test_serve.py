"""What `tapeway gateway` says about its model when it starts."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from psycopg import conninfo

from tests.fakes.cutting_proxy import CuttingProxy
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.cli.said import said
from tests.kit.gateways import gateway_process, make_environ, run_process
from tests.kit.waiting import Patience
from tests.postgres import fresh_database


async def test_the_banner_says_how_fast_the_model_answered(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    more = {"AGENT__PROBE": "true", "LOG__LEVEL": "error"}
    environ = make_environ(tmp_path / "home", model, **more)
    line = await said(tmp_path, environ, "answered in")
    assert re.match(r"  model answered in \d+\.\d s", line)


async def test_the_banner_says_the_remedy_for_a_dead_server(tmp_path: Path) -> None:
    async with FakeOpenAI() as gone:
        pass
    more = {"AGENT__PROBE": "true", "LOG__LEVEL": "error"}
    environ = make_environ(tmp_path / "home", gone, **more)
    line = await said(tmp_path, environ, "nothing answers")
    assert line.startswith(f"  The model can't be used: nothing answers at {gone.base_url}: start")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "TAPEWAY_AGENT__BASE_URL"])
async def test_a_server_without_a_model_names_the_missing_variable(
    tmp_path: Path, name: str
) -> None:
    environ = make_environ(tmp_path / "home") | {name: "http://127.0.0.1:9/v1"}
    line = await said(tmp_path, environ, f"{name} is set")
    assert "TAPEWAY_AGENT__MODEL is missing" in line


@pytest.mark.parametrize("name", ["TAPEWAY_AGENT__BASE_URL", "OPENAI_BASE_URL"])
async def test_an_address_without_a_scheme_is_one_sentence(tmp_path: Path, name: str) -> None:
    more = {"AGENT__MODEL": "m", "AGENT__API_KEY": "k"}
    environ = make_environ(tmp_path / "home", None, **more) | {name: "127.0.0.1:9/v1"}
    code, _out, err = await run_process(environ, "gateway")
    assert code == 2
    assert err.count("\n") == 1
    assert f"{name}: an address begins with http:// or https://, so write http://127" in err


@asynccontextmanager
async def behind_a_proxy(tmp_path: Path) -> AsyncIterator[tuple[CuttingProxy, dict[str, str]]]:
    """Yield a proxy before an empty database, and the environment of a gateway behind it."""
    with fresh_database() as url:
        port = str(conninfo.conninfo_to_dict(url)["port"])
        async with CuttingProxy(int(port)) as proxy:
            there = url.replace(f":{port}/", f":{proxy.port}/")
            yield proxy, make_environ(tmp_path / "home", TAPE__URL=there)


@pytest.mark.postgresql
@pytest.mark.parametrize("trouble", ["away", "starting", "cut off", "broken"])
async def test_a_start_waits_for_a_server_that_starts_too(tmp_path: Path, trouble: str) -> None:
    home, log = tmp_path / "home", tmp_path / "gateway.log"
    async with behind_a_proxy(tmp_path) as (proxy, environ):
        proxy.away = trouble == "away"
        proxy.cut = "before" if trouble == "cut off" else None
        if trouble == "broken":  # after the migrations
            proxy.says = {b"pg_backend_pid": b""}
        if trouble == "starting":
            proxy.refusal = ("57P03", "the database system is starting up")
        async with gateway_process(environ, home) as gateway:
            patience = Patience("the gateway waits for its database")
            while not log.exists() or "store.awaited" not in log.read_text():
                await patience.pause()
            proxy.away, proxy.refusal, proxy.says = False, None, {}
            await gateway.url()
    assert log.read_text().count("store.awaited") == 1


@pytest.mark.postgresql
async def test_a_start_does_not_wait_for_what_somebody_has_to_change(tmp_path: Path) -> None:
    async with behind_a_proxy(tmp_path) as (proxy, environ):
        proxy.refusal = ("28P01", 'password authentication failed for user "tapeway"')
        code, out, err = await run_process(environ, "gateway")
    assert code == 1
    assert "correct user and password in TAPEWAY_TAPE__URL" in err
    assert "store.awaited" not in out + err
