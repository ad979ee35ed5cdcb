"""The state of a platform connection, shared by Telegram, Discord and Slack.

The adapter reports what happens; ConnectionState decides what to report to the host. It does no I/O
and reads no clock: `now` is the caller's monotonic time in seconds.
"""

from __future__ import annotations

from typing import Literal

from channels.host import BackfillHost, ChannelHost, Cursors

Phase = Literal["connecting", "catching_up", "ready", "stalled", "down"]


class ConnectionState:
    """Whether a channel is connected, may be missing messages, and still receives events.

    gaps           the host again, or None for a platform that redelivers everything itself
    links          number of connections that must be up at once (Discord's shards)
    gap            number of the newest gap; a catch-up closes only the gap it began with
    is_behind      whether messages may be missing
    missed_since   when the gateway first refused a message; None: it refused none
    stalled_since  when the connection stopped delivering events although it is up
    """

    def __init__(self, host: ChannelHost, gaps: BackfillHost | None = None, links: int = 1) -> None:
        self._host, self._gaps, self._links = host, gaps, links
        self._up: set[int] = set()
        self._must_read = True  # a resume does not resend what only the history has
        self._accepts, self._takes_again = True, False
        self._stalled_why = ""
        self.phase: Phase = "connecting"
        self.gap, self.is_behind = 0, True
        self.missed_since: float | None = None
        self.stalled_since: float | None = None

    @property
    def is_connected(self) -> bool:
        return len(self._up) == self._links

    def is_up(self, link: int = 0) -> bool:
        return link in self._up

    def connected(self, link: int = 0, *, announce: bool = True) -> None:
        """Record that a link is up; with `announce=False`, call `announce` later."""
        self._up.add(link)
        if announce:
            self.announce()
        elif self.is_connected:
            self.phase = "catching_up"

    def announce(self, impaired: str = "") -> None:
        """Report that the channel is ready, or why it is not: link down, stalled or `impaired`."""
        if not self.is_connected:
            return
        if impaired or self.stalled_since is not None:
            self._report_down(impaired)
            return
        self.phase = "catching_up" if self.is_behind else "ready"
        self._host.ready()

    def lost(self, why: str, link: int = 0) -> None:
        """Record that a link is down, so that messages may be missing from now on."""
        self._up.discard(link)
        self.open_gap()
        self._report_down(why)

    def heard(self) -> None:
        """Report that the platform answered or sent something."""
        self._host.heartbeat()

    def stalled(self, why: str, now: float) -> None:
        """Record that a live connection delivers no events; it is stalled until `proved`."""
        self.stalled_since, self._stalled_why = now, why
        self.lost(why)

    def proved(self) -> None:
        """Record that a stalled connection delivers events again."""
        self.stalled_since = None
        self.phase = "down"
        self.announce()

    def refused(self, why: str) -> None:
        """Record that the gateway refused messages; the caller will offer them again."""
        self._accepts = False
        self._report_down(why)

    def accepted(self, *, whole: bool = True) -> None:
        """Record that messages were accepted; if `whole`, close the gap that a refusal opened."""
        self._takes_again = True
        if not self._accepts:
            self._accepts = True
            if whole:
                self.resumed()
            self.announce()

    def open_gap(self) -> None:
        """Record that messages may be missing from now on."""
        self.gap += 1
        self._set_behind(True)
        if self._gaps is not None:
            self._gaps.gap_opened()

    def missed(self, now: float) -> None:
        """Record that the gateway refused a message which the platform may not send again."""
        self.open_gap()
        if self.missed_since is None:
            self.missed_since, self._takes_again = now, False

    def is_catch_up_due(self, now: float, resend_seconds: float) -> bool:
        """Return whether to read missed messages: the gateway accepts again, or no resend came."""
        since = self.missed_since
        return since is not None and (self._takes_again or now - since > resend_seconds)

    def catch_up_begun(self) -> int:
        """Record that a catch-up began; return the gap number to pass to `catch_up_finished`."""
        self._must_read = True
        return self.gap

    def catch_up_finished(self, gap: int, cursors: Cursors | None = None) -> None:
        """Close the gap, unless a newer gap opened, which needs its own catch-up."""
        if gap == self.gap:
            self._must_read, self.missed_since = False, None
            self._close(cursors)

    def catch_up_failed(self, now: float) -> None:
        """Record that the catch-up failed, so that another one is due."""
        self.missed(now)
        self._takes_again = True

    def resumed(self) -> None:
        """Record that the platform resumed where it stopped, so that no message is missing."""
        if self.is_connected and not self._must_read:
            self._close()

    def _close(self, cursors: Cursors | None = None) -> None:
        self._set_behind(False)
        if self._gaps is not None:
            self._gaps.gap_closed(cursors)

    def _set_behind(self, is_behind: bool) -> None:
        self.is_behind = is_behind
        if self.phase in ("ready", "catching_up"):
            self.phase = "catching_up" if is_behind else "ready"

    def _report_down(self, why: str) -> None:
        is_stalled = self.stalled_since is not None
        self.phase = "stalled" if is_stalled else "down"
        self._host.down(self._stalled_why if is_stalled else why)
