"""The settings of each platform's channel: what switches it on, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from channels.discord import settings as discord
from channels.slack import settings as slack
from channels.telegram import settings as telegram

KINDS: dict[str, Any] = {
    "discord": discord.DiscordSettings,
    "slack": slack.SlackSettings,
    "telegram": telegram.TelegramSettings,
}


def settings(platform: str, **values: object) -> Any:
    return KINDS[platform].model_validate(values)


@pytest.mark.parametrize(
    ("platform", "name", "value"),
    [
        ("discord", "token", " MTAw.abc_-DEF\n"),
        ("telegram", "token", " 123456:abc_-DEF\n"),
        ("slack", "bot_token", " xoxb-1 \n"),
        ("slack", "app_token", "xapp-1"),
        ("slack", "signing_secret", "8f742231"),
        ("slack", "installations", Path("x.json")),
    ],
)
def test_any_token_secret_or_file_of_installations_switches_the_channel_on(
    platform: str, name: str, value: object
) -> None:
    assert settings(platform, **{name: value}).enabled


@pytest.mark.parametrize(
    ("platform", "name"), [("discord", "token"), ("slack", "bot_token"), ("telegram", "token")]
)
def test_without_a_token_or_with_a_blank_one_the_channel_is_off(platform: str, name: str) -> None:
    assert not settings(platform).enabled
    assert not settings(platform, **{name: "  "}).enabled


@pytest.mark.parametrize(
    ("platform", "given", "token"),
    [
        ("discord", " MTAw.abc_-DEF\n", "MTAw.abc_-DEF"),
        ("discord", "Bot MTAw.abc", "MTAw.abc"),
        ("telegram", " 123456:abc_-DEF\n", "123456:abc_-DEF"),
    ],
)
def test_a_token_is_read_without_what_surrounds_it(platform: str, given: str, token: str) -> None:
    assert settings(platform, token=given).key() == token


@pytest.mark.parametrize(
    ("platform", "name", "sentence", "token"),
    [
        *[
            ("discord", "token", "a token is letters", token)
            for token in ("a b", "a/b", "a?b", "a#b", "\u00e4", "a\x00b")
        ],
        *[
            ("telegram", "token", "a token is digits", token)
            for token in ("12:a b", "12:a/b", "12:a?b", "12:a#b", "12:ä", "12:a\x00b")
        ],
        ("slack", "bot_token", "begins with xoxb-", "xapp-1-2"),
        ("slack", "bot_token", "begins with xoxb-", "xoxp-1-2"),
        ("slack", "app_token", "begins with xapp-", "xoxb-1-2"),
        ("slack", "bot_token", "a token is xoxb-", "xoxb 1"),
    ],
)
def test_a_token_of_another_kind_or_form_is_refused(
    platform: str, name: str, sentence: str, token: str
) -> None:
    with pytest.raises(ValidationError, match=sentence):
        settings(platform, **{name: token})


@pytest.mark.parametrize(
    ("platform", "name", "wrong", "right"),
    [
        ("discord", "token", "MTAw.canary secret", {"token": "MTAw.canary"}),
        ("slack", "bot_token", "xapp-canary", {"bot_token": "xoxb-canary",
          "app_token": "xapp-canary", "signing_secret": "canary", "client_secret": "canary"}),
        ("telegram", "token", "123456:canary secret",
         {"token": "123456:canary", "webhook_secret": "canary"}),
    ],
    ids=KINDS,
)  # fmt: skip
def test_h2_no_secret_is_shown_whether_valid_or_not(
    platform: str, name: str, wrong: str, right: dict[str, str]
) -> None:
    with pytest.raises(ValidationError) as caught:
        settings(platform, **{name: wrong})
    valid = settings(platform, **right)
    assert "canary" not in str(caught.value)
    assert "canary" not in f"{valid!r} {valid} {valid.model_dump()}"


@pytest.mark.parametrize(
    ("platform", "by_default"),
    [
        ("discord", set(discord.RULES)),
        ("slack", set(slack.RULES)),
        ("telegram", set(telegram.RULES) - {"topic"}),
    ],
    ids=KINDS,
)
def test_answers_is_a_list_of_known_rules(platform: str, by_default: set[str]) -> None:
    assert settings(platform, answers=" reply, mention ,").rules() == {"reply", "mention"}
    assert settings(platform, answers="").rules() == frozenset()
    assert settings(platform).rules() == by_default
    with pytest.raises(ValidationError, match="'everything' is none of private, mention"):
        settings(platform, answers="mention,everything")


@pytest.mark.parametrize(
    ("platform", "name", "scheme"),
    [
        *[("discord", name, "http") for name in ("base_url", "proxy", "cdn_url")],
        ("discord", "gateway_url", "ws"),
        *[("slack", name, "http") for name in ("base_url", "files_url", "proxy")],
        *[("telegram", name, "http") for name in ("base_url", "proxy", "webhook_url")],
    ],
)
def test_an_address_has_its_scheme(platform: str, name: str, scheme: str) -> None:
    wrong = "https://x" if scheme == "ws" else "ftp://x"
    with pytest.raises(ValidationError, match=f"begins with {scheme}"):
        settings(platform, **{name: wrong})


@pytest.mark.parametrize("platform", ["discord", "telegram"])
def test_an_address_ends_without_a_slash(platform: str) -> None:
    found = settings(platform, base_url="http://127.0.0.1:8081/api/")
    assert found.base_url == "http://127.0.0.1:8081/api"


@pytest.mark.parametrize(
    ("platform", "names"),
    [
        ("discord", ("shards", "per_second")),
        ("telegram", ("poll_seconds", "per_second", "group_per_minute")),
    ],
)
def test_numbers_are_not_negative(platform: str, names: tuple[str, ...]) -> None:
    for name in names:
        with pytest.raises(ValidationError):
            settings(platform, **{name: -1})


def test_slack_s_files_come_from_slack_or_from_the_api_s_host() -> None:
    assert settings("slack").files_origin == "https://files.slack.com"
    other = settings("slack", base_url="http://127.0.0.1:8/api")
    assert other.base_url == "http://127.0.0.1:8/api/"
    assert other.files_origin == "http://127.0.0.1:8"
    elsewhere = settings("slack", files_url="https://files.slack-gov.com/")
    assert elsewhere.files_origin == "https://files.slack-gov.com"
