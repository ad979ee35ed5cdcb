"""Embedders: the real SDK against a server on a real socket, and what the settings make."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from gateway.embeddings.local import PACKAGE
from gateway.embeddings.openai import MODEL, OpenAIEmbedder
from gateway.embeddings.registry import make_embedder, open_meaning
from gateway.errors import SettingsError
from gateway.settings import Settings, load_settings
from tape.entry import message
from tape.errors import EmbedderFailed
from tape.handle import Tape
from tape.stores.sqlite import SqliteStore
from tests.fakes.openai.embeddings import DIMENSIONS, Embeddings, embeddings_server, hashed
from tests.fakes.redirecting import redirecting


@pytest.fixture(autouse=True)
def _no_keys_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
async def server() -> AsyncIterator[Embeddings]:
    async with embeddings_server() as server:
        yield server


def settings_of(folder: Path, **search: str) -> Settings:
    names = {f"TAPEWAY_SEARCH__{name.upper()}": value for name, value in search.items()}
    return load_settings({"TAPEWAY_HOME": str(folder), **names}, folder)


async def test_each_text_has_its_vector_in_their_order(server: Embeddings) -> None:
    embedder = OpenAIEmbedder("small", server.base_url, server.key, 32)
    assert await embedder.embed(["one", "two"]) == [hashed("one", 32), hashed("two", 32)]
    (asked,) = server.requests
    assert (asked["model"], asked["dimensions"], asked["encoding_format"]) == ("small", 32, "float")
    await embedder.aclose()


@pytest.mark.parametrize("status", [400, 404, 429, 500])
async def test_a_server_that_refuses_is_a_failure_without_what_was_said(
    server: Embeddings, status: int
) -> None:
    server.status = status
    embedder = OpenAIEmbedder("small", server.base_url, server.key)
    with pytest.raises(EmbedderFailed, match=str(status)) as caught:
        await embedder.embed(["a secret"])
    assert "secret" not in str(caught.value)
    assert server.key not in str(caught.value)
    await embedder.aclose()


async def test_a_wrong_key_and_a_dead_server_are_failures(server: Embeddings) -> None:
    for key, url in (("sk-wrong", server.base_url), ("sk-embed", "http://127.0.0.1:9/v1")):
        embedder = OpenAIEmbedder("small", url, key)
        with pytest.raises(EmbedderFailed) as caught:
            await embedder.embed(["a"])
        assert key not in str(caught.value)
        await embedder.aclose()


async def test_texts_and_key_follow_no_redirect() -> None:
    async with redirecting() as both:
        embedder = OpenAIEmbedder("small", f"{both.url}/v1", "sk-embed")
        with pytest.raises(EmbedderFailed, match=f"__BASE_URL to {both.other}/v1$"):
            await embedder.embed(["canary of a chat"])
        await embedder.aclose()
    assert (len(both.seen), both.elsewhere) == (1, 0)


def test_the_settings_name_no_embedder_at_first(tmp_path: Path) -> None:
    assert make_embedder(settings_of(tmp_path)) is None


async def test_the_agents_server_and_key_serve_where_no_others_are_named(
    tmp_path: Path, server: Embeddings
) -> None:
    environ = {
        "TAPEWAY_HOME": str(tmp_path),
        "TAPEWAY_SEARCH__EMBEDDER": "openai",
        "TAPEWAY_AGENT__BASE_URL": server.base_url,
        "TAPEWAY_AGENT__API_KEY": server.key,
    }
    embedder = make_embedder(load_settings(environ, tmp_path))
    assert embedder is not None
    assert len((await embedder.embed(["a"]))[0]) == DIMENSIONS
    assert server.requests[0]["model"] == MODEL
    await embedder.aclose()


async def test_the_agents_key_goes_to_no_other_server(tmp_path: Path, server: Embeddings) -> None:
    environ = {
        "TAPEWAY_HOME": str(tmp_path),
        "TAPEWAY_SEARCH__EMBEDDER": "openai",
        "TAPEWAY_SEARCH__BASE_URL": server.base_url,
        "TAPEWAY_AGENT__API_KEY": server.key,
    }
    embedder = make_embedder(load_settings(environ, tmp_path))
    assert embedder is not None
    with pytest.raises(EmbedderFailed, match="401"):
        await embedder.embed(["a"])
    await embedder.aclose()


def test_an_embedder_without_a_key_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="TAPEWAY_SEARCH__API_KEY"):
        make_embedder(settings_of(tmp_path, embedder="openai"))


@pytest.mark.skipif(find_spec(PACKAGE) is not None, reason="the package of the models is here")
def test_a_local_model_without_its_package_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="semantic"):
        make_embedder(settings_of(tmp_path, embedder="local"))


async def test_a_search_by_meaning_from_the_settings_to_the_hit(
    tmp_path: Path, server: Embeddings
) -> None:
    found = settings_of(
        tmp_path, embedder="openai", base_url=server.base_url, api_key=server.key, model="small"
    )
    store = SqliteStore.open(tmp_path / "tapeway.db")
    meaning = open_meaning(found, store)
    assert meaning is not None
    tape = Tape(store, "chat", meaning)
    await tape.append(message("user", "the wage is late"))
    while await meaning.round():
        pass
    hits = await tape.search("salary", rank=True)
    assert hits[0].text == "the wage is late"
    assert (tmp_path / "tapeway.db-vectors").exists()
    await meaning.close()
    await store.close()
