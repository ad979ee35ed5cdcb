"""The joints of a message's way: their dates come from the ledger, and none is a guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from channels.errors import SendRefused
from gateway.app import Gateway
from gateway.explain.explainer import Explainer
from gateway.explain.joints import NAMES
from gateway.explain.report import Joint, Report
from gateway.storage.ledger.rows import run_alone
from tape.entry import utc_iso
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, PrivateChat
from tests.kit.editing_channel import QUESTION, EditingChannel, Platform, ask
from tests.kit.gateways import gateway_of
from tests.kit.plain_channels import MESSAGE, Brings


async def way_of(gateway: Gateway, asked: str = "in-1") -> dict[str, Joint]:
    """Return the joints of a message by their names."""
    services = gateway.services
    report = await Explainer(services.store, services.redactor).explain(asked)
    assert [joint.name for joint in report.joints] == list(NAMES)
    assert Report.from_json(report.to_json()) == report
    return {joint.name: joint for joint in report.joints}


def ms(joint: Joint) -> Mapping[str, Any]:
    return {span.what: span.ms for span in joint.spans}


def conditions(way: Mapping[str, Joint]) -> list[str]:
    """Return the conditions; what is slow has passed, and any joint may be slow on a busy CPU."""
    return [joint.condition.replace("slow", "ok") for joint in way.values()]


async def test_every_joint_of_an_answered_question_has_its_date_and_its_time(
    chat: PrivateChat,
) -> None:
    search = Call("call-1", "tape_search", '{"query": "plum"}')
    chat.model.enqueue(ToolCalls((search,)), Text(("It is ", "dead.")))
    said = datetime.now(UTC) - timedelta(milliseconds=5)
    await chat.ask(date=utc_iso(said))
    way = await way_of(chat.gateway)
    assert conditions(way) == ["ok"] * 8
    dates = [joint.at for name, joint in way.items() if name != "tools"]
    assert all(dates)
    assert dates == sorted(dates)
    known = {what: took for joint in way.values() for what, took in ms(joint).items()}
    assert list(known) == [
        *("arrived", "written", "waited", "first text", "ran", "ready", "queued", "confirmed")
    ]
    assert all(isinstance(took, int) for took in known.values())
    assert known["arrived"] >= 5
    assert way["model"].says == "model, 2 calls"
    assert way["tools"].says == "tape.search"
    assert way["receipt"].says == "message m1"


async def test_a_row_without_dates_says_nothing_of_its_times(chat: PrivateChat) -> None:
    chat.model.enqueue(Text(("hello",)))
    await chat.ask()
    found = await chat.gateway.services.store.select("ledger.inbox_row", {"id": 1})
    explainer = Explainer(_Undated(chat.gateway), chat.gateway.services.redactor)
    report = await explainer.explain_row({**found[0], "taken_at": None})
    way = {joint.name: joint for joint in report.joints}
    assert [way[name].at for name in ("lane", "model", "outbox", "receipt")] == [""] * 4
    assert conditions(way)[3:] == ["ok", "ok", "unused", "ok", "ok"]
    times = [span.ms for name in ("lane", "model", "outbox", "receipt") for span in way[name].spans]
    assert set(times) == {None}


class _Undated:
    """A store whose rows are older than their dates."""

    def __init__(self, gateway: Gateway) -> None:
        self._store = gateway.services.store
        self.query = self._store.query

    async def select(self, statement, values):  # type: ignore[no-untyped-def]
        rows = await self._store.select(statement, values)
        return [
            {name: None if name.endswith("_at") else value for name, value in row.items()}
            for row in rows
        ]


async def test_of_what_nobody_asked_the_way_ends_in_its_lane_with_the_reason(
    group: GroupChat,
) -> None:
    now = utc_iso(datetime.now(UTC))
    unasked = replace(MESSAGE, addressed=False, why="not mentioned", date=now)
    await group.hear(unasked)
    way = await way_of(group.gateway)
    assert conditions(way) == ["ok", "ok", "ok", "ended", *["unused"] * 4]
    assert way["lane"].says == "not addressed: not mentioned"
    assert ms(way["lane"]) == {}


@pytest.mark.settings(ACCESS__MODE="paired")
async def test_of_what_was_refused_the_way_ends_before_its_lane_and_its_text_is_not_shown(
    group: GroupChat,
) -> None:
    await group.hear(replace(MESSAGE, text="the secret word"))
    services = group.gateway.services
    report = await Explainer(services.store, services.redactor).explain("in-1")
    assert "the secret word" not in str(report.to_json())
    ended = [joint for joint in report.joints if joint.condition == "ended"]
    assert len(ended) == 1
    assert ended[0].name in ("inbox", "tape")
    assert "refused" in ended[0].says


async def test_a_turn_that_failed_is_red_at_its_model(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "down"))
    await chat.ask()
    way = await way_of(chat.gateway)
    assert way["model"].condition == "failed"
    assert "E-" in way["model"].says
    assert ms(way["model"])["first text"] is None
    assert ms(way["model"])["turn"] >= 0
    assert conditions(way)[-2:] == ["ok", "ok"]


async def test_a_send_that_the_platform_refused_is_red_at_its_receipt(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    channel = EditingChannel(Platform(), streams=False)
    channel.before.append(SendRefused("the bot was thrown out"))
    async with gateway_of(tmp_path, model, Brings(channel)) as gateway:
        model.enqueue(Text(("hello",)))
        await ask(gateway, channel)
        way = await way_of(gateway)
    assert way["receipt"].condition == "failed"
    assert way["receipt"].says == "dead the bot was thrown out"
    assert ms(way["receipt"]) == {"confirmed": None}
    assert isinstance(ms(way["outbox"])["queued"], int)


async def test_the_text_of_a_deleted_message_is_shown_nowhere(chat: PrivateChat) -> None:
    chat.model.enqueue(Text(("hello",)))
    await chat.ask(text="the spare key lies under the pot")
    edit = replace(QUESTION, kind="edit", ext_id="1/1/e", text="the spare key lies elsewhere")
    gone = replace(QUESTION, kind="delete", ext_id="1/1/deleted", text="")
    await chat.accept(edit, gone)
    await chat.gateway.idle()
    services = chat.gateway.services
    (row,) = await services.store.select("ledger.inbox_row", {"id": 1})
    report = await Explainer(services.store, services.redactor).explain_row(row)
    assert [line.says for line in report.lines if line.about == "changed"] == [
        "edited",
        "deleted on its platform",
    ]
    assert "spare key" not in str(report.to_json())


async def test_a_platform_s_date_of_whole_seconds_says_no_milliseconds(chat: PrivateChat) -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    chat.model.enqueue(Text(("hello",)), Text(("again",)), Text(("later",)))
    await chat.ask(date=utc_iso(now))
    before = utc_iso(now - timedelta(minutes=2))
    await chat.ask(ext_id="1/2", message_id="2", date=before)
    later = utc_iso(now + timedelta(hours=1))
    await chat.ask(ext_id="1/3", message_id="3", date=later)
    first, second, third = [await way_of(chat.gateway, f"in-{number}") for number in (1, 2, 3)]
    for joint in (first["inbox"], second["inbox"]):
        assert (ms(joint)["arrived"] or 0) % 1000 == 0
    assert ms(second["inbox"])["arrived"] >= 120_000
    assert second["inbox"].condition == "slow"
    assert ms(third["inbox"]) == {"arrived": None}


async def test_a_message_that_waits_is_open_in_its_lane(chat: PrivateChat) -> None:
    chat.model.enqueue(Failure(500, "down"))
    await chat.ask()
    await run_alone(chat.gateway.services.store, "ledger.retry_inbox", id=1)
    way = await way_of(chat.gateway)
    assert (way["lane"].condition, way["lane"].says) == ("open", "waits for its turn")
    assert way["lane"].at == ""
    assert way["model"].condition == "unused"
