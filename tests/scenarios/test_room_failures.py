"""What people in a room read when the model fails, overflows or is cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.ends import ending
from gateway.app import Gateway
from tests.fakes.openai.script import (
    Call,
    CutStream,
    EmptyStream,
    Failure,
    Text,
    ToolCalls,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_of, settled
from tests.kit.visitor import visit


async def test_e6_typing_shows_and_stops_also_when_the_turn_fails(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    model.enqueue(Failure(500, "out of order", None, "server_error"))
    async with visit(gateway.url, "Alice") as (alice,):
        await alice.answer(await alice.say("one"))
        await alice.until(lambda event: event["type"] == "typing" and not event["on"])
        assert [event["on"] for event in alice.of_type("typing")] == [True, False]


@pytest.mark.parametrize(
    ("reply", "sentence"),
    [
        (Failure(401, "bad key sk-canary", "invalid_api_key", "auth"), "rejected the API key"),
        (Failure(404, "no such model", "model_not_found", "request"), "doesn't know the model"),
        (Failure(500, "boom", None, "server_error"), "having trouble"),
        (Failure(429, "slow down", None, "rate"), "busy"),
        (CutStream(("half",)), "broke off"),
        (EmptyStream(), "broke off"),
    ],
    ids=["wrong key", "unknown model", "down", "busy", "cut", "empty"],
)
async def test_e7_a_failing_model_is_one_sentence_with_an_id(
    model: FakeOpenAI, tmp_path: Path, reply: Failure | CutStream | EmptyStream, sentence: str
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(reply)
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("one"))
            assert answer["role"] == "notice"
            assert sentence in answer["text"]
            assert "(Ref E-" in answer["text"]
            again = await alice.answer(await alice.say("two"))
            assert again["role"] == "agent"
        entries = await settled(gateway)
    error = next(entry for entry in entries if entry.kind == "error")
    assert error.meta["error_id"] in answer["text"]
    assert [e.payload["data"]["status"] for e in entries if e.name == "turn.end"] == [
        "failed",
        "done",
    ]


async def test_a_model_that_cannot_be_reached_is_a_sentence(tmp_path: Path) -> None:
    async with FakeOpenAI() as gone:
        url = gone.base_url
    more = {
        "AGENT__BASE_URL": url,
        "AGENT__API_KEY": "k",
        "AGENT__MODEL": "m",
        "AGENT__RETRIES": "0",
    }
    async with (
        gateway_of(tmp_path, None, **more) as gateway,
        visit(gateway.url, "Alice") as (alice,),
    ):
        answer = await alice.answer(await alice.say("one"))
    assert "can't reach the model service" in answer["text"]


@pytest.mark.parametrize("with_code", [True, False])
async def test_a_context_overflow_ends_in_one_answer(
    model: FakeOpenAI, tmp_path: Path, with_code: bool
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("before",)))
        model.enqueue(context_length_exceeded(with_code), Text(("after all",)))
        async with visit(gateway.url, "Alice") as (alice,):
            await alice.answer(await alice.say("earlier"))
            answer = await alice.answer(await alice.say("too much"))
        entries = await settled(gateway)
    assert answer["text"] == "after all"
    anchor = next(e for e in entries if e.name == "auto_handoff/context_overflow")
    assert anchor.kind == "anchor"
    assert anchor.payload["state"]["reason"] == "context_length_exceeded"
    assert anchor.payload["state"]["error"]
    statuses = [e.payload["data"]["status"] for e in entries if e.name == "loop.step"]
    assert statuses == ["ok", "auto_handoff", "ok"]
    last = [str(m["content"]) for m in model.requests[-1].body["messages"]]
    assert "] too much" in last[-1]
    assert not any("before" in text for text in last)


async def test_a_second_overflow_in_one_turn_is_an_error_that_a_person_can_read(
    model: FakeOpenAI, gateway: Gateway
) -> None:
    model.enqueue(context_length_exceeded(True), context_length_exceeded(True))
    async with visit(gateway.url, "Alice") as (alice,):
        answer = await alice.answer(await alice.say("too much"))
    assert "too long for the model" in answer["text"]
    assert len(model.requests) == 2


async def test_an_overflow_after_tools_keeps_their_results(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(ToolCalls((Call("a", "tape_info", "{}"),)))
        model.enqueue(context_length_exceeded(True), Text(("done",)))
        async with visit(gateway.url, "Alice") as (alice,):
            assert (await alice.answer(await alice.say("look")))["text"] == "done"
        roles = [m["role"] for m in model.requests[-1].body["messages"]]
    assert roles == ["system", "assistant", "user", "assistant", "tool"]
    assert model.refused == []


async def test_a_view_beyond_the_budget_is_cut_before_the_call(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with gateway_of(
        tmp_path, model, CONTEXT__PROMPT_TOKENS="900", CONTEXT__NEW_TOKENS="400"
    ) as gateway:
        model.default = lambda _request: Text(("word " * 300,))
        async with visit(gateway.url, "Alice") as (alice,):
            for number in range(6):
                await alice.answer(await alice.say(f"question {number}"))
        entries = await settled(gateway)
    anchors = [entry for entry in entries if entry.name == "context:overflow"]
    assert anchors
    assert anchors[0].payload["state"].keys() == {"reason", "rests_on"}
    assert anchors[0].meta["lane"].startswith("said:")
    assert all(request.body_bytes < 900 * 4 + 4000 for request in model.requests)


@pytest.mark.parametrize("reason", ["length", "content_filter", "stop"])
async def test_an_answer_that_was_cut_off_says_so_to_the_page(
    model: FakeOpenAI, tmp_path: Path, reason: str
) -> None:
    async with gateway_of(tmp_path, model) as gateway:
        model.enqueue(Text(("half",), finish_reason=reason))
        async with visit(gateway.url, "Alice") as (alice,):
            answer = await alice.answer(await alice.say("go"))
        async with visit(gateway.url, "Alice") as (alice,):
            (history,) = alice.of_type("history")
        await settled(gateway)
    assert answer["text"] == f"half{ending('half', reason)}"
    assert answer["cut"] == history["messages"][-1]["cut"] == (reason != "stop")
