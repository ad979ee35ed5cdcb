"""The fake Telegram as a server: tokens, encodings, limits, faults, and its console."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator

import aiohttp
import anyio
import pytest

from tests.fakes.base.faults import Hang, LostAnswer, Reset, ServerError, Slow
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.console import act, shown
from tests.fakes.telegram.faults import Refuse, RetryAfter
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.clock import rest

GROUP = -1001000000001


class Seconds:
    """Time that passes on demand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def chat(telegram: FakeTelegram) -> None:
    telegram.private_chat(telegram.user(7, "Ann"))


# -- tokens and methods ----------------------------------------------------------------------


async def test_a_wrong_token_is_refused(api: Api, telegram: FakeTelegram) -> None:
    async with api.session.get(f"{telegram.base_url}1:wrong/getMe") as answer:
        assert answer.status == 401
        assert await answer.json() == {
            "ok": False,
            "error_code": 401,
            "description": "Unauthorized",
        }


async def test_a_revoked_token_ends_everything(api: Api, chat: None) -> None:
    poll = asyncio.create_task(api.call("getUpdates", timeout=30))
    await api.telegram.wait_for_calls("getUpdates", 1)
    await rest()
    api.telegram.token_revoked = True
    assert (await poll)[0] == 401
    assert await api.refusal("getMe") == "401 Unauthorized"
    api.telegram.token_revoked = False
    await api("getMe")


async def test_method_names_may_be_in_any_case(api: Api) -> None:
    assert (await api("GETME"))["id"] == 123456
    assert await api("logOut") is True
    assert await api("close") is True


async def test_an_unknown_method_is_not_found(api: Api, telegram: FakeTelegram) -> None:
    assert await api.refusal("sendHologram") == "404 Not Found: method not found"
    root = telegram.base_url.removesuffix("/bot")
    async with api.session.get(f"{root}/nothing") as answer:
        assert answer.status == 404


async def test_a_sloppy_server_says_true_to_everything() -> None:
    async with FakeTelegram(unknown_methods_true=True) as fake, Api(fake) as api:
        assert await api("sendHologram") is True
        assert sorted(await api("getMe")) == ["first_name", "id", "is_bot"]


async def test_a_file_needs_the_token_and_its_place(api: Api, telegram: FakeTelegram) -> None:
    for path, status in ((f"{telegram.token}/x", 404), ("1:wrong/x", 401)):
        async with api.session.get(telegram.base_file_url + path) as answer:
            assert answer.status == status


# -- how parameters travel -------------------------------------------------------------------


async def test_parameters_come_in_every_encoding(api: Api, chat: None) -> None:
    url = api.url("sendMessage")
    bold = '[{"type":"bold","offset":0,"length":2}]'
    fields = {"chat_id": "7", "text": "12 ü😀", "entities": bold}
    multipart = aiohttp.FormData(fields, default_to_multipart=True)
    multipart.add_field("extra", b"\x00\xff", filename="extra.bin")

    async def parts() -> AsyncIterator[bytes]:
        yield b"chat_id=7&text=12+%C3%BC"
        yield b"%F0%9F%98%80&entities=" + bold.encode()

    form = {"content-type": "application/x-www-form-urlencoded"}
    async with (
        api.session.get(url, params=fields) as query,
        api.session.post(url, data=fields) as encoded,
        api.session.post(url, data=multipart) as multi,
        api.session.post(url, json=fields) as json,
        api.session.post(url, data=parts(), headers=form) as chunked,
    ):
        assert [it.status for it in (query, encoded, multi, json, chunked)] == [200] * 5
    sent = api.telegram.messages(7)
    assert [message.text for message in sent] == ["12 ü😀"] * 5
    assert [message.entities[0]["type"] for message in sent] == ["bold"] * 5
    assert {call.params["chat_id"] for call in api.telegram.calls} == {7}


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/x-www-form-urlencoded", b"chat_id=7&text=%FF"),
        ("application/x-www-form-urlencoded", b"chat_id=7&text=\xff"),
        ("application/x-www-form-urlencoded", b"chat_id=7&text=%ED%A0%80"),
        ("application/json", b'{"chat_id": 7, "text": "\\ud800"}'),
        ("application/json", b"[]"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="text"\r\n\r\n\xff\r\n--x--\r\n',
        ),
    ],
)
async def test_what_is_no_utf_8_is_refused(api: Api, chat: None, kind: str, body: bytes) -> None:
    headers = {"content-type": kind}
    async with api.session.post(api.url("sendMessage"), data=body, headers=headers) as answer:
        assert answer.status == 400


