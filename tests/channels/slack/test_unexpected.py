"""Deliveries that Slack should never send are stored or refused, and later ones accepted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from channels.errors import ChannelDown
from tests.channels.slack.events import signed
from tests.channels.slack.hosts import all_delivered, running, slack
from tests.kit.clock import ManualClock, rest

ODD: list[Any] = [
    {"type": "event_callback", "authorizations": [None], "event": {}},
    {"type": "event_callback", "event": {"type": "message", "message": [1]}},
    {"type": "event_callback", "team": "T", "enterprise": "y", "user": 5, "event": [1]},
    {"type": "block_actions", "actions": "x", "user": None},
    {"type": "block_actions", "actions": [{"action_id": "tapeway.0"}], "channel": {"id": 5}},
    {"response_urls": [5]},
]


@pytest.mark.parametrize("payload", [*ODD, [1], 5, None])
async def test_an_odd_envelope_is_stored_once_and_ends_nothing(payload: Any) -> None:
    clock = ManualClock(datetime.now(UTC))
    async with slack(clock) as fake, running(fake, clock=clock) as app:
        await app.ready()
        refuses = not isinstance(payload, dict) or "authorizations" in payload
        if refuses:
            app.host.refusals = [ChannelDown("the disk is full")]
        fake.deliveries.add("interactive" if payload is ODD[-1] else "events_api", payload)
        fake.say(fake.im(ada := fake.user("Ada")), ada, "next")
        while "next" not in app.host.texts() or len(fake.deliveries.pending) > refuses:
            await clock.advance(1)
            await rest()


async def test_an_envelope_that_bolt_cannot_read_is_stored_and_acknowledged() -> None:
    async with slack() as fake, running(fake) as app:
        await app.ready()
        secret = {"token": "legacy", "response_url": "https://hooks.example/x", "a": 1}
        fake.deliveries.add("events_api", {**ODD[0], **secret})
        await app.heard(1)
        await all_delivered(fake)
        (kept,) = app.host.accepted
        assert kept.kind == "unreadable"
        assert json.loads(kept.raw["json"]) == {**ODD[0], "a": 1}
        assert len(app.host.errors) == 1


@pytest.mark.parametrize("body", ["[1]", "5", '"x"', "{bad", "[" * 100_000, "payload=5"])
async def test_over_http_an_unreadable_body_is_refused(body: str) -> None:
    async with slack() as fake, running(fake, http=True) as app, app.web() as web:
        await app.ready()
        headers = signed(fake, body)
        if body.startswith("payload"):
            headers["content-type"] = "application/x-www-form-urlencoded"
        wrong = {**headers, "x-slack-signature": "v0=a"}
        for given, status in ((wrong, 401), (headers, 400)):
            answer = await web.post("/slack/events", content=body, headers=given)
            assert answer.status_code == status
        assert app.host.errors == []


async def test_over_http_a_body_that_bolt_cannot_read_is_stored() -> None:
    async with slack() as fake, running(fake, http=True) as app, app.web() as web:
        await app.ready()
        body = json.dumps(ODD[0])
        unsigned = {**signed(fake, body), "x-slack-signature": "v0=a"}
        assert (await web.post("/slack/events", content=body, headers=unsigned)).status_code == 401
        assert app.host.accepted == []
        app.host.refusals = [ChannelDown("the disk is full")]
        for status in (503, 200):
            answer = await web.post("/slack/events", content=body, headers=signed(fake, body))
            assert answer.status_code == status
        assert [one.kind for one in app.host.accepted] == ["unreadable"]
        raw = b"\xff\xfe"
        answer = await web.post("/slack/events", content=raw, headers=signed(fake, "x"))
        assert answer.status_code == 401
