"""Decide who may talk to the agent, and with which role, before anything is sent or spent.

Access is closed by default. Decisions depend on rules and the platforms' ids, never on names or
text. A listed person is let in in private; a group is opened as a group. Of a chat's own rule, that
of the chat it belongs to, and that of its server, the first that exists decides. The settings'
list is where rules begin: a rule in the database overrules it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from agent.tool import Role
from channels.message import InboundMessage
from gateway.settings import AccessSettings
from gateway.storage.ledger.access import AccessRule, RuleRole
from gateway.storage.ledger.rows import account_id

ROLES: Final[Mapping[RuleRole, Role]] = MappingProxyType(
    {"owner": Role.OWNER, "admin": Role.ADMIN, "member": Role.MEMBER}
)

BEFORE: Final = "it was said before the chat was opened"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a message is allowed, the role of its author, and the rule that decided."""

    allowed: bool
    role: Role
    rule: str


class Access:
    """Decides about messages; a rule holds for the next message, without a restart."""

    def __init__(
        self,
        settings: AccessSettings,
        aliases: Mapping[str, str] = MappingProxyType({}),
        rules: Iterable[AccessRule] = (),
    ) -> None:
        self._open = settings.mode == "open"
        self._allowed = settings.allowed()
        self._aliases = aliases
        self._rules = {(rule.account_id, rule.id): rule for rule in rules}
        self._put = 0

    def decide(self, message: InboundMessage) -> Decision:
        """Decide whether a message is allowed, and which role its author has.

        What was not allowed when it was accepted is not allowed later on.
        """
        found = self._decided(message)
        is_late = found.allowed and message.closed
        return replace(found, allowed=False, rule=BEFORE) if is_late else found

    def as_accepted(self, message: InboundMessage) -> InboundMessage:
        """Return a message that says whether it is allowed now, for when it is decided about."""
        if message.kind not in ("message", "edit") or self.decide(message).allowed:
            return message
        return replace(message, closed=True)

    def _decided(self, message: InboundMessage) -> Decision:
        if message.owner:
            return Decision(True, Role.OWNER, "the owner's own page or terminal")
        if message.invited:
            return Decision(True, Role.MEMBER, "the owner invited the person to this room")
        own = self.own_role(message)
        private = message.chat_kind == "private"
        if private and own is not None:
            return Decision(True, own, "the person is on the allowlist")
        opened = self.chat_rule(message)
        role = Role.STRANGER if own is None else own
        if opened is None and self._open:
            return Decision(True, _in_chat(message, role), "open to everybody")
        if opened == "member":
            known = Role.STRANGER if message.sender.acts_as == "other" else Role.MEMBER
            rule = "the chat is on the allowlist"
            return Decision(True, _in_chat(message, max(role, known)), rule)
        if opened is not None:
            return Decision(False, role, "the chat was closed")
        what = "neither the chat nor the person is" if private else "the chat is not"
        return Decision(False, role, f"{what} on the allowlist")

    def own_role(self, message: InboundMessage) -> Role | None:
        """Return the role that a rule gives to a message's author anywhere in its account."""
        if message.sender.acts_as != "person" or not message.sender.id:
            return None
        found = self.rule_of(message.channel, message.account, message.sender.id)
        return ROLES.get(found) if found else None

    def chat_rule(self, message: InboundMessage) -> RuleRole | None:
        """Return the rule for a chat: `member` if it is open, another if it was closed."""
        for one in self._places(message):
            found = self.rule_of(message.channel, message.account, one)
            if found is not None:
                return found
        return None

    def _places(self, message: InboundMessage) -> Iterator[str]:
        for chat_id in filter(None, (message.chat_id, message.parent_id)):
            yield chat_id
            former = self._aliases.get(f"{message.channel}:{chat_id}", "")
            if former.startswith(f"{message.channel}:"):
                yield former.partition(":")[2]
        if message.server_id:
            yield message.server_id

    def rule_of(self, channel: str, account: str, one: str) -> RuleRole | None:
        """Return the role that an id has by a rule or by the settings, or None without any."""
        for place in dict.fromkeys((account_id(channel, account), channel)):
            if (rule := self._rules.get((place, one))) is not None:
                return rule.role
        return "member" if f"{channel}:{one}" in self._allowed else None

    def named(self, channel: str, account: str, one: str) -> str:
        """Return what people call an id that has a rule, or ""."""
        places = (account_id(channel, account), channel)
        found = (self._rules.get((place, one)) for place in places)
        return next((rule.name for rule in found if rule is not None), "")

    def owners(self, channel: str, account: str) -> list[AccessRule]:
        """Return the owners of an account."""
        places = (account_id(channel, account), channel)
        return [
            rule
            for rule in self._rules.values()
            if rule.role == "owner" and rule.account_id in places
        ]

    def has_open_chat(self, message: InboundMessage) -> bool:
        """Return whether a chat of the message's server was opened by a rule."""
        places = (account_id(message.channel, message.account), message.channel)
        return bool(message.server_id) and any(
            rule.role == "member" and message.server_id in (rule.server_id, rule.id)
            for rule in self._rules.values()
            if rule.account_id in places
        )

    def rules(self) -> list[AccessRule]:
        """Return the rules of the database, and after them those of the settings."""
        known = {f"{rule.account_id}:{rule.id}" for rule in self._rules.values()}
        listed = [
            AccessRule(channel, one, "member", granted_by="settings")
            for channel, _, one in (item.partition(":") for item in sorted(self._allowed - known))
        ]
        return [*self._rules.values(), *listed]

    async def read(self, read_all: Callable[[], Awaitable[Iterable[AccessRule]]]) -> None:
        """Use the rules that the database has; an answer may be older than what is put then."""
        put = -1
        while put != self._put:
            put, rules = self._put, await read_all()
        self._rules = {(rule.account_id, rule.id): rule for rule in rules}

    def put(self, rule: AccessRule) -> None:
        """Apply a rule that was committed."""
        self._put += 1
        self._rules[rule.account_id, rule.id] = rule


def _in_chat(message: InboundMessage, role: Role) -> Role:
    """Return an author's role in a chat: who writes in a group's name is one of its admins."""
    anonymous = message.sender.acts_as == "chat" and message.chat_kind == "group"
    return max(role, Role.ADMIN) if anonymous else role
