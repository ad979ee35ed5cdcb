"""Slack in the chaos run: people in five conversations, and a workspace that kills and fails.

Partial text is edited in direct messages and streamed elsewhere. One place is a thread, in which
everybody asks; the others are conversations, where each question of a channel has its own.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from tests.chaos.order import Queue, of_the_chat_unless_cut_off
from tests.chaos.plan import Menu, Question, Trouble
from tests.chaos.record import ASKED, LINE, Record, Sent, is_final
from tests.chaos.stage import register
from tests.chaos.traps import Traps
from tests.chaos.window import NONE, Window
from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import LostAnswer, Reset, ServerError, Slow
from tests.fakes.slack.deliveries import Delivery
from tests.fakes.slack.faults import Fault, RateLimited, Refuse
from tests.fakes.slack.server import Call, FakeSlack
from tests.fakes.slack.sockets import Sockets
from tests.fakes.slack.world import STREAM_SECONDS, Message

PRIVATE: Final = 2
LONG: Final = 170
"""So many lines are more than Slack takes in one message."""

STREAMS: Final = ("chat.startStream", "chat.appendStream", "chat.stopStream")
WRITES: Final = (*STREAMS, "chat.postMessage", "chat.update")
BEGINS: Final = ("chat.startStream", "chat.postMessage")
METHODS: Final = (
    *WRITES,
    "apps.connections.open",
    "conversations.history|conversations.replies",
    "*",
)
FAILING: Final = ("retry-after", "server-500", "server-502", "server-503", "lost-answer", "reset")
SOCKETS: Final = ("drop", "refresh", "lost-ack", "half-open")
REDELIVER: Final = ("redeliver", "redeliver-new")

_HANDED: Final = (0.001, 0.19, 0.215)
"""Before, at and after the moment at which what was delivered is on the disk."""

_SHORTLY: Final = 2.5
"""Slack delivers at once and after three seconds; then not for a minute."""


def _roll(name: str, chance: random.Random, at: float) -> Trouble:
    if name == "slow":
        return Trouble(at, name, round(chance.uniform(0.2, 1.5), 2), chance.choice(METHODS))
    if name == "twins":
        first = chance.choice(("message", "app_mention"))
        return Trouble(at, name, round(chance.uniform(0.0, 0.5), 2), first)
    if name == "ghost":
        return Trouble(at, name, round(chance.uniform(0.3, _SHORTLY), 2))
    if name == "refresh":
        return Trouble(at, name, 1, chance.choice(("refresh_requested", "warning")))
    if name in FAILING or name == "stream-refused":
        methods = METHODS if name in FAILING else STREAMS[1:]
        return Trouble(at, name, chance.randint(1, 2), chance.choice(methods))
    return Trouble(at, name, chance.randint(1, 3))


_TROUBLES: Final = (
    *FAILING,
    "slow",
    *SOCKETS,
    "ghost",
    *REDELIVER,
    "twins",
    "stream-over",
    "stream-refused",
    "no-streams",
)


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


@register
class SlackStage(FakeSlack):
    """A Slack with kill points, which finds its messages again by the keys that they carry."""

    menu: ClassVar[Menu] = Menu(
        "slack",
        PRIVATE + 3,
        (
            "kill-handed",
            "kill-accept",
            "kill-confirmed",
            "kill-draft",
            "kill-told-draft",
            "kill-grown",
            "kill-before-final",
            "kill-after-final",
            "kill-told-final",
            "kill-mid-long",
        ),
        MappingProxyType({name: partial(_roll, name) for name in _TROUBLES}),
        LONG,
    )
    window: ClassVar[Window] = NONE
    queue: ClassVar[Queue] = staticmethod(of_the_chat_unless_cut_off)
    writes: ClassVar[float] = 1.8

    def __init__(self, traps: Traps, _home: Path) -> None:
        super().__init__()
        self._traps = traps
        sockets = _Acks(self.deliveries, 1, self._changed)
        sockets.traps = traps
        self.sockets = sockets
        self.deliveries.send = self._send
        self._dying = 0
        self._people = [self.user(name) for name in ("Ann", "Ben", "Cem")]
        shared = [
            self.channel("deploys", members=self._people),
            self.channel("billing", "group", members=self._people),
            self.channel("builds", members=self._people),
        ]
        self._channels = [*map(self.im, self._people[:PRIVATE]), *shared]
        self._root = self.say(shared[-1], self._people[0], "Everything about the build here.")

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings."""
        return {
            "WEB__ENABLED": "false",
            "SLACK__BOT_TOKEN": self.bot_token,
            "SLACK__APP_TOKEN": self.app_token,
            "SLACK__BASE_URL": self.base_url,
            "ACCESS__MODE": "open",
            "BUDGET__STRANGER_TURNS": "0",
            "BUDGET__PARALLEL_PER_PERSON": "0",
        }

    async def ready(self) -> None:
        """Wait until the gateway is connected."""
        await self.connected()

    def ask(self, question: Question) -> None:
        """Let a question be asked; in a channel with the app's name, in the last in a thread."""
        place, asked = question.place, f"{question.token} {question.kind} please"
        channel = self._channels[place]
        if place < PRIVATE:
            self.say(channel, self._people[place], asked)
            return
        thread = self._root if channel.id == self._root.channel_id else None
        called = f"@{self.workspace.bot.name} {asked}"
        self.say(channel, self._people[question.person], called, thread=thread)

    def trouble(self, trouble: Trouble) -> None:
        """Let calls fail, sockets break, events come again or streams end."""
        name, many = trouble.name, int(trouble.much)
        if name in REDELIVER:
            taken = [it for it in self.deliveries.all if it.state == "acked" and _asks(it)]
            for delivery in taken[-many:]:
                self.events.again(delivery, new_id=name != "redeliver")
        elif name == "twins":
            self.events.first_twin = "message" if trouble.where == "message" else "app_mention"
            self.events.twin_delay = trouble.much
        elif name == "ghost":
            self.zombie()
            asyncio.get_running_loop().call_later(trouble.much, self._end_ghosts)
        elif name in SOCKETS:
            self._break(trouble)
        elif name in ("stream-over", "no-streams"):
            self._end_streams()
            self._dying += many
            if name == "no-streams":
                self.unknown_methods.update(STREAMS)
        else:
            self.fail(trouble.where, *[_fault(trouble)] * (1 if name == "slow" else many))

    def heal(self) -> None:
        """Let nothing go wrong any more; a connection that is half open stays so."""
        self.forget_faults()
        self._dying = self.sockets.acks_to_lose = 0
        self.unknown_methods.clear()
        self.events.first_twin, self.events.twin_delay = "message", 0.0
        self._end_ghosts()

    async def see(self, record: Record) -> None:
        """Write down what the app's messages are, and whether a stream was never ended."""
        for place, channel in enumerate(self._channels):
            own = self.messages(channel.id)
            record.texts[place] = [(it.ts, it.text) for it in own]
            open_still = [it for it in own if self._streams(it)]
            for message in open_still:
                if record.tokens & {token for token, *_ in LINE.findall(message.text)}:
                    record.strange.append(f"the stream {message.ts} in {place} was never ended")

    def made(self, call: Call) -> tuple[int, str] | None:
        """Return the place and id of the message that a request made."""
        places = [channel.id for channel in self._channels]
        if call.method not in BEGINS or not call.ok or call.channel not in places:
            return None
        return places.index(call.channel), str(call.ts)

    # -- what goes wrong

    def _break(self, trouble: Trouble) -> None:
        """Let connections break, or what comes through them be lost."""
        if trouble.name == "drop":
            self.drop_connections()
        elif trouble.name == "refresh":
            self.refresh("warning" if trouble.where == "warning" else "refresh_requested")
        elif trouble.name == "lost-ack":
            self.sockets.acks_to_lose += int(trouble.much)
        else:
            self.half_open()

    def _end_ghosts(self) -> None:
        """Break the sockets that are deaf: what went to them is never delivered by them."""
        for socket in list(self.sockets.live):
            if socket.deaf:
                socket.drop()

    def _end_streams(self) -> None:
        """Let every stream of now be too old."""
        for channel in self._channels:
            for message in self.messages(channel.id):
                if message.stream is not None:
                    message.stream.started -= STREAM_SECONDS

    def _streams(self, message: Message) -> bool:
        return message.stream is not None and message.stream.is_live(self.clock())

    # -- moments

    def _send(self, delivery: Delivery) -> str:
        """Deliver an event; the gateway may not live to keep it, or to say that it has."""
        problem = self.sockets.send(delivery)
        if not problem and _asks(delivery) and self._traps.has("kill-handed"):
            seconds = _HANDED[len(self._traps.record.kills) % len(_HANDED)]
            self._traps.kill_soon("kill-handed", seconds)
        return problem

    def _answer(self, call: Call, token: str | None, head: str) -> Outcome:
        moment = self._moment(call)
        way = len(self._traps.record.kills) % 3 if self._mid(moment) else -1
        if way == 0:
            self._traps.kill("kill-mid-long")
        if way == 0 or (moment == "final" and self._traps.springs("kill-before-final")):
            return None
        outcome = super()._answer(call, token, head)
        if call.method == "chat.startStream" and call.ok and self._dying:
            self._dying -= 1
            self._end_streams()
        heard = not (call.ok and self._springs_after(moment))
        if way == 1:
            self._traps.kill("kill-mid-long")
            heard = False
        if moment in ("begun", "final", "mid") and call.ok:
            self._keep(call, heard)
        self._soon(moment, way)
        return outcome if heard else None

    def _mid(self, moment: str) -> bool:
        return moment == "mid" and self._traps.has("kill-mid-long")

    def _springs_after(self, moment: str) -> bool:
        """Kill the gateway before it hears what it did."""
        names = {"begun": "kill-draft", "grown": "kill-grown", "final": "kill-after-final"}
        return moment in names and self._traps.springs(names[moment])

    def _soon(self, moment: str, way: int) -> None:
        """Let the gateway hear the answer, and kill it before or after it has written it down."""
        seconds = 0.002 + 0.01 * len(self._traps.record.sent) % 0.05
        if way == 2:
            self._traps.kill_soon("kill-mid-long", seconds)
        for name, own in (("kill-told-draft", "begun"), ("kill-told-final", "final")):
            if moment == own and self._traps.has(name):
                self._traps.kill_soon(name, seconds)

    def _moment(self, call: Call) -> str:
        """Tell what of an answer a call is about to show: "" for nothing.

        Its text has "begun" or has "grown", its end is "final", and "mid" a piece before that.
        """
        if call.method not in WRITES:
            return ""
        text = str(call.params.get("markdown_text") or call.params.get("text") or "")
        if call.method in STREAMS[1:]:
            channel = self.world.channels[str(call.channel)]
            found = channel.messages.get(str(call.params.get("ts")))
            text = f"{found.text if found is not None else ''}{text}"
        if not LINE.search(text):
            return ""
        payload = (call.params.get("metadata") or {}).get("event_payload", {"draft": True})
        if payload.get("draft"):
            return "begun" if call.method in BEGINS else "grown"
        return "final" if is_final(text) else "mid"

    def _keep(self, call: Call, heard: bool) -> None:
        places = [channel.id for channel in self._channels]
        sent = Sent(str(call.ts), places.index(str(call.channel)), call.at, self.clock(), heard)
        self._traps.record.sent.append(sent)


def _asks(delivery: Delivery) -> bool:
    """Tell whether a delivery is of a question."""
    return ASKED.search(str(delivery.event.get("text", ""))) is not None


def _fault(trouble: Trouble) -> Fault:
    name = trouble.name
    if name.startswith("server-"):
        return ServerError(int(name.removeprefix("server-")))
    if name == "retry-after":
        return RateLimited(int(trouble.much))
    if name == "stream-refused":
        return Refuse("message_not_in_streaming_state")
    if name == "slow":
        return Slow(trouble.much)
    return LostAnswer() if name == "lost-answer" else Reset()
