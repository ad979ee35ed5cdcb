"""What a model, a person, a tool or a provider says of a secret is nowhere afterwards."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.parse import quote

import httpx2
import orjson
import pytest

from gateway.logs import set_up_logs
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import HIDDEN, Redactor
from gateway.settings import LogSettings
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.kit.play import Play, opened
from tests.kit.promised import promises

KEY = "sk-canary+of/the=model?9f2c&more"
TOKEN = "canary-of-the-page-77e1"
THOUGHT = "canary reasoning 51d0: they want tea"


@promises("H2")
async def test_h2_no_canary_is_kept_sent_logged_or_shown_in_any_form(
    channel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_up_logs(LogSettings(level="debug", format="json"))
    home = tmp_path / "home"
    settings = {"AGENT__API_KEY": KEY, "HTTP__TOKEN": TOKEN}
    if channel in ("cli", "web"):  # their people come over loopback, where no token is asked
        del settings["HTTP__TOKEN"]
    async with opened(channel, lasts=True) as house:
        async with house.playing(home, **settings) as play:
            known = secrets_of(play.gateway.services.settings)
            shown = await everything_said(play)
            asked = [request.body for request in play.model.requests]
        assert house.lasting is not None
        kept = house.lasting.everything().decode(errors="replace")
    files = [path for path in home.rglob("*") if path.is_file() and path.name != "gateway.json"]
    kept += "\n".join(path.read_bytes().decode(errors="replace") for path in files)
    logged = "".join(capsys.readouterr())
    redactor = Redactor(known)
    assert HIDDEN in kept
    assert HIDDEN in shown
    for where in (kept, shown, logged, orjson.dumps(asked).decode()):
        assert redactor.clean(where) == where
    assert THOUGHT not in shown + logged


async def everything_said(play: Play) -> str:
    """Have a secret said by everybody who can; return what chats and pages show then."""
    chat, alice = play.chat(), play.person()
    raw = base64.b64encode(f"the key is {KEY}".encode()).decode()
    play.model.enqueue(
        Text((f"plain {KEY}, ", f"encoded {quote(KEY)}, ", raw), reasoning=(THOUGHT,)),
        Text(tuple(f"split {KEY} over deltas")),
        ToolCalls((Call("a", "tape_search", json.dumps({"query": f"what is {KEY}"})),)),
        Text(("done",)),
    )
    asked = [await play.ask(chat, alice, text) for text in ("one", f"is it {KEY}?", "three")]
    assert asked
    found = [str(play.stage.answers(chat))]
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        found += [
            (await client.get(f"{play.gateway.url}{path}")).text for path in ("health/ready", "")
        ]
    return "\n".join(found)
