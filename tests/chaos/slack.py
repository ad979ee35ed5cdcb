"""Slack in the chaos run: people in five conversations, and a workspace that kills and fails.

Partial text is edited in direct messages and streamed elsewhere. One place is a thread, in which
everybody asks; the others are conversations, where each question of a channel has its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from channels.testing import Chat
from tests.chaos.order import Queue, of_the_chat_unless_cut_off
from tests.chaos.plan import Menu, Roll, Trouble
from tests.chaos.platform import KILLS, PRIVATE, REDELIVER, Platform, failing
from tests.chaos.record import ASKED, LINE, Record, is_final
from tests.chaos.traps import Traps
from tests.fakes.base.connection import Outcome
from tests.fakes.slack.deliveries import Delivery
from tests.fakes.slack.faults import RateLimited, Refuse
from tests.fakes.slack.server import Call
from tests.fakes.slack.sockets import Sockets
from tests.fakes.slack.world import STREAM_SECONDS, Message
from tests.kit.stages.slack import SlackStage

LONG: Final = 170
"""Lines of a long answer: more than Slack takes in one message."""

STREAMS: Final = ("chat.startStream", "chat.appendStream", "chat.stopStream")
WRITES: Final = (*STREAMS, "chat.postMessage", "chat.update")
BEGINS: Final = ("chat.startStream", "chat.postMessage")
METHODS: Final = (
    *WRITES,
    "apps.connections.open",
    "conversations.history|conversations.replies",
    "*",
)
_COUNTED: Final = ("drop", "lost-ack", "half-open", "stream-over", "no-streams")
_HANDED: Final = (0.001, 0.19, 0.215)
"""Before, at and after the moment at which what was delivered is on the disk."""

_SHORTLY: Final = 2.5
"""Slack delivers at once and after three seconds; then not for a minute."""


class _Acks(Sockets):
    """Sockets whose acknowledgements may be the last thing that a gateway says."""

    traps: Traps

    def acked(self, message: Any) -> None:
        """Take an acknowledgement, or kill whoever gave it, before it is heard or after."""
        envelope = str(message.get("envelope_id", "")) if isinstance(message, dict) else ""
        told = [it for it in self._deliveries.pending if envelope in it.envelopes]
        asks = any(_asks(it) for it in told)
        if asks and self.traps.springs("kill-accept"):
            return
        super().acked(message)
        if asks:
            self.traps.springs("kill-confirmed")


class Slack(Platform[SlackStage, Call]):
    """A Slack with kill points, which finds its messages again by the keys that they carry."""

    menu: ClassVar[Menu] = Menu(
        "slack",
        PRIVATE + 3,
        ("kill-handed", "kill-accept", "kill-confirmed", "kill-told-draft", "kill-grown", *KILLS),
        MappingProxyType(
            {
                **failing(METHODS, "retry-after"),
                **{name: Roll(1, 3) for name in _COUNTED},
                **REDELIVER,
                "refresh": Roll(1, 1, ("refresh_requested", "warning")),
                "ghost": Roll(0.3, _SHORTLY),
                "twins": Roll(0.0, 0.5, ("message", "app_mention")),
                "stream-refused": Roll(1, 2, STREAMS[1:]),
            }
        ),
        LONG,
    )
    queue: ClassVar[Queue] = staticmethod(of_the_chat_unless_cut_off)
    writes: ClassVar[float] = 1.8
    after: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"draft": "kill-draft", "grown": "kill-grown", "final": "kill-after-final"}
    )
    told: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"draft": "kill-told-draft", "final": "kill-told-final"}
    )

    def __init__(self, traps: Traps, _home: Path) -> None:
        super().__init__(traps, SlackStage())
        self._fake = fake = self.stage.fake
        sockets = _Acks(fake.deliveries, 1, fake.changed)
        sockets.traps = traps
        fake.sockets = sockets
        fake.deliveries.send = self._send
        self._dying = 0

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings: it hears by its sockets alone, and sorts what it hears."""
        left_out = ("SLACK__SIGNING_SECRET", "SLACK__REORDER_SECONDS")
        return {name: value for name, value in super().settings().items() if name not in left_out}

    def heal(self) -> None:
        """End everything that goes wrong; a connection that is half open stays so."""
        super().heal()
        self._dying = self._fake.sockets.acks_to_lose = 0
        self._fake.unknown_methods.clear()
        self._fake.events.first_twin, self._fake.events.twin_delay = "message", 0.0
        self._end_ghosts()

    async def see(self, record: Record) -> None:
        """Write down what the app's messages are, and whether a stream was never ended."""
        await super().see(record)
        for message in self._messages():
            live = message.stream is not None and message.stream.is_live(self._fake.clock())
            if live and record.tokens & {token for token, *_ in LINE.findall(message.text)}:
                record.strange.append(f"the stream {message.ts} was never ended")

    def _shared(self) -> list[Chat]:
        billing = Chat(self._fake.channel("billing", "group").id)
        return [self.stage.group(), billing, self.stage.thread(self.stage.group())]

    def _messages(self) -> list[Message]:
        return [one for chat in self.places for one in self._fake.messages(chat.id)]

    def _sends(self, request: Call) -> tuple[str, str]:
        return (str(request.channel), str(request.ts)) if request.method in BEGINS else ("", "")

    # -- what goes wrong

    def _disturb(self, trouble: Trouble) -> None:
        name, many, fake = trouble.name, int(trouble.much), self._fake
        match name:
            case "twins":
                fake.events.first_twin = "message" if trouble.where == "message" else "app_mention"
                fake.events.twin_delay = trouble.much
            case "ghost":
                fake.zombie()
                asyncio.get_running_loop().call_later(trouble.much, self._end_ghosts)
            case "drop":
                fake.drop_connections()
            case "refresh":
                fake.refresh("warning" if trouble.where == "warning" else "refresh_requested")
            case "lost-ack":
                fake.sockets.acks_to_lose += many
            case "half-open":
                fake.half_open()
            case "stream-over" | "no-streams":
                self._end_streams()
                self._dying += many
                fake.unknown_methods.update(STREAMS if name == "no-streams" else ())
            case _:
                self._fail(trouble, 1 if name == "slow" else many)

    def _fault(self, trouble: Trouble) -> Any:
        if trouble.name == "retry-after":
            return RateLimited(int(trouble.much))
        if trouble.name == "stream-refused":
            return Refuse("message_not_in_streaming_state")
        return super()._fault(trouble)

    def _end_ghosts(self) -> None:
        """Break the sockets that are deaf: what went to them is never delivered by them."""
        for socket in list(self._fake.sockets.live):
            if socket.deaf:
                socket.drop()

    def _end_streams(self) -> None:
        """Make every stream of now too old."""
        for message in self._messages():
            if message.stream is not None:
                message.stream.started -= STREAM_SECONDS

    # -- moments

    def _send(self, delivery: Delivery) -> str:
        """Deliver an event; the gateway may not live to keep it, or to say that it has."""
        problem = self._fake.sockets.send(delivery)
        if not problem and _asks(delivery) and self._traps.has("kill-handed"):
            seconds = _HANDED[len(self._traps.record.kills) % len(_HANDED)]
            self._traps.kill_soon("kill-handed", seconds)
        return problem

    def _after(self, request: Call, moment: str, way: int, outcome: Outcome) -> Outcome:
        if request.method == "chat.startStream" and request.ok and self._dying:
            self._dying -= 1
            self._end_streams()
        return super()._after(request, moment, way, outcome)

    def _moment(self, request: Call) -> str:
        """Return also that a text has "grown"."""
        if request.method not in WRITES:
            return ""
        text = str(request.params.get("markdown_text") or request.params.get("text") or "")
        if request.method in STREAMS[1:]:
            channel = self._fake.world.channels[str(request.channel)]
            found = channel.messages.get(str(request.params.get("ts")))
            text = f"{found.text if found is not None else ''}{text}"
        if not LINE.search(text):
            return ""
        payload = (request.params.get("metadata") or {}).get("event_payload", {"draft": True})
        if payload.get("draft"):
            return "draft" if request.method in BEGINS else "grown"
        return "final" if is_final(text) else "mid"


def _asks(delivery: Delivery) -> bool:
    """Return whether a delivery is of a question."""
    return ASKED.search(str(delivery.event.get("text", ""))) is not None
