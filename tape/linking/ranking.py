"""Which earlier messages belong to the conversation of one: ranked, or chosen.

Membership of a lane is fixed as a message arrives; these look back from a later moment and may know
better. Both are functions of the room alone.
"""

from __future__ import annotations

from tape.linking.room import Heard, Room


def ranked(room: Room, key: str, k: int) -> list[str]:
    """Return the keys of at most k earlier messages, the likeliest first."""
    asked = room.by_key.get(key)
    if asked is None:
        return []
    before = [heard for heard in room.heard if heard.number < asked.number]
    before.sort(key=lambda heard: -_likeness(asked, heard))
    return [heard.key for heard in before[:k]]


def chosen(room: Room, key: str, most: int = 50) -> list[str]:
    """Return the keys of the conversation's earlier messages, oldest first; not filled up."""
    asked = room.by_key.get(key)
    if asked is None:
        return []
    lane = room.lanes[asked.lane]
    before = [heard.key for heard in lane.heard if heard.number < asked.number]
    return before[-most:]


def _likeness(asked: Heard, heard: Heard) -> float:
    """Fuse recency, speaker and lane."""
    near = 1 / (10 + asked.number - heard.number)
    people = {asked.author, *asked.mentions}
    close = heard.author in people or asked.author in heard.mentions
    return near + 0.05 * close + 0.2 * (heard.lane == asked.lane)
