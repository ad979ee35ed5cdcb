"""URLs that lead to private addresses in as many ways as we know."""

# ruff: noqa: RUF001, SIM905
from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address

PRIVATE = (
    "127.0.0.1 127.1.2.3 127.255.255.254 10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.254"
    " 192.168.0.1 192.168.255.254 169.254.169.254 169.254.170.2 100.64.0.1 100.100.100.200"
    " 100.127.255.254 0.0.0.0 0.1.2.3 192.0.0.1 192.0.0.170 198.18.0.1 198.19.255.255 224.0.0.1"
    " 239.255.255.250 240.0.0.1 255.255.255.255 192.88.99.1 203.0.113.9 168.63.129.16"
).split()
PRIVATE_V6 = (
    "::1 :: fe80::1 febf::1 fec0::1 fc00::1 fd00:ec2::254 fdff::1 ff02::1 ff0e::1 2001::1"
    " 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1"
    " 3fff::1 64:ff9b:1::1 100::1 5f00::1 4000::1 0:0:0:0:0:0:0:1 0000::0001 FE80::1 FD00::1"
).split()
SCHEMES = (
    "file:///etc/passwd file://127.0.0.1/etc/passwd ftp://127.0.0.1/ gopher://127.0.0.1:6379/_x"
    " dict://127.0.0.1:11211/stat ws://127.0.0.1/ wss://127.0.0.1/ data:text/html,x"
    " javascript:alert(1) unix:///var/run/docker.sock ldap://127.0.0.1/ tftp://127.0.0.1/x jar:x"
    " netdoc:///etc/passwd view-source:http://127.0.0.1/ HTTP+UNIX://x http:127.0.0.1 http:///x"
    " http://[::1]@"
    " //127.0.0.1/ 127.0.0.1 http:// https:// blob:http://127.0.0.1/x about:blank"
).split()
_CIRCLED = str.maketrans("0123456789", "⓪①②③④⑤⑥⑦⑧⑨")
_WIDE = str.maketrans("0123456789.", "０１２３４５６７８９。")


def of_an_ipv4(text: str, port: int) -> Iterator[str]:
    """Yield URLs that a server or a library may take for an IPv4 address."""
    address = IPv4Address(text)
    number, parts = int(address), [int(part) for part in text.split(".")]
    a, b, c, d = parts
    hosts = [
        text,
        f"{text}.",
        str(number),
        hex(number),
        f"0{number:o}",
        ".".join(map(hex, parts)),
        ".".join(f"0{part:o}" for part in parts),
        ".".join(f"000{part:o}" for part in parts),
        f"{a}.{number & 0xFFFFFF}",
        f"{a}.{b}.{number & 0xFFFF}",
        f"0x{a:x}.{b}.0{c:o}.{d}",
        f"{a + 256}.{b}.{c}.{d}",
        str(number + 2**32),
        text.translate(_CIRCLED),
        text.translate(_WIDE),
        "".join(f"%{ord(char):02x}" for char in text),
    ]
    for host in hosts:
        yield f"http://{host}:{port}/"
    yield f"https://{text}:{port}/"
    yield f"http://good.example@{text}:{port}/"
    yield f"http://good.example:80@{text}:{port}/"
    yield f"http://{text}:{port}/@good.example"
    yield f"http://good.example\\@{text}:{port}/"
    yield f"http://{text}:{port}\\@good.example/"
    yield f"http://{text}:{port}#@good.example/"
    yield f"http://{text}%00.good.example:{port}/"
    yield f"http://{text}%0d%0aHost:x:{port}/"
    yield f" http://{text}:{port}/"
    yield f"HTTP://{text}:{port}/"
    low, high = number & 0xFFFF, number >> 16
    for inside in (
        f"::ffff:{text}",
        f"::ffff:{high:x}:{low:x}",
        f"0:0:0:0:0:FFFF:{high:x}:{low:x}",
        f"::{high:x}:{low:x}",
        f"::ffff:0:{high:x}:{low:x}",
        f"64:ff9b::{high:x}:{low:x}",
        f"2002:{high:x}:{low:x}::1",
        f"2001:0:1:1:0:0:{high ^ 0xFFFF:x}:{low ^ 0xFFFF:x}",
        f"fe80::5efe:{high:x}:{low:x}",
        f"2606:4700::5efe:{high:x}:{low:x}",
        f"::ffff:{text}%25lo",
    ):
        yield f"http://[{inside}]:{port}/"


def of_an_ipv6(text: str, port: int) -> Iterator[str]:
    """Yield URLs of an IPv6 address, with and without a zone."""
    whole = IPv6Address(text).exploded
    for host in (text, whole, whole.upper(), f"{text}%25lo", f"{text}%lo", f"{text}%1"):
        yield f"http://[{host}]:{port}/"


def urls(port: int) -> list[str]:
    v4 = [url for address in PRIVATE for url in of_an_ipv4(address, port)]
    return [*v4, *(url for address in PRIVATE_V6 for url in of_an_ipv6(address, port)), *SCHEMES]
