"""The log."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from gateway.logs import get_log, set_up_logs
from gateway.settings import LogSettings
from tests.fakes.openai.script import Failure
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import make_environ, run_tapeway


async def test_json_lines_have_the_session_turn_channel_and_the_error_s_id(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    model.enqueue(Failure(500, "boom", None, "server_error"))
    environ = make_environ(tmp_path, model, LOG__FORMAT="json")
    _code, out, err = await run_tapeway(environ, "run", "hello")
    (failed,) = [orjson.loads(line) for line in err.splitlines()]
    assert failed["event"] == "turn.failed"
    assert (failed["session"], failed["channel"]) == ("cli:terminal", "cli")
    assert failed["turn"].startswith("t-")
    assert failed["error_id"] in out
    assert "ModelDown" in failed["why"]
    assert "exception" not in failed  # its words say it all; the traceback is for `debug`


def test_a_line_that_is_no_text_is_logged_all_the_same(capfd: pytest.CaptureFixture[str]) -> None:
    set_up_logs(LogSettings(level="info", format="json"))
    get_log().error("turn.failed", why="half of a pair: \ud83d", number=10**30)
    line = capfd.readouterr().err
    assert json.loads(line)["why"] == "half of a pair: \ud83d"
