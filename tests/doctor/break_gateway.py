"""Break the gateway's own forty: settings, disk, database, model, clock, port, plugins.

The tests may run as root, whom no permission stops: what cannot be written is a file system mounted
read-only, and the full disk is a small tmpfs. Without root, these two are skipped.
"""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import apsw
import orjson
import pytest

from gateway.doctor.checks.running import ask
from gateway.home import LOCK, Running, announce, find_running, locked
from gateway.storage.ledger.ledger import ledger_schema
from tape.entry import message
from tape.search.index_file import IndexFile
from tape.stores.sqlite import SqliteStore
from tests.doctor.scene import Scene, breaks
from tests.fakes.openai.script import Failure, Hang, Reply, Request, Text, context_length_exceeded
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.raw_http import raw_http
from tests.kit.gateways import gateway_process
from tests.kit.needs import DISK, ROOT
from tests.kit.waiting import Patience

Variables = AsyncIterator[dict[str, str]]

NOBODY = 65534
ANSWER = b'data: {"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}\n\n'


# --- settings


@breaks("settings.value", "home.open")
async def value(scene: Scene) -> Variables:
    environ = scene.environ(HTTP__PORT="many")
    scene.home.chmod(0o750)
    yield environ


@breaks("settings.name", "env.open", "port", "database.text")
async def name(scene: Scene) -> Variables:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        environ = scene.environ(HTTP__PORT=str(taken.getsockname()[1]), AGENT__MODLE="offline")
        file = scene.home / ".env"
        file.write_text("TAPEWAY_LOG__LEVEL=error\n")
        file.chmod(0o644)
        (scene.home / "tapeway.db").write_text("Dear diary, " * 1000)
        yield environ


@breaks("settings.toml")
async def toml(scene: Scene) -> Variables:
    environ = scene.environ()
    (scene.home / "tapeway.toml").write_text("[agent\nmodel = 1")
    yield environ


@breaks("settings.env_file")
async def env_file(scene: Scene) -> Variables:
    yield {**scene.environ(), "TAPEWAY_ENV_FILE": str(scene.folder / "gone.env")}


@breaks("settings.secret")
async def secret(scene: Scene) -> Variables:
    secrets = scene.folder / "secrets"
    secrets.mkdir()
    elsewhere = scene.folder / "token"
    elsewhere.write_text("123456:A")
    (secrets / "TAPEWAY_TELEGRAM__TOKEN").symlink_to(elsewhere)
    yield scene.environ(SECRETS=str(secrets))


@breaks("settings.here")
async def here(scene: Scene) -> Variables:
    scene.cwd = scene.folder / "project"
    scene.cwd.mkdir()
    (scene.cwd / ".env").write_text("TAPEWAY_AGENT__MODEL=another\n")
    yield scene.environ()


# --- folders and the disk


@contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    folder.mkdir(mode=0o700)
    command = ["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        if os.environ.get("TAPEWAY_TEST_DISK") == "required":
            pytest.fail("no small disk can be mounted")
        pytest.skip(DISK)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(path: Path) -> None:
    """Write until nothing more can be written."""
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))


@breaks("home.other_user", "env.other_user")
async def other_user(scene: Scene) -> Variables:
    """Give the home to another user, and take from root what sets it apart in the file system."""
    scene.prefix = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    tried = subprocess.run([*scene.prefix, "true"], capture_output=True, check=False)  # noqa: ASYNC221
    if tried.returncode:
        pytest.skip(ROOT)
    environ = scene.environ()
    (scene.home / ".env").touch()
    os.chown(scene.home, NOBODY, NOBODY)
    yield environ


@breaks("home.read_only")
async def read_only(scene: Scene) -> Variables:
    with small_disk(scene.home):
        subprocess.run(["mount", "-o", "remount,ro", str(scene.home)], check=True)  # noqa: ASYNC221
        yield scene.environ(WORKSPACE=str(scene.folder))


@breaks("disk.full")
async def full(scene: Scene) -> Variables:
    with small_disk(scene.home):
        fill(scene.home / "filler")
        yield scene.environ(WORKSPACE=str(scene.folder))


