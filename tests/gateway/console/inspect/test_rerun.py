"""A turn is run again: asked first, on a fork, without tools, and sent to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from structlog.testing import capture_logs

from gateway.console.inspect.rerun import (
    ANOTHER_RUNS,
    GONE_SINCE,
    NOT_AGREED,
    NOTHING_LEFT,
    RERUN,
    UNKNOWN_MODEL,
)
from gateway.console.inspect.turns import OWNERS_RUN
from tape.entry import Entry
from tape.fork import INFIX
from tape.query import Query
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.gateway.console.inspect.asking import asked, gone
from tests.gateway.console.inspect.people import GROUP, Client, House, get, house, post, said
from tests.gateway.console.scene import until
from tests.gateway.erasing.stage import erased
from tests.kit.gateways import tape_of

OTHER = {"AGENT__FALLBACK_MODELS": "other", "MODELS": '{"other": {"price_input": 1000000}}'}
ASKED = {"model": "other", "agreed": True}
OWN = {"model": "model", "agreed": True}


async def forks(home: House) -> list[list[Entry]]:
    store = home.gateway.services.tapes.store
    names = [info.name for info in await store.tapes() if INFIX in info.name]
    return [await store.query(Query(name)) for name in names]


async def erase_alice(home: House) -> None:
    what = {"what": "person", "channel": "plain", "person": "7", "asked_by": "operator"}
    await home.gateway.parts.eraser.begin(**what)
    await erased(home.gateway, 1)


async def test_another_model_answers_with_the_results_that_the_tools_had(
    tmp_path: Path, database: dict[str, str]
) -> None:
    async with house(tmp_path, **OTHER, **database) as home, home.owner() as owner:
        path = await asked(home)
        tape = tape_of(home.gateway, GROUP)
        before, posts = await tape.read(), len(home.channel.posts)
        (offer, other) = (await get(owner, f"{path}/models"))["models"]
        home.server.enqueue(Text(("Bob ", "has it.")))
        again = await post(owner, f"{path}/again", ASKED)
        request = home.server.requests[-1].body
        (fork,) = await forks(home)
        assert await tape.read() == before
        assert len(home.channel.posts) == posts
        used = await home.gateway.services.ledger.usage.read("person", "")
    assert (offer["model"], other["model"]) == ("model", "other")
    assert other["tokens"] > 0
    assert other["cost"] >= other["tokens"]
    assert again["text"] == "Bob has it."
    assert again["calls"] == []
    assert request["model"] == "other"
    assert request["tool_choice"] == "none"
    assert [one["role"] for one in request["messages"]][-2:] == ["assistant", "tool"]
    assert "with Anna" in request["messages"][-1]["content"]
    assert [one.text for one in fork if one.kind == "message"] == ["Bob has it."]
    (run,) = [one.payload["data"] for one in fork if one.name == RERUN]
    assert (run["model"], run["without"]) == ("other", [])
    assert again["cost"] > 0
    assert max(row["cost"] or 0 for row in used) == pytest.approx(again["cost"])


async def test_a_message_that_is_left_out_is_not_sent(home: House, owner: Client) -> None:
    path = await asked(home)
    view = await get(owner, path)
    elsewhere = [part["entry"] for part in view["parts"] if part["origin"] == "elsewhere"]
    calls = [part["entry"] for part in view["parts"] if part["calls"]]
    home.server.enqueue(Text(("I do not know.",)))
    body = {"model": "model", "agreed": True, "without": [*elsewhere, *calls]}
    again = await post(owner, f"{path}/again", body)
    request = home.server.requests[-1].body
    assert again["text"] == "I do not know."
    assert [one["role"] for one in request["messages"]] == ["system", "assistant", "user"]
    assert "with Anna" not in str(request["messages"])


async def test_nothing_is_asked_without_agreement_or_of_a_model_that_is_not_in_the_settings(
    home: House, owner: Client
) -> None:
    path = await asked(home)
    view = await get(owner, path)
    asked_before = len(home.server.requests)
    everything = [part["entry"] for part in view["parts"] if part["entry"]]
    for body, sentence in (
        ({"model": "model"}, NOT_AGREED),
        ({"model": "model", "agreed": "yes"}, NOT_AGREED),
        ({"model": "elsewhere", "agreed": True}, UNKNOWN_MODEL),
        ({"model": "model", "agreed": True, "without": everything}, NOTHING_LEFT),
    ):
        refused = await post(owner, f"{path}/again", body, 422)
        assert refused["error"] == sentence
    wrong = await post(owner, f"{path}/again", {**ASKED, "without": "all"}, 422)
    assert "list" in wrong["error"]
    assert len(home.server.requests) == asked_before


async def test_a_call_that_the_model_wants_is_said_and_not_run(home: House, owner: Client) -> None:
    path = await asked(home)
    home.server.enqueue(ToolCalls((Call("again", "tape_info", "{}"),)))
    again = await post(owner, f"{path}/again", {"model": "model", "agreed": True})
    assert (again["text"], again["calls"]) == ("", ["tape_info"])


async def test_a_model_that_fails_is_a_sentence(home: House, owner: Client) -> None:
    path = await asked(home)
    home.server.enqueue(Failure(500, "down"))
    refused = await post(owner, f"{path}/again", {"model": "model", "agreed": True}, 422)
    assert refused["error"] == (
        "The model did not answer: the model service is having trouble; please try again later."
    )


async def test_only_an_owner_of_the_account_runs_a_turn_again_and_the_log_names_who(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, **OTHER) as home:
        path = await asked(home)
        before = len(home.server.requests)
        async with home.guest("8", "admin") as admin:
            view = await get(admin, path)
            refused = await post(admin, f"{path}/again", ASKED, 403)
            assert (await get(admin, f"{path}/models", 403))["error"] == OWNERS_RUN
            assert len(home.server.requests) == before
        async with home.guest("9", "owner") as owner:
            owned = await get(owner, path)
            home.server.enqueue(Text(("Bob has it.",)))
            with capture_logs() as logs:
                again = await post(owner, f"{path}/again", ASKED)
    assert refused["error"] == OWNERS_RUN
    assert (view["can_rerun"], owned["can_rerun"]) == (False, True)
    (line,) = [one for one in logs if one["event"] == "console.rerun"]
    assert (line["person"], line["model"], line["cost"]) == ("plain:9", "other", again["cost"])


async def test_one_turn_at_a_time_is_run_again(home: House, owner: Client) -> None:
    path = await asked(home)
    async with running(home, owner, path) as (gate, answers):
        refused = await post(owner, f"{path}/again", OWN, 429)
        gate.set()
    home.server.enqueue(Text(("Bob has it.",)))
    assert (await post(owner, f"{path}/again", OWN))["text"] == "Bob has it."
    assert refused["error"] == ANOTHER_RUNS
    assert [one["text"] for one in answers] == ["Anna has it."]


@asynccontextmanager
async def running(
    home: House, owner: Client, path: str, status: int = 200
) -> AsyncIterator[tuple[asyncio.Event, list[Any]]]:
    """Have a turn be run again, whose answer ends when the event is set; it is listed then."""
    gate, before = asyncio.Event(), len(home.server.requests)
    answers: list[Any] = []
    home.server.enqueue(Text(("Anna ", "has it."), gate=gate))

    async def is_asked() -> bool:
        return len(home.server.requests) > before

    async def ask() -> None:
        answers.append(await post(owner, f"{path}/again", OWN, status))

    async with anyio.create_task_group() as group:
        group.start_soon(ask)
        await until(is_asked)
        yield gate, answers


async def test_the_answer_is_erased_with_its_turn(home: House, owner: Client) -> None:
    path = await asked(home)
    home.server.enqueue(Text(("Bob has it.",)))
    await post(owner, f"{path}/again", OWN)
    assert "Bob has it." in str(await forks(home))
    await erase_alice(home)
    (fork,) = await forks(home)
    assert "Bob has it." not in str(fork)
    assert RERUN not in [entry.name for entry in fork]


@pytest.mark.parametrize("way", ["deleted", "erased"])
async def test_what_is_deleted_while_the_model_answers_leaves_no_answer(
    home: House, owner: Client, way: str
) -> None:
    path = await asked(home)
    usage = home.gateway.services.ledger.usage
    before = len(await usage.read("turn", ""))
    with capture_logs() as logs:
        async with running(home, owner, path, 422) as (gate, answers):
            if way == "deleted":
                await home.hear(gone(said(1, "")))
            else:
                await erase_alice(home)
            gate.set()
    assert answers == [{"error": GONE_SINCE}]
    assert await forks(home) == []
    assert len(await usage.read("turn", "")) == before + 1
    assert "console.rerun" in [one["event"] for one in logs]