async def test_calls_are_kept_in_order_with_what_became_of_them(api: Api, chat: None) -> None:
    await api("sendMessage", chat_id=7, text="hello")
    await api.refusal("sendMessage", chat_id=8, text="hello")
    good, bad = api.telegram.calls_of("sendmessage")
    assert (good.ok, good.error_code, good.message_id) == (True, None, 1)
    assert (bad.ok, bad.error_code, bad.message_id) == (False, 400, None)
    assert bad.description == "Bad Request: chat not found"


# -- limits ----------------------------------------------------------------------------------


@pytest.fixture
def seconds() -> Seconds:
    return Seconds()


async def test_a_chat_gets_one_message_a_second(seconds: Seconds) -> None:
    async with FakeTelegram(limits=True, clock=seconds) as fake, Api(fake) as api:
        fake.private_chat(fake.user(7, "Ann"))
        await api("sendMessage", chat_id=7, text="one")
        seconds.now += 0.9
        status, body = await api.call("sendMessage", chat_id=7, text="two")
        assert (status, body["parameters"]) == (429, {"retry_after": 1})
        assert body["description"] == "Too Many Requests: retry after 1"
        # Who does not wait starts the wait anew.
        seconds.now += 0.5
        await api.refusal("sendMessage", chat_id=7, text="two")
        seconds.now += 0.96
        await api("sendMessage", chat_id=7, text="two")
        assert (fake.too_many, fake.text_of(7)) == (2, "one\ntwo")


async def test_typing_drafts_and_deletions_cost_nothing(seconds: Seconds) -> None:
    async with FakeTelegram(limits=True, clock=seconds) as fake, Api(fake) as api:
        fake.private_chat(fake.user(7, "Ann"))
        sent = (await api("sendMessage", chat_id=7, text="one"))["message_id"]
        for number in range(1, 9):
            await api("sendChatAction", chat_id=7, action="typing")
            await api("sendMessageDraft", chat_id=7, draft_id=number, text="x")
        await api("deleteMessage", chat_id=7, message_id=sent)
        assert fake.too_many == 0


async def test_a_group_gets_twenty_messages_and_edits_a_minute(seconds: Seconds) -> None:
    async with FakeTelegram(limits=True, clock=seconds) as fake, Api(fake) as api:
        fake.group(GROUP)
        sent = (await api("sendMessage", chat_id=GROUP, text="0"))["message_id"]
        for number in range(1, 20):
            seconds.now += 1.0
            await api("editMessageText", chat_id=GROUP, message_id=sent, text=str(number))
        seconds.now += 1.0
        refused = await api.refusal("sendMessage", chat_id=GROUP, text="x")
        assert refused == "429 Too Many Requests: retry after 40"
        seconds.now += 40.0
        await api("sendMessage", chat_id=GROUP, text="x")


async def test_a_bot_sends_thirty_messages_a_second(seconds: Seconds) -> None:
    async with FakeTelegram(limits=True, clock=seconds) as fake, Api(fake) as api:
        for number in range(1, 32):
            fake.private_chat(fake.user(number, "Ann"))
        for number in range(1, 31):
            await api("sendMessage", chat_id=number, text="x")
        assert (await api.refusal("sendMessage", chat_id=31, text="x")).startswith("429 ")
        seconds.now += 1.0
        await api("sendMessage", chat_id=31, text="x")


async def test_a_draft_disappears_after_half_a_minute(seconds: Seconds) -> None:
    async with FakeTelegram(clock=seconds) as fake, Api(fake) as api:
        fake.private_chat(fake.user(7, "Ann"))
        await api("sendMessageDraft", chat_id=7, draft_id=1, text="x")
        seconds.now += 29.0
        assert fake.drafts == {(7, 1): "x"}
        seconds.now += 1.0
        assert fake.drafts == {}


# -- faults ----------------------------------------------------------------------------------


async def test_a_lost_answer_has_had_its_effect(api: Api, chat: None) -> None:
    api.telegram.fail("sendMessage", LostAnswer())
    with pytest.raises(aiohttp.ClientError):
        await api.call("sendMessage", chat_id=7, text="hello")
    assert api.telegram.text_of(7) == "hello"
    await api("sendMessage", chat_id=7, text="again")
    assert [call.ok for call in api.telegram.calls] == [True, True]


async def test_a_reset_has_had_none(api: Api, telegram: FakeTelegram, chat: None) -> None:
    telegram.fail("*", Reset())
    with pytest.raises(aiohttp.ClientError):
        await api.call("sendMessage", chat_id=7, text="hello")
    assert (telegram.text_of(7), telegram.calls[0].ok) == ("", False)


