"""Which internet addresses are public: the only ones that a page may be fetched from.

An IPv6 address that stands for an IPv4 address is as public as the IPv4 address is.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

_CLOSED_V4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this machine
        "10.0.0.0/8",
        "100.64.0.0/10",  # behind a provider's NAT
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's metadata
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
    )
)
_OPEN_V6: Final = IPv6Network("2000::/3")  # all that has been handed out
_CLOSED_V6: Final = tuple(
    IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20")
)
_IPV4_INSIDE: Final = (
    (IPv6Network("::/96"), 0),
    (IPv6Network("::ffff:0:0/96"), 0),  # mapped
    (IPv6Network("::ffff:0:0:0/96"), 0),  # translated
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64
    (IPv6Network("2002::/16"), 80),  # 6to4
)
"""Networks whose addresses hold an IPv4 address, with the number of bits that follow it."""

_ISATAP: Final = (0x00005EFE, 0x02005EFE)


def is_public(text: str) -> bool:
    """Return whether an address is public; one with a zone, or none at all, is not."""
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_V4)
    return not address.scope_id and _is_public_v6(address)


def _is_public_v6(address: IPv6Address) -> bool:
    number = int(address)
    for network, bits in _IPV4_INSIDE:
        if address in network:
            return is_public(str(IPv4Address(number >> bits & 0xFFFFFFFF)))
    if (number >> 32) & 0xFFFFFFFF in _ISATAP and not is_public(
        str(IPv4Address(number & 0xFFFFFFFF))
    ):
        return False
    return address in _OPEN_V6 and not any(address in network for network in _CLOSED_V6)
