"""Discord in the chaos run: private chats, channels, a thread and a forum's post of one server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, Final, Self

from tests.chaos.order import Queue, of_the_chat
from tests.chaos.plan import Menu, Question, Trouble
from tests.chaos.record import ASKED, LINE, Record, is_final
from tests.chaos.stage import register
from tests.chaos.traps import Traps
from tests.chaos.window import NONE, Window
from tests.fakes.base.connection import Outcome
from tests.fakes.base.faults import LostAnswer, Reset, ServerError, Slow
from tests.fakes.discord.faults import Fault, RateLimited
from tests.fakes.discord.requests import Call
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Spot

PRIVATE: Final = 2
SHARED: Final = 4
METHODS: Final = ("post", "edit", "history", "socket", "*")
HELLO: Final = "Q9999"
_LONGEST: Final = 1_910
"""A text beyond is that of a long answer in pieces; a draft shows no more."""

_REQUESTS: Final = (
    "rate-limited",
    "rate-limited-all",
    "banned",
    "server-500",
    "server-502",
    "server-503",
    "lost-answer",
    "reset",
    "slow",
)
_SOCKETS: Final = (
    "away",
    "drop",
    "closed",
    "reconnect",
    "invalid-session",
    "zombie",
    "lost-events",
    "half-open",
    "redeliver",
)
_LASTING: Final = ("slow", "away", "zombie", "lost-events")


def _roll(name: str, chance: random.Random, at: float) -> Trouble:
    much = round(chance.uniform(0.2, 1.5), 2) if name in _LASTING else chance.randint(1, 2)
    return Trouble(at, name, much, chance.choice(METHODS) if name in _REQUESTS else "")


class _Discord(FakeDiscord):
    """A Discord with kill points, which asks after each message what was taken."""

    def __init__(self, traps: Traps) -> None:
        super().__init__()
        self.gateway.prompting = True
        self._traps = traps
        self._reading = False
        self._finals = 0

    def handed_over(self, spot: Spot) -> None:
        """Know the moment in which a message is told."""
        if not self._reading and spot in self.untaken and self._traps.has("kill-handed"):
            seconds = 0.001 * (len(self._traps.record.kills) % 3) ** 3
            self._traps.kill_soon("kill-handed", seconds)
        super().handed_over(spot)

    def confirmed(self, spot: Spot) -> None:
        """Know the moment in which a heartbeat names a message."""
        if not self._reading and spot in self.unconfirmed and self._traps.has("kill-confirmed"):
            seconds = 0.002 * (len(self._traps.record.kills) % 3) ** 3
            self._traps.kill_soon("kill-confirmed", seconds)
        super().confirmed(spot)

    def _answer(self, call: Call) -> Outcome:
        if call.kind == "history":
            return self._told_of(call)
        moment = _moment(call)
        if not moment:
            return super()._answer(call)
        way = len(self._traps.record.kills) % 3 if self._mid(moment) else -1
        if way == 0:
            self._traps.kill("kill-mid-long")
        if way == 0 or (moment == "final" and self._traps.springs("kill-before-final")):
            return None
        outcome = super()._answer(call)
        heard = not (
            (moment == "final" and self._traps.springs("kill-after-final"))
            or (moment == "draft" and self._traps.springs("kill-draft"))
        )
        if way == 1:
            self._traps.kill("kill-mid-long")
        self._soon(moment, way)
        return outcome if heard and way != 1 else None

    def _told_of(self, call: Call) -> Outcome:
        """Answer with the history; a moment is one that tells of what was missed."""
        missed = len(self.untaken)
        self._reading = True
        outcome = super()._answer(call)
        self._reading = False
        if len(self.untaken) < missed and self._traps.has("kill-missed"):
            seconds = 0.002 * (len(self._traps.record.kills) % 3) ** 3
            self._traps.kill_soon("kill-missed", seconds)
        return outcome

    def _mid(self, moment: str) -> bool:
        return moment == "mid" and self._traps.has("kill-mid-long")

    def _soon(self, moment: str, way: int) -> None:
        """Let the gateway hear the answer, and kill it before or after it has written it down."""
        self._finals += moment == "final"
        seconds = 0.002 + 0.01 * self._finals % 0.05
        if way == 2:
            self._traps.kill_soon("kill-mid-long", seconds)
        if moment == "final" and self._traps.has("kill-told-final"):
            self._traps.kill_soon("kill-told-final", seconds)


@register
class DiscordStage:
    """A server and private chats, with people in them."""

    menu: ClassVar[Menu] = Menu(
        "discord",
        PRIVATE + SHARED,
        (
            "kill-handed",
            "kill-confirmed",
            "kill-missed",
            "kill-draft",
            "kill-before-final",
            "kill-after-final",
            "kill-told-final",
            "kill-mid-long",
        ),
        MappingProxyType({name: partial(_roll, name) for name in (*_REQUESTS, *_SOCKETS)}),
    )
    window: ClassVar[Window] = NONE
    queue: ClassVar[Queue] = staticmethod(of_the_chat)
    writes: ClassVar[float] = 1.5

    def __init__(self, traps: Traps, _home: Path) -> None:
        self._traps = traps
        self._fake = fake = _Discord(traps)
        self._friends = [fake.user(f"Friend {number}") for number in range(PRIVATE)]
        self._persons = [fake.user(f"Person {number}") for number in range(3)]
        guild, asker = fake.guild("Office"), self._persons[0]
        general, deploys = fake.text_channel(guild), fake.text_channel(guild, "deploys")
        thread = fake.thread(deploys, asker, "Friday")
        post, _first = fake.forum_post(fake.forum(guild), asker, "Leases", "All about leases.")
        self._chats = [*map(fake.dm, self._friends), general, deploys, thread, post]

    async def __aenter__(self) -> Self:
        """Be there."""
        await self._fake.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Be gone."""
        await self._fake.__aexit__(kind, error, trace)

    def settings(self) -> Mapping[str, str]:
        """Return the gateway's settings."""
        return {
            "WEB__ENABLED": "false",
            "DISCORD__TOKEN": self._fake.token,
            "DISCORD__BASE_URL": self._fake.base_url,
            "DISCORD__GATEWAY_URL": self._fake.gateway_url,
            "DISCORD__PER_SECOND": "0",
            "ACCESS__MODE": "open",
            "BUDGET__STRANGER_TURNS": "0",
            "BUDGET__PARALLEL_PER_PERSON": "0",
        }

    async def ready(self) -> None:
        """Wait until the gateway listens, and knows the private chats: nothing lists them."""
        await self._fake.connected()
        private = self._chats[:PRIVATE]
        for chat, friend in zip(private, self._friends, strict=True):
            self._fake.say(chat, friend, f"{HELLO} short please")
        await self._fake.wait_for(
            lambda fake: all(is_final(fake.text_of(chat)) for chat in private)
        )

    def ask(self, question: Question) -> None:
        """Let a question be asked, with a mention where others are."""
        if self._traps.waits("kill-missed"):
            self._fake.expire_sessions()
            self._fake.drop_sockets()
        text = f"{question.token} {question.kind} please"
        chat = self._chats[question.place]
        if question.place < PRIVATE:
            self._fake.say(chat, self._friends[question.place], text)
        else:
            self._fake.say(chat, self._persons[question.person], f"<@{self._fake.bot.id}> {text}")

    def trouble(self, trouble: Trouble) -> None:
        """Let requests fail, or the gateway's socket."""
        twofold = trouble.much > 1
        match trouble.name:
            case "drop":
                (self._fake.drop_connections if twofold else self._fake.drop_sockets)()
            case "closed":
                self._fake.close_sockets(4009, "Session timed out.")
            case "reconnect":
                self._fake.ask_to_reconnect()
            case "invalid-session":
                self._fake.invalidate(resumable=twofold)
            case "half-open":
                self._fake.half_open(stop_reading=twofold)
            case "redeliver":
                self._deliver_again(int(trouble.much))
            case "away":
                self._leave(trouble.much)
            case "zombie" | "lost-events":
                self._play_dead(trouble.much, lost=trouble.name == "lost-events")
            case _:
                self._fake.fail(trouble.where, _fault(trouble))

    def heal(self) -> None:
        """Let nothing go wrong any more; that a socket is half open must be found out."""
        self._fake.forget_faults()
        self._wake()

    async def see(self, record: Record) -> None:
        """Write down what the bot's messages are."""
        for place, chat in enumerate(self._chats):
            record.texts[place] = [
                (str(found.id), found.text) for found in self._fake.messages(chat)
            ]

    @property
    def fake(self) -> FakeDiscord:
        """The server itself."""
        return self._fake

    def made(self, call: Call) -> tuple[int, str] | None:
        """Return the place and id of the message that a request made."""
        places = [chat.id for chat in self._chats]
        if call.kind != "post" or not call.ok or call.channel_id not in places:
            return None
        return places.index(call.channel_id), str(call.message_id)

    # -- troubles

    def _play_dead(self, seconds: float, *, lost: bool) -> None:
        """Deliver nothing for a while; what is `lost`, only the history has."""
        self._fake.zombies(lost=lost)
        if lost:  # a session that goes on would never be told
            self._fake.expire_sessions()
        asyncio.get_running_loop().call_later(seconds, self._wake)

    def _leave(self, seconds: float) -> None:
        """Hang up on everybody for a while."""
        self._fake.cut_off = True
        self._fake.drop_connections()
        asyncio.get_running_loop().call_later(seconds, self._wake)

    def _wake(self) -> None:
        self._fake.cut_off = False
        for socket in self._fake.gateway.live():
            if socket.loses:
                socket.hang_up()
            elif socket.withheld is not None:
                socket.release()

    def _deliver_again(self, count: int) -> None:
        """Deliver the last messages again that were taken: the others come in their order."""
        said = [
            (message.id, chat)
            for chat in self._chats
            for message in chat.messages.values()
            if ASKED.search(message.text) and (chat.id, message.id) not in self._fake.unconfirmed
        ]
        for message_id, chat in sorted(said, key=lambda each: each[0])[-count:]:
            self._fake.redeliver(chat, message_id)


def _moment(call: Call) -> str:
    text = str(call.params.get("content", "")) if call.kind in ("post", "edit") else ""
    found = LINE.findall(text)
    if not found:
        return ""
    if is_final(text):
        return "final"
    if int(found[0][1]) > 1 or len(text) > _LONGEST:
        return "mid"
    return "draft" if call.kind == "post" else ""


def _fault(trouble: Trouble) -> Fault:
    name = trouble.name
    if name.startswith("server-"):
        return ServerError(int(name.removeprefix("server-")))
    if name.startswith("rate-limited"):
        return RateLimited(trouble.much, everywhere=name.endswith("all"))
    if name == "banned":
        return RateLimited(trouble.much, cloudflare=True)
    if name == "slow":
        return Slow(trouble.much)
    return LostAnswer() if name == "lost-answer" else Reset()
