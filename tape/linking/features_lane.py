"""A new message and each conversation that it may join: numbers for the second stage."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tape.linking.features_message import LONG_AGO, NEAR, MessageFeatures
from tape.linking.room import Heard, Lane, LinkerRoom

MOST_LANES: Final = 14
Row = tuple[float, ...]


@dataclass(slots=True)
class Likely:
    """A conversation, and how likely its messages are gone on from, by the first stage."""

    lane: str
    best: Heard
    total: float = 0.0
    highest: float = 0.0
    second: float = 0.0
    direct: list[float] = field(default_factory=list)


def likely(against: list[Heard], chances: list[float]) -> list[Likely]:
    """Gather the chances of the candidates by their lanes, the likeliest lane first."""
    found: dict[str, Likely] = {}
    for heard, chance in zip(against, chances, strict=True):
        lane = found.get(heard.lane)
        if lane is None:
            lane = found[heard.lane] = Likely(heard.lane, heard)
        lane.total += chance
        if chance > lane.highest:
            lane.second = lane.highest
            lane.highest = chance
            lane.best = heard
        elif chance > lane.second:
            lane.second = chance
    return sorted(found.values(), key=lambda lane: -lane.total)[:MOST_LANES]


def lane_rows(room: LinkerRoom, asked: MessageFeatures, lanes: list[Likely]) -> list[Row]:
    """Return the numbers of the message against each lane, and last those of starting a new one."""
    everything = sum(lane.total for lane in lanes)
    totals = [*sorted((lane.total for lane in lanes), reverse=True), 0.0, 0.0]
    highest = [*sorted((lane.highest for lane in lanes), reverse=True), 0.0, 0.0]
    overlaps = [_overlap(asked, room.lanes[lane.lane]) for lane in lanes]
    most = [*sorted((overlap[0] for overlap in overlaps), reverse=True), 0.0, 0.0]
    own_lane = asked.own.lane if asked.own else None
    theirs = {room.authors[person][-1].lane for person in asked.mentions if person in room.authors}
    rows: list[Row] = []
    for lane, overlap in zip(lanes, overlaps, strict=True):
        rows.append(
            (
                lane.total,
                lane.highest,
                lane.second,
                lane.total - (totals[1] if lane.total == totals[0] else totals[0]),
                lane.highest - (highest[1] if lane.highest == highest[0] else highest[0]),
                lane.total / (everything + 0.01),
                everything,
                *overlap,
                overlap[0] - (most[1] if overlap[0] == most[0] else most[0]),
                lane.lane == own_lane,
                lane.lane in theirs,
                asked.now - lane.best.number,
                lane.best.author == asked.author,
                *_standing(asked, room.lanes[lane.lane]),
                len(lanes),
                *asked.message,
            )
        )
    return rows


def new_row(asked: MessageFeatures, lanes: list[Likely], scores: list[float]) -> Row:
    """Return the numbers of starting a new lane, the second stage's own scores among them."""
    best = [*sorted(scores, reverse=True), 0.0, 0.0]
    totals = [*sorted((lane.total for lane in lanes), reverse=True), 0.0, 0.0]
    return (
        best[0],
        best[1],
        sum(scores),
        totals[0],
        totals[1],
        sum(totals),
        max((lane.highest for lane in lanes), default=0.0),
        max((chance for chance, _ in asked.shared.values()), default=0.0),
        len(lanes),
        bool(asked.named),
        *asked.message,
    )


def _overlap(asked: MessageFeatures, lane: Lane) -> tuple[float, float, float]:
    """Return the weight of shared words: of the best message, of all, and as a share of ours."""
    best = total = 0.0
    for heard in lane.heard:
        found = asked.shared.get(heard.number)
        if found:
            total += found[0]
            best = max(best, found[0])
    return best, total, best / (asked.total + 1)


def _standing(asked: MessageFeatures, lane: Lane) -> Row:
    """Return how a lane stands to the room, to the author and to those who are mentioned."""
    author, mentions = asked.author, asked.mentions
    mine = theirs = LONG_AGO
    tells = told = share = asks = 0
    near = asked.now - NEAR
    for heard in lane.heard:
        if heard.author == author:
            mine = asked.now - heard.number
            told += not mentions.isdisjoint(heard.mentions)
        else:
            tells += author in heard.mentions
            if heard.author in mentions:
                theirs = asked.now - heard.number
        share += heard.number >= near
        asks += heard.asks
    newest, oldest = lane.heard[-1], lane.heard[0]
    authors = lane.authors
    return (
        len(lane.heard),
        len(authors),
        asked.now - newest.number,
        asked.minute - newest.minute,
        newest.number - oldest.number,
        mine,
        theirs,
        authors.get(author, 0),
        authors.get(author, 0) / len(lane.heard),
        sum(authors.get(person, 0) for person in mentions),
        sum(authors.get(person, 0) for person in asked.named),
        sum(person in asked.exchanges for person in authors),
        tells,
        told,
        newest.author == author,
        newest.author in mentions,
        newest.asks,
        bool(newest.mentions),
        newest.opens,
        asks,
        share,
        newest.agent,
    )
