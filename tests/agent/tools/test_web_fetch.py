"""The tool that returns a page's text."""

from __future__ import annotations

import gzip
import subprocess
import sys
import zlib
from typing import Any

import pytest

from agent.errors import ToolRefused
from agent.testing import new_tape
from agent.tool import Role, ToolContext
from agent.tools.web_fetch import MAX_TEXT, PAGE_NOTE
from agent.web.fetcher import MAX_BYTES, MAX_UNPACKED
from tape.handle import Tape
from tests.agent.tools.using import TOOLS, use
from tests.fakes.internet import Internet, page, redirect

PAGE = (
    "<!doctype html><html><head><title> The\n tea </title><style>p {}</style></head><body>"
    "<nav>menu</nav><h1>Tea</h1><p>Boil <b>wa</b>ter.<br>Wait.</p><script>steal()</script>"
    "<!-- hidden --><ul><li>one<li>two</ul></body></html>"
)


@pytest.fixture
def tape() -> Tape:
    return new_tape()


async def fetched(net: Internet, tape: Tape, answer: bytes) -> Any:
    net.serve = lambda _path: answer
    return await use(tape, "web.fetch", url="http://good.example/tea")


async def why(net: Internet, tape: Tape, answer: bytes) -> str:
    with pytest.raises(ToolRefused) as refused:
        await fetched(net, tape, answer)
    return str(refused.value)


async def test_it_returns_the_readable_text_quoted(net: Internet, tape: Tape) -> None:
    assert await fetched(net, tape, page(PAGE)) == {
        "url": "http://good.example/tea",
        "title": "The tea",
        "note": PAGE_NOTE,
        "text": "Tea\nBoil water.\nWait.\none\ntwo",
    }


async def test_a_long_page_is_cut(net: Internet, tape: Tape) -> None:
    found = await fetched(net, tape, page("x" * (MAX_TEXT + 5), mime="text/plain"))
    assert (len(found["text"]), found["cut"]) == (MAX_TEXT, "5 more characters")


async def test_a_compressed_page_of_another_charset_is_read(net: Internet, tape: Tape) -> None:
    body = gzip.compress("<p>müde".encode("windows-1252"))
    packed = page(body, "Content-Encoding: gzip", mime="text/html; charset=windows-1252")
    assert (await fetched(net, tape, packed))["text"] == "müde"


async def test_a_charset_that_is_a_codec_of_python_is_not_used(net: Internet, tape: Tape) -> None:
    found = await fetched(net, tape, page("<p>plain", mime="text/html; charset=punycode"))
    assert found["text"] == "plain"


async def test_three_redirects_are_followed_and_a_fourth_is_not(net: Internet, tape: Tape) -> None:
    net.serve = lambda path: redirect(path + "x") if len(path) < 4 else page("<p>there")
    assert (await use(tape, "web.fetch", url="http://good.example/"))["url"].endswith("/xxx")
    net.serve = lambda path: redirect(path + "x")
    with pytest.raises(ToolRefused, match="more than 3 times"):
        await use(tape, "web.fetch", url="http://good.example/")


async def test_no_credentials_and_no_proxy_of_the_environment_are_used(
    net: Internet, tape: Tape, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, f"http://user:pass@127.0.0.1:{net.port}")
    net.serve = lambda path: (
        redirect("/b") if path == "/a" else page("<p>x", "Set-Cookie: a=b; Path=/")
    )
    await use(tape, "web.fetch", url="http://good.example/a")
    sent = "".join(net.asked).lower()
    assert not any(name in sent for name in ("authorization", "cookie", "referer"))
    assert net.private == []
    with pytest.raises(ToolRefused, match="a user name or a password"):
        await use(tape, "web.fetch", url="http://user:pass@good.example/")


async def test_what_is_too_large_packed_or_unpacked_is_refused(net: Internet, tape: Tape) -> None:
    assert "larger" in await why(net, tape, page("x" * (MAX_BYTES + 1)))
    bomb = zlib.compress(b"x" * (MAX_UNPACKED * 20))
    assert "larger" in await why(net, tape, page(bomb, "Content-Encoding: deflate"))


async def test_what_has_no_text_or_was_not_asked_for_is_refused(net: Internet, tape: Tape) -> None:
    assert "image/png" in await why(net, tape, page("x", mime="image/png"))
    assert "compressed" in await why(net, tape, page("x", "Content-Encoding: br"))
    assert "compressed" in await why(net, tape, page("not gzip", "Content-Encoding: gzip"))
    assert "answered 404" in await why(net, tape, page("x", status=404))
    assert "can't be fetched" in await why(net, tape, b"no HTTP at all\r\n\r\n")
    assert "port 22" in await why_url(tape, "http://good.example:22/")


async def why_url(tape: Tape, url: str) -> str:
    with pytest.raises(ToolRefused) as refused:
        await use(tape, "web.fetch", url=url)
    return str(refused.value)


def test_it_is_for_members_and_its_libraries_are_loaded_when_it_is_used() -> None:
    assert TOOLS["web.fetch"].role is Role.MEMBER
    asks = "import agent.tools, sys; print({'aiohttp', 'selectolax', 'yarl'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", asks], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    ("said", "taint", "waits"),
    [
        ("read http://good.example/x?y=1 please", ("page",), False),
        ("read http://good.example/x?y=12", ("page",), True),
        ("read good.example", ("person",), True),
        ("read good.example", (), False),
    ],
)
def test_only_a_url_that_the_person_wrote_is_fetched_unasked_in_a_tainted_view(
    tape: Tape, said: str, taint: tuple[str, ...], waits: bool
) -> None:
    found = TOOLS["web.fetch"]
    context = ToolContext(tape, Role.MEMBER, said=said, taint=taint)
    assert found.must_wait(found.check({"url": "http://good.example/x?y=1"}), context) is waits
    assert found.taints == "page"