async def test_refusals_come_as_they_are_told(api: Api, telegram: FakeTelegram, chat: None) -> None:
    telegram.fail("sendMessage", RetryAfter(3), Refuse(400, "Bad Request: no"))
    status, body = await api.call("sendMessage", chat_id=7, text="x")
    assert (status, body["parameters"]) == (429, {"retry_after": 3})
    assert await api.refusal("sendMessage", chat_id=7, text="x") == "400 Bad Request: no"
    telegram.fail("sendMessage", ServerError(503, b"<html>"))
    async with api.session.post(api.url("sendMessage")) as answer:
        assert (answer.status, await answer.read()) == (503, b"<html>")
    await api("sendMessage", chat_id=7, text="x")


async def test_one_chat_can_be_told_to_wait_alone(api: Api, chat: None) -> None:
    api.telegram.private_chat(api.telegram.user(8, "Bob"))
    api.telegram.fail("sendMessage", RetryAfter(3, chat_id=8))
    await api("sendMessage", chat_id=7, text="x")
    assert (await api.refusal("sendMessage", chat_id=8, text="x")).startswith("429 ")
    await api("sendMessage", chat_id=8, text="x")


@pytest.mark.parametrize(("done_first", "meanwhile"), [(False, ""), (True, "hello")])
async def test_a_call_hangs_until_it_is_released(
    api: Api, telegram: FakeTelegram, chat: None, done_first: bool, meanwhile: str
) -> None:
    hang = Hang(done_first)
    telegram.fail("sendMessage", hang)
    sending = asyncio.create_task(api("sendMessage", chat_id=7, text="hello"))
    await telegram.wait_for_calls("sendMessage", 1)
    await api("getMe")
    assert telegram.text_of(7) == meanwhile
    hang.release()
    assert (await sending)["text"] == "hello"


async def test_a_client_that_stops_waiting_ends_a_hanging_call(api: Api, chat: None) -> None:
    api.telegram.fail("sendMessage", Hang())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.03):
            await api.call("sendMessage", chat_id=7, text="hello")
    assert api.telegram.text_of(7) == ""


async def test_a_slow_call_is_answered_in_the_end(api: Api, chat: None) -> None:
    api.telegram.fail("getMe", Slow(0.01))
    assert (await api("getMe"))["id"] == 123456


async def test_waiting_ends_with_the_change(api: Api, telegram: FakeTelegram, chat: None) -> None:
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(telegram.wait_for, lambda fake: fake.text_of(7) == "two")
            sent = await api("sendMessage", chat_id=7, text="one")
            await api("editMessageText", chat_id=7, message_id=sent["message_id"], text="two")


async def break_it() -> None:
    async with FakeTelegram() as fake, Api(fake) as api:
        fake.world.chats[7] = "no chat"  # type: ignore[assignment]
        with pytest.raises(aiohttp.ClientError):
            await api.call("getChat", chat_id=7)


async def test_a_crash_of_the_fake_fails_the_test() -> None:
    with pytest.raises(AttributeError, match="migrated_to"):
        await break_it()


# -- by hand ---------------------------------------------------------------------------------


async def test_a_line_lets_someone_say_something(api: Api, telegram: FakeTelegram) -> None:
    assert act(telegram, "7 Ann: hello: you")
    assert act(telegram, "-1001000000001 Ann B: hi")
    assert act(telegram, "-1001000000001 Ann B: again")
    assert not act(telegram, "hello")
    updates = await api("getUpdates")
    said = [(it["message"]["chat"]["type"], it["message"]["text"]) for it in updates]
    assert said == [("private", "hello: you"), ("supergroup", "hi"), ("supergroup", "again")]
    assert updates[1]["message"]["from"] == updates[2]["message"]["from"]


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (Call("getUpdates", {}, 0.0), ""),
        (Call("getMe", {}, 0.0), ""),
        (
            Call("sendMessage", {"chat_id": 7, "text": "x"}, 0.0, True, message_id=3),
            "sendMessage 7 #3: x",
        ),
        (
            Call("sendChatAction", {"chat_id": 7}, 0.0, error_code=400, description="No"),
            "sendChatAction 7 [400 No]",
        ),
    ],
)
def test_what_the_bot_does_is_told_in_a_line(call: Call, line: str) -> None:
    assert shown(call) == line


async def test_it_runs_by_itself() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.fakes.telegram.server",
        "--token",
        "1:x",
        "--no-limits",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    base_url = (await process.stdout.readline()).decode().split()[1]
    await process.stdout.readline()
    process.stdin.write(b"7 Ann: hello\n")
    url = f"{base_url}1:x"
    async with aiohttp.ClientSession() as session:
        async with session.get(f"{url}/getUpdates?timeout=20") as answer:
            (update,) = (await answer.json())["result"]
        async with session.get(f"{url}/sendMessage?chat_id=7&text=you+too") as answer:
            assert answer.status == 200
    assert update["message"]["text"] == "hello"
    assert await process.stdout.readline() == b"sendMessage 7 #2: you too\n"
    process.terminate()
    assert await process.wait() == 0
