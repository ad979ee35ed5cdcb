"""What the connections to the fake Discord can be told to do wrong."""

from __future__ import annotations

from tests.fakes.discord.people import People
from tests.fakes.discord.session import INVALID, RECONNECT


class Trouble(People):
    """Break connections, sockets and sessions."""

    @property
    def token_revoked(self) -> bool:
        """Return whether the token is no good any more; settable, and sockets are then closed."""
        return self.revoked

    @token_revoked.setter
    def token_revoked(self, revoked: bool) -> None:
        self.revoked = revoked
        if revoked:
            self.close_sockets(4004, "Authentication failed.")

    @property
    def live_sockets(self) -> int:
        """Return how many sockets are open and have a session."""
        return len(self.gateway.live())

    def drop_sockets(self) -> None:
        """Break every socket of the gateway; requests go on."""
        for socket in list(self.gateway.sockets):
            socket.hang_up()

    def close_sockets(self, code: int, reason: str = "") -> None:
        """Close every socket of the gateway with a code, as Discord does."""
        for socket in list(self.gateway.sockets):
            socket.close(code, reason)

    def ask_to_reconnect(self) -> None:
        """Ask every client to come back and resume."""
        for socket in self.gateway.live():
            socket.send(RECONNECT, None)

    def invalidate(self, *, resumable: bool = False) -> None:
        """End the session of every client; unless `resumable`, for good."""
        if not resumable:
            self.gateway.expire()
        for socket in self.gateway.live():
            socket.send(INVALID, resumable)

    def expire_sessions(self) -> None:
        """Make the current sessions unresumable: what they miss is never replayed."""
        self.gateway.expire()

    def zombies(self, *, lost: bool = False) -> None:
        """Make the current sockets take heartbeats and deliver nothing.

        What they miss comes with a RESUME, unless it is `lost`: then only the history has it.
        """
        for socket in self.gateway.live():
            socket.withheld = socket.withheld or []
            socket.loses = lost

    def silence(self, silent: bool = True) -> None:
        """Deliver nothing over any socket, current or new, until it is ended."""
        self.gateway.silent = silent
        for socket in self.gateway.live():
            if silent:
                socket.withheld = socket.withheld or []
            else:
                socket.release()
        self.changed()
