"""What one gateway lets people do holds at every gateway over the same database."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import pytest

from gateway.access.pairing import PAIRED, WRONG
from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.app import Gateway, access_admin
from gateway.scheduling.presses import ANSWERED
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.scheduling.confirming import ALICE, BOB, ButtonChannel, Launcher, launching
from tests.kit.editing_channel import QUESTION
from tests.kit.gateways import gateway_of, tape_of
from tests.kit.plain_channels import MESSAGE, Brings, PairedChannel, sent
from tests.kit.visitor import visit
from tests.kit.waiting import Patience
from tests.scenarios.shared import KEPT, QUICK, answered, gateways, until

pytestmark = pytest.mark.postgresql


@asynccontextmanager
async def two(folder: Path, url: str, server: FakeOpenAI) -> AsyncIterator[list[Gateway]]:
    """Run two gateways with a platform on which people pair."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                gateway_of(
                    folder / f"home-{number}",
                    server,
                    Brings(PairedChannel()),
                    TAPE__URL=url,
                    WORKSPACE=str(folder / "workspace"),
                    **QUICK,
                )
            )
            for number in range(2)
        ]


async def owners(gateway: Gateway) -> list[str]:
    """Return the owners as a gateway knows them."""
    found = await access_admin(gateway).rules()
    return [rule["id"] for rule in found["rules"] if rule["role"] == "owner"]


