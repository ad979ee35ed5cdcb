"""The Slack channel's own slice of the settings."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from channels.slack.settings import RULES, SlackSettings


def settings(**values: object) -> SlackSettings:
    return SlackSettings.model_validate(values)


def test_whatever_only_slack_needs_switches_the_channel_on() -> None:
    assert not settings().enabled
    assert not settings(bot_token=" ").enabled
    assert settings(app_token="xapp-1").enabled
    assert settings(signing_secret="8f742231").enabled
    assert settings(bot_token=" xoxb-1 \n").enabled
    assert settings(installations=Path("x.json")).enabled


@pytest.mark.parametrize(
    ("name", "token", "said"),
    [
        ("bot_token", "xapp-1-2", "begins with xoxb-"),
        ("bot_token", "xoxp-1-2", "begins with xoxb-"),
        ("app_token", "xoxb-1-2", "begins with xapp-"),
        ("bot_token", "xoxb 1", "a token is xoxb-"),
    ],
)
def test_a_token_in_the_place_of_another_is_told(name: str, token: str, said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        settings(**{name: token})


def test_h2_neither_a_wrong_nor_a_right_secret_is_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        settings(bot_token="xapp-canary")
    right = settings(
        bot_token="xoxb-canary",
        app_token="xapp-canary",
        signing_secret="canary",
        client_secret="canary",
    )
    assert "canary" not in str(caught.value)
    assert "canary" not in f"{right!r} {right} {right.model_dump()}"


def test_what_is_answered_is_a_list_of_known_rules() -> None:
    assert settings(answers=" reply, mention ,").rules() == {"reply", "mention"}
    assert settings().rules() == set(RULES)
    with pytest.raises(ValidationError, match="'everything' is none of private, mention"):
        settings(answers="mention,everything")


def test_files_are_where_slack_has_them_or_where_the_api_is() -> None:
    assert settings().files_origin == "https://files.slack.com"
    other = settings(base_url="http://127.0.0.1:8/api")
    assert other.base_url == "http://127.0.0.1:8/api/"
    assert other.files_origin == "http://127.0.0.1:8"
    assert settings(files_url="https://files.slack-gov.com/").files_origin == (
        "https://files.slack-gov.com"
    )
    for name in ("base_url", "files_url", "proxy"):
        with pytest.raises(ValidationError, match="begins with http"):
            settings(**{name: "ftp://x"})
