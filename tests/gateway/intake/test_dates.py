"""Dates that the channel of a plugin sets wrongly: no message is lost by them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from channels.message import Excerpt, InboundMessage
from gateway.intake.dates import readable
from gateway.storage.ledger.rows import InboxRow
from tests.kit.chats import GroupChat
from tests.kit.plain_channels import MESSAGE, LookingUp

BROKEN: list[Any] = [
    "yesterday",
    "2026-13-01T00:00:00+00:00",
    "1767225600",
    "9999-12-31T23-99",
    7,
    None,
]
ASIDE = replace(MESSAGE, addressed=False, why="said to the group", text="when do we meet?")


def misdated(date: Any, **more: Any) -> InboundMessage:
    """Return a message with a date that its type does not allow."""
    return replace(MESSAGE, date=date, **more)


async def rows(group: GroupChat) -> list[InboxRow]:
    found = await group.gateway.services.store.select(
        "ledger.list_inbox", {"status": "", "limit": 9}
    )
    numbers = sorted(row["id"] for row in found)
    return [
        InboxRow.read(row)
        for number in numbers
        for row in await group.gateway.services.store.select("ledger.inbox_row", {"id": number})
    ]


def notes(group: GroupChat) -> list[str]:
    return group.gateway.status.states["plain"].notes


@pytest.mark.parametrize("date", [*BROKEN, ""])
async def test_a_message_with_a_date_that_cannot_be_read_is_dated_as_it_came(
    group: GroupChat, date: Any
) -> None:
    before = datetime.now(UTC) - timedelta(seconds=1)
    await group.hear(misdated(date))
    assert len(group.posts) == 1
    (row,) = await rows(group)
    assert row.status == "done"
    assert before < datetime.fromisoformat(row.message.date) < datetime.now(UTC)


@pytest.mark.parametrize("edited", BROKEN)
async def test_an_edit_at_a_time_that_cannot_be_read_is_recorded_and_asks_nothing(
    group: GroupChat, edited: Any
) -> None:
    edit = replace(MESSAGE, kind="edit", ext_id="-100/1/e", text="@bot when?", edited=edited)
    entries = await group.hear_each(ASIDE, edit)
    (told,) = [one.payload["data"] for one in entries if one.name == "message.edit"]
    assert told["text"] == "@bot when?"
    assert group.posts == []
    assert [row.status for row in await rows(group)] == []


@pytest.mark.parametrize("date", BROKEN)
async def test_an_excerpt_of_a_date_that_cannot_be_read_has_none(
    group: GroupChat, date: Any
) -> None:
    await group.hear(replace(MESSAGE, excerpts=(Excerpt("mail", "at four", "Zed", date=date),)))
    assert "[mail of Zed]" in str(group.model.requests[0].body)
    assert len(group.posts) == 1


async def test_each_field_that_cannot_be_read_is_named_once(group: GroupChat) -> None:
    mail = Excerpt("mail", "at four", date="soon")
    for number in range(3):
        key = {"ext_id": f"-100/{number}", "message_id": f"{number}"}
        await group.hear(misdated("today", excerpts=(mail, mail), **key))
    told = notes(group)
    assert ["`date`" in told[0], "'today'" in told[0], "`excerpts.date`" in told[1]] == [True] * 3
    assert len(told) == 2


async def test_what_a_channel_looked_up_may_be_misdated_too() -> None:
    looked_up = await LookingUp().complete(MESSAGE)
    mail = replace(looked_up.excerpts[0], date="soon")
    fit, broken = readable(replace(looked_up, excerpts=(mail,)), datetime.now(UTC))
    assert (fit, broken) == (looked_up, {"excerpts.date": "soon"})


@pytest.mark.parametrize(
    ("date", "utc"),
    [
        ("2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00+00:00"),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:00"),
    ],
)
def test_dates_of_other_zones_are_read_in_utc(date: str, utc: str) -> None:
    fit, broken = readable(replace(MESSAGE, date=date), datetime.now(UTC))
    assert (datetime.fromisoformat(fit.date), broken) == (datetime.fromisoformat(utc), {})
