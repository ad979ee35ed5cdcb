"""Settings of the Discord channel."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from channels.discord.settings import RULES, DiscordSettings

CANARY = "MTAw.canary secret"


def settings(**values: object) -> DiscordSettings:
    return DiscordSettings.model_validate(values)


def test_a_token_switches_the_channel_on() -> None:
    assert not settings().enabled
    assert not settings(token="  ").enabled
    assert settings(token=" MTAw.abc_-DEF\n").key() == "MTAw.abc_-DEF"
    assert settings(token="Bot MTAw.abc").key() == "MTAw.abc"


@pytest.mark.parametrize("token", ["a b", "a/b", "a?b", "a#b", "\u00e4", "a\x00b"])
def test_a_token_must_be_valid_in_a_header(token: str) -> None:
    with pytest.raises(ValidationError, match="a token is letters"):
        settings(token=token)


def test_h2_neither_a_wrong_nor_a_right_token_is_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        settings(token=CANARY)
    right = settings(token="MTAw.canary")
    assert "canary" not in str(caught.value)
    assert "canary" not in f"{right!r} {right} {right.model_dump()}"


def test_answers_is_a_list_of_known_rules() -> None:
    assert settings(answers=" reply, mention ,").rules() == {"reply", "mention"}
    assert settings(answers="").rules() == frozenset()
    assert settings().rules() == set(RULES)
    with pytest.raises(ValidationError, match="'everything' is none of private, mention"):
        settings(answers="mention,everything")


def test_addresses_have_the_right_scheme_and_no_trailing_slash() -> None:
    assert settings(base_url="http://127.0.0.1:1/api/v10/").base_url == "http://127.0.0.1:1/api/v10"
    for name in ("base_url", "proxy", "cdn_url"):
        with pytest.raises(ValidationError, match="begins with http"):
            settings(**{name: "ftp://x"})
    with pytest.raises(ValidationError, match="begins with ws"):
        settings(gateway_url="https://x")


@pytest.mark.parametrize("name", ["shards", "per_second"])
def test_numbers_are_not_negative(name: str) -> None:
    with pytest.raises(ValidationError):
        settings(**{name: -1})
