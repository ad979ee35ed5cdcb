"""Discord in the chaos run: private chats, channels, a thread and a forum's post of one server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Final

from channels.testing import Chat
from tests.chaos.order import Queue, of_the_chat
from tests.chaos.plan import Menu, Question, Roll, Trouble
from tests.chaos.platform import KILLS, PRIVATE, Platform, failing
from tests.chaos.record import LINE, is_final
from tests.chaos.traps import Traps
from tests.fakes.base.connection import Outcome
from tests.fakes.discord.faults import RateLimited
from tests.fakes.discord.requests import Call
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Spot
from tests.kit.stages.discord import DiscordStage

SHARED: Final = 4
METHODS: Final = ("post", "edit", "history", "socket", "*")
HELLO: Final = "Q9999"
_LONGEST: Final = 1_910
"""A text beyond is that of a long answer in pieces; a draft shows no more."""

_SOCKETS: Final = ("drop", "closed", "reconnect", "invalid-session", "half-open", "redeliver")
_LASTING: Final = ("away", "zombie", "lost-events")


class _Discord(FakeDiscord):
    """A Discord that knows the moments in which a message is told, read later, and confirmed."""

    traps: Traps
    _reads = False

    def handed_over(self, spot: Spot) -> None:
        if not self._reads and spot in self.untaken:
            self.traps.strikes("kill-handed")
        super().handed_over(spot)

    def confirmed(self, spot: Spot) -> None:
        if not self._reads and spot in self.unconfirmed:
            self.traps.strikes("kill-confirmed", 0.002)
        super().confirmed(spot)

    def _answer(self, call: Call) -> Outcome:
        """Answer a request; the history is a moment of its own if it tells of what was missed."""
        if call.kind != "history":
            return super()._answer(call)
        missed, self._reads = len(self.untaken), True
        outcome = super()._answer(call)
        self._reads = False
        if len(self.untaken) < missed:
            self.traps.strikes("kill-missed", 0.002)
        return outcome


class Discord(Platform[DiscordStage, Call]):
    """A server and private chats, with people in them."""

    menu: ClassVar[Menu] = Menu(
        "discord",
        PRIVATE + SHARED,
        ("kill-handed", "kill-confirmed", "kill-missed", *KILLS),
        MappingProxyType(
            {
                **failing(METHODS, "rate-limited", "rate-limited-all", "banned"),
                **{name: Roll(1, 2) for name in _SOCKETS},
                **{name: Roll(0.2, 1.5) for name in _LASTING},
            }
        ),
    )
    queue: ClassVar[Queue] = staticmethod(of_the_chat)
    writes: ClassVar[float] = 1.5
    own: ClassVar[Mapping[str, str]] = MappingProxyType({"DISCORD__PER_SECOND": "0"})

    def __init__(self, traps: Traps, _home: Path) -> None:
        super().__init__(traps, DiscordStage(kind=_Discord))
        fake = self.stage.fake
        assert isinstance(fake, _Discord)
        fake.traps, self._fake = traps, fake

    async def ready(self) -> None:
        """Wait until the gateway listens, and knows the private chats: nothing lists them."""
        await super().ready()
        private = self.places[:PRIVATE]
        for place in range(PRIVATE):
            await self.ask(Question(0.0, HELLO, place, 0, "short"))
        await self.stage.until(
            lambda: all(
                any(is_final(it.text) for it in self.stage.answers(chat)) for chat in private
            )
        )

    async def ask(self, question: Question) -> None:
        """Ask a question, which the gateway may miss, if it is to be killed while it catches up."""
        if self._traps.waits("kill-missed"):
            self._fake.expire_sessions()
            self._fake.drop_sockets()
        await super().ask(question)

    def heal(self) -> None:
        """End everything that goes wrong; that a socket is half open must be found out."""
        super().heal()
        self._wake()

    def _shared(self) -> list[Chat]:
        general, deploys = self.stage.group(), self.stage.group()
        return [general, deploys, self.stage.thread(deploys), self.stage.forum_post()]

    def _key(self, chat: Chat) -> str:
        return chat.thread or chat.id

    def _sends(self, request: Call) -> tuple[str, str]:
        if request.kind != "post":
            return "", ""
        return str(request.channel_id), str(request.message_id)

    # -- troubles

    def _disturb(self, trouble: Trouble) -> None:
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
            case "away":
                self._leave(trouble.much)
            case "zombie" | "lost-events":
                self._play_dead(trouble.much, lost=trouble.name == "lost-events")
            case _:
                self._fail(trouble)

    def _fault(self, trouble: Trouble) -> Any:
        if trouble.name.startswith("rate-limited"):
            return RateLimited(trouble.much, everywhere=trouble.name.endswith("all"))
        if trouble.name == "banned":
            return RateLimited(trouble.much, cloudflare=True)
        return super()._fault(trouble)

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

    def _moment(self, request: Call) -> str:
        shows = request.kind in ("post", "edit")
        text = str(request.params.get("content", "")) if shows else ""
        found = LINE.findall(text)
        if not found:
            return ""
        if is_final(text):
            return "final"
        if int(found[0][1]) > 1 or len(text) > _LONGEST:
            return "mid"
        return "draft" if request.kind == "post" else ""
