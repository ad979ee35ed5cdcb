"""Check that each platform's token is of the bot whose messages the home has; see `known_bots`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path

import apsw
from anyio import to_thread

from channels.checkup import Checkup
from gateway.doctor import troubles
from gateway.doctor.results import ill
from gateway.doctor.subject import Subject
from gateway.storage.ledger.ledger import ledger_schema
from tape.database.connection import Database
from tape.errors import TapeError
from tape.stores.registry import is_tapes_only
from tape.stores.sqlite import tape_schema


async def with_known_bots(subject: Subject, asked: Sequence[Checkup]) -> list[Checkup]:
    """Return what platforms say, with a failure for each bot that is another than before."""
    known = await _known_bots(subject, [one.channel for one in asked if one.bot_id])
    return [_compared(one, known.get(one.channel, "")) for one in asked]


def _compared(checkup: Checkup, known: str) -> Checkup:
    if not (checkup.bot_id and known) or known == checkup.bot_id:
        return checkup
    says = f"this home has the messages of the bot {known}, and the token is of {checkup.bot_id}"
    found = ill(f"{checkup.channel}.bot", troubles.OTHER_BOT, says, "warning")
    return replace(checkup, results=(*checkup.results, found))


async def _known_bots(subject: Subject, names: Sequence[str]) -> Mapping[str, str]:
    """Map channels to the ids of their bots, as far as the database can be read."""
    url, path = subject.settings.tape_url, subject.database
    if not names:
        return {}
    if url.startswith("postgresql:"):
        read = partial(import_module("gateway.doctor.overview").known_bots, url, names)
    elif path is None:
        return {}
    else:
        ledger = subject.home / "ledger.db" if is_tapes_only(url) else path
        read = partial(_read_known_bots, ledger, names)
    with suppress(TapeError, OSError, apsw.Error):  # the check of the database says why
        found: dict[str, str] = await to_thread.run_sync(read, abandon_on_cancel=True)
        return found
    return {}


def _read_known_bots(path: Path, names: Sequence[str]) -> dict[str, str]:
    if not path.is_file():
        return {}
    reader = Database.open_read_only(path, (tape_schema(), ledger_schema()))
    try:
        rows = {name: reader.select("ledger.known_bot", {"account_id": name}) for name in names}
    finally:
        reader.close()
    return {name: str(found[0]["bot_id"]) for name, found in rows.items() if found}
