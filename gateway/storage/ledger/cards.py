"""Cards: messages with buttons that ask one question, and can be answered once."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from channels.message import Button
from tape.entry import dump, load, parse_date, utc_iso
from tape.store import UnitStore
from tape.unit_of_work import Row, Unit


def new_card_id() -> str:
    """Return an id that nobody can guess, since a person without buttons types it."""
    return secrets.token_hex(5)


@dataclass(frozen=True, slots=True)
class Card:
    """A question with buttons.

    purpose     says what handles the answer
    channel     the channel of the people who may answer
    person      the platform's id of the only person who may answer; if empty, the handler decides
    session_id  the session that the question is about
    data        what the handler needs
    choice      the answer, or None
    """

    card_id: str
    purpose: str
    channel: str
    person: str
    session_id: str
    data: Mapping[str, Any]
    expires_at: datetime
    choice: str | None = None
    chosen_by: str | None = None

    def button(self, label: str, choice: str) -> Button:
        """Return the button that answers with a choice."""
        return Button(label, f"{self.card_id}:{choice}")


def read_token(token: str) -> tuple[str, str]:
    """Split a button's token into the id of its card and the choice."""
    card_id, _, choice = token.partition(":")
    return card_id, choice


class CardTable:
    """The cards of all sessions; a card's answer and its effects are one transaction."""

    def __init__(self, store: UnitStore) -> None:
        self._store = store

    def issue(self, unit: Unit, card: Card) -> None:
        """Record a card; it must be committed with the message that shows it."""
        unit.run(
            "ledger.issue_card",
            card_id=card.card_id,
            purpose=card.purpose,
            channel=card.channel,
            person=card.person,
            session_id=card.session_id,
            data=dump(dict(card.data)),
            expires_at=utc_iso(card.expires_at),
        )

    def answer(self, unit: Unit, card: Card, choice: str, person: str) -> None:
        """Answer a card; after any other answer, the whole unit changes nothing."""
        values = {"card_id": card.card_id, "choice": choice, "chosen_by": person}
        unit.run("ledger.answer_card", expect=1, **values)

    async def read(self, card_id: str) -> Card | None:
        rows = await self._store.select("ledger.card", {"card_id": card_id})
        return _card(rows[0]) if rows else None

    async def open(self, purpose: str, now: datetime, session_id: str = "") -> list[Card]:
        """Return the cards of a purpose that wait for an answer; of all sessions if empty."""
        values = {"purpose": purpose, "now": utc_iso(now), "session_id": session_id}
        return [_card(row) for row in await self._store.select("ledger.open_cards", values)]


def _card(row: Row) -> Card:
    names = ("card_id", "purpose", "channel", "person", "session_id", "choice", "chosen_by")
    return Card(
        **{name: row[name] for name in names},
        data=load(row["data"]),
        expires_at=parse_date(row["expires_at"]),
    )
