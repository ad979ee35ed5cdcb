"""Requests to the Bot API over a socket, and what each error means to us."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog

from channels.errors import (
    ChannelDown,
    ChannelError,
    ChannelUnfit,
    NotThePlatform,
    SendAmbiguous,
    SendDelayed,
    SendRefused,
    TooLarge,
)
from channels.telegram.api import BotApi, BotApiRefused, Migrated, NotAsSent, OtherReader, read_json
from channels.telegram.refusals import TABLE
from channels.telegram.settings import TelegramSettings
from tests.fakes.base.faults import LostAnswer, Reset, ServerError
from tests.fakes.raw_http import raw_http
from tests.fakes.telegram.faults import Fault, Refuse, RetryAfter
from tests.fakes.telegram.server import FakeTelegram

TOKEN = "123456:canary-token"


@asynccontextmanager
async def api_at(base_url: str, **more: Any) -> AsyncIterator[BotApi]:
    values = {"token": TOKEN, "base_url": base_url, **more}
    api = BotApi(TelegramSettings.model_validate(values))
    await api.open()
    try:
        yield api
    finally:
        await api.close()


@asynccontextmanager
async def failing(*faults: Fault) -> AsyncIterator[BotApi]:
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        fake.fail("*", *faults)
        yield api


async def error_of(api: BotApi, method: str = "sendMessage", **params: Any) -> ChannelError:
    with structlog.testing.capture_logs() as logs, pytest.raises(ChannelError) as caught:
        await api.call(method, chat_id=7, text="hi", **params)
    told = [caught.value, caught.value.__cause__, *logs]
    assert "canary" not in repr(told)
    return caught.value


async def test_a_result_comes_back_raw_and_parameters_of_none_are_left_out() -> None:
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        ada = fake.user(7, "Ada")
        fake.private_chat(ada)
        sent = await api.call("sendMessage", chat_id=7, text="héllo & = 😀", message_thread_id=None)
        assert (sent["text"], sent["chat"]["id"]) == ("héllo & = 😀", 7)
        assert set(fake.calls[0].params) == {"chat_id", "text"}


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        (Refuse(401, "Unauthorized"), ChannelUnfit, "@BotFather"),
        (Refuse(404, "Not Found: method not found"), ChannelDown, "not ready"),
        (Refuse(409, "Conflict: terminated"), OtherReader, "one reader"),
        (Refuse(403, "Forbidden: bot was blocked by the user"), BotApiRefused, "blocked"),
        (Refuse(400, "Bad Request: chat not found"), NotAsSent, "Chat not found"),
        (Refuse(403, f"Forbidden: /bot{TOKEN}/getMe"), BotApiRefused, "/bot***/getMe"),
        (ServerError(500), SendAmbiguous, "no answer"),
        (ServerError(502), SendAmbiguous, "no answer"),
        (ServerError(503), ChannelDown, "503"),
        (Reset(), SendAmbiguous, "no answer came"),
        (LostAnswer(), SendAmbiguous, "no answer came"),
        (Refuse(413, "Request Entity Too Large"), TooLarge, "too large"),
        (ServerError(413), TooLarge, "too large"),
        (ServerError(400), NotThePlatform, "400 from 127.0.0.1"),
        (ServerError(401), NotThePlatform, "401 from 127.0.0.1"),
        (ServerError(403), NotThePlatform, "403 from 127.0.0.1"),
        (ServerError(404), NotThePlatform, "404 from 127.0.0.1"),
        (ServerError(407), NotThePlatform, "407 from 127.0.0.1"),
    ],
    ids=str,
)
async def test_each_error_says_what_it_means_for_a_send(
    fault: Fault, kind: type[ChannelError], words: str
) -> None:
    async with failing(fault) as api:
        error = await error_of(api)
    assert type(error) is kind
    assert words in str(error)


async def test_d3_a_429_says_how_long_to_wait() -> None:
    async with failing(RetryAfter(40), Refuse(429, "Too Many Requests")) as api:
        told, untold = await error_of(api), await error_of(api)
    assert isinstance(told, SendDelayed)
    assert isinstance(untold, SendDelayed)
    assert (told.retry_after, untold.retry_after) == (40, 1)


@pytest.mark.parametrize("seconds", ["soon", None, -3, 0, [], {"a": 1}])
async def test_a_429_whose_wait_is_no_number_waits_a_second(seconds: Any) -> None:
    async with failing(Refuse(429, "slow down", {"retry_after": seconds})) as api:
        error = await error_of(api)
    assert isinstance(error, SendDelayed)
    assert error.retry_after == 1


async def test_a_group_that_moved_is_told_with_its_new_id() -> None:
    refusal = Refuse(400, "Bad Request: upgraded", {"migrate_to_chat_id": -1007})
    async with failing(refusal) as api:
        error = await error_of(api)
    assert isinstance(error, Migrated)
    assert error.chat_id == "-1007"


async def test_a_refused_connection_was_not_a_send() -> None:
    async with FakeTelegram(token=TOKEN) as fake:
        base_url = fake.base_url
    async with api_at(base_url) as api:
        assert type(await error_of(api)) is ChannelDown


async def test_before_it_is_opened_and_after_it_is_closed_nothing_is_sent() -> None:
    async with api_at("http://127.0.0.1:1/bot") as api:
        await api.close()
        assert "not connected" in str(await error_of(api))


@pytest.mark.parametrize("answer", [b"<html>", b"[1]", b'{"ok":true}', b"\xff\xfe", b"nul"])
async def test_a_send_whose_answer_cannot_be_read_may_have_arrived(answer: bytes) -> None:
    async with raw_http(answer) as url, api_at(f"{url}/bot") as api:
        assert type(await error_of(api)) is SendAmbiguous


async def test_a_request_that_is_never_answered_is_given_up() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, api_at(f"http://127.0.0.1:{port}/bot") as api:
        assert type(await error_of(api, seconds=0.05)) is SendAmbiguous


async def test_lone_surrogates_are_sent_and_read_without_an_error() -> None:
    assert read_json(b'{"a":"\\ud800"}') == {"a": "\ud800"}
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        fake.private_chat(fake.user(7, "Ada"))
        sent = await api.call("sendMessage", chat_id=7, text="a\ud800b")
    assert sent["text"] == "a?b"


async def test_requests_share_connections_and_a_long_poll_has_one_of_its_own() -> None:
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        for _ in range(5):
            await api.call("getMe")
        assert fake.open_connections == 1
        await api.call("getUpdates", timeout=0)
        assert fake.open_connections == 2


async def test_a_file_is_fetched_up_to_a_bound() -> None:
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        file = fake.world.file(b"12345", "photos/{}.jpg")
        assert await api.download(file.path, 5) == b"12345"
        with pytest.raises(SendRefused, match="larger than announced"):
            await api.download(file.path, 4)
        with pytest.raises(SendRefused, match="404"):
            await api.download("photos/none.jpg", 5)
        await api.close()
        with pytest.raises(ChannelDown):
            await api.download(file.path, 5)


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../../etc/passwd", "a/../../b", "file:///etc/passwd", "http://x/y"]
)
async def test_a_path_that_leaves_the_bot_s_files_is_not_fetched(path: str) -> None:
    async with FakeTelegram(token=TOKEN) as fake, api_at(fake.base_url) as api:
        fake.world.file(b"12345", path)
        with pytest.raises(SendRefused, match="out of the bot's files"):
            await api.download(path, 5)


async def test_methods_and_files_go_through_the_proxy() -> None:
    asked: list[str] = []

    async def proxy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b" ")[1].decode())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 13\r\nconnection: close\r\n\r\n")
        writer.write(b'{"result":12}')
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(proxy, "127.0.0.1", 0)
    through = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, api_at("http://api.invalid/bot", proxy=through) as api:
        assert await api.call("getMe") == 12
        assert await api.download("a.jpg", 100) == b'{"result":12}'
    assert asked == [
        f"http://api.invalid/bot{TOKEN}/getMe",
        f"http://api.invalid/file/bot{TOKEN}/a.jpg",
    ]


def test_the_platform_s_words_are_found_whatever_their_case() -> None:
    assert NotAsSent("Bad Request: MESSAGE_ID_INVALID").row.edit == "gone"
    assert NotAsSent("Bad Request: Chat Not Found").row.closed
    assert NotAsSent("Bad Request: nobody has listed this").row is TABLE.unknown
