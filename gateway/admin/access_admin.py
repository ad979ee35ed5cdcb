"""What operators do with access: list it, grant it, revoke it, and make pairing codes."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any, Final, get_args

from gateway.access.pairing import CODE_SECONDS, Pairing
from gateway.errors import AdminError
from gateway.scheduling.opening.openings import FORMER, Openings
from gateway.scheduling.opening.place import Place
from gateway.services import Services
from gateway.settings.sections import ALLOWED
from gateway.storage.ledger.access import AccessRule, RuleRole
from gateway.storage.ledger.rows import account_id
from tape.entry import utc_iso

BY: Final = "terminal"
NUMERIC: Final = ("telegram", "discord")  # the platforms whose ids are numbers


class AccessAdmin:
    """Changes access while the gateway runs; a change holds for the next message."""

    def __init__(self, services: Services, openings: Openings, pairing: Pairing) -> None:
        self._services = services
        self._openings = openings
        self._pairing = pairing

    async def rules(self) -> dict[str, Any]:
        """Return the mode, every rule, and the chats that wait to be opened."""
        chats = await self._services.ledger.chat_names()
        rules = [asdict(rule) for rule in self._openings.access.rules()]
        for rule in rules:
            rule["name"] = rule["name"] or chats.get(f"{rule['account_id']}:{rule['id']}", "")
        return {
            "mode": self._services.settings.access.mode,
            "rules": rules,
            "waiting": await self.waiting(),
        }

    async def waiting(self) -> list[dict[str, Any]]:
        """Return the chats that wait to be opened."""
        return [asdict(request) for request in await self._openings.waiting()]

    async def grant(
        self, who: str, role: str = "member", account: str = "", *, by: str = BY
    ) -> str:
        """Give a person a role or open a chat (`channel:id`), or open the former groups."""
        if who == FORMER:
            return f"groups opened: {await self._openings.open_former(by)}"
        channel, one = _parsed(who)
        if role not in set(get_args(RuleRole)) - {"none"}:
            raise AdminError(f"there is no role {role}: use owner, admin or member")
        waiting = [Place.requested(request) for request in await self._openings.waiting(channel)]
        place = next((place for place in waiting if place.id == one), None)
        newest = await self._services.ledger.access.newest_message(channel, one)
        if place is None and newest is not None and newest.chat_kind == "group":
            place = Place.of(newest)
        if place is not None and role != "member":
            raise AdminError(f"{who} is a chat: it can be opened (member), but it is no {role}")
        if place is not None:
            place = replace(place, id=one, account=account or place.account)
            await self._openings.apply(self._openings.rule(place, "member", by), place)
            return f"opened {who}"
        named = account_id(channel, account)
        rule = self._rule(named, one, role, by)  # type: ignore[arg-type]
        await self._openings.apply(rule)
        return f"{who} is now {'a' if role == 'member' else 'an'} {role}"

    async def revoke(self, who: str, account: str = "", *, by: str = BY) -> str:
        """Take every role from a person, or close a chat or server (`channel:id`)."""
        channel, one = _parsed(who)
        named = account_id(channel, account)
        found = {
            rule.account_id
            for rule in self._openings.access.rules()
            if rule.id == one and named in (rule.account_id, rule.account_id.partition(":")[0])
        }
        for place in sorted(found | {named}):
            await self._openings.apply(self._rule(place, one, "none", by))
        return f"{who} has no access of its own any more"

    async def pair(self) -> dict[str, Any]:
        """Make a pairing code; return it, how it is sent on each platform, and its seconds."""
        code = self._pairing.new_code()
        if (shared := self._services.shared) is not None:
            await shared.put_code(code, CODE_SECONDS)
        hints = self._pairing.hints(code)
        if not hints:
            raise AdminError(
                "no platform runs on which you could pair: start the gateway with `tapeway gateway`"
                " and a token of Telegram, Discord or Slack"
            )
        return {"code": code, "hints": hints, "seconds": int(CODE_SECONDS)}

    def _rule(self, account: str, one: str, role: RuleRole, by: str) -> AccessRule:
        moment = utc_iso(self._services.clock.now())
        return AccessRule(account, one, role, granted_by=by, granted_at=moment)


def _parsed(who: str) -> tuple[str, str]:
    if not ALLOWED.match(who):
        raise AdminError(f"{who!r} is not of the form channel:id, for example telegram:-100123")
    channel, _, one = who.partition(":")
    if channel in NUMERIC and not one.removeprefix("-").isdigit():
        raise AdminError(
            f"{who} is a name, which anybody can take: use the number, which stands in"
            " `tapeway access list` or in the bot's sentence to a person without access"
        )
    return channel, one
