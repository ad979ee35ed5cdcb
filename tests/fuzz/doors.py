"""Further doors: requests, presses, codes, installations, settings files, plugins' results."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

import orjson
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.types import Message

from channels.discord import inbound as discord
from channels.message import Author, InboundMessage
from channels.slack import inbound as slack
from channels.slack.oauth import COOKIE, Install
from channels.slack.settings import SlackSettings
from channels.telegram import inbound as telegram
from gateway.hooks.results import CHECKS, ResultRefused
from gateway.intake.entry_meta import cleaned
from gateway.settings import load_settings
from gateway.storage.ledger.cards import read_token
from tape.entry import Entry, NewEntry
from tape.erasing import ERASED, erased_on
from tape.importing.normalize import read_raw
from tape.payloads import check
from tests.channels.discord import raw as discord_raw
from tests.channels.slack.events import me as slack_self
from tests.channels.telegram import raw as telegram_raw
from tests.fuzz.inputs import broken, mixed, texts, values
from tests.kit.plain_channels import made, sent

presses = broken(
    [
        {
            "update_id": 1,
            "callback_query": {
                "id": "9",
                "from": telegram_raw.ADA,
                "data": "c1:yes",
                "message": telegram_raw.said("x")["message"],
            },
        },
        {
            "id": "1",
            "type": 3,
            "token": "t",
            "application_id": "2",
            "guild_id": "3",
            "channel_id": discord_raw.GENERAL,
            "data": {"custom_id": "c1:yes"},
            "member": {"user": {"id": "4", "username": "ann"}},
            "message": {"id": "5"},
        },
        {
            "type": "block_actions",
            "team": {"id": "T1"},
            "channel": {"id": "C1"},
            "user": {"id": "U1"},
            "container": {"message_ts": "1.2", "channel_id": "C1"},
            "actions": [{"action_id": "a", "value": "c1:yes", "action_ts": "1.3"}],
        },
    ]
)
codes = mixed("pair", "/pair", "/start", " ", "4F7K", "-", "2Q", "@bot", ",pair")
states = st.tuples(mixed("9", "1", ".", "0" * 20, "a"), texts, texts)
files = st.tuples(
    mixed("TAPEWAY_", "HTTP__PORT", "=", "1", "\n", '"', "'", "#", "export ", "$", "{", "}", "\\"),
    mixed("[http]", "[", "]", "\n", "port", "=", "1", '"', '"""', "models", ".", "{", "}", "#"),
)
_TOMBS: Final = (
    {"id": 3, "kind": "message", "payload": {"role": "user", "content": ""}, "date": "2026-01-31"},
    {"id": 1, "kind": "anchor", "payload": {"name": ERASED, "state": {}}, "meta": {ERASED: "x"}},
    {"id": 2, "kind": "event", "payload": {"name": ERASED, "data": {}}, "meta": {ERASED: 7}},
    {"id": 4, "kind": "tool_result", "payload": {"results": []}, "meta": {ERASED: "2026-01-31"}},
)
tombs = broken(_TOMBS).map(lambda one: json.dumps(one).encode())
results = st.tuples(st.sampled_from(sorted(CHECKS)), values)


def press(given: Any) -> None:
    """Read a press of any platform as adapters and intake do: the adapters keep what fails."""
    for read in (_telegram, _discord, _slack):
        found = read(given)
        if found is not None:
            read_token(found.press)
            orjson.loads(orjson.dumps(cleaned(found).to_payload()))


def _telegram(given: Any) -> InboundMessage | None:
    try:
        return telegram.parse(given, telegram_raw.ME)
    except Exception as cause:
        return telegram.unreadable(given, str(cause))


def _discord(given: Any) -> InboundMessage | None:
    name, cache = "INTERACTION_CREATE", discord_raw.guild_cache()
    try:
        return discord.parse(name, given, discord_raw.ME, cache)
    except Exception as cause:
        return discord.unreadable(name, given, str(cause))


def _slack(given: Any) -> InboundMessage | None:
    try:
        return slack.parse(given, slack_self())
    except Exception as cause:
        return slack.unreadable(given, str(cause), "T1")


def pair(text: str) -> None:
    """Read an attempt to pair; nothing that was not drawn makes an owner."""
    pairing, code = made()
    read = pairing.read(sent(text, sender=cast(Any, Author("7", text))))
    assert read.change != "paired" or code.replace("-", "") in text.upper()


def install(given: tuple[str, str, str]) -> None:
    """Come back from Slack with a state that nobody signed."""
    state, code, cookie = given
    settings = SlackSettings.model_validate(
        {"client_id": "1", "client_secret": "a-secret", "installations": "/nowhere/at-all"}
    )
    app = Starlette(routes=Install(settings, cast(Any, None), cast(Any, None)).routes())
    query = f"state={_q(state)}&code={_q(code)}".encode()
    jar = f"{COOKIE}={state if cookie else cookie}; {cookie}".encode("utf-8", "surrogatepass")
    seen: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        seen.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/slack/oauth",
        "query_string": query,
        "headers": [(b"cookie", jar)],
        "http_version": "1.1",
        "scheme": "http",
        "server": ("localhost", 80),
        "client": ("::1", 9),
        "root_path": "",
    }
    asyncio.run(app(scope, receive, send))
    assert seen[0]["status"] == 400


def read_files(given: tuple[str, str]) -> None:
    """Load the settings of a folder with these two files."""
    with tempfile.TemporaryDirectory(prefix="tapeway-fuzz-") as folder:
        for name, text in zip((".env", "tapeway.toml"), given, strict=True):
            (Path(folder) / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        load_settings({"TAPEWAY_HOME": folder}, folder=Path(folder))


def read_tomb(line: bytes) -> None:
    """Read an erased entry of an imported tape."""
    raw = read_raw(line, lambda _note: None)
    if raw is not None:
        new = NewEntry(raw.kind, raw.payload, raw.meta, raw.date)
        check([new], imported=True)
        erased_on(Entry(raw.id or 1, new.kind, new.payload, new.meta, new.date))


def check_result(given: tuple[str, Any]) -> None:
    """Check what a plugin's hook returned."""
    hook, value = given
    CHECKS[hook](value, lambda _problem, _remedy: None)


def _q(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


REFUSED: Final = (ResultRefused,)
