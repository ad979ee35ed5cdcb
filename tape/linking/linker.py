"""The linker: where a new message belongs, and what belongs to it."""

from __future__ import annotations

from typing import Final

from tape.linking.model import Model
from tape.linking.ranking import chosen, latest, ranked
from tape.linking.room import LinkerRoom
from tape.linking.rules import by_recency, by_rules, given
from tape.linking.utterance import LaneLink, Utterance
from tape.linking.weights import load

CROWD: Final = 3
"""People from whom on conversations run through each other."""

AFTER_A_LULL: Final = 10
"""So many of the last messages may belong to what begins after a silence."""

KNOWN: Final = 10
"""Messages after which a room without a crowd is taken for one; any room begins with few people."""


class Linker:
    """Names a message's conversation from what was said before it: causal, and without memory.

    What the platform says (a thread, a reply) comes first. Without a model it links by rules.
    """

    def __init__(self, model: Model | None = None) -> None:
        """Link by a model, or by rules alone."""
        self.model = model

    @classmethod
    def shipped(cls) -> Linker:
        """Make a linker with the model that is part of Tapeway; raise NumbersUnfit without it."""
        return cls(load())

    def link(self, room: LinkerRoom, said: Utterance, replied_lane: str | None = None) -> LaneLink:
        """Return where a message belongs; the room is not changed.

        `replied_lane` is the lane of the message replied to, where the room has forgotten it.
        """
        link = given(room, said, replied_lane)
        if link is not None:
            return link
        if _quiet(room, said.author):
            return by_recency(room, said)
        return self.model.link(room, said) if self.model else by_rules(room, said)

    def ranked(self, room: LinkerRoom, key: str, k: int) -> list[str]:
        """Return the keys of at most k messages before one, the likeliest first."""
        if _quiet(room):
            return latest(room, key, k)[::-1]
        return ranked(room, key, k, self.model)

    def chosen(self, room: LinkerRoom, key: str, most: int = 50) -> list[str]:
        """Return the keys of the messages before one that are of its conversation, oldest first."""
        if not _quiet(room):
            return chosen(room, key, most, self.model)
        return chosen(room, key, most) or latest(room, key, min(most, AFTER_A_LULL))


def _quiet(room: LinkerRoom, *more: str) -> bool:
    """Tell whether a room has one conversation at a time: there are not enough people for two."""
    return len(room) >= KNOWN and len(room.authors.keys() | set(more)) < CROWD
