"""`tapeway doctor` as people and scripts use it, alone and beside a gateway."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import anyio
import apsw
import pytest

from channels.checkup import Checkup
from gateway.doctor import troubles
from gateway.doctor.diagnosis import Diagnosis
from gateway.doctor.examination import examine, wants_color
from gateway.doctor.results import ill, noted, well
from gateway.doctor.subject import find_subject
from gateway.settings.intervals import Intervals
from tests.doctor.break_gateway import announced, database, install, model_of
from tests.doctor.scene import Scene, examined, results
from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.fakes.raw_http import raw_http
from tests.kit.clock import START
from tests.kit.gateways import ROOT, clean_environ, gateway_process, run_process
from tests.kit.waiting import Patience

KEY = "a-key-of-the-tests"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


async def test_a_gateway_starts_while_doctor_runs_and_both_are_well(scene: Scene) -> None:
    held = asyncio.Event()
    async with FakeOpenAI(models=["model"]) as server, anyio.create_task_group() as group:
        server.enqueue(Text(("ok",), gate=held))
        environ = scene.environ(**model_of(server))
        found: list[int] = []

        async def look() -> None:
            found.append((await examined(environ))[0])

        group.start_soon(look)
        await server.wait_for_requests(2)  # the list of models, then the question
        async with gateway_process(environ, scene.home) as process:
            await process.url()
            held.set()
            patience = Patience("doctor has found the gateway")
            while not found:
                await patience.pause()
            code, report = await examined(environ)
            says = [one["says"] for one in results(report) if one["check"] == "gateway"]
            assert says == [f"process {process.pid} at {await process.url()} answers"]
    assert found == [0]
    assert code == 0
    ill = [one for one in results(report) if one["state"] not in ("ok", "note")]
    assert [one for one in ill if one["check"] != "disk"] == []  # how quick that is depends


async def test_doctor_leaves_nothing_in_a_home_and_creates_none(scene: Scene) -> None:
    environ = scene.environ()
    await examined(environ)
    assert list(scene.home.iterdir()) == []
    scene.home.rmdir()
    code, _report = await examined(environ)
    assert (code, scene.home.exists()) == (0, False)


async def test_plugins_are_checked_without_code_of_the_current_folder(scene: Scene) -> None:
    site = install(scene, well="class Plugin: pass\n")
    scene.cwd = scene.folder / "cloned"
    for package in ("gateway", "orjson"):
        (scene.cwd / package).mkdir(parents=True)
        (scene.cwd / package / "__init__.py").write_text("open('ran', 'w')\n")
    environ = {**scene.environ(), "PYTHONPATH": f"{ROOT}:{site}"}
    command = (sys.executable, "-P", "-m", "gateway.cli.main", "doctor", "--json")
    done = await anyio.run_process(command, env=clean_environ(environ), cwd=scene.cwd, check=False)
    says = {one["check"]: one["says"] for one in results(json.loads(done.stdout))}
    assert (
        says["plugins"]
        == "The plugin well: the plugin implements no hook. Mark its methods @hookimpl."
    )
    assert not (scene.cwd / "ran").exists()


async def test_the_table_has_words_for_states_and_no_colour_in_a_pipe(scene: Scene) -> None:
    environ = scene.environ(AGENT__MODEL="model")
    code, out, err = await run_process(environ, "doctor")
    assert (code, err) == (1, "")
    assert re.search(r"^failure  model: the model model needs a key", out, re.MULTILINE)
    assert f"         Do: {troubles.MODEL_KEY_MISSING.remedy[:40]}" in out
    assert out.splitlines()[-1].startswith("1 failure, ")
    assert "\x1b" not in out
    assert [
        line for line in out.splitlines() if len(line) > 80 and str(scene.folder) not in line
    ] == []


def test_an_invitation_has_a_line_of_its_own_however_long_it_is() -> None:
    link = f"https://discord.example/{'a' * 150}"
    text = Diagnosis(Path("/"), "1", START, [], [Checkup("discord", "Robin", link, ())])
    assert link in text.to_text(color=False).splitlines()


def test_colours_are_for_terminals_unless_no_color_is_set() -> None:
    assert wants_color({}, terminal=True)
    assert not wants_color({"NO_COLOR": "1"}, terminal=True)
    assert not wants_color({"TERM": "dumb"}, terminal=True)
    assert not wants_color({}, terminal=False)


def test_the_worst_state_decides_the_exit_code() -> None:
    fine = [well("port", "free"), noted("clock", "not compared")]
    low = ill("disk", troubles.DISK_LOW, "3 MB", "warning")
    bad = Checkup("slack", "", "", (ill("slack.token", troubles.DISK_FULL, "gone"),))
    cases = [
        (Diagnosis(Path("/"), "1", START, rows, more).status, more)
        for rows, more in ((fine, ()), ([*fine, low], ()), (fine, (bad,)))
    ]
    assert [status for status, _more in cases] == ["note", "warning", "failure"]
    text = Diagnosis(Path("/"), "1", START, fine, [bad]).to_text(color=True)
    assert "\x1b[31mfailure  \x1b[0mslack.token: gone" in text
    assert Diagnosis(Path("/"), "1", START, [low]).exit_code == 0
    assert Diagnosis(Path("/"), "1", START, fine, [bad]).exit_code == 1


async def test_a_check_that_crashes_is_a_finding(scene: Scene) -> None:
    subject = find_subject(scene.environ(), deep=False)
    unusual = subject.settings.model_copy(update={"home": Path("/a\0b")})
    found = {one.check: one for one in (await examine(replace(subject, settings=unusual))).results}
    assert found["files"].trouble is troubles.CHECK_CRASHED
    assert "ValueError: " in found["files"].says
    assert found["model"].state == "note"


async def test_no_secret_is_in_a_report(scene: Scene) -> None:
    refusal = Failure(400, f"The key {KEY} is bad")
    async with FakeOpenAI(models=["model"], default=lambda _: refusal) as server:
        proxy = "http://al:proxy-password@127.0.0.1:1/"
        body = '{"x": {"api_key": "key-in-a-body"}}'
        environ = scene.environ(**model_of(server), TELEGRAM__PROXY=proxy, AGENT__BODY=body)
        _code, out, err = await run_process(environ, "doctor", "--json")
        _code, shown, _err = await run_process(environ, "config", "show")
    assert "gives no answer" in out
    for secret in (KEY, "proxy-password", "key-in-a-body"):
        assert secret not in out + err + shown


async def test_what_others_write_moves_nothing_on_the_terminal(scene: Scene) -> None:
    body = b'{"channels": {"web": {"state": "down", "why": "\\u001b]0;title\\u0007 \\u202e"}}}'
    async with raw_http(body, content_type="application/json") as url:
        with announced(scene, url.removesuffix("v1")):
            _code, table, _err = await run_process(scene.environ(), "doctor")
            _code, found, _err = await run_process(scene.environ(), "doctor", "--json")
    assert "not connected: \\u001b]0;title\\u0007 \\u202e" in table
    for sign in "\x1b\x07\u202e":
        assert sign not in table + found


HANGS = """
import socket, sys, threading


