"""Who may do what on the fake Discord: permission bits, roles, and a channel's overwrites."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntFlag
from typing import Final


class Permission(IntFlag):
    """The permissions that the fake asks for; the others are only passed on."""

    ADD_REACTIONS = 1 << 6
    ADMINISTRATOR = 1 << 3
    MANAGE_CHANNELS = 1 << 4
    VIEW_CHANNEL = 1 << 10
    SEND_MESSAGES = 1 << 11
    MANAGE_MESSAGES = 1 << 13
    EMBED_LINKS = 1 << 14
    ATTACH_FILES = 1 << 15
    READ_MESSAGE_HISTORY = 1 << 16
    MENTION_EVERYONE = 1 << 17
    USE_APPLICATION_COMMANDS = 1 << 31
    MANAGE_THREADS = 1 << 34
    CREATE_PUBLIC_THREADS = 1 << 35
    CREATE_PRIVATE_THREADS = 1 << 36
    SEND_MESSAGES_IN_THREADS = 1 << 38


EVERYTHING: Final = (1 << 53) - 1

USUAL: Final = (
    Permission.ADD_REACTIONS
    | Permission.VIEW_CHANNEL
    | Permission.SEND_MESSAGES
    | Permission.EMBED_LINKS
    | Permission.ATTACH_FILES
    | Permission.READ_MESSAGE_HISTORY
    | Permission.USE_APPLICATION_COMMANDS
    | Permission.CREATE_PUBLIC_THREADS
    | Permission.CREATE_PRIVATE_THREADS
    | Permission.SEND_MESSAGES_IN_THREADS
)
"""What @everyone has in a guild unless told otherwise; not MENTION_EVERYONE."""


@dataclass(slots=True)
class Overwrite:
    """Allow and deny, in one channel, for a role (kind 0) or a member (kind 1)."""

    id: int
    kind: int
    allow: int = 0
    deny: int = 0

    def as_json(self) -> dict[str, object]:
        """Return the API's overwrite object."""
        return {
            "id": str(self.id),
            "type": self.kind,
            "allow": str(int(self.allow)),
            "deny": str(int(self.deny)),
        }


def permissions_in(
    base: int, overwrites: Iterable[Overwrite], everyone: int, roles: Iterable[int], member: int
) -> int:
    """Return what a member may do in a channel: @everyone's overwrite, the roles', its own."""
    if base & Permission.ADMINISTRATOR:
        return EVERYTHING
    found = {(item.kind, item.id): item for item in overwrites}
    if (item := found.get((0, everyone))) is not None:
        base = base & ~item.deny | item.allow
    of_roles = [found[0, role] for role in roles if (0, role) in found]
    denied, allowed = 0, 0
    for item in of_roles:
        denied |= item.deny
        allowed |= item.allow
    base = base & ~denied | allowed
    if (item := found.get((1, member))) is not None:
        base = base & ~item.deny | item.allow
    return int(base) if base & Permission.VIEW_CHANNEL else 0
