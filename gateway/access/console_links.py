"""Read-only links: each shows one tape to whoever has it, without an account.

A link holds for a week at most. A browser trades its secret for a cookie of twelve hours, which
opens that tape and nothing else; several browsers may do so until the link ends. Secrets and
cookies are random, the database holds only their digests, and all of them are void with another
access token. A link says who made it; whether that person may still show the chat is decided for
each request. Who made and revoked a link is kept for 90 days, unless they or the chat are erased.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from gateway.access.console_door import OPENING_DAYS, ConsoleDoor, ConsoleGuest, digest_of
from gateway.errors import AdminError
from gateway.services import Services
from gateway.storage.ledger.rows import run_alone
from tape.entry import parse_date, utc_iso
from tape.errors import UnitFailed
from tape.unit_of_work import Row, Unit

LINK_HOURS: Final = (1, 24, 7 * 24)
"""Hours for which a link may hold."""

READER_HOURS: Final = 12
"""Maximum hours that a reader's cookie lasts; it ends with its link."""

MAX_LINKS: Final = 20  # of one chat that can be used at a time
MAX_READERS: Final = 100
"""Maximum browsers that read by one link at a time; one more ends the oldest."""

MAX_LISTED: Final = 100
PAGE_ACCOUNT: Final = "web"  # stands for the access token's holder, who has no account

HOURS: Final = "hours is 1, 24 or 168"
TOO_MANY: Final = f"This chat has {MAX_LINKS} links already: revoke one first."


@dataclass(frozen=True, slots=True)
class TapeLink:
    """A link that can be used: the chat that it shows, who made it, and until when, in UTC."""

    link_id: str
    session_id: str
    maker: ConsoleGuest
    by_holder: bool
    expires_at: str

    @classmethod
    def read(cls, row: Row) -> TapeLink:
        maker = ConsoleGuest(row["account_id"], row["person"])
        own = {name: str(row[name]) for name in ("link_id", "session_id", "expires_at")}
        return cls(maker=maker, by_holder=bool(row["holder"]), **own)


class ConsoleLinks:
    """The read-only links of the gateway whose door it is."""

    def __init__(self, services: Services, door: ConsoleDoor) -> None:
        self._store = services.store
        self._clock = services.clock
        self._door = door

    async def make(
        self, session_id: str, person: str, guest: ConsoleGuest | None, hours: object
    ) -> tuple[str, TapeLink]:
        """Make a link to a chat, for a person (`channel:id`); return its secret, and the link.

        `guest` is None for the access token's holder. Raises AdminError.
        """
        if type(hours) is not int or hours not in LINK_HOURS:
            raise AdminError(HOURS)
        now, unit, secret = self._clock.now(), Unit(), secrets.token_urlsafe(32)
        row = {
            "link_id": secrets.token_hex(8),
            "session_id": session_id,
            "account_id": guest.account_id if guest else PAGE_ACCOUNT,
            "person": guest.person if guest else person.partition(":")[2],
            "holder": int(guest is None),
            "expires_at": utc_iso(now + timedelta(hours=hours)),
        }
        unit.run("ledger.drop_console_links", until=self._kept_since())
        unit.run(
            "ledger.make_console_link",
            expect=1,
            digest=_digest(secret),
            token=self._door.token,
            made_at=utc_iso(now),
            limit=MAX_LINKS,
            **row,
        )
        try:
            await self._store.commit(unit)
        except UnitFailed as cause:
            raise AdminError(TOO_MANY) from cause
        return secret, TapeLink.read(row)

    async def holder(self, secret: str) -> TapeLink | None:
        """Return the link that has a secret, or None if none can be used."""
        return await self._find("ledger.console_link", secret)

    async def admit(self, link: TapeLink) -> tuple[str, int] | None:
        """Admit a browser; return its cookie and the seconds that it lasts, or None."""
        now, unit, cookie = self._clock.now(), Unit(), secrets.token_urlsafe(32)
        until = min(now + timedelta(hours=READER_HOURS), parse_date(link.expires_at))
        unit.run("ledger.count_console_link", expect=1, link_id=link.link_id, now=utc_iso(now))
        unit.run("ledger.drop_console_readers", now=utc_iso(now))
        unit.run("ledger.keep_console_readers", link_id=link.link_id, limit=MAX_READERS - 1)
        unit.run(
            "ledger.admit_console_reader",
            digest=_digest(cookie),
            link_id=link.link_id,
            opened_at=utc_iso(now),
            expires_at=utc_iso(until),
        )
        try:
            await self._store.commit(unit)
        except UnitFailed:  # it has just been revoked
            return None
        return cookie, int((until - now).total_seconds())

    async def find(self, cookie: str) -> TapeLink | None:
        """Return the link of a reader's cookie, or None; raises StoreUnavailable."""
        return await self._find("ledger.console_reader", cookie) if cookie else None

    async def listed(self, scope: Mapping[str, Any]) -> list[Row]:
        """Return links of the chats of a scope (`Visitor.scope`): first those that can be used.

        Those that were made too long ago are dropped.
        """
        await run_alone(self._store, "ledger.drop_console_links", until=self._kept_since())
        values = {**scope, "token": self._door.token, "limit": MAX_LISTED}
        values["now"] = utc_iso(self._clock.now())
        return await self._store.select("ledger.console_links", values)

    async def chat_of(self, link_id: str) -> str | None:
        """Return the session of a link, or None if there is no such link."""
        rows = await self._store.select("ledger.chat_of_console_link", {"link_id": link_id})
        return str(rows[0]["session_id"]) if rows else None

    async def revoke(self, link_id: str, by: str) -> bool:
        """Revoke a link and end its readers; return False if somebody else was faster."""
        unit = Unit()
        step = unit.run(
            "ledger.revoke_console_link", link_id=link_id, by=by, now=utc_iso(self._clock.now())
        )
        unit.run("ledger.end_console_readers", link_id=link_id)
        return bool((await self._store.commit(unit))[step].changed)

    def _kept_since(self) -> str:
        return utc_iso(self._clock.now() - timedelta(days=OPENING_DAYS))

    async def _find(self, statement: str, secret: str) -> TapeLink | None:
        now = utc_iso(self._clock.now())
        values = {"digest": _digest(secret), "token": self._door.token, "now": now}
        rows = await self._store.select(statement, values)
        return TapeLink.read(rows[0]) if rows else None


def _digest(secret: str) -> str:
    return digest_of(f"link {secret}")
