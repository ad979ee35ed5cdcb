"""Requests to Discord's API, and our errors for its answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from channels.discord.api import ApiRefused, DiscordApi
from channels.discord.outbound import nonce_of
from channels.discord.settings import DiscordSettings
from channels.errors import ChannelDown, ChannelError, ChannelUnfit, SendAmbiguous, SendDelayed
from tests.channels.gates import SharedKnowledge
from tests.fakes.base.faults import LostAnswer, Reset, ServerError
from tests.fakes.discord.faults import Fault, RateLimited, Refuse
from tests.fakes.discord.server import FakeDiscord
from tests.kit.clock import ManualClock


@asynccontextmanager
async def opened(fake: FakeDiscord, clock: ManualClock, **more: str) -> AsyncIterator[DiscordApi]:
    given = {"token": fake.token, "base_url": fake.base_url, **more}
    api = DiscordApi(DiscordSettings.model_validate(given))
    await api.open(clock)
    try:
        yield api
    finally:
        await api.close()


async def posted(api: DiscordApi, fake: FakeDiscord) -> Any:
    """Post into the first channel."""
    channel = next(iter(fake.world.channels))
    return await api.call("POST", f"/channels/{channel}/messages", {"content": "hi"})


FAULTS: list[tuple[Fault, type[ChannelError]]] = [
    (RateLimited(3.0), SendDelayed),
    (RateLimited(3.0, cloudflare=True), SendDelayed),
    (ServerError(500), SendAmbiguous),
    (ServerError(502), SendAmbiguous),
    (ServerError(503), ChannelDown),
    (ServerError(504), SendAmbiguous),
    (LostAnswer(), SendAmbiguous),
    (Reset(), SendAmbiguous),
    (Refuse(403, 50013, "Missing Permissions"), ApiRefused),
    (Refuse(404, 10003, "Unknown Channel"), ApiRefused),
    (Refuse(400, 50035, "Invalid Form Body"), ApiRefused),
]


@pytest.mark.parametrize(("fault", "error"), FAULTS, ids=str)
async def test_a_failed_request_raises_our_error_and_is_not_retried(
    fault: Fault, error: type[ChannelError]
) -> None:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock) as api:
        fake.text_channel(fake.guild())
        fake.fail("post", fault)
        with pytest.raises(error) as caught:
            await posted(api, fake)
        assert len(fake.calls_of("post")) == 1
        assert fake.token not in str(caught.value)
        if isinstance(caught.value, SendDelayed) and caught.value.retry_after > 1:
            assert caught.value.retry_after == 3.0


async def test_a_refusal_has_discords_code_and_words() -> None:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock) as api:
        with pytest.raises(ApiRefused, match="Unknown Channel") as caught:
            await api.ask("/channels/1")
        assert (caught.value.status, caught.value.code) == (404, 10003)


async def test_an_unreachable_server_is_down() -> None:
    clock = ManualClock()
    async with FakeDiscord() as fake:
        base = fake.base_url
    given = DiscordSettings.model_validate({"token": "t", "base_url": base})
    api = DiscordApi(given)
    await api.open(clock)
    with pytest.raises(ChannelDown):
        await api.call("POST", "/channels/1/messages", {})
    await api.close()
    with pytest.raises(ChannelDown):
        await api.ask("/users/@me")


async def test_a_rejected_bot_token_is_unfit_but_an_interaction_token_is_not() -> None:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock, token="no") as api:
        with pytest.raises(ApiRefused):
            await api.call("POST", "/interactions/1/x/callback", {}, as_bot=False)
        assert not api.rejected.is_set()
        with pytest.raises(ChannelUnfit, match="TAPEWAY_DISCORD__TOKEN"):
            await api.ask("/users/@me")
        assert api.rejected.is_set()


async def test_a_token_that_another_process_found_refused_is_used_only_to_ask_about_itself() -> (
    None
):
    clock = ManualClock()
    gates = SharedKnowledge(clock)
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock) as api:
        fake.text_channel(fake.guild())
        gates.refuse(api.token)
        await api.open(clock, gates)
        with pytest.raises(ChannelUnfit, match="TAPEWAY_DISCORD__TOKEN"):
            await posted(api, fake)
        assert api.rejected.is_set()
        assert fake.calls_of("post") == []
        await api.ask("/users/@me")
        await posted(api, fake)


async def test_a_rejected_token_is_reported_to_the_other_processes() -> None:
    clock = ManualClock()
    gates = SharedKnowledge(clock)
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock, token="no") as api:
        await api.open(clock, gates)
        with pytest.raises(ChannelUnfit):
            await api.ask("/users/@me")
    assert gates.refused == {"no"}


async def test_a_global_rate_limit_holds_back_every_request() -> None:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic) as fake, opened(fake, clock) as api:
        fake.text_channel(fake.guild())
        fake.fail("post", RateLimited(10.0, everywhere=True))
        for _ in range(3):
            with pytest.raises(SendDelayed):
                await posted(api, fake)
        assert len(fake.calls_of("post")) == 1
        await clock.advance(10)
        assert await posted(api, fake)


async def test_a_route_at_its_limit_gets_no_request() -> None:
    clock = ManualClock()
    async with FakeDiscord(clock=clock.monotonic, limits=True) as fake, opened(fake, clock) as api:
        fake.text_channel(fake.guild())
        for _ in range(5):
            await posted(api, fake)
        with pytest.raises(SendDelayed):
            await posted(api, fake)
        assert fake.too_many == 0
        await clock.advance(6)
        assert await posted(api, fake)


def test_a_nonce_depends_on_the_key_only_and_is_short_enough() -> None:
    assert nonce_of("t-1:0") == nonce_of("t-1:0") != nonce_of("t-1:1")
    assert len({nonce_of(f"t-{number}:0:0") for number in range(10_000)}) == 10_000
    assert all(len(nonce_of(key)) <= 25 for key in ("", "x" * 500))
