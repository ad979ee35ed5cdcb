"""Socket Mode: the app's WebSockets, each of which gets some of the events."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

import orjson

from tests.fakes.slack.deliveries import Deliveries, Delivery
from tests.fakes.slack.wire import CLOSE, PING, PONG, TEXT, Wire, upgrade
from tests.fakes.slack.world import APP_ID
from tests.fakes.telegram.http import Answer, JsonObject, Request

Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]
MOST_SOCKETS: Final = 10


class Socket:
    """Hold one WebSocket of the app; a deaf one answers pings and delivers nothing."""

    def __init__(self, pool: Sockets, wire: Wire, number: int) -> None:
        self.number = number
        self.deaf = False
        self.leaving = False
        self.carried: list[Delivery] = []
        self.pongs = 0
        self._pool = pool
        self._wire = wire

    def send(self, message: JsonObject) -> None:
        """Send one message."""
        self._wire.send_frame(TEXT, orjson.dumps(message))

    def ping(self) -> None:
        """Ask for a sign of life."""
        self._wire.send_frame(PING, b"Ping from applink-1")

    def disconnect(self, reason: Reason, *, close: bool = False) -> None:
        """Ask the app to leave; with `close` the connection ends at once."""
        debug: JsonObject = {"host": "applink-1"}
        self.send({"type": "disconnect", "reason": reason, "debug_info": debug})
        if reason != "warning":
            self.leaving = True
        if close:
            self._wire.send_frame(CLOSE, (1000).to_bytes(2, "big"))
            self._wire.finish()

    def drop(self) -> None:
        """Break the connection."""
        self._wire.hang_up()

    def received(self, opcode: int, data: bytes) -> None:
        """Take a frame of the app."""
        match opcode:
            case 0x8:
                self._pool.closed(self)
                self._wire.send_frame(CLOSE, data)
                self._wire.finish()
            case 0x9:
                self._wire.send_frame(PONG, data)
            case 0xA:
                self.pongs += 1
            case 0x1:
                self._pool.acked(orjson.loads(data))

    def gone(self) -> None:
        """Forget the connection."""
        self._pool.closed(self)

    @property
    def mute(self) -> bool:
        """Tell whether it is half open."""
        return self._wire.mute_now


class Sockets:
    """Let the app connect, and send each delivery to one of its sockets, drawn by lot.

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
        self._deliveries = deliveries
        self._lot = random.Random(seed)
        self._tickets: set[str] = set()
        self._changed = changed

    def ticket(self) -> str:
        """Return the right to connect once."""
        made = uuid.UUID(int=self._lot.getrandbits(128)).hex
        self._tickets.add(made)
        return made

    def answer(self, request: Request) -> Answer:
        """Answer the handshake of the app."""
        given = parse_qs(urlsplit(request.target).query).get("ticket", [""])[0]
        if given not in self._tickets:
            return Answer(b"ticket is used or unknown", 403, "text/plain")
        self._tickets.discard(given)
        return upgrade(request, self._open)

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

    def _open(self, wire: Wire) -> Socket:
        self.opened += 1
        socket = Socket(self, wire, self.opened)
        socket.deaf = self.deaf
        if len(self.live) >= self.most:
            socket.disconnect("too_many_websockets", close=True)
            return socket
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
        return socket
