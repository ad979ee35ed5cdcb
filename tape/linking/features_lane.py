"""The second stage's features, which compare a new message with each lane that it may join."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tape.linking.features_message import LONG_AGO, RECENT_MESSAGES, MessageFeatures, Row
from tape.linking.room import Heard, Lane, LinkerRoom

MAX_LANES: Final = 14
UNSEEN: Final = -1.0  # replaces a chance that an earlier stage did not compute
LIKELY: Final = 0.2  # minimum chance of a lane that may be the right one


@dataclass(slots=True)
class LikelyLane:
    """A lane, with the first stage's chances that the new message continues one of its messages."""

    lane: str
    best: Heard
    total: float = 0.0
    highest: float = 0.0
    second: float = 0.0


def likely_lanes(against: list[Heard], chances: list[float]) -> list[LikelyLane]:
    """Add up the candidates' chances for each lane, and return the likeliest lanes first."""
    found: dict[str, LikelyLane] = {}
    for heard, chance in zip(against, chances, strict=True):
        lane = found.get(heard.lane)
        if lane is None:
            lane = found[heard.lane] = LikelyLane(heard.lane, heard)
        lane.total += chance
        if chance > lane.highest:
            lane.second = lane.highest
            lane.highest = chance
            lane.best = heard
        elif chance > lane.second:
            lane.second = chance
    return sorted(found.values(), key=lambda lane: -lane.total)[:MAX_LANES]


def lane_rows(room: LinkerRoom, new: MessageFeatures, lanes: list[LikelyLane]) -> list[Row]:
    everything = sum(lane.total for lane in lanes)
    totals = [*sorted((lane.total for lane in lanes), reverse=True), 0.0, 0.0]
    highest = [*sorted((lane.highest for lane in lanes), reverse=True), 0.0, 0.0]
    overlaps = [_overlap(new, room.lanes[lane.lane]) for lane in lanes]
    most = [*sorted((overlap[0] for overlap in overlaps), reverse=True), 0.0, 0.0]
    own_lane = new.own.lane if new.own else None
    last_lane = room.heard[-1].lane if room.heard else None
    theirs = {room.authors[person][-1].lane for person in new.mentions if person in room.authors}
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
                float(lane.lane == own_lane),
                float(lane.lane in theirs),
                float(new.now - lane.best.number),
                float(lane.best.author == new.author),
                *map(float, _standing(new, room.lanes[lane.lane])),
                float(len(lanes)),
                *new.message,
                *map(float, _talk_with_agent(room, new, lane)),
                *new.with_agent,
                (new.minute - room.lanes[lane.lane].heard[-1].minute) / new.pace,
                float(lane.lane == last_lane),
                *new.kind,
                *new.words,
            )
        )
    return rows


def new_row(
    room: LinkerRoom, new: MessageFeatures, lanes: list[LikelyLane], scores: list[float]
) -> Row:
    """Return the features of starting a new lane, computed from the scores of the lanes."""
    best = [*sorted(scores, reverse=True), 0.0, 0.0]
    totals = [*sorted((lane.total for lane in lanes), reverse=True), 0.0, 0.0]
    return (
        best[0],
        best[1],
        sum(scores, 0.0),
        totals[0],
        totals[1],
        sum(totals),
        max((lane.highest for lane in lanes), default=0.0),
        max((chance for chance, _ in new.shared.values()), default=0.0),
        float(len(lanes)),
        float(bool(new.named)),
        *new.message,
        *map(float, _best_lane(room, new, lanes, scores)),
        *new.with_agent,
        *new.kind,
        *new.words,
        *map(float, _before(room, new, lanes, scores)),
    )


def _before(
    room: LinkerRoom, new: MessageFeatures, lanes: list[LikelyLane], scores: list[float]
) -> tuple[float, ...]:
    """Return the features of what the author said before, and of what was said last."""
    chances = {lane.lane: score for lane, score in zip(lanes, scores, strict=True)}
    own, last = new.own, room.heard[-1] if room.heard else None
    written = room.authors.get(new.author, ())
    return (
        chances.get(own.lane, UNSEEN) if own else UNSEEN,
        chances.get(last.lane, UNSEEN) if last else UNSEEN,
        own is not None and own.asks,
        own is not None and own.parent is None,
        room.answers.get(own.key, 0) if own else UNSEEN,
        sum(heard.parent is None for heard in written) / (len(written) + 1),
        last is not None and last.author == new.author,
        last is not None and last.asks,
        sum(score > LIKELY for score in scores),
    )


def _talk_with_agent(room: LinkerRoom, new: MessageFeatures, likely: LikelyLane) -> Row:
    """Return what the agent has to do with a lane, and with the new message's author there."""
    lane = room.lanes[likely.lane]
    ours = calls = own_calls = 0
    last = None
    for heard in lane.heard:
        calls += heard.calls
        own_calls += heard.calls and heard.author == new.author
        if heard.agent:
            ours += 1
            last = heard
    newest = lane.heard[-1]
    asker = room.asker(last) if last else None
    return (
        ours / len(lane.heard),
        calls,
        own_calls,
        asker == new.author,
        asker is not None and asker != new.author,
        newest.agent and asker == new.author,
        newest.agent and asker is not None and asker != new.author,
        new.answer is not None and new.answer.lane == likely.lane,
        likely.best.agent,
        likely.best.calls,
    )


def _best_lane(
    room: LinkerRoom, new: MessageFeatures, lanes: list[LikelyLane], scores: list[float]
) -> Row:
    """Return the features of the lane that fits best, if the new message begins no other."""
    if not lanes:
        return (0.0,) * 16
    likely = lanes[scores.index(max(scores))]
    lane = room.lanes[likely.lane]
    newest = lane.heard[-1]
    return (
        *_talk_with_agent(room, new, likely),
        *_overlap(new, lane),
        lane.authors.get(new.author, 0),
        new.now - newest.number,
        new.minute - newest.minute,
    )


def _overlap(new: MessageFeatures, lane: Lane) -> tuple[float, float, float]:
    best = total = 0.0
    for heard in lane.heard:
        found = new.shared.get(heard.number)
        if found:
            total += found[0]
            best = max(best, found[0])
    return best, total, best / (new.total + 1)


def _standing(new: MessageFeatures, lane: Lane) -> Row:
    author, mentions = new.author, new.mentions
    mine = theirs = LONG_AGO
    addressing = addressed = share = asks = 0
    near = new.now - RECENT_MESSAGES
    for heard in lane.heard:
        if heard.author == author:
            mine = new.now - heard.number
            addressed += not mentions.isdisjoint(heard.mentions)
        else:
            addressing += author in heard.mentions
            if heard.author in mentions:
                theirs = new.now - heard.number
        share += heard.number >= near
        asks += heard.asks
    newest, oldest = lane.heard[-1], lane.heard[0]
    authors = lane.authors
    return (
        len(lane.heard),
        len(authors),
        new.now - newest.number,
        new.minute - newest.minute,
        newest.number - oldest.number,
        mine,
        theirs,
        authors.get(author, 0),
        authors.get(author, 0) / len(lane.heard),
        sum(authors.get(person, 0) for person in mentions),
        sum(authors.get(person, 0) for person in new.named),
        sum(person in new.exchanges for person in authors),
        addressing,
        addressed,
        newest.author == author,
        newest.author in mentions,
        newest.asks,
        bool(newest.mentions),
        newest.opens,
        asks,
        share,
        newest.agent,
    )
