"""Describes attachments without a file, each in one line: polls, checklists, places, payments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html.parser import HTMLParser
from typing import Any, Final

from channels.telegram.entities import with_addresses
from channels.telegram.fields import Raw, called, part, parts, string, whole

MAX_DETAIL: Final = 4_000  # maximum number of characters of a description

_VCARD_FRAME: Final = ("BEGIN", "END", "VERSION", "PRODID", "REV", "UID", "N", "FN", "PHOTO")


def detail_of(name: str, raw: Any) -> str:
    """Return the words of an attachment in the message's field `name`."""
    describe = DETAILS[name]
    return describe(raw)[:MAX_DETAIL] if isinstance(raw, Mapping) else ""


def place(raw: Raw) -> str:
    """Return the coordinates of a place, and how a live location moves."""
    if raw.get("latitude") is None:
        return ""
    heading, radius = whole(raw, "heading"), whole(raw, "proximity_alert_radius")
    return _listed(
        f"{raw.get('latitude')}, {raw.get('longitude')}",
        f"heading {heading} degrees" if heading else "",
        f"alert within {radius} m" if radius else "",
        between="; ",
    )


def poll_attachments(raw: Raw) -> Iterable[Raw]:
    """Yield the objects in a poll that hold attachments of its question, options and answer."""
    yield from (part(raw, "media"), part(raw, "explanation_media"))
    for option in parts(raw, "options"):
        yield part(option, "media")


def _listed(*said: str, between: str = ", ") -> str:
    return between.join(one for one in said if one)


def _marked(raw: Raw, name: str) -> str:
    """Return a text with the addresses behind its labels."""
    return with_addresses(string(raw, name), raw.get(f"{name}_entities")).text


def _contact(raw: Raw) -> str:
    name = " ".join(string(raw, key) for key in ("first_name", "last_name") if string(raw, key))
    lines = (line.strip() for line in string(raw, "vcard").splitlines())
    card = [line for line in lines if line and not _is_frame(line, string(raw, "phone_number"))]
    return _listed(f"{name} {string(raw, 'phone_number')}".strip(), *card)


def _is_frame(line: str, phone: str) -> bool:
    key, _, value = line.partition(":")
    plain = key.split(";")[0].upper()
    return plain in _VCARD_FRAME or (plain == "TEL" and bool(phone) and phone in value)


def _poll(raw: Raw) -> str:
    options = parts(raw, "options")
    right = raw.get("correct_option_ids")
    numbers = right if isinstance(right, list) else [raw.get("correct_option_id")]
    correct = [_marked(option, "text") for at, option in enumerate(options) if at in numbers]
    explanation = _listed(_marked(raw, "explanation"), _link(raw, "explanation_media"))
    return _listed(
        f"{_marked(raw, 'question')} ({', '.join(map(_option, options))})",
        _marked(raw, "description"),
        "a quiz" if raw.get("type") == "quiz" else "",
        "several answers" if raw.get("allows_multiple_answers") else "",
        "closed" if raw.get("is_closed") else "",
        f"correct: {', '.join(correct)}" if correct else "",
        f"explanation: {explanation}" if explanation else "",
        _link(raw, "media"),
        between="; ",
    )


def _link(raw: Raw, name: str) -> str:
    return string(part(part(raw, name), "link"), "url")


def _option(raw: Raw) -> str:
    votes, by = whole(raw, "voter_count"), part(raw, "added_by_user") or part(raw, "added_by_chat")
    said = _marked(raw, "text") + (f": {votes}" if votes else "")
    return _listed(said, _link(raw, "media"), f"added by {called(by)}" if by else "", between=" - ")


def _checklist(raw: Raw) -> str:
    return f"{_marked(raw, 'title')}: {'; '.join(map(_task, parts(raw, 'tasks')))}"


def _task(raw: Raw) -> str:
    by = part(raw, "completed_by_user") or part(raw, "completed_by_chat")
    done = bool(by) or whole(raw, "completion_date") > 0
    return (
        f"{_marked(raw, 'text')} ({f'done by {called(by)}' if by else 'done'})"
        if done
        else (f"{_marked(raw, 'text')} (open)")
    )


def _venue(raw: Raw) -> str:
    return _listed(string(raw, "title"), string(raw, "address"), place(part(raw, "location")))


def _invoice(raw: Raw) -> str:
    amount, currency = whole(raw, "total_amount"), string(raw, "currency")
    stars = currency == "XTR"
    price = _count(amount, "star") if stars else f"{amount} of the smallest unit of {currency}"
    return _listed(
        string(raw, "title"), string(raw, "description"), price if currency else "", between="; "
    )


def _game(raw: Raw) -> str:
    return _listed(
        string(raw, "title"), string(raw, "description"), _marked(raw, "text"), between="; "
    )


def _dice(raw: Raw) -> str:
    return f"{string(raw, 'emoji')} {raw.get('value', '')}".strip()


def _story(raw: Raw) -> str:
    return f"of {called(part(raw, 'chat'))}" if part(raw, "chat") else ""


def _stars(raw: Raw) -> str:
    return _count(whole(raw, "star_count"), "star")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}" if number else ""


def _giveaway(raw: Raw) -> str:
    stars, months = whole(raw, "prize_star_count"), whole(raw, "premium_subscription_month_count")
    winners = ", ".join(map(called, parts(raw, "winners")))
    count = whole(raw, "winner_count")
    return _listed(
        _count(count, "winner"),
        string(raw, "prize_description"),
        _count(stars, "star"),
        f"{_count(months, 'month')} of Premium" if months else "",
        f"in {', '.join(map(called, parts(raw, 'chats')))}" if parts(raw, "chats") else "",
        f"won by {winners}" if winners else "",
        between="; ",
    )


class _Visible(HTMLParser):
    """Collects the text of a page, without scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.words += data.split()


def _widget(raw: Raw) -> str:
    page = _Visible()
    page.feed(string(raw, "html"))
    page.close()
    return " ".join(page.words)


DETAILS: Final[Mapping[str, Callable[[Raw], str]]] = {
    "sticker": lambda raw: string(raw, "emoji"),
    "venue": _venue,  # before the location that it repeats
    "location": place,
    "contact": _contact,
    "poll": _poll,
    "checklist": _checklist,
    "dice": _dice,
    "game": _game,
    "story": _story,
    "invoice": _invoice,
    "paid_media": _stars,
    "giveaway": _giveaway,
    "giveaway_winners": _giveaway,
    "widget": _widget,
}
"""Fields of a message that are attachments without a file of their own."""
