"""A group in which several people talk, and every byte that its gateway keeps."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path

from anyio.lowlevel import checkpoint

from channels.message import Author, InboundMessage, Quote
from gateway.app import Gateway
from tape.entry import Entry
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import settled
from tests.kit.plain_channels import MESSAGE, PlainChannel

CHAT = "plain:-100"
ANN = Author("70017100270", "Annabel Quux")
BOB = Author("80028200380", "Bobby Tables")
SECRET = "the zyzzogeton sleeps in Überlingen"
MARKS = ("zyzzogeton", "Überlingen", "\\u00dcberlingen", "uberlingen")


def said(
    number: int,
    text: str,
    author: Author = ANN,
    to: int = 0,
    quote: str = "",
    addressed: bool = True,
) -> InboundMessage:
    """Make a message of a person in the group, perhaps a reply."""
    return replace(
        MESSAGE,
        ext_id=f"-100/{number}",
        message_id=str(number),
        sender=author,
        text=text,
        addressed=addressed,
        reply_to=str(to) if to else None,
        quote=Quote(ANN.name, ANN.id, quote) if quote else None,
    )


async def hear(gateway: Gateway, channel: PlainChannel, *messages: InboundMessage) -> list[Entry]:
    """Send messages one by one, and wait for the answer to each."""
    for message in messages:
        await channel.host.accept([message])
        await settled(gateway, CHAT)
    return await settled(gateway, CHAT)


async def erased(gateway: Gateway, at_least: int = 0) -> None:
    """Wait until every erasure is done."""
    states: list[str] = ["open"]
    while len(states) < at_least or set(states) - {"done"}:
        await checkpoint()
        states = [row["state"] for row in await gateway.services.ledger.erasures.read()]


async def asked_of(server: FakeOpenAI) -> None:
    """Wait until the model was asked."""
    while not server.requests:
        await checkpoint()


def holding(home: Path, *marks: str) -> list[tuple[str, str]]:
    """Return each file of a home that holds one of the texts in any form, with the text."""
    found = []
    for path in sorted(path for path in home.rglob("*") if path.is_file()):
        content = path.read_bytes().lower()
        for mark in marks or MARKS:
            plain = mark.lower().encode()
            if plain in content or base64.b64encode(mark.encode()).lower() in content:
                found.append((path.name, mark))
    return found


def answers_of(channel: PlainChannel) -> tuple[str, str]:
    """Return the commands that stand for the buttons of the newest card: yes and no."""
    lines = [line for line in channel.posts[-1].text.splitlines() if ",choose" in line]
    yes, no = (line.partition("`")[2].rstrip("`") for line in lines)
    return yes, no
