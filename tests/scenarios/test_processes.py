"""The gateway and the commands as processes: killed, started twice, given wrong things."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio
import apsw
import pytest

from tests.fakes.openai.script import Failure, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, run_process
from tests.kit.plugins import distribution
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.postgres import fresh_database

IMPATIENT = """
import os, signal

class Impatient:
    def __init__(self):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
"""


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def tape_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty database."""
    if request.param == "sqlite":
        yield f"sqlite://{tmp_path / 'home' / 'tapeway.db'}"
        return
    with fresh_database() as url:
        yield url


async def test_d1_killed_in_the_middle_of_a_streamed_answer_it_is_answered_once(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, model, TAPE__URL=tape_url)
    model.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
    async with gateway_process(environ, home) as first:
        async with visit(await first.url(), "Alice") as (alice,):
            asked = await alice.say("what is it?")
            draft = await alice.draft(asked)
            await first.kill()
    model.enqueue(Text(("the whole ", "of it")))
    async with gateway_process(environ, home) as second:
        async with visit(await second.url(), "Alice", "Bob") as (alice, bob):
            shown = alice.events + [
                {"type": "message", "message": message}
                for message in alice.of_type("history")[0]["messages"]
            ]
            alice.events[:] = shown
            answer = await alice.answer(asked)
            await bob.answer(await bob.say("and now?"))
        async with visit(await second.url(), "Carol") as (carol,):
            history = carol.of_type("history")[0]["messages"]
    assert answer["text"] == "the whole of it"
    assert answer["id"] == draft["id"]
    answers = [m["text"] for m in history if m["reply_to"] == asked]
    assert answers == ["the whole of it"]
    assert len(model.requests) == 3


async def test_ctrl_c_ends_it_with_an_open_page_and_the_next_start_has_the_history(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home)
    async with gateway_process(environ, home) as first:
        async with visit(await first.url(), "Alice") as (alice,):
            await alice.answer(await alice.say("remember me"))
            assert await first.interrupt() == 0
    assert not list(home.glob("*-wal"))  # whoever copies the file now has everything
    async with gateway_process(environ, home) as second:
        async with visit(await second.url(), "Alice") as (alice,):
            texts = [m["text"] for m in alice.of_type("history")[0]["messages"]]
    assert texts[0] == "remember me"
    assert "offline model" in texts[1]
    log = (tmp_path / "gateway.log").read_text()
    assert "Open http://127.0.0.1:" in log
    assert "tapeway init" in log


async def test_a_second_ctrl_c_while_it_ends_changes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    log = tmp_path / "gateway.log"
    async with gateway_process(make_environ(home), home) as running:
        await running.url()
        os.kill(running.pid, signal.SIGINT)
        patience = Patience("the gateway is stopping", pause=0.001)
        while "gateway.stopping" not in log.read_text():
            await patience.pause()
        assert await running.interrupt() == 0
    assert "Traceback" not in log.read_text()
    assert "Stopped." in log.read_text()


async def test_ctrl_c_twice_while_the_gateway_begins_ends_it_as_once(tmp_path: Path) -> None:
    environ = make_environ(tmp_path / "home")
    environ["PYTHONPATH"] = str(distribution(tmp_path / "plugins", "impatient:Impatient"))
    (tmp_path / "plugins" / "impatient.py").write_text(IMPATIENT)
    code, out, err = await run_process(environ, "gateway")
    assert (code, "Traceback" in out + err) == (0, False), err


async def test_a_second_gateway_on_the_same_home_is_refused_with_the_first_s_process_id(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home)
    async with gateway_process(environ, home) as first:
        await first.url()
        code, _out, err = await run_process(environ, "gateway")
        assert code == 3
        assert str(first.pid) in err


async def test_run_and_chat_work_beside_a_running_gateway_and_without_one(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, model)
    code, out, err = await run_process(environ, "run", "alone")
    assert code == 0
    assert re.fullmatch(r"You said: \[\w{3} \d{4}-\d\d-\d\d\]\n\[\d\d:\d\d #1 \S+\] alone\n", out)
    assert err == ""
    async with gateway_process(environ, home) as running:
        await running.url()
        code, out, _err = await run_process(environ, "run", "-", given=b"beside it")
        assert code == 0
        assert out.splitlines()[-1].endswith("] beside it")
        code, out, _err = await run_process(environ, "chat", given=b"one\n,help\n")
        assert code == 0
        assert "beside it" in out
        assert "/tape.search query=..." in out
    assert len(model.requests) == 3
    assert len(model.requests[-1].body["messages"]) > len(model.requests[0].body["messages"])


async def test_run_ends_with_1_and_the_sentence_when_the_model_fails(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Failure(401, "no", "invalid_api_key", "auth"))
    code, out, err = await run_process(make_environ(tmp_path, model), "run", "hello")
    assert code == 1
    assert "rejected the API key" in out
    assert "turn.failed" in err


