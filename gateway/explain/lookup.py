"""Look up a message by its id, a link, a ledger row, a tape entry or a turn."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from channels.registry import read_link
from gateway.explain.report import MAX_MATCHES, Option, StoreReads, payload_of, quoted
from tape.entry import Entry
from tape.query import Query
from tape.unit_of_work import Row

_ROW: Final = re.compile(r"(in|out)-(\d{1,18})")
_TURN: Final = re.compile(r"t-[0-9a-f]{20}")
_ENTRY: Final = re.compile(r"(.+)#(\d{1,10})")
_NEAR: Final = 100


@dataclass(frozen=True, slots=True)
class Match:
    """The result of a lookup: a row or an entry, why there is none, or several candidates."""

    inbox: Row | None = None
    outbox: Row | None = None
    turn: str = ""
    tape: str = ""
    entry: Entry | None = None
    missing: str = ""
    options: Sequence[Option] = field(default=())


async def find(reads: StoreReads, asked: str) -> Match:
    """Look up a message; `_HOW` lists the accepted forms."""
    text = asked.strip().strip("<>")
    if not text or len(text) > 1000:
        return Match(missing=_HOW)
    if matched := _ROW.fullmatch(text):
        return await _row(reads, matched[1], int(matched[2]))
    if _TURN.fullmatch(text):
        return await _of_turn(reads, text)
    linked = read_link(text)
    if linked is not None:
        channel, link = linked
        return await _message(reads, link.message_id, link.chat_id, channel)
    if "://" in text:
        return Match(missing=f"{text} is not a link to a message of a known platform. {_HOW}")
    if matched := _ENTRY.fullmatch(text):
        return await _entry(reads, matched[1], int(matched[2]))
    found = await _message(reads, text)
    chat, slash, number = text.rpartition("/")
    if found.missing and slash and number:
        channel, _colon, rest = chat.partition(":")
        known = bool(rest) and channel.isalpha()
        return await _message(reads, number, rest if known else chat, channel if known else "")
    return found


_HOW: Final = (
    "Use a message's id as the platform shows it, CHAT/MESSAGE, a link to the message, a row of"
    " `tapeway ledger list` (in-12, out-34), an entry of a tape (TAPE#7) or a turn (t-...)."
)


async def _row(reads: StoreReads, box: str, number: int) -> Match:
    rows = await reads.select(f"ledger.{'inbox' if box == 'in' else 'outbox'}_row", {"id": number})
    if not rows:
        missing = f"There is no row {box}-{number}: `tapeway ledger list` shows the newest rows."
        return Match(missing=missing)
    return Match(inbox=rows[0]) if box == "in" else Match(outbox=rows[0])


async def _of_turn(reads: StoreReads, turn: str) -> Match:
    rows = await reads.select("ledger.told_turn", {"turn_id": turn, "limit": MAX_MATCHES})
    if rows:
        return Match(inbox=rows[-1])
    sends = await reads.select("ledger.told_sends", {"key": turn, "limit": 1})
    if sends:
        return Match(outbox=sends[0])
    return Match(
        missing=f"No message belongs to the turn {turn}. A question that was asked again belongs to"
        " its later turn: look it up by its own id."
    )


async def _entry(reads: StoreReads, name: str, number: int) -> Match:
    rows = await reads.select("ledger.told_session", {"session_id": name})
    tape = str(rows[0]["tape"]) if rows else name
    entries = await reads.query(Query(tape, ids=(number,)))
    if not entries:
        return Match(
            missing=f"The tape {name} has no entry {number}. Name a tape by its session or its file"
            " (telegram:-100123#7)."
        )
    entry = entries[0]
    data = entry.payload.get("data")
    refused = data.get("inbox") if isinstance(data, Mapping) else None
    inbox = entry.meta.get("inbox", refused)
    if isinstance(inbox, int):
        found = await _row(reads, "in", inbox)
        if found.inbox is not None:
            return found
    turn = entry.meta.get("turn")
    if isinstance(turn, str):
        found = await _of_turn(reads, turn)
        if not found.missing:
            return found
    return Match(tape=tape, entry=entry)


async def _message(reads: StoreReads, number: str, chat: str = "", channel: str = "") -> Match:
    values = {"message_id": number, "chat_id": chat, "channel": channel, "limit": MAX_MATCHES}
    inbox = await reads.select("ledger.told_inbox", values)
    outbox = await reads.select("ledger.told_outbox", values)
    heads: dict[tuple[str, str], Row] = {}
    for row in inbox:
        # Edits share the message's id; the first row is the message itself.
        heads.setdefault((row["account_id"], row["chat_id"]), row)
    if not heads and not outbox:
        return Match(missing=await _never_heard(reads, number, chat, channel))
    if len(heads) + len(outbox) > 1:
        options = [*map(_inbox_option, heads.values()), *map(_outbox_option, outbox)]
        return Match(options=options)
    return Match(inbox=next(iter(heads.values()), None), outbox=next(iter(outbox), None))


def _inbox_option(row: Row) -> Option:
    where = f"{row['account_id']} {row['chat_id']}, heard {row['received_at'][:19]} UTC"
    if row["status"] == "refused" or row["entry_id"] is None:
        what = "refused" if row["status"] == "refused" else "on no tape"
        return Option(f"in-{row['id']}", f"{where}: {what}")
    return Option(f"in-{row['id']}", f"{where}: {quoted(str(payload_of(row).get('text', '')), 60)}")


def _outbox_option(row: Row) -> Option:
    text = quoted(str(payload_of(row).get("text", "")), 60)
    return Option(f"out-{row['id']}", f"{row['account_id']} {row['chat_id']}, sent there: {text}")


async def _never_heard(reads: StoreReads, number: str, chat: str, channel: str) -> str:
    where = f" in the chat {chat}" if chat else ""
    says = (
        f"No message {number}{where} was ever received. It may be older than the tape, the bot may"
        " not have been in the chat, the platform may deliver only addressed messages, or the id"
        " may be wrong."
    )
    near = await _near(reads, number, chat, channel)
    if near:
        says += f" The nearest message that was received there is {near}."
    return f"{says} {_HOW}"


async def _near(reads: StoreReads, number: str, chat: str, channel: str) -> str:
    if not _is_number(number) or not (chat or channel):
        return ""
    rows = await reads.select("ledger.told_near", {"message_id": number, "limit": _NEAR})
    rows = [row for row in rows if _is_number(row["message_id"])]
    rows = [row for row in rows if not chat or row["chat_id"] == chat]
    wanted = [row for row in rows if not channel or row["account_id"].split(":")[0] == channel]
    if not wanted:
        return ""
    nearest = min(wanted, key=lambda row: abs(float(row["message_id"]) - float(number)))
    return f"{nearest['message_id']} (in-{nearest['id']})"


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,20}(\.\d{1,6})?", text))
