"""Read the dates of a message, which the channel of a plugin may have set wrongly."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from channels.message import Excerpt, InboundMessage
from tape.entry import parse_date, utc_iso


def readable(message: InboundMessage, now: datetime) -> tuple[InboundMessage, dict[str, object]]:
    """Return a message whose dates can be read, and those that could not be, by their fields.

    Without a date of its own, a message is dated now; every other date may be lacking.
    """
    broken: dict[str, object] = {}

    def read(field: str, date: object, instead: str = "") -> str:
        if date == "" and field != "date":
            return ""
        fit = _in_utc(date)
        if fit is None:
            broken.setdefault(field, date)
        return instead if fit is None else fit

    def of_excerpt(one: Excerpt) -> Excerpt:
        date = read("excerpts.date", one.date)
        return one if date == one.date else replace(one, date=date)

    date, edited = message.date, message.edited
    fit = read("date", date, utc_iso(now)), read("edited", edited)
    excerpts = tuple(map(of_excerpt, message.excerpts))
    if fit == (date, edited) and excerpts == message.excerpts:
        return message, broken
    return replace(message, date=fit[0], edited=fit[1], excerpts=excerpts), broken


def _in_utc(date: object) -> str | None:
    """Return an ISO 8601 date as it is, but in UTC; None if it cannot be read."""
    if not isinstance(date, str):
        return None
    try:
        moment = parse_date(date)
        return utc_iso(moment) if moment.utcoffset() else date
    except (ValueError, OverflowError):
        return None
