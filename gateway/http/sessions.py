"""Sessions of the page: who a cookie belongs to, and the codes that open further sessions.

Cookies and codes are random, and the database holds only their digests. Both end when the access
token is changed, since whoever had the old token may have opened them.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

from channels.room.session import PageSession
from gateway.services import Services
from gateway.sharing.rooms.shared_rooms import SharedRooms
from tape.entry import utc_iso
from tape.errors import StoreUnavailable, UnitFailed
from tape.unit_of_work import Unit

SESSION_DAYS: Final = 30
OPEN_MINUTES: Final = 10
"""Minutes that an owner's link from `tapeway open` can be used."""

KNOWN_SECONDS: Final = 3600.0
"""Seconds for which a session is known without another look, which is how an expired one ends."""

SHARED_KNOWN_SECONDS: Final = 10.0
"""The same where another process may end it and go down before it can say so."""

MAX_REMEMBERED: Final = 1024
"""Maximum sessions kept in memory, where they are found even while the database is away."""


class Admitted(NamedTuple):
    """Where a code leads: the cookie of a new session, or "", the room and the person."""

    cookie: str
    room: str
    person: str


class Sessions:
    """The sessions and codes that were opened with one access token."""

    def __init__(self, services: Services, token: str) -> None:
        self._store = services.store
        self._clock = services.clock
        self._token = digest_of(f"token {token}") if token else ""
        self._known: OrderedDict[str, tuple[PageSession, float]] = OrderedDict()
        self._ended = 0
        self._known_seconds = KNOWN_SECONDS

    def share(self, rooms: SharedRooms) -> None:
        """Forget, from now on, the sessions that other processes end."""
        self._known_seconds = SHARED_KNOWN_SECONDS
        rooms.at_dismissal.append(self.forget)

    def forget(self, person: str) -> None:
        """Forget a person's session, which has ended."""
        self._ended += 1
        digests = [digest for digest, (one, _) in self._known.items() if one.person == person]
        for digest in digests:
            del self._known[digest]

    async def find(self, cookie: str, room: str = "") -> PageSession | None:
        """Return a cookie's session, or None; raises StoreUnavailable.

        A member may have come into `room` at another process, so what is known is looked up again.
        """
        if not cookie:
            return None
        digest = digest_of(cookie)
        known, age = self._known.get(digest), float("inf")
        if known is not None:
            age = self._clock.monotonic() - known[1]
        is_settled = known is not None and (not room or known[0].admits(room))
        if known is not None and is_settled and age < self._known_seconds:
            return known[0]
        ended = self._ended
        try:
            rows = await self._store.select("ledger.page_session", self._values(digest=digest))
        except StoreUnavailable:
            if known is not None and age < KNOWN_SECONDS:
                return known[0]
            raise
        if not rows:
            return None
        session = _session(rows[0])
        if ended == self._ended:  # otherwise, it may have been this one
            self._remember(digest, session)
        return session

    async def open(self) -> str:
        """Open a session for an owner, and return its cookie."""
        unit, cookie = Unit(), secrets.token_urlsafe(32)
        self._begin(unit, cookie, owner=True, room="")
        await self._store.commit(unit)
        return cookie

    async def redeem(
        self, code: str, member: PageSession, *, is_owner: bool = False
    ) -> Admitted | None:
        """Use a code; return what it leads to, or None.

        A member who is invited to another room keeps their session. To a room of theirs, the code
        leads without being used up, and so does an owner's code for an owner. An invitation makes a
        guest of whoever uses it.
        """
        digest = digest_of(code)
        rows = await self._store.select("ledger.page_code", self._values(digest=digest))
        if not rows:
            return None
        unit, cookie, room, person = Unit(), "", rows[0]["room"], member.person
        if member.admits(room) or (is_owner and rows[0]["owner"]):
            return Admitted("", room, person)
        unit.run("ledger.use_page_code", expect=1, digest=digest, now=self._now())
        if member.person and room:
            unit.run("ledger.join_page_room", expect=1, person=member.person, room=room)
        else:
            cookie = secrets.token_urlsafe(32)
            person = self._begin(unit, cookie, owner=bool(rows[0]["owner"]), room=room)
        try:
            await self._store.commit(unit)
        except UnitFailed:  # somebody else was faster, or the member's session has ended
            return None
        if not cookie:
            self.forget(member.person)
        return Admitted(cookie, room, person)

    async def issue(self, *, room: str = "", uses: int = 1, minutes: int = OPEN_MINUTES) -> str:
        """Return a new code for members of a room, or for one owner if no room is given."""
        unit, code = Unit(), secrets.token_urlsafe(18)
        unit.run(
            "ledger.issue_page_code",
            digest=digest_of(code),
            owner=int(not room),
            room=room,
            token=self._token,
            uses=uses,
            expires_at=utc_iso(self._clock.now() + timedelta(minutes=minutes)),
        )
        await self._store.commit(unit)
        return code

    async def listed(self) -> dict[str, Any]:
        """Return the open sessions, and the invitations that can still be used."""
        sessions = await self._store.select("ledger.page_sessions", self._values())
        codes = await self._store.select("ledger.page_codes", self._values())
        return {
            "sessions": [_listed(row) for row in sessions],
            "invitations": [dict(row) for row in codes],
        }

    async def end(self, person: str) -> bool:
        """End a person's session; return whether there was one."""
        unit = Unit()
        step = unit.run("ledger.end_page_session", person=person)
        rows = (await self._store.commit(unit))[step].rows
        self.forget(person)
        return bool(rows)

    async def withdraw(self, code: str) -> None:
        """Revoke an invitation; who came in by it stays until their session is ended."""
        unit = Unit()
        unit.run("ledger.drop_page_code", code=code)
        await self._store.commit(unit)

    def _begin(self, unit: Unit, cookie: str, *, owner: bool, room: str) -> str:
        """Add a new session, and return the id of its person."""
        now, person = self._clock.now(), f"w-{secrets.token_hex(6)}"
        unit.run("ledger.drop_page_sessions", now=utc_iso(now))
        unit.run("ledger.drop_page_codes", now=utc_iso(now))
        unit.run(
            "ledger.open_page_session",
            digest=digest_of(cookie),
            person=person,
            owner=int(owner),
            room=room,
            token=self._token,
            opened_at=utc_iso(now),
            expires_at=utc_iso(now + timedelta(days=SESSION_DAYS)),
        )
        return person

    def _remember(self, digest: str, session: PageSession) -> None:
        self._known[digest] = (session, self._clock.monotonic())
        if len(self._known) > MAX_REMEMBERED:
            self._known.popitem(last=False)

    def _values(self, **more: str) -> dict[str, str]:
        return {"token": self._token, "now": self._now(), **more}

    def _now(self) -> str:
        return utc_iso(self._clock.now())


def digest_of(secret: str) -> str:
    return sha256(f"tapeway-page {secret}".encode()).hexdigest()


def _session(row: Any) -> PageSession:
    return PageSession(row["person"], owner=bool(row["owner"]), rooms=_rooms(row))


def _listed(row: Any) -> dict[str, Any]:
    shown = {key: value for key, value in row.items() if key != "room"}
    return {**shown, "owner": bool(row["owner"]), "rooms": _rooms(row)}


def _rooms(row: Any) -> tuple[str, ...]:
    return tuple(row["room"].split("/")) if row["room"] else ()
