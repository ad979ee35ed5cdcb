"""`tapeway health`: what a container asks every few seconds."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

import anyio.to_thread
import httpx2
import pytest

from channels.base import Channel
from channels.errors import ChannelUnfit
from channels.message import OutboundMessage, Receipt
from gateway.cli.service.health import ask, health
from gateway.home import Running, announce, locked
from gateway.hooks.specs import hookimpl
from gateway.settings.files import remember
from tape.entry import NewEntry, numbered
from tape.payloads import left_out
from tests.kit.gateways import gateway_of, gateway_process, make_environ, run_tapeway


@pytest.fixture(autouse=True)
def nothing_was_left_out() -> None:
    """Forget what views left out in the tests before: the process keeps it."""
    left_out.entries.clear()


class Unfit(Channel):
    name = "unfit"

    async def run(self) -> None:
        raise ChannelUnfit("the token was refused")

    async def stop(self) -> None:
        """Nothing runs."""

    async def deliver(self, message: OutboundMessage) -> list[Receipt]:
        return []


class Noted(Unfit):
    name = "noted"

    async def run(self) -> None:
        self.host.warn("a permission is missing")
        self.host.ready()
        await anyio.sleep_forever()


class Plugin:
    def __init__(self, channel: type[Channel] = Unfit) -> None:
        self._channel = channel

    @hookimpl
    def provide_channels(self) -> list[Channel]:
        return [self._channel()]


async def test_a_ready_gateway_is_told_with_its_address(tmp_path: Path) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, None, HTTP__HOST="0.0.0.0", HTTP__TOKEN_FILE="http-token")
    async with gateway_process(environ, home) as running:
        url = await running.url()
        assert await run_tapeway(environ, "health") == (0, f"ready: {url}\n", "")


async def test_a_channel_that_is_not_ready_is_named_with_why(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, None, Plugin()):
        ready, told = await anyio.to_thread.run_sync(ask, tmp_path)
    assert (ready, told) == (False, "not ready: unfit is unfit (the token was refused)")


async def test_what_a_channel_that_runs_has_to_say_is_told_too(tmp_path: Path) -> None:
    async with gateway_of(tmp_path, None, Plugin(Noted)) as gateway:
        ready, told = await anyio.to_thread.run_sync(ask, tmp_path)
    assert (ready, told) == (True, f"ready: {gateway.url}\nnoted: a permission is missing")


def test_no_gateway_is_told(tmp_path: Path) -> None:
    ready, told = ask(tmp_path)
    assert not ready
    assert f"no gateway is running on {tmp_path}" in told


def test_a_gateway_that_does_not_listen_yet_is_told(tmp_path: Path) -> None:
    with locked(tmp_path):
        ready, told = ask(tmp_path)
    assert not ready
    assert "starting or stopping" in told


@pytest.mark.parametrize("answer", [b"", b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nwhat?"])
def test_what_answers_something_else_is_not_ready(tmp_path: Path, answer: bytes) -> None:
    with locked(tmp_path), socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        announce(tmp_path, Running(os.getpid(), f"http://127.0.0.1:{port}/", "token"))

        async def look() -> tuple[bool, str]:
            asking = asyncio.ensure_future(asyncio.to_thread(ask, tmp_path))
            taken, _ = await asyncio.to_thread(server.accept)
            with taken:
                await asyncio.to_thread(taken.recv, 4096)
                taken.sendall(answer)
            return await asking

        ready, told = asyncio.run(look())
    assert not ready
    assert "does not answer" in told


def test_settings_that_name_no_home_are_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".tapeway").mkdir()
    (tmp_path / ".tapeway" / "tapeway.toml").write_text("home = [\n")
    assert health({}) == 1
    assert "tapeway.toml" in capsys.readouterr().err


def test_the_home_of_the_other_settings_is_used_where_the_environment_names_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env_file = tmp_path / ".env"
    env_file.write_text(f"TAPEWAY_HOME={tmp_path / 'other'}\n")
    remember({"TAPEWAY_ENV_FILE": str(env_file)})
    assert health({}) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert f"no gateway is running on {tmp_path / 'other'}" in said


async def test_it_imports_neither_settings_nor_an_sdk(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['tapeway', 'health']\n"
        "from gateway.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        # typer itself takes pydantic in as soon as it runs a command.
        "heavy = {'openai', 'gateway.settings', 'apsw', 'starlette', 'structlog', 'anyio'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        code,
        env={**os.environ, "TAPEWAY_HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, _err = await done.communicate()
    assert b"HEAVY []" in out


async def test_an_entry_that_views_left_out_is_named(tmp_path: Path) -> None:
    left_out.note("a tape", numbered([NewEntry("tool_result", {})], 6, "")[0])
    async with gateway_of(tmp_path):
        ready, told = await anyio.to_thread.run_sync(ask, tmp_path)
    assert ready
    assert "views leave out what they cannot show of the tape a tape: entry 7" in told


async def test_a_torn_end_that_was_cut_off_a_tape_is_named(tmp_path: Path) -> None:
    await anyio.Path(tmp_path / "tapes").mkdir()
    await anyio.Path(tmp_path / "tapes" / "torn.jsonl").write_bytes(b'{"id":1,')
    async with gateway_of(tmp_path, TAPE__URL=f"file://{tmp_path / 'tapes'}"):
        ready, told = await anyio.to_thread.run_sync(ask, tmp_path)
    assert ready
    assert "torn.jsonl ended in an unfinished write" in told


async def test_without_a_login_health_says_what_but_not_why(tmp_path: Path) -> None:
    async with gateway_of(
        tmp_path, None, Plugin(), HTTP__TOKEN="a-token-of-16-characters"
    ) as gateway:
        async with httpx2.AsyncClient(trust_env=False, timeout=60) as anyone:
            answer = await anyone.get(f"{gateway.url}health/ready")
        ready, known = await anyio.to_thread.run_sync(ask, tmp_path)
    assert answer.status_code == 503
    unfit = answer.json()["channels"]["unfit"]
    assert (unfit["state"], "why" in unfit) == ("unfit", False)
    assert "refused" not in answer.text
    assert (ready, known) == (False, "not ready: unfit is unfit (the token was refused)")
