"""Decide who may talk to the agent, and with which role, before anything is sent or spent.

Access is closed by default. Decisions depend on settings and the platforms' ids, never on names or
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from agent.tool import Role
from channels.message import InboundMessage
from gateway.settings import AccessSettings


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a message is allowed, the role of its author, and the rule that decided."""

    allowed: bool
    role: Role
    rule: str


class Access:
    """Decides about messages according to the access settings."""

    def __init__(
        self, settings: AccessSettings, aliases: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._mode = settings.mode
        self._allowed = settings.allowed()
        self._aliases = aliases

    def decide(self, message: InboundMessage) -> Decision:
        """Decide whether a message is allowed, and which role its author has."""
        if message.owner:
            return Decision(True, Role.OWNER, "the owner's own page or terminal")
        if f"{message.channel}:{message.sender.id}" in self._allowed:
            return Decision(True, Role.MEMBER, "the person is on the allowlist")
        chat = f"{message.channel}:{message.chat_id}"
        if chat in self._allowed or self._aliases.get(chat) in self._allowed:
            return Decision(True, Role.MEMBER, "the chat is on the allowlist")
        if self._mode == "open":
            return Decision(True, Role.STRANGER, "open to everybody")
        return Decision(False, Role.STRANGER, "neither the chat nor the person is on the allowlist")


def refusal(message: InboundMessage) -> str:
    """Return the notice that a chat without access gets."""
    chat, person = (f"{message.channel}:{one}" for one in (message.chat_id, message.sender.id))
    # Some platforms do not report who added the agent to a chat.
    alone = not message.sender.id or chat == person
    what = chat if alone else f"{chat} (this chat) or {person} (you)"
    return (
        f"I'm not enabled in this chat yet. My operator can enable me: add {what} to"
        " TAPEWAY_ACCESS__ALLOW and restart me."
    )
