"""An internet of one machine: names and public addresses lead to a server of ours.

Only the socket is faked: look-ups of names, and connections to the public addresses that a test
names. Any other connection is really made, to listeners on the private addresses of this machine.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

PUBLIC = "93.184.216.34"
PUBLIC_V6 = "2606:2800:220:1::1"
Serve = Callable[[str], bytes]


def page(body: str | bytes, *more: str, mime: str = "text/html", status: int = 200) -> bytes:
    """Return a whole HTTP answer."""
    raw = body.encode() if isinstance(body, str) else body
    head = [
        f"HTTP/1.1 {status} Sent",
        f"Content-Type: {mime}",
        *more,
        f"Content-Length: {len(raw)}",
    ]
    return "\r\n".join([*head, "Connection: close", "", ""]).encode() + raw


def redirect(target: str, status: int = 302) -> bytes:
    return page("moved", f"Location: {target}", status=status)


@dataclass(slots=True)
class Internet:
    """What a test sets up and sees.

    names    the answers to the look-ups of each name, in order; the last one is repeated
    serve    returns the answer to a request for a path
    asked    the heads of the requests that arrived at a public address
    private  what was connected to, or arrived, at an address that is not public
    port     the port of the listeners on private addresses
    """

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    serve: Serve = lambda _path: page("<p>hello</p>")
    asked: list[str] = field(default_factory=list)
    private: list[str] = field(default_factory=list)
    port: int = 0

    def look_up(self, host: str) -> list[str]:
        answers = self.names[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        writer.write(self.serve(head.split()[1]))
        await _close(writer)

    async def trap(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.private.append(f"a connection from {writer.get_extra_info('peername')}")
        del reader
        writer.write(page("secret"))
        await _close(writer)


async def _close(writer: asyncio.StreamWriter) -> None:
    try:
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    except OSError:
        pass


@asynccontextmanager
async def internet(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Internet]:
    net = Internet(names={"good.example": [[PUBLIC]]})
    async with AsyncExitStack() as stack:
        public = await stack.enter_async_context(
            await asyncio.start_server(net.answer, "127.0.0.1")
        )
        trap = await stack.enter_async_context(await asyncio.start_server(net.trap, "0.0.0.0"))
        net.port = trap.sockets[0].getsockname()[1]
        await stack.enter_async_context(
            await asyncio.start_server(net.trap, "::1", net.port, family=socket.AF_INET6)
        )
        _reroute(monkeypatch, net, public.sockets[0].getsockname()[1])
        yield net


def _reroute(monkeypatch: pytest.MonkeyPatch, net: Internet, port: int) -> None:
    look_up = socket.getaddrinfo
    connect = asyncio.selector_events.BaseSelectorEventLoop.sock_connect

    def getaddrinfo(host: Any, asked_port: Any, *rest: Any, **named: Any) -> list[Any]:
        if host in net.names:
            addresses = net.look_up(host)
        elif host == "localhost":
            addresses = ["127.0.0.1", "::1"]
        else:
            return look_up(host, asked_port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
        found = [look_up(one, asked_port, type=socket.SOCK_STREAM) for one in addresses]
        return [info for infos in found for info in infos]

    async def sock_connect(loop: Any, sock: socket.socket, address: Any) -> None:
        if address[0] not in (PUBLIC, PUBLIC_V6):
            net.private.append(str(address))
            return await connect(loop, sock, address)
        if sock.family == socket.AF_INET6:
            raise ConnectionRefusedError("this machine has no IPv6")
        return await connect(loop, sock, ("127.0.0.1", port))

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", sock_connect)
