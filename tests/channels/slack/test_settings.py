"""The settings of the Slack channel."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from channels.slack.settings import RULES, SlackSettings


def settings(**values: object) -> SlackSettings:
    return SlackSettings.model_validate(values)


def test_any_secret_or_a_file_of_installations_enables_the_channel() -> None:
    assert not settings().enabled
    assert not settings(bot_token=" ").enabled
    assert settings(app_token="xapp-1").enabled
    assert settings(signing_secret="8f742231").enabled
    assert settings(bot_token=" xoxb-1 \n").enabled
    assert settings(installations=Path("x.json")).enabled


@pytest.mark.parametrize(
    ("name", "token", "sentence"),
    [
        ("bot_token", "xapp-1-2", "begins with xoxb-"),
        ("bot_token", "xoxp-1-2", "begins with xoxb-"),
        ("app_token", "xoxb-1-2", "begins with xapp-"),
        ("bot_token", "xoxb 1", "a token is xoxb-"),
    ],
)
def test_a_token_of_the_wrong_kind_is_refused(name: str, token: str, sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        settings(**{name: token})


def test_h2_no_secret_is_shown_whether_valid_or_not() -> None:
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


def test_answers_is_a_list_of_known_rules() -> None:
    assert settings(answers=" reply, mention ,").rules() == {"reply", "mention"}
    assert settings().rules() == set(RULES)
    with pytest.raises(ValidationError, match="'everything' is none of private, mention"):
        settings(answers="mention,everything")


def test_files_come_from_slack_or_from_the_api_s_host() -> None:
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
