"""What a PostgreSQL server refuses, and what the people who look after it can do."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote

import psycopg
from psycopg import pq
from psycopg.errors import PipelineAborted

from tape.errors import UnitFailed

_QUOTED: Final = re.compile(r'"([^"]*)"')


class Refusal(NamedTuple):
    """A known refusal: its SQLSTATEs, and English words of what has none, a failed connection."""

    name: str
    states: tuple[str, ...]
    words: tuple[str, ...]
    remedy: str


REFUSALS: Final = (
    Refusal(
        "login",
        ("28P01", "28000"),
        ("password authentication failed", "no password supplied", "pg_hba.conf", 'role "'),
        "correct user and password in TAPEWAY_TAPE__URL, or admit them in the server's pg_hba.conf",
    ),
    Refusal(
        "missing",
        ("3D000",),
        ('database "',),
        "correct its name in TAPEWAY_TAPE__URL, or create it with"
        " CREATE DATABASE tapeway TEMPLATE template0 ENCODING 'UTF8'",
    ),
    Refusal(
        "starting",
        ("57P01", "57P02", "57P03"),
        ("starting up", "shutting down", "in recovery mode", "not yet accepting"),
        "wait until the server has started; a running gateway continues by itself",
    ),
    Refusal(
        "crowded",
        ("53300",),
        ("too many clients", "too many connections", "remaining connection slots"),
        "raise max_connections of the server, lower TAPEWAY_TAPE__CONNECTIONS of the processes, or"
        " end what else is connected",
    ),
    Refusal(
        "read_only",
        ("25006",),
        ("session is read-only", "hot standby", "read-only transaction"),
        "name the primary, or all hosts, in TAPEWAY_TAPE__URL, and check that"
        " default_transaction_read_only is off",
    ),
    Refusal(
        "silent",
        (),
        ("no answer for",),
        "check the network between, and any proxy in it; a server that is only slow gets more time"
        " by TAPEWAY_TAPE__ANSWER_SECONDS",
    ),
    Refusal("full", ("53100",), ("No space left",), "free some space on the server's disk"),
    Refusal(
        "timeout",
        ("57014", "55P03", "25P03", "25P04"),
        (),
        "lift the limit: ALTER ROLE tapeway SET statement_timeout = 0, and the same for"
        " lock_timeout",
    ),
    Refusal(
        "rights",
        ("42501",),
        (),
        "run SELECT let_use('ROLE') as the owner of the tables, with the gateway's role; one that"
        " is to make the tables itself has to own the database",
    ),
    Refusal(
        "pooler",
        ("26000", "42P05"),
        (),
        "restart the gateway: a PgBouncer has come between, which forgets prepared statements",
    ),
    Refusal(
        "certificate",
        (),
        ("certificate", "SSL"),
        "name the server as its certificate does, and its authority with"
        " ?sslrootcert=/path/of/ca.pem",
    ),
)

ON_THE_SERVER: Final = frozenset(
    state for one in REFUSALS if one.name in ("rights", "pooler") for state in one.states
)
"""SQLSTATEs of classes that concern a statement, but these do not: the same unit can succeed."""

PASSING: Final = frozenset({"starting", "crowded", "read_only", "silent"})
"""Refusals that end by themselves: the last is that of a standby before it takes over."""


def refusal_of(cause: BaseException | None) -> Refusal | None:
    """Return the known refusal that an error is."""
    if not isinstance(cause, psycopg.Error):
        return None
    state, said = cause.sqlstate, str(cause)
    for one in REFUSALS:
        if state in one.states or (state is None and any(word in said for word in one.words)):
            return one
    return None


def remedy_of(cause: BaseException | None, otherwise: str) -> str:
    """Return what can be done about an error."""
    known = refusal_of(cause)
    return known.remedy if known is not None else otherwise


def first_cause(cause: psycopg.Error) -> BaseException:
    """Return what was wrong first: behind it, a pipeline answers everything with an error."""
    found: BaseException = cause
    while isinstance(found, PipelineAborted) and found.__context__ is not None:
        found = found.__context__
    return found


def unit_failed(cause: psycopg.Error) -> UnitFailed:
    """Read what `unit_expects` raised."""
    expected, changed = (cause.diag.message_detail or "0 0").split()
    return UnitFailed(cause.diag.message_primary or "", int(expected), int(changed))


def is_lasting(cause: BaseException | None) -> bool:
    """Return whether somebody has to change something before an error ends."""
    known = refusal_of(cause)
    return known is not None and known.name not in PASSING


def first_line(cause: Exception) -> str:
    """Return the first line of an error's text; further ones hold statements and values."""
    return str(cause).strip().partition("\n")[0] or type(cause).__name__


def reason_without_values(cause: Exception, url: str) -> str:
    """Return why libpq cannot read a URL, without what stands in the URL: it holds the password."""
    if '"' in unquote(url):  # so the quotation marks of libpq look like those of the URL
        return "libpq gives no reason without its values"
    names = {one.keyword.decode() for one in pq.Conninfo.get_defaults()}
    says = first_line(cause).partition(': "')[0]
    return _QUOTED.sub(
        lambda found: found[0] if found[1] in names or len(found[1]) == 1 else '"..."', says
    )
