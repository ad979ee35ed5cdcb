"""What a check of a Telegram bot finds, on a server that refuses what Telegram refuses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from channels.checkup import Checkup
from channels.findings import CHECK_SECONDS, CheckSeconds
from channels.telegram.checkup import examine
from channels.telegram.settings import TelegramSettings
from channels.telegram.troubles import (
    CONNECTION,
    NO_GROUPS,
    NO_TOKEN,
    PRIVACY_MODE,
    RICH_CHAT_UNKNOWN,
    SECOND_POLLER,
    TOKEN_REFUSED,
    TROUBLES,
    WEBHOOK_ELSEWHERE,
    WEBHOOK_FAILS,
    WRONG_TOKEN,
)
from tests.channels.checkups import troubles
from tests.channels.telegram.bots import running
from tests.fakes.base.faults import Hang, LostAnswer, ServerError
from tests.fakes.raw_http import raw_http
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.faults import Fault, Refuse, RetryAfter
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.waiting import Patience

TOKEN = "123456:canary-token"


@pytest.fixture
async def fake() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram(token=TOKEN) as made:
        yield made


@pytest.fixture
async def api(fake: FakeTelegram) -> AsyncIterator[Api]:
    async with Api(fake) as made:
        yield made


async def examined(fake: FakeTelegram, seconds: Any = CHECK_SECONDS, **more: object) -> Checkup:
    values = {"token": fake.token, "base_url": fake.base_url, **more}
    found = await examine(TelegramSettings.model_validate(values), seconds)
    assert "canary" not in repr(found)
    return found


async def test_a_bot_in_order_is_named_and_can_be_invited(fake: FakeTelegram) -> None:
    found = await examined(fake)
    assert (found.bot, found.invite) == ("@tapeway_bot", "https://t.me/tapeway_bot?startgroup")
    assert {result.check: result.state for result in found.results} == {
        "telegram.token": "ok",
        "telegram.privacy": "ok",
        "telegram.groups": "ok",
        "telegram.webhook": "ok",
    }


async def test_a_check_beside_a_running_bot_neither_polls_nor_changes_anything() -> None:
    async with FakeTelegram(token=TOKEN) as fake, running(fake) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        before = len(fake.calls)
        await examined(fake)
        asked = [call.method for call in fake.calls[before:] if call.method != "getUpdates"]
        assert asked == ["getMe", "getWebhookInfo"]
        assert fake.polls <= 1


async def test_without_a_token_nothing_is_asked(fake: FakeTelegram) -> None:
    (result,) = troubles(await examined(fake, token=""))
    assert (result.trouble, result.state, fake.calls) == (NO_TOKEN, "note", [])


OTHERS = {
    "xoxb-1-2-canary": "a Slack bot token",
    "xapp-1-canary": "a Slack app-level token",
    "MTAxMjM0NTY3ODkwMTIzNDU2.Gcanar.canary-canary-canary-canary-can": "a Discord bot token",
    "sk-canary": "a key of a model",
    "hello": "a token is digits, a colon",
}


@pytest.mark.parametrize(("token", "kind"), OTHERS.items())
async def test_another_platform_s_token_is_not_sent_to_telegram(
    token: str, kind: str, fake: FakeTelegram
) -> None:
    (result,) = troubles(await examined(fake, token=token))
    assert (result.trouble, result.state) == (WRONG_TOKEN, "failure")
    assert kind in result.says
    assert fake.calls == []
    async with running(fake, token=token) as app:
        assert WRONG_TOKEN.remedy in str(await app.error())
    assert fake.calls == []


FAULTS: list[tuple[Fault, Any]] = [
    (Refuse(401, "Unauthorized"), TOKEN_REFUSED),
    (Refuse(404, "Not Found"), TOKEN_REFUSED),
    (RetryAfter(30), CONNECTION.limited),
    (ServerError(503), CONNECTION.unreachable),
    (ServerError(500), CONNECTION.unreachable),
    (LostAnswer(), CONNECTION.unreachable),
]


@pytest.mark.parametrize(("fault", "trouble"), FAULTS, ids=range(len(FAULTS)))
async def test_a_refusal_is_named(fault: Fault, trouble: object, fake: FakeTelegram) -> None:
    fake.fail("getMe", fault)
    (result,) = troubles(await examined(fake))
    assert (result.check, result.trouble) == ("telegram.token", trouble)


async def test_a_server_that_does_not_answer_is_given_up(fake: FakeTelegram) -> None:
    fake.fail("getMe", Hang())
    (result,) = troubles(await examined(fake, CheckSeconds(request=0.05)))
    says = "the request was sent but no answer came"
    assert (result.trouble, result.says) == (CONNECTION.unreachable, says)


async def test_a_page_in_the_platform_s_place_is_not_called_silence() -> None:
    async with raw_http(b"<html>Log in to this network</html>", content_type="text/html") as url:
        values = {"token": TOKEN, "base_url": f"{url}/bot"}
        (result,) = troubles(await examine(TelegramSettings.model_validate(values)))
    says = "the server's answer cannot be parsed"
    assert (result.trouble, result.says) == (CONNECTION.unreachable, says)


async def test_privacy_mode_and_a_bot_kept_out_of_groups_are_warnings() -> None:
    async with FakeTelegram(token=TOKEN, can_read_all_group_messages=False) as fake:
        fake.can_join_groups = False
        found = troubles(await examined(fake))
    assert [(one.trouble, one.state) for one in found] == [
        (PRIVACY_MODE, "warning"),
        (NO_GROUPS, "warning"),
    ]


async def test_a_webhook_set_elsewhere_is_named_by_its_host_only(
    fake: FakeTelegram, api: Api
) -> None:
    await api("setWebhook", url="https://elsewhere.example/canary-in-the-path")
    (result,) = troubles(await examined(fake))
    assert (result.trouble, result.state) == (WEBHOOK_ELSEWHERE, "warning")
    assert "elsewhere.example" in result.says
    assert fake.webhook_url
    async with running(fake) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        (warning,) = app.host.warnings
    assert warning == WEBHOOK_ELSEWHERE.sentence("elsewhere.example")


async def test_a_webhook_that_comes_back_is_not_called_a_second_gateway() -> None:
    async with FakeTelegram(token=TOKEN) as fake, Api(fake) as api, running(fake) as app:
        await app.host.until(lambda: app.host.times_ready == 1)
        await fake.wait_for_calls("getUpdates", 2)
        await api("setWebhook", url="https://elsewhere.example/")
        patience = Patience("the other webhook is noticed")
        while WEBHOOK_ELSEWHERE.sentence() not in app.host.downs:
            await app.clock.advance(60.0)
            await patience.pause()


async def test_a_webhook_that_fails_says_why_and_how_many_wait() -> None:
    async with FakeTelegram(token=TOKEN) as fake, Api(fake) as api:
        url = "http://127.0.0.1:1/webhooks/telegram"
        await api("setWebhook", url=url)
        fake.say(fake.private_chat(ada := fake.user(7, "Ada")), ada, "hello")
        await fake.deliver_webhook()
        (result,) = troubles(await examined(fake, webhook_url=url))
    assert (result.trouble, result.state) == (WEBHOOK_FAILS, "failure")
    assert result.facts == {"waiting": 1}
    assert "Connection" in result.says


async def test_the_gateway_s_own_webhook_is_fine_and_an_unset_one_is_a_note(
    fake: FakeTelegram, api: Api
) -> None:
    url = "http://127.0.0.1:1/webhooks/telegram"
    found = await examined(fake, webhook_url=url)
    assert (found.results[-1].state, found.results[-1].trouble) == ("note", None)
    await api("setWebhook", url=url)
    assert not troubles(await examined(fake, webhook_url=url))


@asynccontextmanager
async def answering(answer: bytes) -> AsyncIterator[str]:
    """Serve one answer to whatever comes; yields HOST:PORT."""

    async def serve(stream: anyio.abc.ByteStream) -> None:
        async with stream:
            await stream.receive()
            await stream.send(answer)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as group,
    ):
        group.start_soon(listener.serve, serve)
        yield f"127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        group.cancel_scope.cancel()


async def test_what_is_in_the_way_of_the_connection_is_named() -> None:
    async with (
        FakeTelegram(token=TOKEN) as fake,
        answering(b"HTTP/1.1 400 No TLS here\r\n") as plain,
    ):
        (tls,) = troubles(await examined(fake, base_url=f"https://{plain}/bot"))
        (proxy,) = troubles(await examined(fake, proxy="http://canary:canary@127.0.0.1:1"))
        (closed,) = troubles(await examined(fake, base_url="http://127.0.0.1:1/bot"))
        (name,) = troubles(await examined(fake, base_url="http://telegram.invalid/bot"))
    found = [one.trouble.id for one in (tls, proxy, closed, name) if one.trouble]
    assert found == [f"telegram.{it}" for it in ("tls", "proxy", "unreachable", "unreachable")]
    assert closed.says == "127.0.0.1:1: Connection refused"
    assert "telegram.invalid" in name.says


async def test_a_proxy_that_refuses_is_not_an_unknown_outcome() -> None:
    async with FakeTelegram(token=TOKEN) as fake, answering(b"HTTP/1.1 407 No\r\n\r\n") as proxy:
        more = {"base_url": "https://api.telegram.org/bot", "proxy": f"http://{proxy}"}
        (result,) = troubles(await examined(fake, **more))
    assert (result.trouble, result.says) == (CONNECTION.proxy, "it answered with 407")


def test_every_trouble_has_an_id_of_its_own() -> None:
    assert len({trouble.id for trouble in TROUBLES}) == len(TROUBLES)
    assert SECOND_POLLER in TROUBLES


async def test_chats_with_rich_messages_are_known_or_named(fake: FakeTelegram) -> None:
    fake.group(-5, "Ops")
    fake.private_chat(fake.user(7, "Ada"))
    fine = await examined(fake, rich="-5,7")
    assert not troubles(fine)
    assert (fine.results[-1].check, fine.results[-1].state) == ("telegram.rich", "ok")
    moved = fake.migrate(-5)
    fake.group(-6, "Others")
    fake.kick_bot(-6)
    (result,) = troubles(await examined(fake, rich="-5,-6,-7,7"))
    assert (result.trouble, result.state) == (RICH_CHAT_UNKNOWN, "warning")
    assert f"-5 has become {moved.id}" in result.says
    assert "-6: Forbidden: bot was kicked" in result.says
    assert "-7: " in result.says
    assert "7: " not in result.says.replace("-7: ", "")


async def test_only_ten_chats_with_rich_messages_are_asked_about(fake: FakeTelegram) -> None:
    chats = ",".join(str(number) for number in range(1, 100))
    await examined(fake, rich=chats)
    assert len(fake.calls_of("getChat")) == 10
    fake.fail("getChat", RetryAfter(3))
    (result,) = troubles(await examined(fake, rich=chats))
    assert (result.trouble, len(fake.calls_of("getChat"))) == (CONNECTION.limited, 11)
