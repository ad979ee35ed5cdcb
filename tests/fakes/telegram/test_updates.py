"""How the fake Telegram hands out updates: long polls, offsets, a webhook."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from tests.fakes.telegram.client import Api
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Chat, User


@dataclass
class Talk:
    fake: FakeTelegram
    chat: Chat
    user: User

    def say(self, *texts: str) -> None:
        for text in texts:
            self.fake.say(self.chat, self.user, text)


@pytest.fixture
def talk(telegram: FakeTelegram) -> Talk:
    ann = telegram.user(7, "Ann")
    return Talk(telegram, telegram.private_chat(ann), ann)


def texts(updates: list[dict[str, Any]]) -> list[str]:
    return [update["message"]["text"] for update in updates]


async def polling(api: Api, fake: FakeTelegram, **params: object) -> asyncio.Task[tuple[int, Any]]:
    """Begin a long poll, and return when it waits."""
    task = asyncio.create_task(api.call("getUpdates", timeout=30, **params))
    while not fake.updates.polled:  # noqa: ASYNC110 - a poll that waits changes nothing
        await asyncio.sleep(0)
    return task


async def test_updates_stay_until_a_higher_offset_confirms_them(api: Api, talk: Talk) -> None:
    talk.say("one", "two", "three")
    first = await api("getUpdates")
    assert texts(first) == ["one", "two", "three"]
    assert texts(await api("getUpdates")) == ["one", "two", "three"]
    offset = first[1]["update_id"]
    assert texts(await api("getUpdates", offset=offset)) == ["two", "three"]
    assert texts(await api("getUpdates")) == ["two", "three"]
    assert [update.confirmed for update in talk.fake.updates.all] == [True, False, False]


async def test_a_negative_offset_forgets_all_but_the_last(api: Api, talk: Talk) -> None:
    talk.say("one", "two", "three")
    assert texts(await api("getUpdates", offset=-1)) == ["three"]
    assert texts(await api("getUpdates")) == ["three"]


async def test_a_limit_is_between_one_and_a_hundred(api: Api, talk: Talk) -> None:
    talk.say(*(str(number) for number in range(120)))
    assert len(await api("getUpdates")) == 100
    assert len(await api("getUpdates", limit=500)) == 100
    assert texts(await api("getUpdates", limit=2)) == ["0", "1"]
    assert texts(await api("getUpdates", limit=0)) == ["0"]


async def test_a_long_poll_ends_when_something_happens(api: Api, talk: Talk) -> None:
    poll = await polling(api, talk.fake)
    talk.say("now", "both")
    _, body = await poll
    assert texts(body["result"]) == ["now", "both"]


async def test_a_poll_without_timeout_returns_at_once(api: Api, talk: Talk) -> None:
    assert await api("getUpdates", timeout=0) == []
    assert await api("getUpdates") == []


async def test_of_two_pollers_the_first_is_sent_away(api: Api, talk: Talk) -> None:
    first = await polling(api, talk.fake)
    second = asyncio.create_task(api.call("getUpdates", timeout=30))
    status, body = await first
    assert (status, body["error_code"]) == (409, 409)
    assert body["description"] == (
        "Conflict: terminated by other getUpdates request; "
        "make sure that only one bot instance is running"
    )
    talk.say("for the second")
    _, body = await second
    assert texts(body["result"]) == ["for the second"]


async def test_a_poller_that_left_is_no_conflict(api: Api, talk: Talk) -> None:
    poll = await polling(api, talk.fake)
    poll.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await poll
    while talk.fake.updates.polled:  # noqa: ASYNC110 - nor does one that left
        await asyncio.sleep(0)
    talk.say("hello")
    assert texts(await api("getUpdates")) == ["hello"]
    assert [call.error_code for call in talk.fake.calls] == [None, None]


async def test_kinds_are_what_was_asked_for_last(api: Api, talk: Talk) -> None:
    said = talk.fake.say(talk.chat, talk.user, "x")["message_id"]
    talk.fake.react(talk.chat, talk.user, said, "👍")
    assert len(await api("getUpdates", allowed_updates=["message_reaction"])) == 1
    talk.say("not asked for")
    talk.fake.react(talk.chat, talk.user, said, "👎")
    kinds = [sorted(update)[0] for update in await api("getUpdates")]
    assert kinds == ["message", "message_reaction"]
    await api("getUpdates", allowed_updates=[], offset=-1)
    talk.say("by default")
    assert texts(await api("getUpdates", offset=-1)) == ["by default"]


async def test_an_update_is_delivered_again_though_it_was_confirmed(api: Api, talk: Talk) -> None:
    talk.say("one", "two")
    first, second = await api("getUpdates")
    offset = second["update_id"] + 1
    assert await api("getUpdates", offset=offset) == []
    assert talk.fake.redeliver(first["update_id"]) == first["update_id"]
    assert await api("getUpdates", offset=offset) == [first]
    assert await api("getUpdates", offset=offset) == []
    again = talk.fake.redeliver(first["update_id"], new_id=True)
    assert await api("getUpdates", offset=offset) == [first | {"update_id": again}]
    assert again == offset


async def test_an_update_of_any_form_can_be_pushed(api: Api, talk: Talk) -> None:
    update_id = talk.fake.push_update({"hologram": {"id": 1}})
    assert await api("getUpdates") == [{"update_id": update_id, "hologram": {"id": 1}}]
    talk.fake.push_update({"update_id": update_id + 10, "message": {"text": None}})
    talk.say("after it")
    ids = [update["update_id"] for update in await api("getUpdates")]
    assert ids == [update_id, update_id + 10, update_id + 11]


async def test_bytes_that_are_no_json_go_out_as_they_are(api: Api, talk: Talk) -> None:
    talk.fake.push_update(b'{"update_id":1,')
    async with api.session.get(api.url("getUpdates")) as answer:
        assert await answer.read() == b'{"ok":true,"result":[{"update_id":1,]}'


# -- webhook ---------------------------------------------------------------------------------


@dataclass
class Hook:
    """Take deliveries; `answers` are the statuses of the next ones, 200 when there is none."""

    url: str = ""
    answers: list[int] = field(default_factory=list)
    taken: list[tuple[int, str, str]] = field(default_factory=list)

    async def post(self, request: web.Request) -> web.Response:
        update = await request.json()
        status = self.answers.pop(0) if self.answers else 200
        secret = request.headers.get("X-Telegram-Bot-Api-Secret-Token", "")
        self.taken.append((status, secret, update["message"]["text"]))
        return web.Response(status=status)


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    made = Hook()
    app = web.Application()
    app.router.add_post("/hook", made.post)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    made.url = f"http://{host}:{port}/hook"
    yield made
    await runner.cleanup()


async def test_a_webhook_gets_updates_with_its_secret(api: Api, talk: Talk, hook: Hook) -> None:
    talk.say("before")
    await api("setWebhook", url=hook.url, secret_token="s3cret_-")
    talk.say("after")
    await talk.fake.deliver_webhook()
    assert hook.taken == [(200, "s3cret_-", "before"), (200, "s3cret_-", "after")]
    info = await api("getWebhookInfo")
    assert (info["url"], info["pending_update_count"]) == (hook.url, 0)


async def test_a_delivery_is_repeated_until_it_is_taken(api: Api, talk: Talk, hook: Hook) -> None:
    hook.answers = [500, 403]
    talk.say("one", "two")
    await api("setWebhook", url=hook.url)
    for _ in range(3):
        await talk.fake.deliver_webhook()
    assert [(status, text) for status, _, text in hook.taken] == [
        (500, "one"),
        (403, "one"),
        (200, "one"),
        (200, "two"),
    ]
    info = await api("getWebhookInfo")
    assert info["last_error_message"] == "Wrong response from the webhook: 403"


async def test_a_webhook_that_is_not_there_is_told(api: Api, talk: Talk) -> None:
    await api("setWebhook", url="http://127.0.0.1:1/hook", allowed_updates=["message"])
    talk.say("one")
    assert await talk.fake.deliver_webhook() == 0
    info = await api("getWebhookInfo")
    assert info["last_error_message"].startswith("Connection failed")
    assert (info["pending_update_count"], info["allowed_updates"]) == (1, ["message"])
    await api("deleteWebhook", drop_pending_updates=True)
    assert await api("getUpdates") == []


async def test_nobody_polls_while_a_webhook_is_set(api: Api, talk: Talk, hook: Hook) -> None:
    poll = await polling(api, talk.fake)
    await api("setWebhook", url=hook.url)
    status, body = await poll
    assert (status, body["description"]) == (409, "Conflict: terminated by setWebhook request")
    assert talk.fake.webhook_url == hook.url
    assert await api.refusal("getUpdates") == (
        "409 Conflict: can't use getUpdates method while webhook is active; "
        "use deleteWebhook to delete the webhook first"
    )
    await api("setWebhook", url="")
    assert await api("getUpdates") == []


@pytest.mark.parametrize(
    ("params", "description"),
    [
        (
            {"url": "http://example.com/x"},
            "400 Bad Request: bad webhook: An HTTPS URL must be provided for webhook",
        ),
        (
            {"url": "https://example.com/x", "secret_token": "no spaces"},
            "400 Bad Request: secret token contains unallowed characters",
        ),
    ],
)
async def test_a_webhook_needs_https_and_a_plain_secret(
    api: Api, params: dict[str, str], description: str
) -> None:
    assert await api.refusal("setWebhook", **params) == description
