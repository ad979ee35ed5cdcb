"""`tapeway access` and `tapeway pair`, beside a running gateway and without one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from gateway.admin.access_admin import AccessAdmin
from gateway.app import access_admin
from gateway.cli.access.actions import pairing_lines
from gateway.errors import AdminError
from tests.gateway.cli.said import said
from tests.gateway.scheduling.opening.court import Court, court_of
from tests.kit.gateways import gateway_process, make_environ, run_tapeway


@pytest.fixture
async def court(tmp_path: Path) -> AsyncIterator[Court]:
    async with court_of(tmp_path) as found:
        yield found


async def listed(environ: dict[str, str]) -> dict[str, str]:
    """Return the role of each id that has a rule."""
    code, out, _err = await run_tapeway(environ, "access", "list", "--json")
    assert code == 0
    return {f"{rule['account_id']}:{rule['id']}": rule["role"] for rule in json.loads(out)["rules"]}


async def test_access_is_granted_and_revoked_beside_a_gateway_and_without_one(
    tmp_path: Path,
) -> None:
    environ = make_environ(tmp_path, None, ACCESS__ALLOW="telegram:5")
    assert await listed(environ) == {"telegram:5": "member"}
    await run_tapeway(environ, "access", "grant", "telegram:-100")
    async with gateway_process(environ, tmp_path) as gateway:
        await gateway.url()
        _code, out, _err = await run_tapeway(
            environ, "access", "grant", "slack:U1", "--role", "owner", "--account", "T1"
        )
        assert out == "slack:U1 is now an owner\n"
        await run_tapeway(environ, "access", "revoke", "telegram:5")
        running = await listed(environ)
        code, _out, refused = await run_tapeway(environ, "access", "grant", "@alice")
        assert (code, "channel:id" in refused) == (1, True)
        code, _out, refused = await run_tapeway(environ, "access", "grant", "a:1", "--role", "king")
        assert (code, "'owner', 'admin', 'member'" in refused) == (2, True)
        code, _out, refused = await run_tapeway(environ, "pair")
        assert (code, "no platform runs" in refused) == (1, True)
    rules = {"telegram:-100": "member", "slack:T1:U1": "owner", "telegram:5": "none"}
    assert running == rules
    assert await listed(environ) == rules
    _code, table, _err = await run_tapeway(environ, "access", "list")
    assert "slack:T1:U1    owner" in table
    await run_tapeway(environ, "access", "revoke", "slack:U1")
    assert "owner" not in (await listed(environ)).values()


def admin_of(gateway: object) -> AccessAdmin:
    return access_admin(gateway)  # type: ignore[arg-type]


async def test_a_code_of_the_terminal_pairs_and_the_terminal_revokes(court: Court) -> None:
    admin = admin_of(court.gateway)
    found = await admin.pair()
    assert pairing_lines(found)[-1] == f"  plain: Send me: pair {found['code']}"
    await court.whisper(f"pair {found['code']}", "1")
    await court.whisper("hello", "1")
    assert "hello" in court.to("1")[-1].text
    assert await admin.revoke("plain:1") == "plain:1 has no access of its own any more"
    before = len(court.to("1"))
    await court.whisper("hello again", "1")
    assert [post.text for post in court.to("1")[before:]] == [
        "I'm not enabled for you yet. Whoever runs me can let you in: your id is `plain:1`."
    ]


async def test_a_chat_that_is_granted_opens_at_once_and_is_greeted(court: Court) -> None:
    admin = admin_of(court.gateway)
    await court.say("hello?")
    with pytest.raises(AdminError, match="is a chat"):
        await admin.grant("plain:-100", "owner")
    assert await admin.grant("plain:-100") == "opened plain:-100"
    await court.gateway.idle()
    assert "I remember what is said here" in court.in_group()[-1]
    await court.say("hello now")
    assert "hello now" in court.in_group()[-1]
    await admin.revoke("plain:-100")
    await court.say("and now?")
    assert "hello now" in court.in_group()[-1]


async def test_the_first_start_after_the_upgrade_names_the_groups_that_worked(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    async with court_of(home, ACCESS__ALLOW="plain:-100") as court:
        await court.say("asked by somebody listed", "7", chat_title="Te\x1b[31mam")
    with closing(sqlite3.connect(home / "tapeway.db")) as old, old:
        old.execute("DELETE FROM access_request")
    environ = make_environ(home, None, ACCESS__ALLOW="plain:7")
    line = await said(tmp_path, environ, "`Te [31mam` (`plain:-100`)")
    assert "until the group itself is open" in line
    _code, out, _err = await run_tapeway(environ, "access", "grant", "former")
    assert out == "groups opened: 1\n"
    assert (await listed(environ))["plain:-100"] == "member"


async def test_a_chat_that_is_granted_while_no_gateway_runs_is_greeted_by_the_next(
    tmp_path: Path,
) -> None:
    async with court_of(tmp_path) as court:
        await court.say("hello?")
    environ = make_environ(tmp_path)
    _code, out, _err = await run_tapeway(environ, "access", "grant", "plain:-100")
    assert out == "opened plain:-100\n"
    async with court_of(tmp_path) as court:
        await court.gateway.idle()
        (greeting,) = court.in_group()
        assert "I remember what is said here" in greeting
        await court.say("hello now")
        assert "hello now" in court.in_group()[-1]


async def test_a_name_is_granted_nothing(court: Court) -> None:
    admin = admin_of(court.gateway)
    for name in ("telegram:bob", "discord:bob", "telegram:"):
        with pytest.raises(AdminError):
            await admin.grant(name)
        with pytest.raises(AdminError):
            await admin.revoke(name)
    assert (await admin.rules())["rules"] == []
