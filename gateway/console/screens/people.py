"""People: who may do what, who waits, what they used today; pairing, roles and erasing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from agent.names import fit
from agent.tool import Role
from gateway.access.access import Access
from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.screens.channels import can_pair
from gateway.console.screens.sessions import open_sessions
from gateway.console.visitor import Visitor
from gateway.errors import AdminError
from gateway.http.json_route import json_body
from gateway.language.language import translated
from gateway.logs import get_log
from gateway.turn.budgets import limits_of

MAX_PEOPLE: Final = 500
MAX_OPENINGS: Final = 100
OWNERS_ONLY: Final = "Only an owner may do this."
UNSURE: Final = "Erasing can't be undone: confirm it."
NOT_YOUR_ACCOUNT: Final = "This belongs to an account that isn't yours."
OWNERS_STAY: Final = "An owner's role is changed by whoever holds the access token."


class PeopleScreen:
    """Shows and changes what people may do, as far as the visitor owns their account."""

    def __init__(self, parts: ConsoleParts, rights: Rights) -> None:
        self._parts = parts
        self._rights = rights

    def routes(self) -> list[BaseRoute]:
        return [
            console_route("/people", self._people),
            console_route("/people/grant", self._grant, "POST"),
            console_route("/people/revoke", self._revoke, "POST"),
            console_route("/people/pair", self._pair, "POST"),
            console_route("/people/erase", self._erase, "POST"),
            console_route("/people/erasures/{name}", self._erasure),
        ]

    async def _people(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        budget = self._parts.services.settings.budget
        known = {chat.session_id: chat for chat in await visitor.chats()}
        day = self._parts.services.clock.now().date().isoformat()
        values = {**await visitor.scope(), "day": day, "limit": MAX_PEOPLE}
        used = [
            {
                "person": row["person"],
                "name": fit(row["name"]),
                "chat": known[row["session_id"]].key if row["session_id"] in known else "",
                "title": known[row["session_id"]].title if row["session_id"] in known else "",
                **{name: row[name] for name in ("turns", "refused", "tokens", "cost", "unpriced")},
            }
            for row in await self._parts.reads.select("ledger.used_by_person", values)
        ]
        limits = limits_of(budget, Role.MEMBER), limits_of(budget, Role.STRANGER)
        return {
            **await self._rules(visitor, known.values()),
            "waiting": await closed_chats(self._parts, visitor, known.values()),
            "used": used,
            "limits": {
                name: vars(limit) if limit else None
                for name, limit in zip(("member", "stranger"), limits, strict=True)
            },
            "openings": await self._openings(visitor, known),
            **await open_sessions(self._parts, visitor),
            "may": await self._owns_any(visitor),
            "pairing": visitor.is_instance_owner and self._pairs(),
        }

    def _pairs(self) -> bool:
        """Return whether an owner could be paired on a channel that runs."""
        return any(map(can_pair, self._parts.services.router.channels.values()))

    async def _rules(self, visitor: Visitor, known: Iterable[ConsoleChat]) -> dict[str, Any]:
        """Return the rules of the accounts that a visitor owns, with the titles of chats."""
        found = await self._parts.access_admin.rules()
        titles = {
            (account, chat.newest.chat_id): chat.title
            for chat in known
            if not chat.is_private
            for account in (chat.channel, chat.account_id)
        }
        mode = found["mode"] if visitor.is_instance_owner else ""
        owned = await _owned(visitor, found["rules"])
        named = ((titles.get((rule["account_id"], rule["id"])), rule) for rule in owned)
        rules = [{**rule, "name": title or rule["name"]} for title, rule in named]
        return {"rules": rules, "mode": mode}

    async def _openings(
        self, visitor: Visitor, known: Mapping[str, ConsoleChat]
    ) -> list[dict[str, Any]]:
        """Return who opened private chats here: each owner sees those of their account."""
        if not await self._owns_any(visitor):
            return []
        values = {**await visitor.scope(), "limit": MAX_OPENINGS}
        rows = await self._parts.reads.select("ledger.console_openings", values)
        return [
            {"person": row["person"], "title": known[one].title, "date": row["opened_at"]}
            for row in rows
            if (one := row["session_id"]) in known
        ]

    async def _grant(self, request: Request) -> Any:
        visitor, body = await self._owner(request)
        role, who, account = body["role"] or "member", body["who"], body["account"]
        if role == "owner" and not visitor.is_instance_owner:
            raise HTTPException(403, OWNERS_STAY)
        await self._check(visitor, who, account)
        done = await self._parts.access_admin.grant(who, role, account, by=visitor.person)
        return {"done": translated(done)}

    async def _revoke(self, request: Request) -> Any:
        visitor, body = await self._owner(request)
        await self._check(visitor, body["who"], body["account"])
        done = await self._parts.access_admin.revoke(
            body["who"], body["account"], by=visitor.person
        )
        return {"done": translated(done)}

    async def _pair(self, request: Request) -> Any:
        await self._rights.owner(request)
        return await self._parts.access_admin.pair()

    async def _erase(self, request: Request) -> Any:
        """Begin to erase a person everywhere or in a chat, a whole chat, or one message of it."""
        visitor, body = await self._owner(request)
        if body["sure"] != "erase":
            raise AdminError(UNSURE)
        what, tape, session_id = body["what"], "", ""
        if body["chat"]:
            request.path_params["chat"] = body["chat"]
            _visitor, chat = await self._rights.chat(request)
            if not await visitor.sees_account(chat.channel, chat.account):
                raise HTTPException(403, OWNERS_ONLY)
            tape, session_id = chat.tape, chat.session_id
        elif what != "person" or not visitor.is_instance_owner:
            raise AdminError("name the chat to erase in")
        begun = await self._parts.erase.begin(what, tape, body["name"])
        get_log().info("console.erase", person=visitor.person, what=what, chat=session_id)
        return begun

    async def _erasure(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        if not await self._owns_any(visitor):
            raise HTTPException(403, OWNERS_ONLY)
        found = await self._parts.erase.state(request.path_params["name"])
        return {**found, "problem": translated(found["problem"])}

    async def _owner(self, request: Request) -> tuple[Visitor, dict[str, str]]:
        visitor = await self._rights.visitor(request)
        if not await self._owns_any(visitor):
            raise HTTPException(403, OWNERS_ONLY)
        body = await json_body(request)
        names = ("who", "role", "account", "what", "name", "chat", "sure")
        return visitor, {name: str(body.get(name) or "")[:200] for name in names}

    async def _check(self, visitor: Visitor, who: str, account: str) -> None:
        """Raise HTTPException unless a visitor may change what an id may do in an account."""
        if visitor.is_instance_owner:
            return
        channel, _, one = who.partition(":")
        if not await visitor.sees_account(channel, account):
            raise HTTPException(403, NOT_YOUR_ACCOUNT)
        access = self._parts.access
        owns = access.rule_of(channel, account, one) == "owner"
        if not account:  # then, the change may be for every account of the channel
            owns = owns or any(
                rule.role == "owner" and rule.id == one
                for rule in access.rules()
                if rule.account_id.partition(":")[0] == channel
            )
        if owns:
            raise HTTPException(403, OWNERS_STAY)

    async def _owns_any(self, visitor: Visitor) -> bool:
        return visitor.role == Role.OWNER


async def closed_chats(
    parts: ConsoleParts, visitor: Visitor, chats: Iterable[ConsoleChat]
) -> list[dict[str, Any]]:
    """Return the chats that wait to be opened, of the accounts that a visitor owns.

    They asked for it, or somebody wrote there; `chat` is the key of those in which somebody did.
    """
    asked = await _owned(visitor, await parts.access_admin.waiting())
    rows = [*asked, *(_as_row(chat) for chat in chats if _is_closed(parts.access, chat))]
    found = {(row["account_id"], row["chat_id"]): row for row in await _owned(visitor, rows)}
    names = ("account_id", "chat_id", "title")
    return [
        {**{one: row[one] for one in names}, "chat": row.get("chat", "")} for row in found.values()
    ]


def _is_closed(access: Access, chat: ConsoleChat) -> bool:
    """Return whether nobody has opened or closed a chat, and so nobody is answered there."""
    newest = chat.newest
    if chat.is_private or newest.owner or newest.invited or access.chat_rule(newest) is not None:
        return False
    return not access.decide(chat.asked_by("")).allowed


def _as_row(chat: ConsoleChat) -> dict[str, Any]:
    row = {"account_id": chat.account_id, "chat_id": chat.newest.chat_id}
    return {**row, "title": chat.title, "chat": chat.key}


async def _owned(visitor: Visitor, rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the rows of the accounts that a visitor owns."""
    return [row for row in rows if await visitor.sees_account(*_account(row["account_id"]))]


def _account(account_id: str) -> tuple[str, str]:
    channel, _, account = account_id.partition(":")
    return channel, account
