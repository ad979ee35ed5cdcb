"""The linker: where a new message belongs."""

from __future__ import annotations

from tape.linking.room import Room
from tape.linking.rules import by_rules, given
from tape.linking.said import Link, Said


class Linker:
    """Names a message's conversation from what was said before it: causal, and without memory.

    What the platform says (a thread, a reply) comes first.
    """

    def link(self, room: Room, said: Said, replied_lane: str | None = None) -> Link:
        """Return where a message belongs; the room is not changed.

        `replied_lane` is the lane of the message replied to, where the room has forgotten it.
        """
        return given(room, said, replied_lane) or by_rules(room, said)