async def test_a_code_made_at_one_gateway_is_used_once_at_two(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with two(tmp_path, tape_url, model) as (first, second):
        made = await access_admin(first).pair()
        second.parts.pairing.know(made["code"], made["seconds"])
        tries = [sent(f"pair {made['code']}", number, str(number)) for number in (1, 2)]
        async with anyio.create_task_group() as group:
            group.start_soon(first.parts.intake.accept, tries[:1])
            group.start_soon(second.parts.intake.accept, tries[1:])
        ledger = LedgerAdmin(first.services, None)
        said: Counter[str] = Counter()
        patience = Patience("both tries are answered")
        while said.total() < 2:
            await patience.pause()
            rows = [row for row in await ledger.rows() if row["id"].startswith("in")]
            said = Counter(row["why"] for row in rows if row["status"] != "accepted")
        assert said == {f"a pairing code: {PAIRED}": 1, f"a pairing code: {WRONG}": 1}


async def test_who_pairs_at_one_gateway_with_another_ones_code_is_an_owner_at_both(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with two(tmp_path, tape_url, model) as (first, second):
        made = await access_admin(first).pair()
        code = ""
        while code != made["code"]:
            code, _seconds = await second.services.shared.workers.code()  # type: ignore[union-attr]
        second.parts.pairing.know(made["code"], made["seconds"])
        await second.parts.intake.accept([sent(f"pair {made['code']}")])
        for gateway in (first, second):
            patience = Patience("the gateway knows the owner")
            while await owners(gateway) != ["7"]:
                await patience.pause()


async def ended(gateway: Gateway, number: int) -> str:
    """Accept a message in the group at a gateway; return how it ended, wherever that was."""
    said = replace(MESSAGE, ext_id=f"-100/{number}", message_id=str(number))
    await gateway.parts.intake.accept([said])
    ledger = LedgerAdmin(gateway.services, None)
    patience = Patience("the message has come to its end")
    while True:
        rows = [row for row in await ledger.rows() if row["id"].startswith("in")]
        if len(rows) == number and rows[0]["status"] not in ("accepted", "waiting", "taken"):
            return str(rows[0]["status"])
        await patience.pause()


async def knows(gateway: Gateway, role: str) -> None:
    """Wait until a gateway knows the group's role."""

    def roles() -> list[str]:
        return [rule.role for rule in gateway.parts.requests.openings.access.rules()]

    await until(lambda: roles() == [role])


async def test_a_chat_that_is_opened_and_closed_at_one_gateway_is_so_at_the_other(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with two(tmp_path, tape_url, model) as (first, second):
        assert await ended(first, 1) == "refused"
        await access_admin(second).grant("plain:-100")
        await knows(first, "member")
        assert await ended(first, 2) == "done"
        await access_admin(second).revoke("plain:-100")
        await knows(first, "none")
        assert await ended(first, 3) == "refused"


async def test_a_press_at_one_gateway_allows_the_call_that_waits_in_another_one_s_session(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    launcher, channels = Launcher(), [ButtonChannel(), ButtonChannel()]
    more = {"ACCESS__ALLOW": "editing:1", "TAPE__URL": tape_url, **KEPT}
    async with AsyncExitStack() as stack:
        first, second = [
            await stack.enter_async_context(
                gateway_of(tmp_path / channel_id, model, Brings(channel), launcher, **more)
            )
            for channel_id, channel in zip("ab", channels, strict=True)
        ]
        model.enqueue(launching(), Text(("It is on its way.",)))
        group = replace(QUESTION, chat_kind="group", owner=False)
        others = replace(group, sender=BOB, text="launch it", addressed=False)
        asks = replace(group, sender=ALICE, ext_id="1/2", message_id="2")
        await first.parts.intake.accept([others, asks])
        await until(lambda: [one for channel in channels for one in channel.sent if one.buttons])
        (card,) = [one for channel in channels for one in channel.sent if one.buttons]
        (token,) = [one.token for one in card.buttons if one.token.endswith(":yes")]
        other = second if first.services.claims.holds("editing:1") else first
        assert not other.services.claims.holds("editing:1")
        for number in range(2):
            press = replace(
                asks, kind="press", ext_id=f"press/{number}", press=token, text="", addressed=False
            )
            await other.parts.intake.accept([press])
        await answered(first, "1", 2, "editing")
        await until(lambda: sum(len(channel.shown) for channel in channels) == 2)
        shown = [one for channel in channels for one in channel.shown]
        assert (launcher.ran, shown) == (["mars"], [("7", ""), ("7", ANSWERED)])


async def test_a_person_who_is_erased_at_one_gateway_is_gone_from_what_another_one_holds(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with gateways(2, tmp_path, tape_url, model, **KEPT) as (first, second):
        for at, room in ((first, "red"), (second, "green")):
            async with visit(at.url, "Alice", "Bob", room=room) as (alice, bob):
                await bob.answer(await bob.say("hello"))
                await alice.answer(await alice.say("my zyzzogeton is ill"))
            erasing = EraseAdmin(second.services, second.parts.eraser)
            name = (await erasing.begin("person", "", f"web:{alice.id}"))["erasure"]
            patience = Patience("the erasure is done")
            while (await erasing.state(name))["state"] != "done":
                await patience.pause()
            async with visit(at.url, "Bob", room=room) as (bob,):
                await bob.answer(await bob.say("what was ill?"))
            entries = await tape_of(first, f"web:{room}").read()
            assert "zyzzogeton" not in str([(one.payload, one.meta) for one in entries])
            assert "hello" in str(model.requests[-1].body)
            assert "zyzzogeton" not in str(model.requests[-1].body)


async def test_a_person_erased_in_a_room_of_another_gateway_is_somebody_new_there(
    model: FakeOpenAI, tmp_path: Path, tape_url: str
) -> None:
    async with (
        gateways(2, tmp_path, tape_url, model, **KEPT) as (first, second),
        visit(first.url, "Alice", room="red") as (alice,),
    ):
        await alice.answer(await alice.say("my zyzzogeton is ill"))
        erasing = EraseAdmin(second.services, second.parts.eraser)
        tape = tape_of(second, "web:red").name
        name = (await erasing.begin("person", tape, f"web:{alice.id}"))["erasure"]
        patience = Patience("the erasure is done")
        while (await erasing.state(name))["state"] != "done":
            await patience.pause()
        await alice.answer(await alice.say("it is well again"))
        words = str([one.payload for one in await tape_of(first, "web:red").read()])
        assert ("zyzzogeton" in words, "well again" in words) == (False, True)
        rows = await second.services.store.select("ledger.people", {"session_id": "web:red"})
        assert {row["person"] for row in rows} == {"erased:1", alice.id}
