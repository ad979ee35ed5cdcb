"""The HTTP client for a model server: no redirect, and the proxy that the environment sets."""

from __future__ import annotations

import os
from typing import Final
from urllib.parse import urlsplit

import aiohttp
import httpx2
from openai import DefaultAioHttpClient

from agent.errors import NetworkUnusable
from agent.models.network import network_variables, proxy_for, unusable, used_for

PROXY_ERRORS: Final = (aiohttp.ClientProxyConnectionError, aiohttp.ClientHttpProxyError)


def http_client(url: str) -> httpx2.AsyncClient:
    """Return a client for one server that follows no redirect, on the way that is set.

    Raises NetworkUnusable with what to correct.
    """
    variables = network_variables(os.environ)
    used = used_for(url, variables)
    for sentence in filter(None, map(unusable, used)):
        raise NetworkUnusable(sentence)
    proxy = proxy_for(url, variables)
    # The SDK's own transport uses more CPU than aiohttp.
    return DefaultAioHttpClient(
        follow_redirects=False,
        trust_env=False,
        verify=httpx2.create_ssl_context(trust_env=len(used) > (proxy is not None)),
        proxy=proxy.address() if proxy else None,
    )


def broken_proxy(cause: BaseException, url: str) -> str:
    """Return a sentence about the proxy that an error is about; "" if it is about none."""
    found: BaseException | None = cause
    while found is not None and not isinstance(found, PROXY_ERRORS):
        found = found.__cause__
    proxy = proxy_for(url, network_variables(os.environ))
    if found is None or proxy is None:
        return ""
    host = urlsplit(url).hostname
    if status := getattr(found, "status", 0):
        return (
            f"the proxy {proxy.bare()} answers with {status}: correct {proxy.name}, or remove it;"
            f" NO_PROXY may name {host}, which is then reached without it"
        )
    return (
        f"the proxy {proxy.bare()} is not there: correct {proxy.name}, or remove it; NO_PROXY may"
        f" name {host}, which is then reached without it"
    )
