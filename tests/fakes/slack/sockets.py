"""Socket Mode: the app's WebSockets, each of which gets some of the events."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.fakes.base.connection import Upgrade, WebSocket
from tests.fakes.base.http import Answer, JsonObject, Request
from tests.fakes.slack.deliveries import Deliveries, Delivery
from tests.fakes.slack.world import APP_ID

Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]
MOST_SOCKETS: Final = 10


class Socket:
    """Hold one WebSocket of the app; a deaf one answers pings and delivers nothing."""

    def __init__(self, pool: Sockets) -> None:
        self.deaf = pool.deaf
        self.leaving = False
        self.carried: list[Delivery] = []
        self._pool = pool
        self._socket: WebSocket | None = None

    @property
    def socket(self) -> WebSocket:
        """Return the WebSocket."""
        assert self._socket is not None
        return self._socket

    def send(self, message: JsonObject) -> None:
        """Send one message."""
        self.socket.send(orjson.dumps(message))

    def ping(self) -> None:
        """Ask for a sign of life."""
        self.socket.ping(b"Ping from applink-1")

    def disconnect(self, reason: Reason, *, close: bool = False) -> None:
        """Ask the app to leave; with `close` the connection ends at once."""
        debug: JsonObject = {"host": "applink-1"}
        self.send({"type": "disconnect", "reason": reason, "debug_info": debug})
        if reason != "warning":
            self.leaving = True
        if close:
            self.socket.close(1000, at_once=True)

    def drop(self) -> None:
        """Break the connection."""
        self.socket.hang_up()

    def opened(self, socket: WebSocket) -> None:
        """Greet the app."""
        self._socket = socket
        self._pool.opened_by(self)

    def received(self, data: bytes) -> None:
        """Take a message of the app."""
        self._pool.acked(orjson.loads(data))

    def gone(self, _code: int | None) -> None:
        """Forget the connection."""
        self._pool.closed(self)

    @property
    def mute(self) -> bool:
        """Return whether it is half open."""
        return self.socket.mute


class Sockets:
    """Have the app connect, and send each delivery to one of its sockets, drawn by lot.

    A socket that is deaf or half open draws like the others. `acks_to_lose` is how many
    acknowledgements are to be overlooked.
    """

    def __init__(self, deliveries: Deliveries, seed: int, changed: Callable[[], None]) -> None:
        self.live: list[Socket] = []
        self.deaf = False
        self.opened = 0
        self.acks_to_lose = 0
        self.most = MOST_SOCKETS
        # Sockets of somebody else with the same token: they are told of, and get nothing.
        self.others = 0
        # The switch of Socket Mode: off, each new socket is sent away at once.
        self.enabled = True
        self._deliveries = deliveries
        self._lot = random.Random(seed)
        self._tickets: set[str] = set()
        self._changed = changed

    def ticket(self) -> str:
        """Return the right to connect once."""
        made = uuid.UUID(int=self._lot.getrandbits(128)).hex
        self._tickets.add(made)
        return made

    def answer(self, request: Request) -> Answer | Upgrade:
        """Answer the handshake of the app."""
        given = parse_qs(urlsplit(request.target).query).get("ticket", [""])[0]
        if given not in self._tickets:
            return Answer(b"ticket is used or unknown", 403, "text/plain")
        self._tickets.discard(given)
        return Upgrade(Socket(self))

    def send(self, delivery: Delivery) -> str:
        """Send a delivery to one socket, or two if it is to come twice."""
        able = [it for it in self.live if not it.leaving]
        if not able:
            return "connection_failed"
        chosen = self._lot.sample(able, min(2 if delivery.twice else 1, len(able)))
        for socket in chosen:
            self.send_to(socket, delivery)
        return ""

    def send_to(self, socket: Socket, delivery: Delivery) -> None:
        """Send a delivery to one socket, under an envelope of its own."""
        envelope = str(uuid.UUID(int=self._lot.getrandbits(128)))
        delivery.envelopes.append(envelope)
        socket.carried.append(delivery)
        if socket.deaf:
            return
        delivery.arrived |= not socket.mute
        message: JsonObject = {
            "envelope_id": envelope,
            "payload": delivery.payload,
            "type": delivery.kind,
            "accepts_response_payload": delivery.kind != "events_api",
        }
        if delivery.kind == "events_api":
            reason = delivery.reason if delivery.attempt else ""
            message |= {"retry_attempt": delivery.attempt, "retry_reason": reason}
        socket.send(message)

    def acked(self, message: Any) -> None:
        """Take an acknowledgement."""
        if self.acks_to_lose:
            self.acks_to_lose -= 1
        elif isinstance(message, dict) and "envelope_id" in message:
            self._deliveries.acked(str(message["envelope_id"]), message.get("payload"))

    def closed(self, socket: Socket) -> None:
        """Forget a socket."""
        if socket in self.live:
            self.live.remove(socket)
            self._changed()

    def opened_by(self, socket: Socket) -> None:
        """Greet a new socket, or send it away when there are too many."""
        self.opened += 1
        if not self.enabled:
            socket.disconnect("link_disabled", close=True)
            return
        if len(self.live) >= self.most:
            socket.disconnect("too_many_websockets", close=True)
            return
        self.live.append(socket)
        socket.send(
            {
                "type": "hello",
                "num_connections": len(self.live) + self.others,
                "debug_info": {
                    "host": "applink-1",
                    "build_number": 1,
                    "approximate_connection_time": 18060,
                },
                "connection_info": {"app_id": APP_ID},
            }
        )
        socket.ping()
        self._changed()
