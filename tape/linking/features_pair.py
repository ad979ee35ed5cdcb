"""A new message and each remembered one that it may go on from: numbers for the first stage."""

from __future__ import annotations

from typing import Final

from tape.linking.features_message import LONG_AGO, NEAR, MessageFeatures
from tape.linking.room import Heard, LinkerRoom

CANDIDATES: Final = 45
"""The last messages that are compared; older ones only where people connect them."""

OWN: Final = 3
"""Older messages of the author, of each person mentioned, and of those that mention the author."""

Row = tuple[float, ...]


def candidates(room: LinkerRoom, asked: MessageFeatures) -> list[Heard]:
    """Return the remembered messages that may be gone on from, newest first."""
    found: dict[int, Heard] = {}
    for count, heard in enumerate(reversed(room.heard)):
        if count == CANDIDATES:
            break
        if not heard.threaded:
            found[heard.number] = heard
    near = len(found)
    for older in (
        room.authors.get(asked.author),
        room.mentioning.get(asked.author),
        *(room.authors.get(person) for person in sorted(asked.mentions)[:OWN]),
    ):
        if older and older[0].number <= asked.now - CANDIDATES:
            for heard in list(older)[-OWN:]:
                if not heard.threaded:
                    found.setdefault(heard.number, heard)
    if len(found) == near:
        return list(found.values())
    return [found[number] for number in sorted(found, reverse=True)]


def pair_rows(room: LinkerRoom, asked: MessageFeatures, against: list[Heard]) -> list[Row]:
    """Return the numbers of the message against each candidate; these come newest first."""
    author, mentions, now, minute = asked.author, asked.mentions, asked.now, asked.minute
    own, named, message, shared = asked.own, asked.named, asked.message, asked.shared
    exchanges, last = asked.exchanges, asked.exchanges_last
    own_lane = own.lane if own else None
    own_to = asked.own_to
    answers = room.answers
    by_author: dict[str, int] = {}
    by_lane: dict[str, int] = {}
    lanes: dict[str, Row] = {}
    telling = 0
    rows = []
    for heard in against:
        them = heard.author
        lane = heard.lane
        tells = author in heard.mentions
        of_lane = lanes.get(lane)
        if of_lane is None:
            of_lane = lanes[lane] = _of_lane(room, asked, lane)
        common, heaviest = shared.get(heard.number, (0.0, 0.0))
        parent = room.by_key.get(heard.parent) if heard.parent else None
        rows.append(
            (
                now - heard.number,
                minute - heard.minute,
                them == author,
                them in mentions,
                tells,
                telling,
                not mentions.isdisjoint(heard.mentions),
                by_author.get(them, 0),
                by_author.get(author, 0),
                by_lane.get(lane, 0),
                common,
                heaviest,
                heard.asks,
                heard.length,
                len(heard.mentions),
                heard.opens,
                heard.holds,
                answers.get(heard.key, 0),
                exchanges.get(them, 0),
                now - last[them] if them in last else LONG_AGO,
                parent is not None and parent.author == author,
                parent is not None and parent.author in mentions,
                them in own_to,
                them in named,
                lane == own_lane,
                heard.parent is None,
                heard.agent,
                *of_lane,
                *message,
            )
        )
        by_author[them] = by_author.get(them, 0) + 1
        by_lane[lane] = by_lane.get(lane, 0) + 1
        telling += tells
    return rows


def _of_lane(room: LinkerRoom, asked: MessageFeatures, name: str) -> Row:
    """Return what is the same for each candidate of a lane."""
    lane = room.lanes[name]
    authors, newest = lane.authors, lane.heard[-1]
    near = asked.now - NEAR
    share = 0
    for heard in reversed(lane.heard):
        if heard.number < near:
            break
        share += 1
    return (
        len(lane.heard),
        authors.get(asked.author, 0),
        sum(authors.get(person, 0) for person in asked.mentions),
        len(authors),
        asked.now - newest.number,
        asked.minute - newest.minute,
        newest.author == asked.author,
        share,
    )
