"""The link that adds the bot to a server, and the permissions that it asks for."""

from __future__ import annotations

from typing import Final

from discord.permissions import Permissions
from discord.utils import oauth_url

PERMISSIONS: Final = Permissions(
    view_channel=True, send_messages=True, send_messages_in_threads=True, read_message_history=True
)


def invite_link(application: str) -> str:
    scopes = ("bot", "applications.commands")
    return oauth_url(application, permissions=PERMISSIONS, scopes=scopes)


def missing_permissions(held: int) -> list[str]:
    """Return what the bot lacks in a server, in the words of Discord's pages."""
    allowed = Permissions(held)
    wanted = [] if allowed.administrator else [name for name, asked in PERMISSIONS if asked]
    return [name.replace("_", " ").title() for name in wanted if not getattr(allowed, name)]
