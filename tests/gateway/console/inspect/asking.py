"""Turns and messages to look into."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from channels.message import InboundMessage
from tape.entry import utc_iso
from tests.fakes.openai.script import Call, Text, ToolCalls
from tests.gateway.console.inspect.people import GROUP, House, said
from tests.kit.gateways import tape_of


async def turns_of(home: House) -> list[str]:
    entries = await tape_of(home.gateway, GROUP).find(name="turn.start")
    return [str(entry.meta["turn"]) for entry in entries]


async def asked(home: House) -> str:
    """Ask a question that is answered with a search; return the path of its turn."""
    search = Call("call-1", "tape_search", '{"query": "spare key"}')
    home.server.enqueue(ToolCalls((search,)), Text(("Anna ", "has it.")))
    before = utc_iso(datetime.now(UTC) - timedelta(hours=3))
    await home.hear(
        said(1, "the spare key is with Anna", "8", addressed=False, date=before),
        said(2, "who has the spare key?"),
    )
    (turn,) = await turns_of(home)
    return f"chats/{home.chat}/turns/{turn}"


def gone(message: InboundMessage) -> InboundMessage:
    return replace(message, kind="delete", ext_id=f"{message.ext_id}/deleted")


EVERY = {"every": 1, "sessions": "[]", "limit": 9}


PRIVATE = {"chat_id": "7", "chat_kind": "private", "chat_title": ""}
