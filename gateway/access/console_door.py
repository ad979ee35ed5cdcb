"""The way into the console for people of the platforms: a link from a private chat.

A link works once, for two minutes, for the person on the platform who asked for it. What it opens
is a session of twelve hours. Codes and cookies are random, the database holds only their digests,
and all of them are void with another access token. A session says who somebody is; what they may
see is decided for each request.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Final

from channels.message import InboundMessage
from gateway.errors import CommandRefused, GatewayError
from gateway.services import Services
from gateway.storage.ledger.rows import account_id, run_alone
from tape.entry import utc_iso
from tape.errors import TapeError, UnitFailed
from tape.unit_of_work import Unit

LINK_SECONDS: Final = 120
SESSION_HOURS: Final = 12
OPENING_DAYS: Final = 90
"""How long it is kept who opened a private chat."""

NEVER: Final = "9999"  # later than any date

FOR_WHOM: Final = (
    "Only owners and admins get into the console, and administrators of an open chat in which they"
    " have written. I give them a link in private."
)
NOT_NOW: Final = "I can't look up what you may see just now. Try again in a minute."
NO_PAGE: Final = "I can't give you a link: the gateway that answers you serves no page."
LINK: Final = "The console, for you alone: {link}\nThe link works once, for two minutes."
SIGNED_IN: Final = "The console is at {page}; `tapeway open` signs a browser in."
LOCAL: Final = (
    "\nIt only opens on the machine where I run. Whoever runs me can set TAPEWAY_HTTP__PUBLIC_URL"
    " to the address under which browsers reach me."
)


@dataclass(frozen=True, slots=True)
class ConsoleGuest:
    """A person of a platform: the platform's id of theirs, and the account that they wrote to."""

    account_id: str
    person: str

    @property
    def channel(self) -> str:
        return self.account_id.partition(":")[0]

    @property
    def account(self) -> str:
        return self.account_id.partition(":")[2]


@dataclass(frozen=True, slots=True)
class ConsoleSession:
    """A session that holds: the digest of its cookie, whose it is, since and until when, in UTC."""

    digest: str
    guest: ConsoleGuest
    opened_at: str
    expires_at: str

    @property
    def name(self) -> str:
        """Its name on the page, which lets nobody in."""
        return digest_of(f"session {self.digest}")[:24]


Admits = Callable[[ConsoleGuest], Awaitable[bool]]


class ConsoleDoor:
    """The links and sessions of the console; closed until the gateway serves its page."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._store = services.store
        self._clock = services.clock
        self._address = ""
        self._token = ""
        self._admits: Admits | None = None

    def open(self, address: str, token: str, admits: Admits | None = None) -> None:
        """Give links from now on, to the page at an address and under an access token, or "".

        `admits` says who may enter without a role that an owner gave.
        """
        self._address = address
        self._admits = admits
        self._token = digest_of(f"token {token}") if token else ""

    @property
    def token(self) -> str:
        """A digest of the access token, or "" without one."""
        return self._token

    async def admits(self, message: InboundMessage) -> bool:
        """Return whether the author of a private message may enter; raises CommandRefused.

        Who may without a role of their own is only known where the page is served.
        """
        if self._admits is None:
            raise CommandRefused(NO_PAGE)
        place = account_id(message.channel, message.account)
        guest = ConsoleGuest(place, message.sender.id)
        try:
            return await self._admits(guest)
        except (TapeError, GatewayError) as away:
            raise CommandRefused(NOT_NOW) from away

    async def link(self, message: InboundMessage) -> str:
        """Return the sentences that give the author of a private message a link."""
        if not self._address:
            raise CommandRefused(NO_PAGE)
        public = self._services.settings.http.public_url
        page = f"{public or self._address}console"
        if message.owner:
            return SIGNED_IN.format(page=page)
        code = secrets.token_hex(16)  # without characters that Markdown could take for its own
        self._services.redactor.keep_off_tapes(code)
        account, person = account_id(message.channel, message.account), message.sender.id
        now, unit = self._clock.now(), Unit()
        unit.run("ledger.drop_console_codes", now=utc_iso(now), account_id=account, person=person)
        unit.run(
            "ledger.issue_console_code",
            digest=digest_of(code),
            account_id=account,
            person=person,
            token=self._token,
            expires_at=utc_iso(now + timedelta(seconds=LINK_SECONDS)),
        )
        await self._store.commit(unit)
        text = LINK.format(link=f"{page}#code={code}")
        return text if public else f"{text}{LOCAL}"

    async def holder(self, code: str) -> ConsoleGuest | None:
        """Return who a code is for, or None if it can't be used."""
        rows = await self._store.select("ledger.console_code", self._values(code))
        return ConsoleGuest(**rows[0]) if rows else None

    async def redeem(self, code: str, guest: ConsoleGuest) -> str | None:
        """Use a code of a guest; return the cookie of a new session, or None."""
        now, unit, cookie = self._clock.now(), Unit(), secrets.token_urlsafe(32)
        digest, token = digest_of(code), self._token
        unit.run("ledger.use_console_code", expect=1, digest=digest, token=token, now=utc_iso(now))
        unit.run("ledger.drop_console_sessions", now=utc_iso(now))
        unit.run("ledger.drop_openings", until=utc_iso(now - timedelta(days=OPENING_DAYS)))
        unit.run(
            "ledger.open_console_session",
            digest=digest_of(cookie),
            account_id=guest.account_id,
            person=guest.person,
            token=self._token,
            opened_at=utc_iso(now),
            expires_at=utc_iso(now + timedelta(hours=SESSION_HOURS)),
        )
        try:
            await self._store.commit(unit)
        except UnitFailed:  # somebody else was faster
            return None
        return cookie

    async def find(self, cookie: str) -> ConsoleGuest | None:
        """Return whose session a cookie has, or None; raises StoreUnavailable."""
        if not cookie:
            return None
        rows = await self._store.select("ledger.console_session", self._values(cookie))
        return ConsoleGuest(**rows[0]) if rows else None

    async def end(self, cookie: str) -> None:
        """End the session of a cookie."""
        await run_alone(self._store, "ledger.end_console_session", digest=digest_of(cookie))

    async def sessions(self, behind: ConsoleSession | None = None) -> list[ConsoleSession]:
        """Return the sessions that hold, the newest first: a page of them, behind one."""
        rows = await self._store.select(
            "ledger.console_sessions",
            {
                "token": self._token,
                "now": utc_iso(self._clock.now()),
                "opened_at": behind.opened_at if behind else NEVER,
                "digest": behind.digest if behind else "",
                "limit": self._services.bounds.sessions_read,
            },
        )
        return [
            ConsoleSession(
                digest=row["digest"],
                guest=ConsoleGuest(row["account_id"], row["person"]),
                opened_at=row["opened_at"],
                expires_at=row["expires_at"],
            )
            for row in rows
        ]

    async def end_session(self, session: ConsoleSession) -> bool:
        """End a session, and its person's unused link; return False if it has ended before."""
        guest, unit, now = session.guest, Unit(), utc_iso(self._clock.now())
        step = unit.run("ledger.end_console_session", digest=session.digest)
        account, person = guest.account_id, guest.person
        unit.run("ledger.drop_console_codes", now=now, account_id=account, person=person)
        return bool((await self._store.commit(unit))[step].changed)

    def _values(self, secret: str) -> dict[str, str]:
        now = utc_iso(self._clock.now())
        return {"digest": digest_of(secret), "token": self._token, "now": now}


def digest_of(secret: str) -> str:
    return sha256(f"tapeway-console {secret}".encode()).hexdigest()
