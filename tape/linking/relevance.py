"""One message and every earlier one: numbers for who belongs to its conversation, in hindsight."""

from __future__ import annotations

from typing import Final, Protocol

from tape.linking.asked import LONG_AGO, Asked
from tape.linking.lanes import Likely
from tape.linking.room import Heard, Room

Row = tuple[float, ...]
UNSEEN: Final = -1.0


class Judged(Protocol):
    """What the first two stages say of a message."""

    against: list[Heard]
    chances: list[float]
    lanes: list[Likely]
    scores: list[float]
    new: float


def relevance_rows(room: Room, asked: Asked, judged: Judged, lane: str) -> list[Row]:
    """Return the numbers of a message against each one of its room, newest first.

    The room is as it was before the message came; `lane` is what was recorded for the message.
    """
    author, mentions = asked.author, asked.mentions
    by_lane = {likely.lane: at for at, likely in enumerate(judged.lanes)}
    order = sorted(judged.scores, reverse=True)
    best_score = order[0] if order else 0.0
    best = judged.lanes[judged.scores.index(best_score)] if order else None
    best_people = room.lanes[best.lane].authors if best else {}
    hops = _hops(room, best.best if best else None)
    numbers = [heard.number for heard in judged.against]
    chances = dict(zip(numbers, judged.chances, strict=True))
    strongest = max(judged.chances, default=0.0)
    total = sum(judged.scores)
    about: dict[str, Row] = {}
    since: dict[str, int] = {}
    rows: list[Row] = []
    for heard in reversed(room.heard):
        them = heard.author
        of_lane = about.get(heard.lane)
        if of_lane is None:
            known = room.lanes[heard.lane]
            at = by_lane.get(heard.lane)
            score = judged.scores[at] if at is not None else UNSEEN
            of_lane = about[heard.lane] = (
                heard.lane == lane,
                heard.lane == lane and asked.replied,
                score,
                best_score - score,
                score / (total + 0.01),
                LONG_AGO if at is None else sum(other > score for other in judged.scores),
                judged.lanes[at].total if at is not None else UNSEEN,
                judged.lanes[at].highest if at is not None else UNSEEN,
                len(known.heard),
                len(known.authors),
                known.authors.get(author, 0),
                sum(known.authors.get(person, 0) for person in mentions),
                sum(person in best_people for person in known.authors),
                asked.now - known.heard[-1].number,
            )
        common = asked.shared.get(heard.number, (0.0, 0.0))[0]
        rows.append(
            (
                *of_lane,
                asked.now - heard.number,
                asked.minute - heard.minute,
                chances.get(heard.number, UNSEEN),
                since.get(heard.lane, 0),
                hops.get(heard.key, LONG_AGO),
                them == author,
                them in mentions,
                author in heard.mentions,
                not mentions.isdisjoint(heard.mentions),
                common,
                best_people.get(them, 0),
                sum(person in best_people for person in heard.mentions),
                len(heard.mentions),
                asked.exchanges.get(them, 0),
                room.lanes[heard.lane].authors[them],
                room.answers.get(heard.key, 0),
                heard.parent is None,
                heard.length,
                heard.asks,
                heard.replied,
                best_score,
                total,
                judged.new,
                strongest,
                len(judged.lanes),
                asked.message[0],
                asked.message[1],
                asked.message[4],
                asked.message[7],
                asked.message[12],
            )
        )
        since[heard.lane] = since.get(heard.lane, 0) + 1
    return rows


def _hops(room: Room, heard: Heard | None) -> dict[str, int]:
    """Count the steps from a message back to each that it goes on from."""
    hops: dict[str, int] = {}
    while heard is not None and heard.key not in hops:
        hops[heard.key] = len(hops)
        heard = room.by_key.get(heard.parent) if heard.parent else None
    return hops
