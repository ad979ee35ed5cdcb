"""Several gateways over one database, and how to wait for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskStatus

from channels.message import Author, InboundMessage
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway
from gateway.clock import SystemClock
from tape.entry import Entry
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import PATIENT, gateway_of, tape_of
from tests.kit.waiting import Patience

QUICK = {"SHARING__LEASE": "1.5", "SHARING__KEEP": "0.2"}


KEPT = {"SHARING__LEASE": "600", "SHARING__KEEP": "600"}  # nothing is renewed meanwhile


@asynccontextmanager
async def gateways(
    count: int, folder: Path, url: str, server: FakeOpenAI, *, internals: Any = PATIENT, **more: str
) -> AsyncIterator[list[Gateway]]:
    """Run gateways over one database, each in a home of its own."""
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(
                gateway_of(
                    folder / f"home-{number}",
                    server,
                    TAPE__URL=url,
                    WORKSPACE=str(folder / "workspace"),
                    internals=internals,
                    **{**QUICK, **more},
                )
            )
            for number in range(count)
        ]
        yield found


async def until(true: Callable[[], Any]) -> None:
    """Wait until something is true."""
    patience = Patience("what the test asks for is so")
    while not true():
        await patience.pause()


async def answered(gateway: Gateway, room: str, count: int, channel: str = "web") -> list[Entry]:
    """Wait until so many turns of a room have ended; return its tape."""
    patience = Patience("the turns have ended")
    while True:
        entries = await tape_of(gateway, f"{channel}:{room}").read()
        if sum(entry.name == "turn.end" for entry in entries) >= count:
            return entries
        await patience.pause()


def by_holder(both: list[Gateway], session: str = "web:lobby") -> list[Gateway]:
    """Return the gateways, the holder of a session first: the quickest may be any of them."""
    return sorted(both, key=lambda one: not one.services.claims.holds(session))


async def expire(gateway: Gateway) -> None:
    """End the leases of a gateway, which does not know it."""
    shared = gateway.services.shared
    assert shared is not None
    values = {"owner": shared.held.owner, "seconds": -1.0}
    patience = Patience("no session of the gateway is locked")
    # A session that the gateway writes to just now is left out.
    while not all(
        row["renewed"] for row in await gateway.services.store.select("sharing.renew", values)
    ):
        await patience.pause()


async def overtake(first: Gateway, second: Gateway) -> None:
    """End the leases of a gateway until another holds the lobby: it may renew them just then."""
    patience = Patience("the other gateway holds the lobby")
    while not second.services.claims.holds("web:lobby"):
        await expire(first)
        await patience.pause()


def said(text: str, number: int) -> InboundMessage:
    """A message to the lobby that no page sent."""
    return InboundMessage(
        channel="web",
        chat_id="lobby",
        chat_kind="group",
        message_id=f"m{number}",
        ext_id=f"lobby/m{number}",
        sender=Author("carol", "Carol"),
        text=text,
        addressed=True,
        date=SystemClock().now().isoformat(),
        invited=True,
    )


async def row_of(admin: LedgerAdmin, status: str) -> str:
    """Wait until a message has a status; return its row."""
    rows = await admin.rows(status)
    patience = Patience("a message has the status")
    while not rows:
        await patience.pause()
        rows = await admin.rows(status)
    return str(rows[0]["id"])


@dataclass(slots=True)
class Running:
    """A gateway in a task of its own, until `end`."""

    gateway: Gateway
    url: str
    end: anyio.Event
    ended: anyio.Event


async def run(
    settings: dict[str, str], home: Path, model: FakeOpenAI, *, task_status: TaskStatus[Running]
) -> None:
    end, ended = anyio.Event(), anyio.Event()
    async with gateway_of(home, model, only=["web"], **settings) as gateway:
        task_status.started(Running(gateway, gateway.url, end, ended))
        await end.wait()
    ended.set()


@asynccontextmanager
async def running(
    database: str, folder: Path, model: FakeOpenAI, *roles: str, **more: str
) -> AsyncIterator[list[Running]]:
    """Run a gateway of each role over one database."""
    async with anyio.create_task_group() as group:
        gateways = []
        for number, role in enumerate(roles):
            workspace = str(folder / "workspace")
            settings = {
                "TAPE__URL": database,
                "SHARING__ROLE": role,
                "WORKSPACE": workspace,
                **more,
            }
            (folder / str(number)).mkdir()
            gateways.append(await group.start(run, settings, folder / str(number), model))
        yield gateways
        for one in gateways:
            one.end.set()
