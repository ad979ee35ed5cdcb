"""The HTTP Events API of the fake Slack, against slack-bolt's own request verification."""

from __future__ import annotations

from collections.abc import AsyncIterator
from urllib.parse import parse_qs

import pytest
from aiohttp import web
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.response import BoltResponse

from tests.fakes.slack.client import Web, room_of
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock


class Endpoint:
    """Hold an address of an app, and what arrived there."""

    def __init__(self, slack: FakeSlack) -> None:
        self.slack = slack
        self.app = AsyncApp(client=Web(slack), signing_secret=slack.signing_secret)
        self.url = ""
        self.headers: list[dict[str, str]] = []
        self.bodies: list[str] = []
        self.status: int | None = None
        self.stuck = False

        @self.app.event("message")
        async def _event() -> None:
            """Take it."""

        @self.app.command("/tapeway")
        async def _command(ack: object) -> None:
            assert callable(ack)
            await ack("done")

        @self.app.action("again")
        async def _action(ack: object) -> None:
            assert callable(ack)
            await ack()

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        self.headers.append({name.lower(): it for name, it in request.headers.items()})
        self.bodies.append(body)
        self.slack.changed()
        if self.stuck:
            await self.slack.wait_for(lambda _fake: not self.stuck)
        if self.status is not None:
            return web.Response(status=self.status, headers={"X-Slack-No-Retry": "1"})
        headers = {name: [value] for name, value in request.headers.items()}
        answer: BoltResponse = await self.app.async_dispatch(
            AsyncBoltRequest(body=body, headers=headers)  # type: ignore[arg-type]
        )
        kind = answer.first_headers_without_set_cookie().get("content-type", "text/plain")
        return web.Response(
            body=answer.body.encode(), status=answer.status, headers={"content-type": kind}
        )


@pytest.fixture
async def app(slack: FakeSlack) -> AsyncIterator[Endpoint]:
    made = Endpoint(slack)
    served = web.Application()
    served.router.add_post("/slack/events", made.handle)
    runner = web.AppRunner(served, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}/slack/events"
    slack.events_at(made.url)
    try:
        yield made
    finally:
        made.stuck = False
        slack.changed()
        await runner.cleanup()


async def test_the_address_proves_itself(slack: FakeSlack, app: Endpoint) -> None:
    assert await slack.http.verify()


async def test_an_event_passes_the_sdk_s_verification_and_is_taken(app: Endpoint) -> None:
    ada, room = room_of(app.slack)
    app.slack.say(room, ada, "hello")
    told = app.slack.last
    await app.slack.wait_for(lambda _fake: told is not None and told.state == "acked")
    assert "x-app.slack-retry-num" not in app.headers[0]
    assert app.slack.http.replies[0].status == 200


@pytest.mark.parametrize("spoil", ["old", "secret"])
async def test_an_old_or_wrong_signature_is_refused_and_comes_again(
    slack: FakeSlack, app: Endpoint, spoil: str
) -> None:
    ada, room = room_of(slack)
    if spoil == "old":
        slack.http.age = 301
    else:
        slack.http.signing_secret = "another"
    slack.say(room, ada, "hello")
    told = slack.last
    assert told is not None
    # The first retry is at once.
    await slack.wait_for(lambda _fake: told.attempt == 2)
    assert [reply.status for reply in slack.http.replies] == [401, 401]
    assert told.reason == "http_error"


async def test_a_retry_says_its_number_and_why(app: Endpoint, clock: ManualClock) -> None:
    slack = app.slack
    ada, room = room_of(slack)
    app.stuck = True
    slack.say(room, ada, "hello")
    await slack.wait_for(lambda _fake: len(app.bodies) == 1)
    await clock.advance(3)
    await slack.wait_for(lambda _fake: len(app.bodies) == 2)
    assert app.headers[1]["x-slack-retry-num"] == "1"
    assert app.headers[1]["x-slack-retry-reason"] == "http_timeout"
    app.stuck = False
    slack.changed()
    await slack.wait_for(lambda fake: fake.deliveries.all[0].state == "acked")
    assert app.bodies[0] == app.bodies[1]


async def test_an_app_can_ask_for_no_more_retries(slack: FakeSlack, app: Endpoint) -> None:
    ada, room = room_of(slack)
    app.status = 500
    slack.say(room, ada, "hello")
    await slack.wait_for(lambda fake: fake.deliveries.all[0].state == "lost")
    assert len(app.bodies) == 1


async def test_commands_and_buttons_come_as_forms_and_are_answered(app: Endpoint) -> None:
    ada, room = room_of(app.slack)
    asked = app.slack.slash(room, ada, "stop now")
    await app.slack.wait_for(lambda _fake: asked.state == "acked")
    assert asked.answer == "done"
    form = parse_qs(app.bodies[0])
    assert (form["command"], form["text"]) == (["/tapeway"], ["stop now"])
    posted = await Web(app.slack).chat_postMessage(channel=room.id, text="a button")
    pressed = app.slack.press(room, ada, str(posted["ts"]), "again")
    await app.slack.wait_for(lambda _fake: pressed.state == "acked")


async def test_nobody_listens_at_the_address(slack: FakeSlack, clock: ManualClock) -> None:
    ada, room = room_of(slack)
    slack.events_at("http://127.0.0.1:9/slack/events")
    slack.say(room, ada, "hello")
    await slack.wait_for(lambda fake: fake.deliveries.all[0].attempt == 2)
    assert slack.deliveries.all[0].reason == "connection_failed"
