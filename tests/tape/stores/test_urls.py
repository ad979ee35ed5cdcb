"""The addresses of stores, and what is said of one that libpq cannot read."""

from __future__ import annotations

import pytest

from tape.errors import StoreUnavailable, StoreUnusable
from tape.stores.postgres.database import PostgresDatabase, connection_target
from tape.stores.registry import dialect_of, is_tapes_only
from tape.stores.urls import canonical


@pytest.mark.parametrize(
    ("given", "known"),
    [
        ("postgres://a@h/db", "postgresql://a@h/db"),
        ("Postgres://a@h/db", "postgresql://a@h/db"),
        (" postgresql://a@h/db", "postgresql://a@h/db"),
        ("sqlite:///srv/a.db", "sqlite:///srv/a.db"),
        ("mysql://h/db", "mysql://h/db"),
        ("", ""),
    ],
)
def test_another_name_of_a_scheme_is_known(given: str, known: str) -> None:
    assert canonical(given) == known


def test_a_store_is_found_by_either_name() -> None:
    assert dialect_of("postgres://h/db") == "postgres"
    assert not is_tapes_only("postgres://h/db")
    with pytest.raises(StoreUnusable, match="mysql"):
        is_tapes_only("mysql://h/db")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("postgresql://joe:canary@h/db?sslmod=canary", "invalid URI query parameter"),
        ("postgresql://joe:can%zzary@h/db", "invalid percent-encoded token"),
        ("postgresql://joe:canary@[::1/db", 'looking for matching "]" in IPv6 host'),
        ("postgresql:canary", 'missing "=" after "..."'),
        ('postgresql://joe:"canary"@[h/db', "gives no reason without its values"),
        ("postgresql://joe:canary%00@h/db", "forbidden value"),
    ],
)
def test_libpq_s_reason_is_said_without_values(url: str, reason: str) -> None:
    with pytest.raises(StoreUnusable) as caught:
        connection_target(url)
    said = f"{caught.value} {caught.value.__cause__}"
    assert reason in said
    assert "canary" not in said
    assert "like postgresql://tapeway@" in said


def test_a_password_in_the_port_s_place_is_not_said() -> None:
    with pytest.raises(StoreUnavailable) as caught:
        PostgresDatabase.open("postgresql://127.0.0.1:canary/db", [])
    assert "canary" not in str(caught.value)
