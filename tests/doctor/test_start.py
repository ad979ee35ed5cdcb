"""Without doctor: the start itself names the twenty commonest troubles, with what to do."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import anyio
import pytest

from tests.doctor.break_gateway import install, model_of
from tests.doctor.break_platforms import CLOSED, slack_of, telegram_of
from tests.doctor.scene import MAKERS, Scene
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.slack.server import FakeSlack
from tests.fakes.telegram.faults import Refuse
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.forks import fork
from tests.kit.gateways import clean_environ
from tests.kit.waiting import Patience

TWENTY: Final = {
    # ends with one line
    "a value that is wrong": ("settings.value", ["TAPEWAY_HTTP__PORT", "for example"]),
    "a name that is misspelt": ("settings.name", ["did you mean TAPEWAY_AGENT__MODEL?"]),
    "a second instance": ("instance", ["already runs a gateway", "TAPEWAY_HOME"]),
    "a model without a key": ("no key", ["TAPEWAY_AGENT__API_KEY"]),
    "a port in use": ("port", ["Address already in use", "TAPEWAY_HTTP__PORT"]),
    "a home that is not writable": ("home.read_only", ["make it writable", "TAPEWAY_HOME"]),
    "a full disk": ("disk.full", ["the disk is full", "Free some space"]),
    "a newer database": ("database.newer", ["newer Tapeway", "install that version"]),
    "a database of another program": ("database.foreign", ["another program", "TAPEWAY_TAPE__URL"]),
    # runs, and says in the banner what does not
    "Telegram's token": ("telegram.revoked", ["Telegram does not know this token", "BotFather"]),
    "Discord's token": ("telegram.revoked", ["Discord doesn't accept this token", "Reset Token"]),
    "Slack's token": ("telegram.revoked", ["Slack does not know this bot token", "OAuth & Perm"]),
    "another platform's token": ("telegram.misplaced", ["this looks like a Discord bot token"]),
    "privacy mode": ("telegram.privacy", ["Privacy mode is on", "/setprivacy"]),
    "a webhook set elsewhere": ("telegram.privacy", ["another address (elsewhere.example)"]),
    "a missing intent": ("telegram.privacy", ["Message Content Intent is off", "switch on"]),
    "missing scopes": ("telegram.privacy", ["lacks a scope (files:read)", "reinstall"]),
    "a second reader": ("readers", ["Another program polls Telegram", "/revoke"]),
    "Socket Mode that is off": ("readers", ["Socket Mode is off", "Enable Socket Mode"]),
    "a platform out of reach": ("away", ["Telegram cannot be reached now", "_TELEGRAM__PROXY"]),
    "a proxy that is down": ("away", ["The proxy for Discord", "TAPEWAY_DISCORD__PROXY"]),
    "a plugin that fails": ("model key", ["The plugin faulty did not load", "uninstall"]),
    "a model's key": ("model key", ["The model can't be used", "API key"]),
    "a model that is down": ("away", ["The model can't be used", "nothing answers"]),
}
"""Maps each trouble to what breaks it, and to words of the start's output."""

SECONDS: Final = 60.0


@asynccontextmanager
async def no_key(scene: Scene) -> AsyncIterator[dict[str, str]]:
    yield scene.environ(AGENT__MODEL="model")


@asynccontextmanager
async def port(scene: Scene) -> AsyncIterator[dict[str, str]]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield scene.environ(HTTP__PORT=str(taken.getsockname()[1]))


@asynccontextmanager
async def readers(scene: Scene) -> AsyncIterator[dict[str, str]]:
    conflict = "Conflict: terminated by other getUpdates request"
    async with FakeTelegram() as telegram, FakeSlack() as slack:
        telegram.fail("getUpdates", *[Refuse(409, conflict)] * 20)
        slack.sockets.enabled = False
        yield scene.environ(**telegram_of(telegram), **slack_of(slack))


@asynccontextmanager
async def away(scene: Scene) -> AsyncIterator[dict[str, str]]:
    async with FakeOpenAI() as gone:
        model = model_of(gone)
    yield scene.environ(
        **model,
        AGENT__PROBE="true",
        TELEGRAM__TOKEN=f"123456:{'A' * 35}",
        TELEGRAM__BASE_URL=f"{CLOSED}/bot",
        DISCORD__TOKEN="MTAw.test.discord-token",
        DISCORD__PROXY=CLOSED,
    )


@asynccontextmanager
async def key(scene: Scene) -> AsyncIterator[dict[str, str]]:
    site = install(scene, faulty="raise RuntimeError('no such thing')\n")
    async with FakeOpenAI(api_key="another-key") as server:
        environ = scene.environ(**model_of(server), AGENT__PROBE="true")
        yield {**environ, "PYTHONPATH": site}


OWN: Final = {"no key": no_key, "port": port, "readers": readers, "away": away, "model key": key}
PLACES: Final = list(dict.fromkeys(place for place, _words in TWENTY.values()))


def broken(place: str, scene: Scene) -> AbstractAsyncContextManager[dict[str, str]]:
    if place in OWN:
        return OWN[place](scene)
    return next(maker for ids, maker in MAKERS.items() if place in ids)(scene)


@pytest.mark.parametrize("place", PLACES)
async def test_the_start_says_what_is_wrong_and_what_to_do(place: str, tmp_path: Path) -> None:
    words = [word for where, found in TWENTY.values() if where == place for word in found]
    async with broken(place, Scene(tmp_path)) as environ:
        said = await started(environ, words)
    assert [word for word in words if word not in said] == [], said
    assert "Traceback" not in said


async def started(environ: dict[str, str], words: list[str]) -> str:
    """Start a gateway until it has said the words or ended; return what it said for people."""
    with TemporaryFile() as err, TemporaryFile() as out:
        process = fork(clean_environ(environ), "gateway", out=out, err=err)
        try:
            with anyio.move_on_after(SECONDS):
                async with anyio.create_task_group() as group:

                    async def wait() -> None:
                        await process.wait()
                        group.cancel_scope.cancel()

                    group.start_soon(wait)
                    patience = Patience("the program has said the words")
                    while not all(word in said_in(err.fileno()) for word in words):
                        await patience.pause()
                    group.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await process.end()
        return said_in(err.fileno())


def said_in(file: int) -> str:
    """Return the lines for people: those of the log are JSON where no terminal is."""
    lines = os.pread(file, 1_000_000, 0).decode().splitlines()
    return "\n".join(line for line in lines if not line.startswith("{"))
