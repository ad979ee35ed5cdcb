"""The console's page and its files: what it shares with other pages, and how they are kept."""

from __future__ import annotations

import re

import httpx2
import pytest

from channels.web.outbound import KEPT, TYPES
from gateway.app import Gateway
from tests.kit.gateways import ROOT

MAX_BYTES = 300_000


@pytest.mark.settings(WEB__ENABLED="false")
async def test_the_page_s_files_are_asked_for_once_and_those_of_another_version_each_time(
    gateway: Gateway,
) -> None:
    async with httpx2.AsyncClient(base_url=gateway.url, trust_env=False) as web:
        page = await web.get("/console")
        named = re.findall(r'(?:href|src)="(/[^"]+\.(?:css|js|svg))"', page.text)
        files = {path: await web.get(path) for path in named}
        own = [path for path in named if path.startswith("/console/assets/v")]
        other = await web.get(re.sub(r"/v\w{12}/", f"/v{'0' * 12}/", own[0]))
        absent = await web.get("/console/assets/../pages.py")
    assert page.headers["cache-control"] == "no-cache"
    assert "/static/colours.css" in files
    assert "<symbol" in page.text
    assert "<!--" not in page.text
    assert {path: found.status_code for path, found in files.items()} == dict.fromkeys(named, 200)
    assert {files[path].headers["cache-control"] for path in own} == {KEPT}
    assert (other.text, other.headers["cache-control"]) == (files[own[0]].text, "no-cache")
    assert absent.status_code == 404


def test_the_whole_console_is_light() -> None:
    assets = (ROOT / "gateway" / "console" / "assets").rglob("*.*")
    assert sum(one.stat().st_size for one in assets if one.suffix[1:] in TYPES) < MAX_BYTES
