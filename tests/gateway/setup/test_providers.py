"""What a first start finds: keys in the environment, and model servers on this machine."""

from __future__ import annotations

import anyio

from gateway.setup.providers import KNOWN, Found, Provider, find_providers
from tests.fakes.openai.server import FakeOpenAI


def test_each_known_key_is_found_with_its_server() -> None:
    environ = {known.variable: f"key of {known.name}" for known in KNOWN}
    found = list(find_providers(environ, ()))
    assert [one.key for one in found] == list(environ.values())
    assert all(one.model for one in found)
    assert "ANTHROPIC_API_KEY" in str(found[1])


async def test_a_server_on_this_machine_is_found_with_its_models() -> None:
    async with FakeOpenAI(models=["qwen3:8b", "small"]) as server:
        local = Provider("ollama", "Ollama", "", server.base_url, "")

        def look() -> list[Found]:
            return list(find_providers({}, [local]))

        [found] = await anyio.to_thread.run_sync(look)
        assert set(found.models) == {"qwen3:8b", "small"}
        assert found.model in found.models
        assert "on this machine" in str(found)
    assert await anyio.to_thread.run_sync(look) == []
