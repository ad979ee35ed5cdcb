"""Single checks of the doctor, on an instance that is well but for one thing."""

from __future__ import annotations

import socket
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from channels.checkup import CheckResult
from gateway.doctor.checks.database import check_database, check_index
from gateway.doctor.checks.gateway import check_gateway, check_port
from gateway.doctor.checks.model import check_model
from gateway.doctor.checks.plugins import check_plugins
from gateway.doctor.subject import find_subject
from gateway.settings.intervals import Intervals
from tests.doctor.break_gateway import announced, database, install, model_of
from tests.doctor.scene import Scene
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.raw_http import raw_http
from tests.kit.gateways import gateway_of
from tests.kit.ports import free_port


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def in_short(found: list[CheckResult]) -> list[tuple[str, str]]:
    """Return of each result the trouble, or the state if there is none, and what it says."""
    return [(one.trouble.id if one.trouble else one.state, one.says) for one in found]


async def test_a_port_for_metrics_is_free_taken_or_the_gateway_s_own(scene: Scene) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        environ = scene.environ(HTTP__METRICS_PORT=str(port))
        where = f"/metrics on 127.0.0.1:{port}"
        _main, other = in_short(await check_port(find_subject(environ, deep=False)))
        assert other == ("port.in_use", f"{where}: Address already in use")
    _main, free = in_short(await check_port(find_subject(environ, deep=False)))
    assert free == ("ok", f"{where} is free")
    async with gateway_of(scene.home, None, HTTP__METRICS_PORT=str(port)):
        _main, own = in_short(await check_port(find_subject(environ, deep=False)))
    assert own == ("ok", f"{where} is this gateway's, without a login")


async def test_the_port_of_another_gateway_s_metrics_is_known(scene: Scene, tmp_path: Path) -> None:
    port = str(free_port())
    other = tmp_path / "other"
    other.mkdir(mode=0o700)
    environ = scene.environ(HTTP__METRICS_PORT=port)
    async with gateway_of(other, None, HTTP__METRICS_PORT=port):
        _main, found = in_short(await check_port(find_subject(environ, deep=False)))
    assert found[0] == "port.other_gateway"


@pytest.mark.parametrize("kept_in", ["TOKEN", "TOKEN_FILE"])
async def test_a_token_that_the_start_finds_too_short_is_named(scene: Scene, kept_in: str) -> None:
    more = {"HTTP__HOST": "0.0.0.0", f"HTTP__{kept_in}": "fifteen-letters"}
    environ = scene.environ(**more)
    if kept_in == "TOKEN_FILE":
        (scene.home / "fifteen-letters").write_text("fifteen-letters\n")
    [found] = in_short(await check_port(find_subject(environ, deep=False)))
    assert found == ("port.token_short", "0.0.0.0:0 needs a longer token: 15 of 16 characters")


async def test_each_fallback_model_is_asked_and_one_that_fails_is_a_warning(scene: Scene) -> None:
    async with FakeOpenAI(models=["model", "second"]) as server:
        own = model_of(server, AGENT__FALLBACK_MODELS="second,third,offline")
        found = await check_model(find_subject(scene.environ(**own), deep=False))
    first, second, third = found
    assert first.says.startswith("model at ")
    assert (second.state, second.says[:27]) == ("ok", "fallback second: second at ")
    assert (third.state, third.trouble and third.trouble.id) == ("warning", "model.unknown")
    assert third.says.startswith("fallback third: ")


CHANNELS = """
from gateway.plugin import Channel, Checkup, CheckResult, Trouble, hookimpl


class Silent(Channel):
    name = "silent"

    async def run(self): ...
    async def stop(self): ...
    async def deliver(self, message): return []


class Looks(Silent):
    name = "looks"

    async def examine(self):
        trouble = Trouble("looks.dark", "It sees nothing.", "It is dark.", "Turn on the light.")
        found = CheckResult("looks.light", "failure", "no light in the hall", trouble)
        return Checkup("looks", "Bot", "", (found,))


class Fails(Silent):
    name = "fails"

    async def examine(self):
        raise RuntimeError("broken")


class Plugin:
    @hookimpl
    def provide_channels(self):
        return [Silent(), Looks(), Fails()]
"""


async def test_a_plugin_s_channel_examines_itself_or_is_said_to_be_loaded(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = install(scene, brings=CHANNELS)
    monkeypatch.syspath_prepend(site)
    environ = {**scene.environ(), "PYTHONPATH": site}
    fine, *found = in_short(await check_plugins(find_subject(environ, deep=False)))
    assert fine == ("ok", "brings: no problems")
    assert found == [
        ("note", "channel silent: loaded, not examined"),
        ("looks.dark", "no light in the hall"),
        ("plugin.faulty", "channel fails: examine raised RuntimeError('broken')"),
    ]


async def test_a_database_that_another_program_holds_is_not_called_unreadable(scene: Scene) -> None:
    environ = scene.environ()
    with closing(apsw.Connection(str(await database(scene)))) as holder:
        holder.pragma("locking_mode", "exclusive")
        holder.execute("BEGIN EXCLUSIVE; DELETE FROM migration WHERE name = 'none'")
        subject = find_subject(environ, deep=False)
        hasty = replace(subject, intervals=Intervals(database_busy=0.001))
        [found] = await check_database(hasty)
    assert (found.state, in_short([found])[0][0]) == ("warning", "database.locked")


@pytest.mark.parametrize("url", ["sqlite://{0}", "sqlite:{0}", "sqlite:{0}?mode=ro"])
async def test_the_tapes_file_is_found_as_the_store_finds_it(scene: Scene, url: str) -> None:
    environ = scene.environ(TAPE__URL=url.format(scene.home / "tapeway.db"))
    await database(scene)
    [found] = in_short(await check_database(find_subject(environ, deep=False)))
    assert found == ("ok", f"{scene.home / 'tapeway.db'}, under 1 MB, intact at a quick check")


async def test_a_tape_store_without_a_file_is_no_store_in_memory(scene: Scene) -> None:
    for url, trouble in (("sqlite:", "database.url"), ("memory:", "database.in_memory")):
        [found] = in_short(
            await check_database(find_subject(scene.environ(TAPE__URL=url), deep=False))
        )
        assert found[0] == trouble


async def test_a_link_in_the_database_s_place_is_what_keeps_the_gateway_from_starting(
    scene: Scene, tmp_path: Path
) -> None:
    environ = scene.environ()
    (await database(scene)).rename(tmp_path / "elsewhere.db")
    (scene.home / "tapeway.db").symlink_to(tmp_path / "elsewhere.db")
    [found] = in_short(await check_database(find_subject(environ, deep=False)))
    assert found[0] == "database.unreadable"


async def test_a_silent_gateway_breaks_no_other_check(scene: Scene) -> None:
    environ = scene.environ()
    with announced(scene, "http://127.0.0.1:1/"):
        assert await check_index(find_subject(environ, deep=False)) == []
    async with raw_http(b"<html>", content_type="text/html") as url:
        with announced(scene, url.removesuffix("v1")):
            assert await check_index(find_subject(environ, deep=False)) == []


async def test_a_home_that_may_not_be_looked_into_is_not_called_empty(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_arguments: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    environ = scene.environ()
    monkeypatch.setattr(Path, "open", refused)  # root may look everywhere
    [found] = in_short(await check_gateway(find_subject(environ, deep=False)))
    assert found == ("note", "not known, because this user may not look into the home folder")
