"""Record the state of each channel, for `/health/ready` and the commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal

import anyio

from channels.base import Channel
from gateway.clock import Clock
from gateway.logs import get_log
from tape.entry import utc_iso

State = Literal["starting", "ready", "waiting", "unfit", "stopped"]


@dataclass(slots=True)
class ChannelState:
    state: State = "starting"
    why: str = ""  # the text of the last error
    notes: list[str] = field(default_factory=list)  # warnings that say how to fix the problem
    blocked: str = ""  # the note among them that something answers in the platform's place
    since: str = ""  # time of the last change of state, ISO 8601 in UTC
    heard: float = -inf  # monotonic seconds when messages were last known to arrive


class StatusBoard:
    """Records the state of every channel by its name."""

    def __init__(self, clock: Clock, channels: Sequence[Channel]) -> None:
        self._clock = clock
        self._channels = list(channels)
        self._left_out: set[str] = set()
        self._settled = anyio.Event()
        self.elsewhere: dict[str, ChannelState] = {}  # where another process listens
        self.states = {channel.name: ChannelState() for channel in channels}
        self._check_settled()

    def begin(self, channel: Channel) -> None:
        """Record that a channel starts, in the place of the one of its name if there was one."""
        others = [one for one in self._channels if one.name != channel.name]
        self._channels = [*others, channel]
        self.states[channel.name] = ChannelState()
        self._left_out.discard(channel.name)

    def leave_out(self, name: str) -> None:
        """Show a channel no more, which is not set up any more, until it begins again."""
        self._channels = [one for one in self._channels if one.name != name]
        self._left_out.add(name)

    async def settled(self) -> None:
        """Wait until every channel has connected or failed once."""
        await self._settled.wait()

    def stalled(self) -> dict[str, float]:
        """Return the channels that are stalled here, with their seconds without a sign of life."""
        now = self._clock.monotonic()
        return {
            channel.name: now - self.states[channel.name].heard
            for channel in self._channels
            if channel.traits.stalled_after is not None
            and self.states[channel.name].state == "ready"
            and now - self.states[channel.name].heard > channel.traits.stalled_after
        }

    def waits(self, name: str) -> bool:
        """Return whether another process listens in this one's place."""
        return self.states[name].heard == inf

    def everywhere(self) -> dict[str, ChannelState]:
        """Return the state of each channel where it listens: here, or at another process."""
        stalled = self.stalled()
        shown = {name: one for name, one in self.states.items() if name not in self._left_out}
        for name, there in self.elsewhere.items():
            own = shown.get(name)
            if own is not None and (
                self.waits(name)
                or (there.state == "ready" and (own.state != "ready" or name in stalled))
            ):
                shown[name] = there
        return shown

    def deaf(self) -> dict[str, float]:
        """Return the channels that are stalled here and ready nowhere else, as `stalled` does."""
        ready = {name for name, there in self.elsewhere.items() if there.state == "ready"}
        return {name: since for name, since in self.stalled().items() if name not in ready}

    def heartbeat(self, name: str) -> None:
        """Record that a channel can receive messages; a successful send does not prove this."""
        self.states[name].heard = self._clock.monotonic()

    def connected(self, name: str) -> None:
        self.change(name, "ready")
        self.heartbeat(name)
        get_log().info("channel.ready", channel=name)

    def listens_elsewhere(self, name: str, owner: str) -> None:
        """Record that a channel can send, and that another process listens: `owner`, or "".

        That process reports whether it receives anything.
        """
        why = f"another process listens ({owner})" if owner else "another process is to listen"
        if (self.states[name].state, self.states[name].why) != ("ready", why):
            self.change(name, "ready", why)
            self.states[name].heard = inf
            get_log().info("channel.elsewhere", channel=name, owner=owner)

    def down(self, name: str, why: str) -> None:
        """Record that a channel has lost its connection and is reconnecting without a restart."""
        known = self.states[name]
        if (known.state, known.why) == ("waiting", why):
            return
        self.change(name, "waiting", why)
        get_log().warning("channel.down", channel=name, why=why)

    def warn(self, name: str, text: str) -> None:
        """Record a warning about a running channel, unless the same warning is already recorded."""
        notes = self.states[name].notes
        if text not in notes:
            notes.append(text)
            get_log().warning("channel.note", channel=name, note=text)

    def blocked(self, name: str, why: str) -> None:
        """Record that something answers in the platform's place, until `why` is empty."""
        known = self.states[name]
        if known.blocked == why:
            return
        if known.blocked in known.notes:
            known.notes.remove(known.blocked)
        known.blocked = why
        if why:
            self.warn(name, why)

    def change(self, name: str, state: State, why: str = "") -> None:
        """Record a channel's state; keep its warnings and its last heartbeat."""
        before = self.states[name]
        moment = utc_iso(self._clock.now())
        since = before.since if before.state == state and before.since else moment
        kept = (before.notes, before.blocked)
        self.states[name] = ChannelState(state, why, *kept, since, before.heard)
        self._check_settled()

    def _check_settled(self) -> None:
        if all(state.state != "starting" for state in self.states.values()):
            self._settled.set()
