"""The Telegram channel's own slice of the settings."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from channels.telegram.settings import RULES, TelegramSettings

CANARY = "123456:canary secret"


def settings(**values: object) -> TelegramSettings:
    return TelegramSettings.model_validate(values)


def test_a_token_switches_the_channel_on() -> None:
    assert not settings().enabled
    assert not settings(token="  ").enabled
    found = settings(token=" 123456:abc_-DEF\n")
    assert found.enabled
    assert found.key() == "123456:abc_-DEF"


@pytest.mark.parametrize("token", ["12:a b", "12:a/b", "12:a?b", "12:a#b", "12:ä", "12:a\x00b"])
def test_what_cannot_stand_in_an_address_is_no_token(token: str) -> None:
    with pytest.raises(ValidationError, match="a token is digits"):
        settings(token=token)


def test_h2_neither_a_wrong_nor_a_right_token_is_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        settings(token=CANARY)
    right = settings(token="123456:canary", webhook_secret="canary")
    assert "canary" not in str(caught.value)
    assert "canary" not in f"{right!r} {right} {right.model_dump()}"


def test_what_is_answered_is_a_list_of_known_rules() -> None:
    assert settings(answers=" reply, mention ,").rules() == {"reply", "mention"}
    assert settings(answers="").rules() == frozenset()
    assert settings().rules() == set(RULES) - {"topic"}
    with pytest.raises(ValidationError, match="'everything' is none of private, mention"):
        settings(answers="mention,everything")


def test_addresses_are_http_and_end_without_a_slash() -> None:
    assert settings(base_url="http://127.0.0.1:8081/bot/").base_url == "http://127.0.0.1:8081/bot"
    for name in ("base_url", "proxy", "webhook_url"):
        with pytest.raises(ValidationError, match="begins with http"):
            settings(**{name: "ftp://x"})


@pytest.mark.parametrize("name", ["poll_seconds", "per_second", "group_per_minute"])
def test_numbers_are_not_negative(name: str) -> None:
    with pytest.raises(ValidationError):
        settings(**{name: -1})
