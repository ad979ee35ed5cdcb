"""The failures of the fake server, as the real SDK sees them."""

from __future__ import annotations

import openai
import pytest

from tests.fakes.openai.client import Sdk, chunks, refusal, stream, text_of
from tests.fakes.openai.script import (
    CutStream,
    EmptyStream,
    Failure,
    RateLimited,
    StreamError,
    context_length_exceeded,
)
from tests.fakes.openai.server import FakeOpenAI


async def test_a_rate_limit_tells_when_to_retry(client: Sdk) -> None:
    client.server.enqueue(RateLimited(1.5))
    with pytest.raises(openai.RateLimitError) as caught:
        await stream(client)
    assert caught.value.response.headers["Retry-After"] == "1.5"
    assert caught.value.code == "rate_limit_exceeded"


async def test_a_failure_sends_its_own_headers(client: Sdk) -> None:
    client.server.enqueue(Failure(529, "Overloaded", headers={"retry-after-ms": "20"}))
    with pytest.raises(openai.InternalServerError) as caught:
        await stream(client)
    assert caught.value.status_code == 529
    assert caught.value.response.headers["retry-after-ms"] == "20"


@pytest.mark.parametrize(("with_code", "code"), [(True, "context_length_exceeded"), (False, None)])
async def test_a_prompt_too_long_is_refused_with_or_without_the_code(
    server: FakeOpenAI, client: Sdk, with_code: bool, code: str | None
) -> None:
    server.enqueue(context_length_exceeded(with_code))
    error = await refusal(client)
    assert error.code == code
    assert "context" in error.message


async def test_a_code_that_is_a_number_becomes_text_in_the_sdk(client: Sdk) -> None:
    client.server.enqueue(Failure(400, "too long", code=400))
    assert (await refusal(client)).code == "400"


async def test_a_cut_stream_breaks_after_its_pieces(client: Sdk) -> None:
    client.server.enqueue(CutStream(("one", "two")))
    async with await stream(client) as events:
        seen = [await anext(events) for _ in range(3)]
        with pytest.raises(openai.APIConnectionError):
            await anext(events)
    assert text_of(seen) == "onetwo"
    assert client.server.disconnects == 0


@pytest.mark.parametrize("done", [True, False])
async def test_an_empty_stream_has_no_chunks_and_no_error(client: Sdk, done: bool) -> None:
    client.server.enqueue(EmptyStream(done))
    assert await chunks(client) == []


@pytest.mark.parametrize(("code", "seen"), [("server_error", "server_error"), (502, "502")])
async def test_an_error_event_is_raised_in_the_middle_of_a_stream(
    server: FakeOpenAI, client: Sdk, code: str | int, seen: str
) -> None:
    server.enqueue(StreamError(("one",), "Upstream went away", code))
    with pytest.raises(openai.APIError, match="Upstream went away") as caught:
        await chunks(client)
    assert caught.value.code == seen
    assert not isinstance(caught.value, openai.APIStatusError)