# --- the database and the search index, together with the model


async def database(scene: Scene) -> Path:
    """Make the database of an instance that is well, with a few hundred entries."""
    path = scene.home / "tapeway.db"
    store = SqliteStore.open(path, [ledger_schema()])
    await store.append("one", [message("user", f"{n} pears " * 20) for n in range(300)])
    await store.indexed()
    await store.close()
    return path


def model_of(server: FakeOpenAI, **more: str) -> dict[str, str]:
    return {
        "AGENT__MODEL": "model",
        "AGENT__API_KEY": "a-key-of-the-tests",
        "AGENT__BASE_URL": server.base_url,
        **more,
    }


@breaks("database.torn", "workspace.file", "model.key")
async def torn(scene: Scene) -> Variables:
    async with FakeOpenAI(api_key="another-key") as server:
        (scene.folder / "workspace").touch()
        environ = scene.environ(WORKSPACE=str(scene.folder / "workspace/in"), **model_of(server))
        path = await database(scene)
        with path.open("r+b") as file:
            file.seek(path.stat().st_size // 2)
            file.write(b"torn" * 4096)
        yield environ


@breaks("database.newer", "model.down")
async def newer(scene: Scene) -> Variables:
    async with FakeOpenAI() as server:
        environ = scene.environ(**model_of(server))
    with closing(apsw.Connection(str(await database(scene)))) as connection:
        connection.execute("INSERT INTO migration (name, version) VALUES ('tape', 99)")
    yield environ


@breaks("database.foreign", "model.name")
async def foreign(scene: Scene) -> Variables:
    async with FakeOpenAI(models=["small", "large"]) as server:
        environ = scene.environ(**model_of(server, AGENT__MODEL="smal"))
        with closing(apsw.Connection(str(scene.home / "tapeway.db"))) as connection:
            connection.execute("CREATE TABLE migration (name, version); PRAGMA application_id=7")
        yield environ


@breaks("index.broken", "model.slow")
async def index(scene: Scene) -> Variables:
    async with FakeOpenAI(default=lambda _request: Hang()) as server:
        environ = scene.environ(**model_of(server, AGENT__READ_TIMEOUT="0.3"))
        path = await database(scene)
        IndexFile(path).drop()  # its log, too
        IndexFile(path).path.write_bytes(b"no index" * 1024)
        yield environ


@breaks("model.no_key", "instance", "port.exposed")
async def no_key(scene: Scene) -> Variables:
    environ = scene.environ(AGENT__MODEL="model", HTTP__HOST="0.0.0.0")
    with (scene.home / LOCK).open("w") as file:
        file.write("1")
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        yield environ


@breaks("model.html", "instance.database")
async def html(scene: Scene) -> Variables:
    shared = scene.folder / "shared"
    shared.mkdir()
    async with raw_http(b"<html><body>Welcome</body></html>", content_type="text/html") as url:
        more = {"AGENT__MODEL": "model", "AGENT__BASE_URL": url}
        with (shared / "tapeway.db.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield scene.environ(TAPE__URL=f"sqlite://{shared}/tapeway.db", **more)


@breaks("model.tools", "budget.price")
async def tools(scene: Scene) -> Variables:
    def answer(request: Request) -> Reply:
        refused = "This model does not support tools."
        return Failure(400, refused) if "tools" in request.body else Text(("ok",))

    async with FakeOpenAI(default=answer) as server:
        yield scene.environ(**model_of(server), BUDGET__MEMBER_COST="1")


# --- the machine


@breaks("clock.platform")
async def clock_of_telegram(scene: Scene) -> Variables:
    past = format_datetime(datetime.now(UTC) - timedelta(hours=2), usegmt=True)
    me = {"id": 7, "is_bot": True, "first_name": "Bot", "username": "robin_bot"}
    body = orjson.dumps({"ok": True, "result": me})
    async with raw_http(body, content_type="application/json", more=[f"date: {past}"]) as url:
        more = {"TELEGRAM__TOKEN": f"123456:{'A' * 35}", "TELEGRAM__BASE_URL": f"{url}/bot"}
        yield scene.environ(**more)


@breaks("clock.model")
async def clock(scene: Scene) -> Variables:
    past = format_datetime(datetime.now(UTC) - timedelta(hours=2), usegmt=True)
    async with raw_http(ANSWER, b"data: [DONE]\n\n", more=[f"date: {past}"]) as url:
        yield scene.environ(AGENT__MODEL="model", AGENT__BASE_URL=url)


@contextmanager
def announced(scene: Scene, url: str) -> Iterator[None]:
    """Hold the home's lock, and publish an address, as a running gateway does."""
    with locked(scene.home):
        announce(scene.home, Running(os.getpid(), url, "a-token-of-the-tests"))
        yield


@breaks("gateway.silent")
async def silent(scene: Scene) -> Variables:
    environ = scene.environ()
    async with FakeOpenAI() as gone:
        pass
    with announced(scene, gone.base_url.removesuffix("v1")):
        yield environ


@breaks("gateway.store", "channel.stalled", "channel.unfit", "index.behind")
async def unwell(scene: Scene) -> Variables:
    """Stand in for a gateway whose disk is full and whose platforms are silent, on its socket."""
    environ = scene.environ()
    body = {
        "status": "not ready",
        "channels": {
            "telegram": {"state": "deaf", "deaf_seconds": 400.5},
            "discord": {"state": "unfit", "why": "the token is refused"},
        },
        "store": {"state": "away", "seconds": 9, "why": "the disk is full"},
        # What the same server answers at /api/tapes/index.
        "ready": False,
        "left": 7,
        "problem": "",
    }
    async with raw_http(orjson.dumps(body), content_type="application/json") as url:
        with announced(scene, url.removesuffix("v1")):
            (scene.home / "tapeway.db").touch()
            yield environ


@breaks("channel.down")
async def channel(scene: Scene) -> Variables:
    with socket.create_server(("127.0.0.1", 0)) as once:
        port = once.getsockname()[1]
    more = {
        "TELEGRAM__TOKEN": f"123456:{'A' * 35}",
        "TELEGRAM__BASE_URL": f"http://127.0.0.1:{port}/bot",
    }
    environ = scene.environ(**more)
    async with gateway_process(environ, scene.home):
        patience = Patience("the gateway has a state of Telegram")
        while await state_of(scene.home, "telegram") in (None, "starting"):
            await patience.pause()
        yield environ


async def state_of(home: Path, name: str) -> str | None:
    """Return the state of a channel of a running gateway."""
    running = find_running(home)
    if running is None:
        return None
    _status, body = await ask(running, "/health/ready")
    return str(body["channels"][name]["state"])


# --- plugins


def install(scene: Scene, **modules: str) -> str:
    """Write each plugin's module and its metadata; return the folder for PYTHONPATH."""
    folder = scene.folder / "site"
    for plugin, source in modules.items():
        info = folder / f"{plugin}-1.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {plugin}\nVersion: 1\n")
        (info / "entry_points.txt").write_text(f"[tapeway]\n{plugin} = {plugin}_plugin:Plugin\n")
        (folder / f"{plugin}_plugin.py").write_text(source)
    return str(folder)


HOOK = "from gateway.plugin import hookimpl\n\n\nclass Plugin:\n    @hookimpl\n"


@breaks("plugin.import", "plugin.signature", "plugin.hook", "model.window")
async def plugins(scene: Scene) -> Variables:
    site = install(
        scene,
        imports="raise RuntimeError('no such thing')\n",
        signs=f"{HOOK}    def resolve_session(self, letter): ...\n",
        raises=f"{HOOK}    def provide_tools(self): raise RuntimeError('broken')\n",
    )
    async with FakeOpenAI(models=["model"], default=lambda _: context_length_exceeded()) as server:
        yield {**scene.environ(**model_of(server)), "PYTHONPATH": site}


@breaks("plugin.exit")
async def exits(scene: Scene) -> Variables:
    site = install(scene, ends="from os import _exit\n\nprint('bye')\n_exit(7)\n")
    yield {**scene.environ(), "PYTHONPATH": site}
