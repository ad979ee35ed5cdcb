"""Which user of this machine is at the other end of a loopback connection, on Linux.

The kernel is asked for one socket, or lists all of them where it may not be asked: the list of a
busy machine takes long. Only connected sockets count: of a socket that its process has closed, the
kernel may say that it belongs to root.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from asyncio.trsock import TransportSocket
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from ipaddress import IPv6Address, ip_address
from pathlib import Path
from typing import Final

Endpoint = tuple[str, int]
Socket = socket.socket | TransportSocket

CONNECTED: Final = 1
ESTABLISHED: Final = "01"  # how the kernel's tables write it
SOCK_DIAG: Final = 4  # the netlink protocol; the numbers that follow are of linux/inet_diag.h
BY_FAMILY: Final = 20
ANY_COOKIE: Final = b"\xff" * 8
TABLES: Final = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


@dataclass(frozen=True)
class Peer:
    """The two ends of a connection, as the kernel knows them: no header changes them."""

    theirs: Endpoint | None
    ours: Endpoint | None
    socket: Socket | None = None

    @cached_property
    def is_own_user(self) -> bool:
        """Return whether the user who runs the gateway, or root, opened this connection here."""
        if self.theirs is None or self.ours is None or not is_loopback(self.theirs[0]):
            return False
        if sys.platform != "linux":
            return True  # the user cannot be found out there
        # Looked at last: once a connection has ended, its port may be somebody else's by now.
        return uid_of(self.theirs, self.ours) in (os.geteuid(), 0) and is_connected(self.socket)


def is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        address = ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return (mapped or address).is_loopback


def is_connected(connection: Socket | None) -> bool:
    """Return whether neither end has closed a connection."""
    if connection is None:
        return False
    try:
        return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == CONNECTED
    except OSError:
        return False


def uid_of(theirs: Endpoint, ours: Endpoint) -> int | None:
    """Return the user id that owns the socket of the other end, or None if it is not connected."""
    forms = list(zip(_forms(theirs), _forms(ours), strict=True))
    try:
        return _asked(*forms[0])
    except OSError:
        return _listed({(_hex(a), _hex(b)) for a, b in forms})


def _asked(local: Endpoint, remote: Endpoint) -> int | None:
    """Ask the kernel for one socket; raises OSError if it has none, or may not be asked."""
    family = socket.AF_INET6 if ":" in local[0] else socket.AF_INET
    source, target = (socket.inet_pton(family, end[0]).ljust(16, b"\0") for end in (local, remote))
    ends = struct.pack("!HH", local[1], remote[1]) + source + target
    asked = struct.pack("=BBxxI", family, socket.IPPROTO_TCP, 1 << CONNECTED) + ends
    asked += bytes(4) + ANY_COOKIE
    head = struct.pack("=IHHII", 16 + len(asked), BY_FAMILY, 1, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, SOCK_DIAG) as kernel:
        kernel.sendto(head + asked, (0, 0))
        answer = kernel.recv(1024, socket.MSG_DONTWAIT)
    if struct.unpack_from("=H", answer, 4)[0] != BY_FAMILY or answer[20:56] != ends:
        raise OSError("the kernel has no such socket")
    uid, inode = struct.unpack_from("=II", answer, 80)
    return uid if answer[17] == CONNECTED and inode else None


def _listed(wanted: set[tuple[str, str]]) -> int | None:
    for row in _rows():
        # number, local address, remote address, state, queues, timer, retransmits, uid, 0, inode
        if len(row) > 9 and (row[1], row[2]) in wanted:
            connected = row[3] == ESTABLISHED and row[9] != "0"
            return int(row[7]) if connected else None
    return None


def _rows() -> Iterator[list[str]]:
    for table in TABLES:
        try:
            lines = table.read_text("ascii").splitlines()
        except OSError:
            continue
        for line in lines:
            yield line.split()


def _forms(end: Endpoint) -> tuple[Endpoint, Endpoint]:
    """Return an address as IPv4 if it is one, and as IPv6."""
    address = ip_address(end[0])
    if isinstance(address, IPv6Address):
        plain = address.ipv4_mapped
        return (str(plain or address), end[1]), (str(address), end[1])
    return (str(address), end[1]), (f"::ffff:{address}", end[1])


def _hex(end: Endpoint) -> str:
    """Write an address as the kernel does: each 32-bit word in the machine's own byte order."""
    family = socket.AF_INET6 if ":" in end[0] else socket.AF_INET
    packed = socket.inet_pton(family, end[0])
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    text = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{text}:{end[1]:04X}"