def hang(*_arguments, **_options):
    threading.Event().wait(20)
    print("waited", file=sys.stderr)
    raise socket.gaierror()


socket.getaddrinfo = hang

import channels.telegram.checkup

channels.telegram.checkup.REQUEST_SECONDS = 0.1
from gateway.cli.main import main

main()
"""


async def test_a_name_server_that_is_silent_does_not_hold_doctor(scene: Scene) -> None:
    environ = clean_environ(scene.environ(TELEGRAM__TOKEN=f"123456:{'A' * 35}"))
    command = (sys.executable, "-c", HANGS, "doctor", "--json")
    done = await anyio.run_process(command, env=environ, cwd=ROOT, check=False)
    [found] = [one for one in results(json.loads(done.stdout)) if one["state"] == "failure"]
    assert (done.returncode, found["trouble"]["id"]) == (1, "telegram.unreachable")
    assert b"waited" not in done.stderr


MANY_ROWS: Final = """CREATE TABLE many (number);
WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 20000)
INSERT INTO many SELECT number FROM one"""
"""Rows enough for SQLite to look at the clock while it checks them."""


async def test_a_large_database_is_checked_in_part_unless_asked_deeply(scene: Scene) -> None:
    environ = scene.environ()
    with closing(apsw.Connection(str(await database(scene)))) as connection:
        connection.execute(MANY_ROWS)
    for deep, says in ((False, "too large to check"), (True, "fully checked")):
        subject = find_subject(environ, deep=deep)
        report = await examine(replace(subject, intervals=Intervals(database_check=0.0)))
        assert says in next(one.says for one in report.results if one.check == "database")
