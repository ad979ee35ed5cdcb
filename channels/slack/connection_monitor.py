"""How the connection is: there, lost, deaf, or shared with somebody else; and what it missed.

Slack delivers again what nobody took: at once, after a minute, after five, and then no more. What
was not taken for longer is asked for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import anyio

from channels.errors import ChannelError, ChannelUnfit
from channels.host import FullHost
from channels.pacing import Clock
from channels.slack.race import either
from channels.slack.self_events import ECHO_SECONDS, SelfEvents

CATCH_UP_SECONDS: Final = 20.0
"""So long what was missed is asked for before the channel says that it is ready; then beside it."""

HELD_BACK: Final = 2.0
"""So long what comes waits for what was said before it: Slack wants an answer in three seconds."""

LOOK_EVERY: Final = 15.0
LONGEST_LOOK: Final = 120.0
"""After failures it is looked less often: each time all workspaces are asked."""

GIVEN_UP_AFTER: Final = 400.0
"""After so many seconds Slack does not deliver again."""

PROVED_AFTER: Final = 45.0
"""So long a new connection has to prove that it hears; then another one is tried."""

FIRST_COUNT: Final = 10.0
LONGEST_COUNT: Final = 120.0

DEAF: Final = (
    "Slack takes what I say, and delivers nothing: a connection that lives and is deaf. Connected"
    " anew, and waiting for an event."
)
SECOND_READER: Final = (
    "a second reader is connected with this app token: Slack gives each event to one of them only."
    " Look for a second gateway (another machine, an old container, a test), or make a new"
    " app-level token and revoke the old one (Basic Information, App-Level Tokens). Looking again."
)


class ConnectionMonitor:
    """Tells the host how the connection is; `catch_up` asks for what is missing.

    renew  replaces the connection, `lost` with a reason
    gaps   how often something may have been missed
    probe  does something of which Slack has to tell, where there is such a thing
    """

    def __init__(self, host: FullHost, catch_up: Callable[[], Awaitable[None]]) -> None:
        self._host = host
        self._catch_up = catch_up
        self._deaf_since = 0.0
        self._proofs = 0
        self.renew: Callable[[str], None] = lambda _why: None
        self.probe: Callable[[], Awaitable[bool]] = _nothing
        self.echoes = SelfEvents()
        self.gaps = 0
        self._catching_up = anyio.Lock()
        self._connected = False
        self._filled = anyio.Event()
        self._deaf = False
        self._proved = anyio.Event()
        self._spoke = anyio.Event()
        self._gap = anyio.Event()
        self._counted_before = self._told = self._counting = False
        self._count_after = FIRST_COUNT
        self._missed_at: float | None = None
        self._look_after, self._failed = LOOK_EVERY, False
        self._takes_again = False

    @property
    def _clock(self) -> Clock:
        return self._host.clock

    # -- the connection

    async def connected(self, connections: int, *, seamless: bool, whole: bool = True) -> None:
        """Fill what is missing, then be ready; after deafness, when an event has come."""
        self._connected = True
        if not seamless:
            await self._caught_up()
        elif not whole:
            self._begin_gap()
            self._host.start_soon("slack catch-up", self._fill)
        if not self._connected:
            return
        if self._deaf:
            self._host.down(DEAF)
            self._host.start_soon("slack proof", self._prove)
        elif connections > 1 and self._shared(seamless=seamless):
            self._host.down(SECOND_READER)
        else:
            self._host.ready()
        if connections <= 1:
            self._told, self._count_after = False, FIRST_COUNT
        self._counted_before = True

    def lost(self, why: str) -> None:
        """Say that nothing comes now."""
        self._connected = False
        self.echoes.owed = None  # of what was said just now Slack may tell only after a minute
        self._begin_gap()
        self._host.down(DEAF if self._deaf else why)

    def sign_of_life(self) -> None:
        """Note that the connection lives."""
        self._host.heartbeat()

    def heard(self, account: str, event: Mapping[str, Any]) -> None:
        """Note that an event came."""
        self.echoes.heard(account, event)
        if self._deaf:
            self._proved.set()

    def said(self, account: str, channel: str, kind: str) -> None:
        """Note that the app said something, of which Slack has to tell."""
        if not self._connected:
            return
        self.echoes.said(account, channel, kind, self._clock.monotonic())
        if self.echoes.owed is not None:
            self._spoke.set()

    def _shared(self, *, seamless: bool) -> bool:
        """Tell whether somebody else is certainly connected, the first time that it is so.

        It is counted again; who is still there then is noted: what comes is answered all the same.
        After a connection that broke off Slack may still count that one.
        """
        wait = self._count_after
        if not self._counting:
            self._counting = True
            self._count_after = min(2 * wait, LONGEST_COUNT)
            self._host.start_soon("slack readers", lambda: self._count_again(wait))
        if not seamless and self._counted_before:
            return False
        told, self._told = self._told, True
        if told:
            self._host.warn(SECOND_READER)
        return not told

    async def _count_again(self, wait: float) -> None:
        await self._clock.sleep(wait)
        self._counting = False
        if self._connected:
            self.renew("")

    async def listen(self) -> None:
        """Notice a connection that lives and delivers nothing."""
        while True:
            await self._spoke.wait()
            self._spoke = anyio.Event()
            while self.echoes.owed is not None and self._connected and not self._deaf:
                await self._clock.sleep(ECHO_SECONDS / 8)
                if not self.echoes.late(self._clock.monotonic()):
                    continue
                self._deaf, self._deaf_since = True, self._clock.monotonic()
                self._proved = anyio.Event()
                self.lost(DEAF)
                self.renew(DEAF)

    async def _prove(self) -> None:
        """Be ready when an event has come; else connect anew, in the hope of a better place."""
        self._proofs += 1
        proved, proof = self._proved, self._proofs
        probed = await self._probed()
        await either(proved.wait, lambda: self._clock.sleep(PROVED_AFTER))
        if not self._deaf or proof != self._proofs:
            return
        given_up = not probed and self._clock.monotonic() - self._deaf_since > GIVEN_UP_AFTER
        if not (proved.is_set() or given_up):
            self.renew(DEAF)
            return
        if probed or given_up:
            self.echoes.forgive()
        self._deaf = False
        if self._connected:
            self._host.ready()

    async def _probed(self) -> bool:
        """Do something of which Slack has to tell; tells whether that was possible."""
        try:
            return await self.probe()
        except ChannelError:
            return False

    # -- what is missing

    def _begin_gap(self) -> None:
        self.gaps += 1
        self._filled = anyio.Event()
        self._host.gap_opened()

    async def filled(self) -> None:
        """Wait until what was said in the last gap is taken: what comes now was said after it."""
        if not (filled := self._filled).is_set():
            await either(filled.wait, lambda: self._clock.sleep(HELD_BACK))

    def missing(self) -> None:
        """Note that something was not taken: after a while Slack delivers it no more."""
        self.gaps += 1
        self._host.gap_opened()
        if self._missed_at is None:
            self._missed_at = self._clock.monotonic()
            self._takes_again = False
            self._gap.set()

    def took(self) -> None:
        """Note that something was taken."""
        self._takes_again = True

    async def fill_gaps(self) -> None:
        """Ask for what is missing, once something is taken again, or Slack has given up."""
        while True:
            if self._missed_at is None:
                await self._gap.wait()
                self._gap = anyio.Event()
                continue
            await self._clock.sleep(self._look_after)
            since = self._clock.monotonic() - (self._missed_at or 0.0)
            if self._takes_again or since > GIVEN_UP_AFTER:
                await self._try_to_catch_up()

    async def _caught_up(self) -> None:
        """Ask for what is missing, and wait for it for a while."""
        done = anyio.Event()

        async def ask() -> None:
            await self._fill()
            done.set()

        self._host.start_soon("slack catch-up", ask)
        await either(done.wait, lambda: self._clock.sleep(CATCH_UP_SECONDS))

    async def _fill(self) -> None:
        filled = self._filled
        await self._try_to_catch_up()
        filled.set()

    async def _try_to_catch_up(self) -> None:
        gaps = self.gaps
        try:
            async with self._catching_up:
                gaps = self.gaps
                await self._catch_up()
        except ChannelUnfit:
            return  # whoever runs is told
        except ChannelError:
            """It is tried again."""
        except Exception:
            self._host.log_exception("slack.catch_up_failed")
        else:
            self._look_after, self._failed = LOOK_EVERY, False
            if self.gaps == gaps:  # else something was missed meanwhile, and is asked for next
                self._missed_at = None
            return
        if self._failed:
            self._look_after = min(2 * self._look_after, LONGEST_LOOK)
        self._failed = True
        self.missing()
        self._takes_again = True


async def _nothing() -> bool:
    return False
