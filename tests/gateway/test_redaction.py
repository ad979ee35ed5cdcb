"""Secrets are taken out of text, in every form in which they may stand there."""

from __future__ import annotations

import base64
import json
import re
import time
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import AgentEvent
from gateway.pipeline.redacted_events import RedactedEvents
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import HIDDEN, RedactedStream, Redactor
from tape.entry import message
from tests.kit.gateways import make_settings

SECRET = 'hunter2+/ "é"\\-and-more'
REDACTOR = Redactor([SECRET])
PARTS = st.lists(st.integers(0, 6), max_size=60)


@pytest.mark.parametrize(
    "encode",
    [
        str,
        quote,
        quote_plus,
        lambda text: quote(text, safe=""),
        lambda text: json.dumps(text)[1:-1],
        lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
        lambda text: repr(f"{text}'")[1:-3],
    ],
)
def test_a_secret_is_hidden_plain_quoted_and_url_encoded(encode: object) -> None:
    assert callable(encode)
    assert REDACTOR.clean(f"a={encode(SECRET)}&b") == f"a={HIDDEN}&b"


@given(before=st.binary(max_size=9), after=st.binary(max_size=9), urls=st.booleans())
def test_a_secret_inside_of_base64_is_hidden_wherever_it_begins(
    before: bytes, after: bytes, urls: bool
) -> None:
    encode = base64.urlsafe_b64encode if urls else base64.b64encode
    text = encode(before + SECRET.encode() + after).decode()
    found = REDACTOR.clean(text)
    assert HIDDEN in found
    # Only what the bytes beside the secret decide, with a few of its bits, is still there.
    kept = len(found) - len(HIDDEN) - text.count("=")
    assert kept <= -(-8 * len(before) // 6) + -(-8 * len(after) // 6) + 2


def test_a_short_secret_is_a_word_and_stays() -> None:
    assert Redactor(["seven77"]).clean("seven77") == "seven77"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("GET https://a.example/x?token=abc&n=1", f"GET https://a.example/x?token={HIDDEN}&n=1"),
        ("via http://joe:pass@10.0.0.1:3128/", f"via http://{HIDDEN}@10.0.0.1:3128/"),
        ("Authorization: Bearer abcdef.123456", f"Authorization: Bearer {HIDDEN}"),
        ("bot123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", f"bot123456789{HIDDEN}"),
        ("/123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw/getMe", f"/123456789{HIDDEN}/getMe"),
        ("xoxb-12345678901-abc and xapp-1-A012345", f"{HIDDEN} and {HIDDEN}"),
        ("key sk-proj-abcdefghijklmnopqrstuvwx", f"key {HIDDEN}"),
        ("AKIAIOSFODNN7EXAMPLE", HIDDEN),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln", HIDDEN),
    ],
)  # fmt: skip
def test_what_looks_like_a_secret_is_hidden_in_lines_only(text: str, shown: str) -> None:
    redactor = Redactor()
    assert redactor.clean(text) == text
    assert redactor.line(text).startswith(shown)
    assert "AAHdq" not in redactor.line(text)


def test_a_hostile_line_takes_little_time() -> None:
    for piece in ("eyJ-", "-eyJ", "://a@", "?token", "-----BEGIN A PRIVATE KEY"):
        began = time.process_time()
        REDACTOR.line(piece * (65_536 // len(piece)))
        assert time.process_time() - began < 2.0, piece  # about 75 ms on an idle machine


def test_ordinary_lines_stay() -> None:
    line = "turn.done channel=telegram turn=t-0123456789abcdef0123 12:30:45 https://a.example/x?y=1"
    assert Redactor().line(line) == line


@given(cuts=PARTS)
def test_a_secret_that_is_split_over_deltas_never_shows(cuts: list[int]) -> None:
    whole = f"so hunt hunter {SECRET} it{SECRET}{SECRET}hunter2"
    stream, shown, rest = RedactedStream(REDACTOR), "", whole
    for cut in cuts:
        shown += stream.push(rest[:cut])
        rest = rest[cut:]
        assert SECRET[:8] not in shown
    shown += stream.push(rest) + stream.rest()
    assert SECRET not in shown
    clean = re.sub(r"h?u?n?\(", "(", shown)  # at most three characters are shown before
    assert clean == f"so hunt hunter {HIDDEN} it{HIDDEN}{HIDDEN}hunter2"


def test_text_that_cannot_be_a_secret_is_shown_at_once() -> None:
    stream = RedactedStream(REDACTOR)
    assert [stream.push(delta) for delta in ("the ", "hunt", "s are on")] == [
        "the ",
        "",
        "hunts are on",
    ]


def test_the_events_of_a_turn_hold_no_secret_and_lose_no_text() -> None:
    events = RedactedEvents(REDACTOR)
    given = [
        AgentEvent("text", {"delta": SECRET[:9]}),
        AgentEvent("tool_call", {"id": "1", "arguments": SECRET}),
        AgentEvent("text", {"delta": "hunt"}),
        AgentEvent("reset", {"why": "again"}),
        AgentEvent("text", {"delta": SECRET[:10]}),
        AgentEvent("text", {"delta": SECRET[10:] + " hunte"}),
        AgentEvent("final", {"text": SECRET}),
    ]
    shown = [(one.kind, dict(one.data)) for event in given for one in events.take(event)]
    assert shown == [
        ("text", {"delta": SECRET[:9]}),
        ("tool_call", {"id": "1", "arguments": HIDDEN}),
        ("reset", {"why": "again"}),
        ("text", {"delta": HIDDEN + " "}),
        ("text", {"delta": "hunte"}),
        ("final", {"text": HIDDEN}),
    ]


def test_an_entry_keeps_what_the_provider_needs_and_nothing_else() -> None:
    entry = REDACTOR.entry(message("user", f"it is {SECRET}", wire={"a": SECRET}, b=[SECRET, 1]))
    assert entry.payload["content"] == f"it is {HIDDEN}"
    assert entry.meta == {"wire": {"a": SECRET}, "b": [HIDDEN, 1]}
    untouched = message("user", "nothing")
    assert REDACTOR.entry(untouched) is untouched


def test_every_secret_of_the_settings_is_known(tmp_path: Path) -> None:
    settings = make_settings(
        tmp_path,
        TELEGRAM__TOKEN="1:telegram-secret",
        TELEGRAM__PROXY="http://joe:proxy%2Dsecret@127.0.0.1:3128",
        HTTP__TOKEN="http-secret",
        AGENT__API_KEY="agent-secret",
        MODELS='{"other": {"api_key": "model-secret"}}',
    )
    known = secrets_of(settings)
    for secret in (
        "1:telegram-secret",
        "proxy-secret",
        "http-secret",
        "agent-secret",
        "model-secret",
    ):
        assert secret in known


def test_the_secrets_in_the_files_of_the_settings_are_known(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a-token-in-a-file\n")
    installed = tmp_path / "slack.json"
    installed.write_text('{"T1": {"bot_token": "xoxb-of-a-workspace", "name": "Ops"}}')
    settings = make_settings(
        tmp_path, HTTP__TOKEN_FILE="token", SLACK__INSTALLATIONS=str(installed)
    )
    known = secrets_of(settings)
    assert {"a-token-in-a-file", "xoxb-of-a-workspace"} <= set(known)
    assert "Ops" not in known
