"""A thousand URLs, names and redirects that lead to private addresses: none is connected to."""

from __future__ import annotations

import socket
from threading import Event
from typing import Any
from urllib.parse import unquote

import anyio
import pytest

from agent.web.fetcher import MAX_LOOKUPS, fetch, fetch_image
from agent.web.urls import PageRefused
from tests.agent.web.hostile import PRIVATE, PRIVATE_V6, urls
from tests.fakes.internet import PUBLIC, PUBLIC_V6, Internet, page, redirect
from tests.kit.waiting import Patience


async def refused(net: Internet, url: str) -> bool:
    try:
        await fetch(url)
    except PageRefused:
        return net.private == []
    return False


async def test_a_thousand_hostile_urls_reach_no_private_address(net: Internet) -> None:
    hostile = urls(net.port)
    assert len(set(hostile)) >= 1000
    assert [url for url in hostile if not await refused(net, url)] == []
    assert net.private == []


async def test_redirects_to_them_reach_no_private_address(net: Internet) -> None:
    hostile = [url for url in urls(net.port) if "\r" not in url]
    statuses = (301, 302, 303, 307, 308)

    def serve(path: str) -> bytes:
        if not path.removeprefix("/hop/").isdigit():
            return page("a path of the same host")
        number = int(path.removeprefix("/hop/"))
        url = hostile[number].replace("http://", "//") if number % 3 == 0 else hostile[number]
        return redirect(url, statuses[number % 5])

    net.serve = serve
    for number in range(len(hostile)):
        try:
            found = await fetch(f"http://good.example/hop/{number}")
            assert found.url.startswith("http://good.example/"), hostile[number]
        except PageRefused:
            pass
    assert len(net.asked) >= len(hostile)
    assert net.private == []


async def test_names_of_private_addresses_are_refused_beside_public_ones_too(net: Internet) -> None:
    for number, address in enumerate([*PRIVATE, *PRIVATE_V6]):
        for kind, answer in enumerate(([address], [PUBLIC, address], [address, PUBLIC_V6])):
            name = f"a{number}-{kind}.example"
            net.names[name] = [answer]
            assert await refused(net, f"http://{name}:{net.port}/"), (name, answer)
    assert await refused(net, f"http://localhost:{net.port}/")
    assert net.asked == net.private == []


async def test_a_name_that_changes_between_look_ups_is_connected_to_where_it_was_checked(
    net: Internet,
) -> None:
    for number, address in enumerate([*PRIVATE, *PRIVATE_V6]):
        name = f"changes{number}.example"
        net.names[name] = [[PUBLIC], [address]]
        assert (await fetch(f"http://{name}:{net.port}/")).body == b"<p>hello</p>"
    assert net.private == []


async def test_a_redirect_to_the_same_name_is_looked_up_and_checked_again(net: Internet) -> None:
    net.serve = lambda path: redirect(f"/again{unquote(path)}")
    for number, address in enumerate([*PRIVATE, *PRIVATE_V6]):
        name = f"again{number}.example"
        net.names[name] = [[PUBLIC], [address]]
        assert await refused(net, f"http://{name}:{net.port}/")
    assert len(net.asked) == len([*PRIVATE, *PRIVATE_V6])


async def test_slow_names_of_images_delay_no_page(
    net: Internet, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up, goes_on, waiting = socket.getaddrinfo, Event(), list[str]()

    def slowly(host: str, *rest: Any, **named: Any) -> Any:
        if host.startswith("slow"):
            waiting.append(host)
            goes_on.wait()
        return look_up(host, *rest, **named)

    async def ask(number: int) -> None:
        with pytest.raises(PageRefused):
            await fetch_image(f"http://slow{number}.example/")

    monkeypatch.setattr(socket, "getaddrinfo", slowly)
    async with anyio.create_task_group() as group:
        for number in range(MAX_LOOKUPS):
            group.start_soon(ask, number)
        try:
            patience = Patience("as many names are looked up as may be at once")
            while len(waiting) < MAX_LOOKUPS:
                await patience.pause()
            assert (await fetch("http://good.example/")).body == b"<p>hello</p>"
        finally:
            goes_on.set()
