"""Recognizes what was pasted in a token's place, before it is sent to the wrong company."""

from __future__ import annotations

import re
from typing import Final

TELEGRAM: Final = "a Telegram bot token"
DISCORD: Final = "a Discord bot token"
SLACK_BOT: Final = "a Slack bot token"
SLACK_APP: Final = "a Slack app-level token"
SLACK_SECRET: Final = "a secret of a Slack app"  # noqa: S105 - not a secret

_KINDS: Final = (
    (TELEGRAM, r"\d{5,}:[\w-]{5,}"),
    (DISCORD, r"[\w-]{20,}\.[\w-]{5,8}\.[\w-]{20,}"),
    (SLACK_BOT, r"xoxb-.*"),
    (SLACK_APP, r"xapp-.*"),
    ("a Slack user token", r"xox[a-z]-.*"),
    ("a key of a model", r"sk-.*"),
    ("an application ID of Discord", r"\d{17,20}"),
    ("a public key of Discord", r"[0-9a-f]{64}"),
    (SLACK_SECRET, r"[0-9a-f]{32}"),
)


def kind_of(token: str) -> str:
    """Return what a token looks like, as in "a Slack bot token", or "" if it cannot be seen."""
    return next((kind for kind, form in _KINDS if re.fullmatch(form, token, re.ASCII)), "")


def misplaced(token: str, wanted: str) -> str:
    """Return what stands in the place of the wanted kind of token, or "" if it may be right."""
    found = kind_of(token)
    return "" if found in ("", wanted) else f"this looks like {found}"