@pytest.mark.parametrize(
    ("more", "code", "told"),
    [
        ({"HTTP__PORT": "high"}, 2, "TAPEWAY_HTTP__PORT"),
        ({"HTTP__HOST": "0.0.0.0"}, 2, "TAPEWAY_HTTP__TOKEN"),
        ({"TAPE__URL": "mongodb://x"}, 1, "TAPEWAY_TAPE__URL"),
    ],
)
async def test_what_is_wrong_is_told_before_anything_starts(
    tmp_path: Path, more: dict[str, str], code: int, told: str
) -> None:
    ended, out, err = await run_process(make_environ(tmp_path / "home", None, **more), "gateway")
    assert (ended, out) == (code, "")
    assert told in err
    assert "Traceback" not in err


async def test_a_port_in_use_is_told_and_how_to_change_it(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        environ = make_environ(tmp_path / "home", HTTP__PORT=port)
        code, _out, err = await run_process(environ, "gateway")
    assert code == 3
    assert port in err
    assert "TAPEWAY_HTTP__PORT=" in err


async def test_a_database_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    environ = make_environ(tmp_path)
    await run_process(environ, "run", "hello")
    path = tmp_path / "tapeway.db"
    connection = apsw.Connection(str(path))
    connection.execute("INSERT INTO migration (name, version) VALUES ('tape', 99)")
    connection.pragma("wal_checkpoint(truncate)")
    connection.close()
    before = path.read_bytes()
    code, _out, err = await run_process(environ, "gateway")
    assert code == 1
    assert "newer Tapeway" in err
    assert path.read_bytes() == before


async def test_h2_no_secret_is_in_the_log_or_on_the_disk(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with FakeOpenAI(api_key="other") as server:
        environ = make_environ(
            home,
            server,
            AGENT__API_KEY="canary-key",
            HTTP__TOKEN="canary-token",
            LOG__LEVEL="debug",
        )
        async with gateway_process(environ, home) as running:
            await running.url()
            code, out, err = await run_process(environ, "run", "hello")
            assert code == 1
    everything = out + err + (tmp_path / "gateway.log").read_text()
    on_disk = b"".join(file.read_bytes() for file in home.glob("tapeway.db*"))
    assert "canary" not in everything
    assert b"canary" not in on_disk


async def test_hooks_lists_every_hook_with_who_implements_it(tmp_path: Path) -> None:
    code, out, _err = await run_process(make_environ(tmp_path), "hooks")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "builtin" in lines["run_model_stream"]
    assert "builtin" not in lines["resolve_session"]


async def test_a_model_without_a_key_is_told_before_anything_starts(tmp_path: Path) -> None:
    environ = make_environ(tmp_path, None, AGENT__MODEL="gpt-5-mini")
    code, _out, err = await run_process(environ, "gateway")
    assert code == 2
    assert "TAPEWAY_AGENT__API_KEY" in err
    assert "Traceback" not in err


async def test_the_version_is_told(tmp_path: Path) -> None:
    code, out, _err = await run_process(make_environ(tmp_path), "--version")
    assert (code, out.split()[0]) == (0, "tapeway")


async def test_help_imports_neither_an_sdk_nor_pydantic(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['tapeway', '--help']\n"
        "from gateway.cli.main import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'openai', 'pydantic', 'apsw', 'starlette', 'structlog', 'anyio', 'pluggy'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE
    )
    out, _err = await done.communicate()
    assert b"HEAVY []" in out


async def test_run_leaves_what_belongs_to_another_channel_to_the_next_gateway(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, model)
    model.enqueue(Text(("half of ", "it"), gate=asyncio.Event()))
    async with gateway_process(environ, home) as first:
        async with visit(await first.url(), "Alice") as (alice,):
            asked = await alice.say("what is it?")
            await alice.draft(asked)
            await first.kill()
    model.enqueue(Text(("for the terminal",)), Text(("for Alice",)))
    _code, out, err = await run_process(environ, "run", "hi")
    assert (out, err) == ("for the terminal\n", "")
    async with gateway_process(environ, home) as second:
        async with visit(await second.url(), "Alice") as (alice,):
            past = alice.of_type("history")[0]["messages"]
            alice.events += [{"type": "message", "message": message} for message in past]
            assert (await alice.answer(asked))["text"] == "for Alice"


async def test_a_chat_beside_a_gateway_that_ends_is_told_and_ends(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    environ = make_environ(home, model)
    model.enqueue(Text(("never ", "done"), gate=asyncio.Event()))
    async with gateway_process(environ, home) as running, anyio.create_task_group() as group:
        await running.url()

        async def interrupt() -> None:
            await model.wait_for_requests(1)
            await running.interrupt()

        group.start_soon(interrupt)
        code, _out, err = await run_process(environ, "chat", given=b"hello\n")
    assert code == 1
    assert "has stopped" in err or "does not answer" in err


async def test_a_session_s_name_is_the_same_alone_and_beside_a_gateway(tmp_path: Path) -> None:
    code, _out, err = await run_process(make_environ(tmp_path), "run", "x", "--session", "a/b")
    assert code == 1
    assert "--session" in err
