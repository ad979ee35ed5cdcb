"""The app manifests request exactly what the code uses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from channels.slack.api_methods import COMMAND, EVENTS, METHODS, scopes

ROOT = Path(__file__).resolve().parents[3]
FILES = ("slack-manifest.yaml", "slack-manifest-http.yaml")


def manifest(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(ROOT / "deploy" / name)
    return loaded


@pytest.mark.parametrize("name", FILES)
def test_scopes_events_and_command_match_the_code(name: str) -> None:
    found = manifest(name)
    assert set(found["oauth_config"]["scopes"]["bot"]) == scopes()
    assert set(found["settings"]["event_subscriptions"]["bot_events"]) == set(EVENTS)
    assert [one["command"] for one in found["features"]["slash_commands"]] == [COMMAND]


def test_every_event_has_its_scope() -> None:
    for name in FILES:
        requested = set(manifest(name)["oauth_config"]["scopes"]["bot"])
        assert {scope for scope in EVENTS.values() if scope} <= requested


def test_one_is_for_socket_mode_and_the_other_has_addresses() -> None:
    socket, http = (manifest(name) for name in FILES)
    assert socket["settings"]["socket_mode_enabled"] is True
    assert "request_url" not in socket["settings"]["event_subscriptions"]
    assert http["settings"]["socket_mode_enabled"] is False
    url = "https://bot.example.org/slack/events"
    assert http["settings"]["event_subscriptions"]["request_url"] == url
    assert http["features"]["slash_commands"][0]["url"] == url
    assert http["settings"]["interactivity"] == {"is_enabled": True, "request_url": url}
    assert socket["settings"]["interactivity"] == {"is_enabled": True}


def test_the_table_lists_exactly_the_methods_that_are_called() -> None:
    sources = (ROOT / "channels" / "slack").glob("*.py")
    texts = [path.read_text() for path in sources if path.name != "api_methods.py"]
    called = set(
        re.findall(r'"((?:auth|chat|conversations|files|users|assistant)\.[\w.]+)"', "".join(texts))
    )
    assert called == set(METHODS)
