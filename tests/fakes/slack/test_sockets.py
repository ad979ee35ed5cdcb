"""Socket Mode of the fake Slack, spoken by the real SDK."""

from __future__ import annotations

from typing import Any

from tests.fakes.slack.client import Bot, Web, refusal, room_of
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock


async def test_an_app_connects_hears_a_mention_twice_and_answers(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as bot:
        said = slack.say(room, ada, "@tapeway hello")
        first, second = await bot.hears(2)
        assert (first["type"], second["type"]) == ("message", "app_mention")
        assert first["ts"] == second["ts"] == said.ts
        assert first["text"] == f"<@{slack.workspace.bot.id}> hello"
        posted = await bot.client.chat_postMessage(channel=room.id, text="hi", thread_ts=said.ts)
        assert posted["message"]["thread_ts"] == said.ts
        assert slack.text_of(room.id) == "hi"
        echo = (await bot.hears(3))[2]
        assert echo["bot_id"] == slack.workspace.bot.bot_id
        await slack.wait_for(lambda fake: not fake.deliveries.pending)


async def test_the_twins_of_a_mention_come_in_an_order_and_distance_that_can_be_set(
    slack: FakeSlack, clock: ManualClock
) -> None:
    ada, room = room_of(slack)
    slack.events.first_twin, slack.events.twin_delay = "app_mention", 120.0
    async with Bot(slack) as bot:
        slack.say(room, ada, "@tapeway hello")
        assert [it["type"] for it in await bot.hears(1)] == ["app_mention"]
        await clock.advance(119)
        assert len(slack.deliveries.all) == 2
        assert len(slack.sockets.live[0].carried) == 1
        await clock.advance(1)
        assert [it["type"] for it in await bot.hears(2)] == ["app_mention", "message"]
        ids = {body["event_id"] for body in bot.bodies}
        assert len(ids) == 2


async def test_what_is_not_acknowledged_comes_again_at_once_then_after_1_and_5_minutes(
    slack: FakeSlack, clock: ManualClock
) -> None:
    ada, room = room_of(slack)
    slack.sockets.acks_to_lose = 4
    async with Bot(slack) as bot:
        slack.say(room, ada, "hello")
        await bot.hears(1)
        tries = [clock.monotonic()]
        while slack.deliveries.pending:
            await clock.advance(1)
            seen = len(slack.deliveries.all[0].envelopes)
            if seen > len(tries):
                tries.append(clock.monotonic())
                await bot.hears(seen)
        assert tries == [0, 3, 66, 369]
        assert slack.deliveries.all[0].state == "lost"
        assert slack.deliveries.all[0].reason == "timeout"
        assert len({body["event_id"] for body in bot.bodies}) == 1


async def test_what_nobody_hears_is_tried_again_for_whoever_connects_in_time(
    slack: FakeSlack, clock: ManualClock
) -> None:
    ada, room = room_of(slack)
    slack.say(room, ada, "is anybody there")
    async with Bot(slack) as bot:
        assert bot.heard == []
        await clock.advance(60)
        assert (await bot.hears(1))[0]["text"] == "is anybody there"
        await slack.wait_for(lambda fake: fake.deliveries.all[0].state == "acked")


async def test_a_listener_that_nobody_wrote_leaves_a_command_unacknowledged(
    slack: FakeSlack, clock: ManualClock
) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as bot:
        asked = slack.slash(room, ada, "stop")
        await clock.advance(3)
        assert asked.state == "lost"

        @bot.app.command("/tapeway")
        async def _command(ack: object, command: dict[str, str]) -> None:
            assert callable(ack)
            await ack(f"you said {command['text']}")

        asked = slack.slash(room, ada, "stop")
        await slack.wait_for(lambda _fake: asked.state == "acked")
        assert asked.answer == {"text": "you said stop"}
        assert [(it.user, it.text) for it in slack.ephemerals] == [(ada.id, "you said stop")]


async def test_an_app_that_is_asked_to_leave_connects_anew_and_one_socket_lives(
    slack: FakeSlack,
) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as bot:
        for number in range(5):
            before = slack.sockets.opened
            slack.refresh(close=number % 2 == 1)
            await slack.wait_for(lambda fake, was=before: fake.sockets.opened > was)  # type: ignore[misc]
            await slack.connected(1)
        slack.say(room, ada, "still there?")
        assert [it["text"] for it in await bot.hears(1)] == ["still there?"]


async def test_a_broken_socket_is_replaced(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack, ping_interval=0.02) as bot:
        slack.drop_connections()
        await slack.wait_for(lambda fake: fake.sockets.opened == 2 and len(fake.sockets.live) == 1)
        slack.say(room, ada, "back?")
        await bot.hears(1)


async def test_a_half_open_socket_is_noticed_by_its_missing_pongs(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack, ping_interval=0.05) as bot:
        slack.half_open()
        slack.say(room, ada, "lost for now")
        await slack.wait_for(lambda fake: fake.sockets.opened == 2)
        assert bot.heard == []


async def test_a_deaf_socket_answers_pings_and_swallows_events(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack, ping_interval=0.02) as bot:
        slack.zombie()
        slack.say(room, ada, "anyone?")
        seen = slack.sockets.live[0]
        await slack.wait_for(lambda _fake: len(seen.carried) == 1)
        for _ in range(3):
            await bot.socket.current_session.ping(b"sdk-ping-pong:1")
        assert bot.heard == []
        assert slack.sockets.live == [seen]


async def test_ghost_connections_take_their_share_of_the_events(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as one:
        two = Bot(slack)
        await two.handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.connected(2)
        for number in range(40):
            slack.say(room, ada, f"number {number}")
        await slack.wait_for(lambda _fake: len(one.heard) + len(two.heard) == 40)
        assert one.heard
        assert two.heard
        await two.handler.close_async()  # type: ignore[no-untyped-call]
        await two.socket.aiohttp_client_session.close()
        await slack.connected(1)


async def test_an_event_can_come_twice_at_the_same_time(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as one:
        two = Bot(slack)
        await two.handler.connect_async()  # type: ignore[no-untyped-call]
        await slack.connected(2)
        slack.events.twice = 1
        slack.say(room, ada, "double")
        await one.hears(1)
        await two.hears(1)
        assert one.bodies[0]["event_id"] == two.bodies[0]["event_id"]
        await two.handler.close_async()  # type: ignore[no-untyped-call]
        await two.socket.aiohttp_client_session.close()


async def test_events_can_be_held_back_and_come_in_another_order(slack: FakeSlack) -> None:
    ada, room = room_of(slack)
    async with Bot(slack) as bot:
        slack.deliveries.hold()
        for word in ("one", "two", "three"):
            slack.say(room, ada, word)
        slack.deliveries.release(reversed)
        assert [it["text"] for it in await bot.hears(3)] == ["three", "two", "one"]


async def test_the_eleventh_socket_is_sent_away(slack: FakeSlack) -> None:
    slack.sockets.most = 1
    async with Bot(slack) as one:
        session = one.socket.aiohttp_client_session
        ticket = await one.client.apps_connections_open(app_token=slack.app_token)
        async with session.ws_connect(str(ticket["url"])) as second:
            told = await second.receive_json()
        assert (told["type"], told["reason"]) == ("disconnect", "too_many_websockets")
        assert len(slack.sockets.live) == 1


async def test_a_ticket_is_good_for_one_connection(slack: FakeSlack) -> None:
    async with Bot(slack) as bot:
        session = bot.socket.aiohttp_client_session
        async with session.get(bot.socket.wss_uri) as answer:
            assert answer.status == 403


async def refused(web: Web, token: str) -> Any:
    return await refusal(web.apps_connections_open(app_token=token))


async def test_connecting_needs_an_app_token_with_its_scope(slack: FakeSlack) -> None:
    web = Web(slack)
    error = await refused(web, slack.bot_token)
    assert error["error"] == "not_allowed_token_type"
    error = await refused(web, "xapp-1-wrong")
    assert error["error"] == "invalid_auth"
    slack.opens_left = 0
    error = await refused(web, slack.app_token)
    assert error["error"] == "ratelimited"
    assert error.headers["Retry-After"] == "30"
    slack.tokens.app_scopes.clear()
    error = await refused(web, slack.app_token)
    assert error["error"] == "missing_scope"
    assert error["needed"] == "connections:write"


async def test_a_revoked_token_ends_the_sockets(slack: FakeSlack) -> None:
    async with Bot(slack, ping_interval=0.02) as bot:
        slack.token_revoked = True
        await slack.connected(0)
        error = await refused(bot.client, slack.app_token)
        assert error["error"] == "token_revoked"
