"""The first stage's features, which compare a new message with each one that it may continue."""

from __future__ import annotations

from typing import Final

from tape.linking.features_message import LONG_AGO, RECENT_MESSAGES, MessageFeatures, Row
from tape.linking.room import Heard, LinkerRoom

MAX_CANDIDATES: Final = 45
"""Maximum last messages to compare; older ones are compared if they share people."""

MAX_OLDER: Final = 3
"""Maximum older messages by the author, by each person mentioned, and mentioning the author."""


def candidates(room: LinkerRoom, new: MessageFeatures) -> list[Heard]:
    """Return the remembered messages that a new message may continue, newest first."""
    found: dict[int, Heard] = {}
    for count, heard in enumerate(reversed(room.heard)):
        if count == MAX_CANDIDATES:
            break
        if not heard.threaded:
            found[heard.number] = heard
    near = len(found)
    if new.answer is not None and not new.answer.threaded:
        found.setdefault(new.answer.number, new.answer)
    for older in (
        room.authors.get(new.author),
        room.mentioning.get(new.author),
        *(room.authors.get(person) for person in sorted(new.mentions)[:MAX_OLDER]),
    ):
        if older and older[0].number <= new.now - MAX_CANDIDATES:
            for heard in list(older)[-MAX_OLDER:]:
                if not heard.threaded:
                    found.setdefault(heard.number, heard)
    if len(found) == near:
        return list(found.values())
    return [found[number] for number in sorted(found, reverse=True)]


def pair_rows(room: LinkerRoom, new: MessageFeatures, against: list[Heard]) -> list[Row]:
    """Return the features of a message and each candidate; candidates are given newest first."""
    author, mentions, now, minute = new.author, new.mentions, float(new.now), float(new.minute)
    own, named, message, shared = new.own, new.named, new.message, new.shared
    exchanges, last = new.exchanges, new.exchanges_last
    own_lane = own.lane if own else None
    own_to, with_agent, answers = new.own_to, new.with_agent, room.answers
    kind, pace = new.kind, new.pace
    by_author, by_lane, lanes = dict[str, float](), dict[str, float](), dict[str, Row]()
    addressing = 0.0
    rows = []
    for heard in against:
        them, lane = heard.author, heard.lane
        addresses = 1.0 if author in heard.mentions else 0.0
        of_lane = lanes.get(lane)
        if of_lane is None:
            of_lane = lanes[lane] = (*map(float, _of_lane(room, new, lane)), *message)
        common, heaviest = shared.get(heard.number, (0.0, 0.0))
        parent = room.by_key.get(heard.parent) if heard.parent else None
        rows.append(
            (
                now - heard.number,
                minute - heard.minute,
                1.0 if them == author else 0.0,
                1.0 if them in mentions else 0.0,
                addresses,
                addressing,
                0.0 if mentions.isdisjoint(heard.mentions) else 1.0,
                by_author.get(them, 0.0),
                by_author.get(author, 0.0),
                by_lane.get(lane, 0.0),
                common,
                heaviest,
                1.0 if heard.asks else 0.0,
                float(heard.length),
                float(len(heard.mentions)),
                float(heard.opens),
                1.0 if heard.holds else 0.0,
                float(answers.get(heard.key, 0)),
                exchanges.get(them, 0.0),
                now - last[them] if them in last else LONG_AGO,
                1.0 if parent is not None and parent.author == author else 0.0,
                1.0 if parent is not None and parent.author in mentions else 0.0,
                1.0 if them in own_to else 0.0,
                1.0 if them in named else 0.0,
                1.0 if lane == own_lane else 0.0,
                1.0 if heard.parent is None else 0.0,
                1.0 if heard.agent else 0.0,
                *of_lane,
                *_of_agent(room, new, heard),
                *with_agent,
                (minute - heard.minute) / pace,
                1.0 if heard.replied else 0.0,
                *kind,
            )
        )
        by_author[them] = by_author.get(them, 0.0) + 1
        by_lane[lane] = by_lane.get(lane, 0.0) + 1
        addressing += addresses
    return rows


def _of_agent(room: LinkerRoom, new: MessageFeatures, heard: Heard) -> Row:
    """Return whether a candidate calls the agent, and whose answer it is."""
    asker = room.asker(heard) if heard.agent else None
    return (
        1.0 if heard.calls else 0.0,
        1.0 if asker == new.author else 0.0,
        1.0 if asker is not None and asker != new.author else 0.0,
        1.0 if heard is new.answer else 0.0,
        1.0 if heard.alone else 0.0,
    )


def _of_lane(room: LinkerRoom, new: MessageFeatures, name: str) -> tuple[int, ...]:
    lane = room.lanes[name]
    authors, newest = lane.authors, lane.heard[-1]
    near = new.now - RECENT_MESSAGES
    share = 0
    for heard in reversed(lane.heard):
        if heard.number < near:
            break
        share += 1
    return (
        len(lane.heard),
        authors.get(new.author, 0),
        sum(authors.get(person, 0) for person in new.mentions),
        len(authors),
        new.now - newest.number,
        new.minute - newest.minute,
        newest.author == new.author,
        share,
    )
