"""Which rule decides about a message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent.tool import Role
from channels.message import Author
from gateway.access.access import Access
from gateway.settings import AccessSettings
from gateway.storage.ledger.access import AccessRule
from tests.kit.plain_channels import MESSAGE

PRIVATE = replace(MESSAGE, chat_kind="private", chat_id="7")
THREAD = replace(MESSAGE, chat_id="99", parent_id="-100", server_id="500")


def access_of(*rules: AccessRule, mode: str = "paired", allow: str = "", **more: Any) -> Access:
    settings = AccessSettings.model_validate({"mode": mode, "allow": allow})
    return Access(settings, rules=rules, **more)


@pytest.mark.parametrize(
    ("mode", "allow", "group", "private"),
    [
        ("paired", "", None, None),
        ("paired", "plain:-100", Role.MEMBER, None),
        ("paired", "plain:7", None, Role.MEMBER),
        ("paired", "other:7,plain:8", None, None),
        ("paired", "plain:123456789", None, None),
        ("open", "", Role.STRANGER, Role.STRANGER),
        ("open", "plain:-100,plain:7", Role.MEMBER, Role.MEMBER),
    ],
)
def test_closed_by_default_and_by_ids_never_by_names(
    mode: str, allow: str, group: Role | None, private: Role | None
) -> None:
    access = access_of(mode=mode, allow=allow)
    for message, role in ((MESSAGE, group), (PRIVATE, private)):
        decision = access.decide(message)
        assert decision.allowed == (role is not None)
        assert decision.role == (role or decision.role)


def test_a_listed_person_is_let_in_in_private_and_opens_no_group() -> None:
    access = access_of(AccessRule("plain", "7", "owner"))
    assert access.decide(PRIVATE).allowed
    decision = access.decide(MESSAGE)
    assert (decision.allowed, decision.role) == (False, Role.OWNER)


async def test_a_rule_that_is_made_while_an_older_answer_is_on_its_way_holds() -> None:
    access, rule = access_of(), AccessRule("plain", "7", "owner")
    kept: list[AccessRule] = []

    async def read_all() -> list[AccessRule]:
        answer = list(kept)
        if not kept:
            kept.append(rule)
            access.put(rule)
        return answer

    await access.read(read_all)
    assert access.decide(PRIVATE).role == Role.OWNER


def test_a_chat_with_a_new_id_keeps_its_place_on_the_list() -> None:
    aliases: dict[str, str] = {}
    access = access_of(allow="plain:-5", aliases=aliases)
    assert not access.decide(MESSAGE).allowed
    aliases["plain:-100"] = "plain:-5"
    assert access.decide(MESSAGE).rule == "the chat is on the allowlist"
    aliases["plain:-100"] = "plain:-6"
    assert not access.decide(MESSAGE).allowed


def test_the_owner_is_whom_the_platform_proves() -> None:
    decision = access_of().decide(replace(MESSAGE, owner=True))
    assert (decision.allowed, decision.role) == (True, Role.OWNER)


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ({"-100": "member"}, True),
        ({"500": "member"}, True),
        ({"500": "member", "-100": "none"}, False),
        ({"500": "member", "-100": "none", "99": "member"}, True),
        ({"-100": "member", "99": "none"}, False),
    ],
)
def test_a_private_thread_has_its_parent_s_access_unless_it_has_its_own(
    rules: dict[str, Any], allowed: bool
) -> None:
    made = [AccessRule("plain", one, role) for one, role in rules.items()]
    assert access_of(*made).decide(THREAD).allowed == allowed


@pytest.mark.parametrize(
    ("author", "mode", "role"),
    [
        (Author("-100", "Team", acts_as="chat"), "paired", Role.ADMIN),
        (Author("-100", "Team", acts_as="chat"), "open", Role.ADMIN),
        (Author("7", "Ann"), "paired", Role.MEMBER),
        (Author("-900", "News", acts_as="other"), "paired", Role.STRANGER),
        (Author("8", "Hook", acts_as="other"), "paired", Role.STRANGER),
        (Author("8", "Owner"), "paired", Role.OWNER),
        (Author("9", "Named"), "paired", Role.ADMIN),
    ],
)
def test_who_writes_for_a_chat_is_its_admin_and_other_chats_are_strangers(
    author: Author, mode: str, role: Role
) -> None:
    rules = [AccessRule("plain", "8", "owner"), AccessRule("plain", "9", "admin")]
    opened = [AccessRule("plain", "-100", "member")] if mode == "paired" else []
    decision = access_of(*rules, *opened, mode=mode).decide(replace(MESSAGE, sender=author))
    assert (decision.allowed, decision.role) == (True, role)


def test_an_anonymous_admin_owns_nothing_even_if_the_chat_is_named_as_an_owner() -> None:
    said = replace(MESSAGE, sender=Author("-100", "Team", acts_as="chat"))
    access = access_of(AccessRule("plain", "-100", "owner"))
    assert access.decide(said).role < Role.OWNER
    assert not access.decide(said).allowed


def test_an_owner_owns_the_account_that_the_code_was_sent_to_and_no_other() -> None:
    access = access_of(AccessRule("plain:T1", "7", "owner"))
    assert access.decide(replace(PRIVATE, account="T1")).role is Role.OWNER
    for account in ("T2", ""):
        assert not access.decide(replace(PRIVATE, account=account)).allowed
    assert (
        access_of(AccessRule("plain", "7", "owner")).decide(replace(PRIVATE, account="T1")).allowed
    )


@pytest.mark.parametrize("mode", ["paired", "open"])
def test_a_rule_overrules_the_settings_and_holds_for_the_next_message(mode: str) -> None:
    access = access_of(mode=mode, allow="plain:-100")
    assert access.decide(MESSAGE).allowed
    access.put(AccessRule("plain", "-100", "none"))
    assert not access.decide(MESSAGE).allowed
    access.put(AccessRule("plain", "-100", "member"))
    assert access.decide(MESSAGE).allowed
    assert [rule.id for rule in access.rules()] == ["-100"]
