"""What leaves a process passes one place: requests follow no redirect."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import tree_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gateway", "channels", "tape", "agent")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
FETCHES_FOR_ANYBODY = "agent/web/fetcher.py"
"""Sends no secret, and checks each redirect by itself."""


def called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def followers(text: str) -> Iterator[str]:
    """Yield the calls of a source whose client would follow a redirect."""
    for node in ast.walk(tree_of(text)):
        if not isinstance(node, ast.Call):
            continue
        given = {one.arg: ast.unparse(one.value) for one in node.keywords}
        fits = {
            "ClientSession": given.get("middlewares") == "(refuse_redirects,)",
            "DefaultAioHttpClient": given.get("follow_redirects") == "False",
            "AsyncOpenAI": "DefaultAioHttpClient" in given.get("http_client", ""),
            "DefaultAsyncHttpxClient": False,
            "DefaultHttpxClient": False,
            "urlopen": False,
        }.get(called(node), given.get("follow_redirects", "False") == "False")
        if not fits or given.get("allow_redirects", "False") != "False":
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "text",
    [
        "aiohttp.ClientSession()",
        "aiohttp.ClientSession(middlewares=())",
        "DefaultAioHttpClient()",
        "DefaultAioHttpClient(follow_redirects=True)",
        "AsyncOpenAI(api_key=key)",
        "httpx2.AsyncClient(follow_redirects=True)",
        "session.get(url, allow_redirects=True)",
        "urllib.request.urlopen(url)",
    ],
)
def test_a_client_that_would_follow_is_noticed(text: str) -> None:
    assert list(followers(text)) == [text]


def test_no_client_follows_a_redirect() -> None:
    found = {str(path.relative_to(ROOT)): list(followers(path.read_text())) for path in SOURCES}
    assert [*found.pop(FETCHES_FOR_ANYBODY)]
    assert {name: calls for name, calls in found.items() if calls} == {}
