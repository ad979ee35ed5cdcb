"""A turn is run again: asked first, on a fork, without tools, and sent to nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.console.inspect.rerun import NOT_AGREED, NOTHING_LEFT, RERUN, UNKNOWN_MODEL
from tape.fork import INFIX
from tape.query import Query
from tests.fakes.openai.script import Call, Failure, Text, ToolCalls
from tests.gateway.console.inspect.people import GROUP, get, house, post
from tests.gateway.console.inspect.test_turns import asked
from tests.gateways import tape_of

pytestmark = pytest.mark.anyio

OTHER = {"AGENT__FALLBACK_MODELS": "other", "MODELS": '{"other": {"price_input": 1000000}}'}
ASKED = {"model": "other", "agreed": True}


async def test_another_model_answers_with_the_results_that_the_tools_had(
    tmp_path: Path, database: dict[str, str]
) -> None:
    async with house(tmp_path, **OTHER, **database) as home, home.owner() as owner:
        path = await asked(home)
        tape = tape_of(home.gateway, GROUP)
        before, posts = await tape.read(), len(home.channel.posts)
        (offer, other) = (await get(owner, f"{path}/models"))["models"]
        home.server.enqueue(Text(("Bob ", "has it.")))
        said = await post(owner, f"{path}/again", ASKED)
        request = home.server.requests[-1].body
        store = home.gateway.services.tapes.store
        forks = [info.name for info in await store.tapes() if INFIX in info.name]
        (fork,) = [await store.query(Query(name)) for name in forks]
        assert await tape.read() == before
        assert len(home.channel.posts) == posts
        used = await home.gateway.services.ledger.usage.read("person", "")
    assert (offer["model"], other["model"]) == ("model", "other")
    assert other["tokens"] > 0
    assert other["cost"] >= other["tokens"]
    assert said["text"] == "Bob has it."
    assert said["calls"] == []
    assert request["model"] == "other"
    assert request["tool_choice"] == "none"
    assert [one["role"] for one in request["messages"]][-2:] == ["assistant", "tool"]
    assert "with Anna" in request["messages"][-1]["content"]
    assert [one.text for one in fork if one.kind == "message"] == ["Bob has it."]
    (run,) = [one.payload["data"] for one in fork if one.name == RERUN]
    assert (run["model"], run["without"]) == ("other", [])
    assert said["cost"] > 0
    assert sorted(row["cost"] for row in used)[-1] == pytest.approx(said["cost"])


async def test_a_message_that_is_left_out_is_not_sent(tmp_path: Path) -> None:
    async with house(tmp_path) as home, home.owner() as owner:
        path = await asked(home)
        view = await get(owner, path)
        elsewhere = [part["entry"] for part in view["parts"] if part["origin"] == "elsewhere"]
        calls = [part["entry"] for part in view["parts"] if part["calls"]]
        home.server.enqueue(Text(("I do not know.",)))
        body = {"model": "model", "agreed": True, "without": [*elsewhere, *calls]}
        said = await post(owner, f"{path}/again", body)
        request = home.server.requests[-1].body
    assert said["text"] == "I do not know."
    assert [one["role"] for one in request["messages"]] == ["system", "assistant", "user"]
    assert "with Anna" not in str(request["messages"])


async def test_nothing_is_asked_without_agreement_or_of_a_model_that_is_not_in_the_settings(
    tmp_path: Path,
) -> None:
    async with house(tmp_path) as home, home.owner() as owner:
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


async def test_a_call_that_the_model_wants_is_said_and_not_run(tmp_path: Path) -> None:
    async with house(tmp_path) as home, home.owner() as owner:
        path = await asked(home)
        home.server.enqueue(ToolCalls((Call("again", "tape_info", "{}"),)))
        said = await post(owner, f"{path}/again", {"model": "model", "agreed": True})
    assert (said["text"], said["calls"]) == ("", ["tape_info"])


async def test_a_model_that_fails_is_a_sentence(tmp_path: Path) -> None:
    async with house(tmp_path) as home, home.owner() as owner:
        path = await asked(home)
        home.server.enqueue(Failure(500, "down"))
        refused = await post(owner, f"{path}/again", {"model": "model", "agreed": True}, 422)
    assert refused["error"] == (
        "The model did not answer: the model service is having trouble; please try again later."
    )
