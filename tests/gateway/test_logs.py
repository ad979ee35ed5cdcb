"""The log."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest
import structlog

from gateway.logs import SELDOM_SECONDS, Seldom, get_log, set_up_logs
from gateway.settings import LogSettings
from tape.errors import StoreUnavailable, TapeError
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


def test_that_the_database_is_away_is_one_line_a_minute_whoever_waits(
    capfd: pytest.CaptureFixture[str],
) -> None:
    set_up_logs(LogSettings(level="info", format="json"))
    for number in range(50):
        get_log().warning("sharing.later", why=StoreUnavailable("the database is away: wait"))
        get_log().warning("rooms.not_read", why=StoreUnavailable("the database is away: wait"))
        get_log().warning("turn.failed", why=f"the model is away: {number}")
    lines = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    away = [one for one in lines if one["event"] != "turn.failed"]
    assert [one["why"] for one in away] == ["the database is away: wait"]
    assert len(lines) == 51


def test_a_line_after_a_minute_says_how_many_there_were() -> None:
    now = [0.0]
    seldom, away = Seldom(lambda: now[0]), StoreUnavailable("away")
    assert seldom(None, "warning", {"event": "a", "why": away}) == {"event": "a", "why": "away"}
    for _ in range(3):
        now[0] += SELDOM_SECONDS / 4
        with pytest.raises(structlog.DropEvent):
            seldom(None, "warning", {"event": "b", "why": away})
    now[0] += SELDOM_SECONDS / 4
    assert seldom(None, "warning", {"why": away}) == {"why": "away", "more": 3}
    for _ in range(2):
        assert seldom(None, "error", {"why": TapeError("no anchor")})["why"] == "no anchor"
