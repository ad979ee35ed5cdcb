"""The fake Discord's gateway: sockets that identify or resume, sessions, and what they miss."""

from __future__ import annotations

import asyncio
import itertools
import math
import time
from collections import deque
from typing import Any, Final

import orjson

from tests.fakes.base.connection import WebSocket
from tests.fakes.discord.session import (
    ACK,
    ALL_INTENTS,
    DISPATCH,
    HEARTBEAT,
    HELLO,
    IDENTIFY,
    INVALID,
    MEMBERS,
    PRESENCE,
    PRIVILEGED,
    RESUME,
    VOICE,
    Event,
    Guests,
    Intent,
    Kept,
    Session,
)
from tests.fakes.discord.transport import pack_of

_MOST_COMMANDS: Final = 120
_MOST_PROMPTS: Final = 80


class GatewaySocket:
    """Speak the gateway's protocol, version 10, over one WebSocket."""

    def __init__(self, gateway: Gateway, path: str, query: dict[str, str]) -> None:
        self._gateway = gateway
        self._path = path
        self._query = query
        self._pack = pack_of(query.get("compress"))
        self._commands: deque[float] = deque(maxlen=_MOST_COMMANDS)
        self._socket: WebSocket | None = None
        self.session: Session | None = None
        self.withheld: list[Kept] | None = None
        self.loses = False
        self._prompts: deque[float] = deque(maxlen=_MOST_PROMPTS)
        self._prompted = False

    # -- the socket itself

    def opened(self, socket: WebSocket) -> None:
        """Say hello, or what is wrong with the address."""
        self._socket = socket
        self._gateway.sockets.add(self)
        if self._query.get("v") not in ("9", "10") or self._query.get("encoding") != "json":
            self.close(4012, "Invalid API version")
            return
        self.send(HELLO, {"heartbeat_interval": self._gateway.heartbeat_ms, "_trace": []})
        self._gateway.guests.changed()

    def received(self, data: bytes) -> None:
        """Take one payload of the client."""
        try:
            payload = orjson.loads(data)
            op = payload["op"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            self.close(4002, "Error while decoding payload.")
            return
        now = self._gateway.guests.clock()
        if len(self._commands) == _MOST_COMMANDS and now - self._commands[0] < 60.0:
            self.close(4008, "Rate limited.")
            return
        self._commands.append(now)
        self._take(op, payload.get("d"))
        self._gateway.guests.changed()

    def gone(self, code: int | None) -> None:
        """Leave; a session ends with a goodbye of 1000 or 1001, and waits after anything else."""
        self._gateway.sockets.discard(self)
        session, self.session = self.session, None
        if session is not None and session.socket is self:
            session.socket = None
            session.left_at = self._gateway.guests.clock()
            if code in (1000, 1001) or session.lapsed:
                self._gateway.sessions.pop(session.id, None)
        self._gateway.guests.changed()

    @property
    def packs(self) -> bool:
        """Return whether the client asked for a compressed stream."""
        return self._pack is not None

    @property
    def live(self) -> bool:
        """Return whether events are meant for this socket: it has a session and is open."""
        return self.session is not None and self._socket is not None and self._socket.open

    @property
    def works(self) -> bool:
        """Return whether what is sent now arrives."""
        return self.live and self.withheld is None and not self._muted

    @property
    def _muted(self) -> bool:
        return self._socket is not None and self._socket.mute

    def send(self, op: int, data: Any) -> None:
        """Send a payload that is no event."""
        self._put(orjson.dumps({"op": op, "d": data, "s": None, "t": None}))

    def deliver(self, kept: Kept) -> None:
        """Send an event, or hold it back."""
        if self.withheld is not None:
            self.withheld.append(kept)
            return
        self._put(kept.payload)
        if kept.spot is not None and not self._muted:
            self._gateway.guests.handed_over(kept.spot)
            if self._gateway.prompting and not self._prompted:
                self._prompted = True
                asyncio.get_running_loop().call_soon(self._prompt_all)

    def release(self) -> None:
        """Deliver what was held back, and hold back nothing more."""
        waiting, self.withheld = self.withheld, None
        for kept in waiting or ():
            self.deliver(kept)

    def close(self, code: int, reason: str = "") -> None:
        """Say goodbye with a code of Discord's."""
        if self._socket is not None:
            self._socket.close(code, reason)

    def hang_up(self) -> None:
        """Break the connection."""
        if self._socket is not None:
            self._socket.hang_up()

    def fall_silent(self, *, stop_reading: bool = False) -> None:
        """Pass nothing through any more, without closing."""
        if self._socket is not None:
            self._socket.fall_silent(stop_reading=stop_reading)

    def prompt(self) -> bool:
        """Ask for a heartbeat, which names the last event that was taken.

        False, and it is not asked, when the SDK has said as much as it lets itself in a minute.
        """
        now = time.monotonic()
        if len(self._prompts) == _MOST_PROMPTS and now - self._prompts[0] < 60.0:
            return False
        self._prompts.append(now)
        self.send(HEARTBEAT, None)
        return True

    def _prompt_all(self) -> None:
        """Ask once for all that was delivered in one go; who cannot be asked is believed."""
        self._prompted = False
        if self.works and not self.prompt() and self.session is not None:
            self._confirm(self.session.seq)

    def _put(self, payload: bytes) -> None:
        if self._socket is None:
            return
        if self._pack is None:
            self._socket.send(payload)
            return
        self._socket.send(self._pack(payload), binary=True)

    # -- what the client says

    def _take(self, op: Any, data: Any) -> None:
        if op == HEARTBEAT:
            self._heartbeat(data)
        elif op == IDENTIFY:
            self._identify(data)
        elif op == RESUME:
            self._resume(data)
        elif op not in (PRESENCE, VOICE, MEMBERS):
            self.close(4001, "Unknown opcode.")
        elif self.session is None:
            self.close(4003, "Not authenticated.")
        elif op == MEMBERS:
            for chunk in self._gateway.guests.chunks(self.session, data):
                self._gateway.tell(self.session, Event("GUILD_MEMBERS_CHUNK", chunk))

    def _heartbeat(self, seq: Any) -> None:
        if isinstance(seq, int):
            self._confirm(seq)
        if self._gateway.acks:
            self.send(ACK, None)

    def _confirm(self, seq: int) -> None:
        session = self.session
        if session is None or seq <= session.confirmed:
            return
        for kept in reversed(session.kept):
            if kept.seq <= session.confirmed:
                break
            if kept.spot is not None and kept.seq <= seq:
                self._gateway.guests.confirmed(kept.spot)
        session.confirmed = seq

    def _identify(self, data: Any) -> None:
        gateway = self._gateway
        gateway.identifies += 1
        if self.session is not None:
            self.close(4005, "Already authenticated.")
        elif not isinstance(data, dict) or not {"token", "properties", "intents"} <= set(data):
            self.close(4002, "Error while decoding payload.")
        elif not gateway.guests.allowed(str(data["token"])):
            self.close(4004, "Authentication failed.")
        elif not isinstance(data["intents"], int) or data["intents"] & ~ALL_INTENTS:
            self.close(4013, "Invalid intent(s).")
        elif data["intents"] & PRIVILEGED & ~gateway.guests.privileged():
            self.close(4014, "Disallowed intent(s).")
        elif not gateway.may_begin():
            self.send(INVALID, False)
        else:
            self._begin(gateway.new_session(data["intents"]))

    def _begin(self, session: Session) -> None:
        self._join(session)
        self._gateway.tell(session, Event("READY", self._gateway.guests.ready(session)))
        for event in self._gateway.guests.arrivals(session):
            self._gateway.tell(session, event)

    def _resume(self, data: Any) -> None:
        gateway = self._gateway
        gateway.resumes += 1
        if self.session is not None:
            self.close(4005, "Already authenticated.")
            return
        if not isinstance(data, dict) or not {"token", "session_id", "seq"} <= set(data):
            self.close(4002, "Error while decoding payload.")
            return
        if not gateway.guests.allowed(str(data["token"])):
            self.close(4004, "Authentication failed.")
            return
        session = gateway.resumable(data["session_id"])
        if session is None:
            self.send(INVALID, False)
            return
        if not isinstance(data["seq"], int) or data["seq"] > session.seq:
            self.close(4007, "Invalid seq.")
            return
        self._replay(session, data["seq"])

    def _replay(self, session: Session, seq: int) -> None:
        if session.kept and session.kept[0].seq > seq + 1:
            self.send(INVALID, False)
            return
        missed = [kept for kept in session.kept if kept.seq > seq]
        self._join(session)
        for kept in missed:
            self.deliver(kept)
        self._gateway.resumed += 1
        self._gateway.resumed_at.append(self._path)
        self._gateway.tell(session, Event("RESUMED", {"_trace": []}))

    def _join(self, session: Session) -> None:
        former = session.socket
        if former is not None and former is not self:
            former.session = None
            former.close(4000, "Unknown error.")
        session.socket, self.session = self, session
        if self._gateway.silent and self.withheld is None:
            self.withheld = []


class Gateway:
    """Keep the sessions, and tell them what happens.

    `session_seconds` is how long a session waits for its client to come back; one session may begin
    in `identify_seconds`. Without `acks` heartbeats go unanswered. While it is `prompting`, each
    message is followed by the request for a heartbeat, which says what was taken. `identifies`,
    `resumes` and `resumed` count what came, and what of it went well; `resumed_at` has the paths of
    those.
    """

    def __init__(self, guests: Guests, heartbeat_ms: int, session_seconds: float) -> None:
        self.guests = guests
        self.heartbeat_ms = heartbeat_ms
        self.session_seconds = session_seconds
        self.acks = True
        self.prompting = False
        self.identify_seconds = 0.0
        self.silent = False
        self.sockets: set[GatewaySocket] = set()
        self.sessions: dict[str, Session] = {}
        self.identifies = 0
        self.resumes = 0
        self.resumed = 0
        self.resumed_at: list[str] = []
        self._numbers = itertools.count(1)
        self._begun = -math.inf
        self._held: list[Event] | None = None

    def may_begin(self) -> bool:
        """Return whether a session may begin, the one before being long enough ago."""
        now = self.guests.clock()
        if now < self._begun + self.identify_seconds:
            return False
        self._begun = now
        return True

    def new_session(self, intents: int) -> Session:
        """Begin a session."""
        session = Session(f"{next(self._numbers):032x}", intents)
        self.sessions[session.id] = session
        return session

    def resumable(self, session_id: object) -> Session | None:
        """Return the session of an id, unless it waited too long."""
        session = self.sessions.get(str(session_id))
        if session is None or session.lapsed:
            return None
        away = self.guests.clock() - session.left_at if session.socket is None else 0.0
        if away > self.session_seconds:
            del self.sessions[session.id]
            return None
        return session

    def emit(self, event: Event) -> None:
        """Send it to every session that may see it."""
        if self._held is not None:
            self._held.append(event)
            return
        for session in list(self.sessions.values()):
            if not event.intent or session.intents & event.intent:
                self.tell(session, event)

    def tell(self, session: Session, event: Event) -> None:
        """Send it to one session and keep it for a RESUME, unless its socket loses events."""
        socket = session.socket
        if socket is not None and socket.loses:
            return
        data = event.data
        if event.plain is not None and not session.intents & Intent.CONTENT:
            data = event.plain
        session.seq += 1
        payload = {"op": DISPATCH, "t": event.name, "s": session.seq, "d": data}
        kept = Kept(session.seq, orjson.dumps(payload), event.spot)
        session.kept.append(kept)
        if socket is not None:
            socket.deliver(kept)

    def hold(self) -> None:
        """Hold back what happens from now on."""
        self._held = self._held or []

    def let_go(self, *, backwards: bool = False) -> None:
        """Deliver what was held back, the last first if wished."""
        held, self._held = self._held or [], None
        for event in reversed(held) if backwards else held:
            self.emit(event)

    def live(self) -> list[GatewaySocket]:
        """Return the sockets with a session."""
        return [socket for socket in self.sockets if socket.live]

    def expire(self) -> None:
        """Make the current sessions unresumable: whoever tries must identify again."""
        for session in list(self.sessions.values()):
            session.lapsed = True
            if session.socket is None:
                del self.sessions[session.id]
