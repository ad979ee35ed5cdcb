"""Inline keyboards and presses: what the fake Telegram takes, refuses and tells, and to whom."""

from __future__ import annotations

from typing import Any

import pytest
import telegram as ptb

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.server import FakeTelegram
from tests.fakes.telegram.world import Press

TOO_OLD = "400 Bad Request: query is too old and response timeout expired or query ID is invalid"


def keys(*buttons: JsonObject) -> JsonObject:
    return {"inline_keyboard": [[button] for button in buttons]}


YES: JsonObject = {"text": "Yes", "callback_data": "a:yes"}


@pytest.fixture
async def asked(telegram: FakeTelegram, api: Api) -> int:
    telegram.private_chat(telegram.user(7, "Ada"))
    sent = await api("sendMessage", chat_id=7, text="Shall I?", reply_markup=keys(YES))
    return int(sent["message_id"])


def press(telegram: FakeTelegram, message_id: int) -> Press:
    return telegram.press(7, telegram.world.users[7], message_id, "Yes")


@pytest.mark.parametrize(
    ("button", "why"),
    [
        ({"text": "Yes", "callback_data": "x" * 65}, "BUTTON_DATA_INVALID"),
        ({"text": "Yes", "callback_data": "é" * 33}, "BUTTON_DATA_INVALID"),
        ({"text": "Yes", "callback_data": ""}, "BUTTON_DATA_INVALID"),
        ({"text": "Yes"}, "text buttons are unallowed in the inline keyboard"),
        ({"text": " ", "callback_data": "a"}, "inline keyboard button text must be non-empty"),
        ({"callback_data": "a"}, "can't parse inline keyboard button"),
    ],
)
async def test_a_button_that_is_not_as_it_must_be_is_refused(
    telegram: FakeTelegram, api: Api, asked: int, button: JsonObject, why: str
) -> None:
    refused = await api.refusal("sendMessage", chat_id=7, text="x", reply_markup=keys(button))
    assert refused.startswith(f"400 Bad Request: {why}")
    assert len(telegram.messages(7)) == 1


@pytest.mark.parametrize("markup", ["keys", {"inline_keyboard": [YES]}, {"inline_keyboard": None}])
async def test_a_keyboard_that_is_none_is_refused(api: Api, asked: int, markup: Any) -> None:
    refused = await api.refusal("sendMessage", chat_id=7, text="x", reply_markup=markup)
    assert refused.startswith("400 Bad Request: object expected")


async def test_a_hundred_buttons_fit_and_no_more(api: Api, asked: int) -> None:
    await api("sendMessage", chat_id=7, text="x", reply_markup=keys(*[YES] * 100))
    refused = await api.refusal("sendMessage", chat_id=7, text="x", reply_markup=keys(*[YES] * 101))
    assert "too long" in refused


async def test_only_an_empty_keyboard_surely_removes_one(api: Api, asked: int) -> None:
    await api("editMessageText", chat_id=7, message_id=asked, text="one")
    assert api.telegram.messages(7)[0].buttons == {"Yes": "a:yes"}
    await api("editMessageText", chat_id=7, message_id=asked, text="two", reply_markup=keys())
    assert api.telegram.messages(7)[0].buttons == {}


async def test_a_press_comes_with_its_person_its_message_and_its_data(
    telegram: FakeTelegram, asked: int
) -> None:
    pressed = press(telegram, asked)
    bot = ptb.Bot(telegram.token, base_url=telegram.base_url, base_file_url=telegram.base_file_url)
    async with bot:
        (update,) = await bot.get_updates(allowed_updates=ptb.Update.ALL_TYPES)
        query = update.callback_query
        assert query is not None
        assert query.message is not None
        assert dict(query.api_kwargs) == {}
        assert (query.id, query.data, query.from_user.id) == (pressed.id, "a:yes", 7)
        assert (query.message.chat.id, query.message.message_id) == (7, asked)
        assert await query.answer("Done", show_alert=True)
    assert (pressed.shown, pressed.alert) == ("Done", True)


async def test_a_button_that_nobody_sees_cannot_be_pressed(api: Api, asked: int) -> None:
    await api("editMessageText", chat_id=7, message_id=asked, text="two", reply_markup=keys())
    with pytest.raises(KeyError):
        press(api.telegram, asked)


async def test_a_press_is_answered_once(telegram: FakeTelegram, api: Api, asked: int) -> None:
    pressed = press(telegram, asked)
    await api("answerCallbackQuery", callback_query_id=pressed.id)
    assert (pressed.shown, pressed.alert) == ("", False)
    again = await api.refusal("answerCallbackQuery", callback_query_id=pressed.id, text="x")
    unknown = await api.refusal("answerCallbackQuery", callback_query_id="1")
    assert (again, unknown) == (TOO_OLD, TOO_OLD)


async def test_what_a_press_is_answered_with_has_at_most_200_characters(
    telegram: FakeTelegram, api: Api, asked: int
) -> None:
    pressed = press(telegram, asked)
    name = {"callback_query_id": pressed.id}
    assert "TOO_LONG" in await api.refusal("answerCallbackQuery", text="x" * 201, **name)
    await api("answerCallbackQuery", text="x" * 200, **name)
    assert pressed.shown == "x" * 200


@pytest.mark.parametrize(
    ("text", "options", "seen"),
    [
        ("see https://example.org", None, True),
        ("see https://example.org", {"is_disabled": True}, False),
        ("no link", None, False),
    ],
)
async def test_a_link_is_previewed_unless_the_message_says_no(
    telegram: FakeTelegram, api: Api, asked: int, text: str, options: Any, seen: bool
) -> None:
    await api("sendMessage", chat_id=7, text=text, link_preview_options=options)
    assert telegram.messages(7)[-1].previews is seen
