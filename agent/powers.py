"""The table of what each role may do, by kind of chat. What is not in the table, nobody may do.

It lists the builtin tools, the gateway's own commands (with a comma), and more that an argument or
a button may ask for. The tools of plugins are not listed: each says its own role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from agent.tool import Chats, Role, Tool

ALL_KINDS: Final = "search of all kinds"
OTHERS_RESULTS: Final = "results of tools in other conversations"
OTHER_CHATS: Final = "other chats"
OTHERS_ANSWERS: Final = "stopping others' answers"
TAPE_WIDE: Final = "anchors for the whole chat"
OTHERS_LANES: Final = "anchors in others' conversations"


@dataclass(frozen=True, slots=True)
class Power:
    """The lowest role that may do something in a private chat, and in a group; None is nobody."""

    private: Role | None
    group: Role | None


def _from(role: Role) -> Power:
    return Power(role, role)


_ANYBODY: Final = _from(Role.STRANGER)
_MEMBERS: Final = _from(Role.MEMBER)
_ADMINS: Final = _from(Role.ADMIN)
_OWN_CHAT: Final = Power(Role.STRANGER, Role.ADMIN)
"""What affects everybody in a group affects only the person who does it where they are alone."""

POWERS: Final[Mapping[str, Power]] = MappingProxyType(
    {
        "help": _ANYBODY,
        "tape.info": _ANYBODY,
        "tape.search": _ANYBODY,
        "tape.context": _ANYBODY,
        "tape.context_summary": _ANYBODY,
        "tape.anchors": _ANYBODY,
        "tape.handoff": _ANYBODY,  # `agent.anchoring` decides for each conversation
        "web.fetch": _MEMBERS,
        "subagent": _MEMBERS,
        ALL_KINDS: _ADMINS,
        OTHERS_RESULTS: _ADMINS,
        OTHER_CHATS: Power(Role.OWNER, None),
        OTHERS_ANSWERS: _OWN_CHAT,
        TAPE_WIDE: _OWN_CHAT,
        OTHERS_LANES: _ADMINS,
        ",help": _ANYBODY,
        ",start": _ANYBODY,
        ",pair": _ANYBODY,  # the code decides
        ",choose": _ANYBODY,  # the card decides
        ",stop": _ANYBODY,
        ",stop all": _OWN_CHAT,
        ",handoff": _ANYBODY,
        ",reset": _OWN_CHAT,
        ",rewind": _OWN_CHAT,
        ",forget": _ANYBODY,
        ",open": Power(Role.OWNER, Role.ADMIN),  # in private, it opens other chats
        ",grant": Power(Role.OWNER, None),
        ",console": Power(Role.ADMIN, None),  # the link must not be read by others
    }
)

COMMANDS: Final = frozenset(name[1:] for name in POWERS if name.startswith(",") and " " not in name)
"""The names of the gateway's own commands."""


def may(what: str, role: Role, *, shared: bool) -> bool:
    """Return whether a role may do something, in a group if `shared`."""
    power = POWERS.get(what)
    needed = (power.group if shared else power.private) if power else None
    return needed is not None and needed <= role


def by_the_table(tool: Tool) -> Tool:
    """Return a builtin tool with its role and kinds of chat from the table."""
    power = POWERS.get(tool.name, Power(None, None))
    chats, role = Chats.NONE, Role.STRANGER
    for kind, needed in ((Chats.PRIVATE, power.private), (Chats.GROUP, power.group)):
        if needed is not None:
            chats, role = chats | kind, max(role, needed)
    return replace(tool, role=role, chats=chats)
