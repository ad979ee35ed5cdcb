"""Erase messages, people and chats for the operator."""

from __future__ import annotations

from typing import Any

from gateway.erasing.eraser import Eraser
from gateway.errors import AdminError
from gateway.services import Services
from tape.entry import EVENT, MESSAGE, load
from tape.erasing import erased_on
from tape.errors import AppendRefused

MAX_LISTED = 200


class EraseAdmin:
    """Starts erasures, and lists what they left to decide; raises AdminError."""

    def __init__(self, services: Services, eraser: Eraser) -> None:
        self._services = services
        self._eraser = eraser

    async def begin(self, what: str, tape: str, name: str) -> dict[str, Any]:
        """Start erasing a `message` (its id, or `#` and its entry), a `person` or a `chat`."""
        given: dict[str, Any] = {"what": what, "tape": tape, "asked_by": "operator"}
        if what == "message":
            given["entries"] = await self._entries(tape, name)
        elif what == "person":
            given |= await self._person(tape, name)
        elif what != "chat":
            raise AdminError("erase a message, a person or a chat")
        try:
            return {"erasure": await self._eraser.begin(**given)}
        except AppendRefused as refused:
            raise AdminError(str(refused)) from refused

    async def state(self, name: str) -> dict[str, Any]:
        """Return the state of an erasure."""
        rows = await self._services.ledger.erasures.read()
        found = next((row for row in rows if row["erasure_id"] == name), None)
        if found is None:
            raise AdminError("there is no erasure of that id")
        problem = self._eraser.problems.get(name, "") if found["state"] != "done" else ""
        if found["state"] == "refused":
            problem = str(load(found["data"])["why"])
        return {"state": found["state"], "entries": found["entries"], "problem": problem}

    async def mentions(self) -> list[dict[str, Any]]:
        """Return the anchors and answers that may still mention something that was erased."""
        listed: list[dict[str, Any]] = []
        for row in await self._services.ledger.erasures.read():
            by_tape: dict[str, list[int]] = {}
            for tape, number in load(row["found"]):
                by_tape.setdefault(tape, []).append(number)
            for tape, numbers in by_tape.items():
                found = await self._services.tapes.tape(tape).entries(numbers)
                listed += [
                    {
                        "tape": tape,
                        "entry": f"#{number}",
                        "kind": entry.kind,
                        "text": " ".join(entry.text.split())[:200],
                    }
                    for number, entry in found.items()
                    if not erased_on(entry)
                ]
        return listed[:MAX_LISTED]

    async def _entries(self, tape: str, name: str) -> tuple[int, ...]:
        handle = self._services.tapes.tape(tape)
        if name.startswith("#") and name[1:].isdigit():
            found = await handle.entries([int(name[1:])])
            if found:
                return tuple(found)
        else:
            own = await self._sessions(tape)
            values = {"message_id": name, "chat_id": "", "channel": "", "limit": 100}
            rows = await self._services.store.select("ledger.told_inbox", values)
            entries = {row["entry_id"] for row in rows if row["session_id"] in own}
            if entries - {None}:
                return tuple(sorted(entries - {None}))
        raise AdminError(
            f"this tape has no message {name}: give its id, or # and its entry's number"
        )

    async def _person(self, tape: str, name: str) -> dict[str, Any]:
        channel, _, person = name.partition(":")
        if not person and tape:
            newest = await self._services.tapes.tape(tape).find(
                author=name, kinds=(MESSAGE, EVENT), limit=1, newest=True
            )
            channel, person = str(newest[0].meta.get("channel", "")) if newest else "", name
        if not (channel and person):
            raise AdminError("name a person as channel:id, for example telegram:42")
        sessions = set(await self._sessions(tape)) if tape else set()
        if sessions - (await self._services.ledger.erasures.sessions_of(channel)).keys():
            raise AdminError("this person is of another platform than the chat")
        return {"channel": channel, "person": person}

    async def _sessions(self, tape: str) -> list[str]:
        """Return the sessions of a tape, of which there is one at most."""
        rows = await self._services.store.select("ledger.sessions", {})
        return [str(row["session_id"]) for row in rows if row["tape"] == tape]
