"""The way to model servers that the environment sets: proxies, exceptions from them, certificates.

These variables are those of other programs, so they are read here only, as curl and Python do: a
name in lower case wins, and HTTP_PROXY is no proxy where REQUEST_METHOD is set (a CGI program).
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

PUBLIC: Final = "https://api.openai.com/v1"
"""Where requests go if no server is named."""

PROXIES: Final = ("http_proxy", "https_proxy", "all_proxy")
SCHEMES: Final = ("http", "https")
NO_PROXY: Final = "no_proxy"
CERTIFICATES: Final = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment that says something of the network."""

    name: str
    value: str

    def is_proxy(self) -> bool:
        return self.name.lower() in PROXIES

    def address(self) -> str:
        """Return a proxy's address with its scheme, as the HTTP library completes it."""
        return self.value if "://" in self.value else f"http://{self.value}"

    def shown(self) -> str:
        """Return the value without a user and password."""
        return self.bare() or "(no address)" if self.is_proxy() else self.value

    def bare(self) -> str:
        """Return a proxy's address without its user and password; "" if it has none."""
        try:
            parts = urlsplit(self.address())
            return f"{parts.hostname}:{parts.port or 80}" if parts.hostname else ""
        except ValueError:
            return ""


def network_variables(environ: Mapping[str, str]) -> list[Variable]:
    """Return the variables that are set and in use, proxies first."""
    found = [_in_use(environ, name) for name in (*PROXIES, NO_PROXY)]
    found += [Variable(name, environ.get(name, "").strip()) for name in CERTIFICATES]
    return [one for one in found if one.value]


def _in_use(environ: Mapping[str, str], name: str) -> Variable:
    if environ.get(name, "").strip():
        return Variable(name, environ[name].strip())
    upper = name.upper()
    is_cgi = name == "http_proxy" and "REQUEST_METHOD" in environ
    return Variable(upper, "" if is_cgi else environ.get(upper, "").strip())


def unusable(variable: Variable) -> str:
    """Return what is wrong with a variable, with the remedy; "" if it can be used."""
    if variable.is_proxy():
        return next(_wrong_proxy(variable), "")
    return next(_wrong_certificates(variable), "") if variable.name in CERTIFICATES else ""


def _wrong_proxy(one: Variable) -> Iterator[str]:
    scheme = one.address().partition("://")[0].lower()
    if scheme not in SCHEMES:
        # The value may hold a password, so only its scheme is said.
        known = "SOCKS proxies cannot be used" if scheme.startswith("socks") else "it is unknown"
        yield (
            f"{one.name} names a proxy with the scheme {scheme}://, but {known}: set it to an"
            " http:// or https:// proxy, or remove it"
        )
    elif not one.bare():
        yield (
            f"{one.name} is not the address of a proxy: set it like {one.name}=http://proxy:3128,"
            " or remove it"
        )


def _wrong_certificates(one: Variable) -> Iterator[str]:
    path = Path(one.value)
    is_file = one.name == "SSL_CERT_FILE"
    remedy = "correct the path, or remove the variable"
    try:
        if not (path.is_file() if is_file else path.is_dir()):
            kind = "file" if is_file else "folder"
            yield f"{one.name} names {path}, which is no {kind} that can be read: {remedy}"
        elif is_file:
            ssl.create_default_context(cafile=str(path))
    except (OSError, ValueError) as cause:
        why = getattr(cause, "strerror", None) or "it holds no certificate"
        yield f"{one.name} names {path}, which cannot be used ({why}): {remedy}"


def used_for(url: str, variables: Sequence[Variable]) -> list[Variable]:
    """Return the variables that matter for requests to a URL, the proxy's first."""
    proxy = proxy_for(url, variables)
    secure = f"{url} {proxy.address() if proxy else ''}".lower().count("https://") > 0
    certificates = [one for one in variables if one.name in CERTIFICATES and secure]
    return [*([proxy] if proxy else []), *certificates]


def proxy_for(url: str, variables: Sequence[Variable]) -> Variable | None:
    """Return the variable whose proxy requests to a URL go through, if any."""
    given = {one.name.lower(): one for one in variables}
    proxy = given.get(f"{urlsplit(url).scheme}_proxy") or given.get("all_proxy")
    exceptions = given[NO_PROXY].value if NO_PROXY in given else ""
    return None if proxy is None or is_excepted(url, exceptions) else proxy


def is_excepted(url: str, exceptions: str) -> bool:
    """Return whether a URL is one of the exceptions of NO_PROXY: names, addresses, networks."""
    parts = urlsplit(url)
    host = (parts.hostname or "").lower()
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return any(
        _fits(host, port, one.strip().lower()) for one in exceptions.split(",") if one.strip()
    )


def _fits(host: str, port: int, exception: str) -> bool:
    with suppress(ValueError):
        return ip_address(host) in ip_network(exception.strip("[]"), strict=False)
    name, colon, given = exception.rpartition(":")
    if colon and given.isdigit():
        return int(given) == port and _fits(host, port, name)
    name = exception.removeprefix("*").removeprefix(".")
    return exception == "*" or host == name or (name != "" and host.endswith(f".{name}"))
