"""What Discord's error codes mean for a message.

Codes: https://discord.com/developers/docs/topics/opcodes-and-status-codes#json-json-error-codes
A form error (50035) has the faults of each field in `errors`; its rows are `50035/` and the field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from channels.discord.troubles import (
    ANSWER_REFUSED,
    BLOCKED_BY_RULE,
    NO_PERMISSION,
    NO_PRIVATE_CHAT,
    PLACE_GONE,
    THREAD_LOCKED,
)
from channels.refusals import Row, Table

_CODES: Final = "Discord, JSON Error Codes"
_MESSAGES: Final = "Discord, Create Message"
_INTERACTIONS: Final = "Discord, Receiving and Responding to Interactions"

REPLY_FORM: Final = "50035/message_reference"
TEXT_FORM: Final = "50035/content"

ROWS: Final = (
    # The reply
    Row((REPLY_FORM, "160002", "50021"), _MESSAGES, ANSWER_REFUSED, send="unreplied"),
    # The place
    Row(("50083",), _CODES, THREAD_LOCKED, send="reopened", edit="reopened", closed=True),
    Row(("160005",), _CODES, THREAD_LOCKED, send="token", closed=True),
    Row(("10003",), _CODES, PLACE_GONE, send="chat", edit="gone", closed=True),
    Row(("10004",), _CODES, PLACE_GONE, closed=True),
    Row(
        ("50001", "50013", "50008", "50024", "40058"),
        _CODES,
        NO_PERMISSION,
        send="token",
        edit="token",
        closed=True,
    ),
    Row(("50007", "50278", "20009"), _CODES, NO_PRIVATE_CHAT, send="token", closed=True),
    # The message to be changed
    Row(("10008", "50005"), _CODES, ANSWER_REFUSED, send="unreplied", edit="gone"),
    Row(("30046", "520003"), _CODES, ANSWER_REFUSED, edit="new"),
    # The form
    Row((TEXT_FORM,), _MESSAGES, ANSWER_REFUSED, send="parts", edit="parts", interaction="bare"),
    Row(("40005",), _CODES, ANSWER_REFUSED, send="parts", edit="parts"),
    Row(
        ("50035", "50006", "50109", "0"),
        _CODES,
        ANSWER_REFUSED,
        send="bare",
        edit="bare",
        interaction="bare",
    ),
    # The content
    Row(("200000", "240000"), _CODES, BLOCKED_BY_RULE),
    # The pace, and trouble on Discord's side
    Row(
        ("20016", "20028", "20029", "130000", "40004"),
        _CODES,
        ANSWER_REFUSED,
        send="wait",
        edit="wait",
        delete="wait",
        interaction="wait",
    ),
    # The interaction: too late, answered already, or its token is used up
    Row(("10062", "10015", "40060", "50027"), _INTERACTIONS, ANSWER_REFUSED),
)
TABLE: Final = Table(ROWS, ANSWER_REFUSED)

IN_FRONT: Final = 40333
"""The code of Cloudflare in front of Discord ("internal network error"): not Discord's word."""


def codes_of(reason: Mapping[str, Any]) -> list[str]:
    """Return the codes of a refusal: those of the fields at fault first, then Discord's own."""
    code = reason.get("code")
    own = str(code) if isinstance(code, int) else ""
    return [*(f"{own}/{name}" for name in _fields(reason.get("errors"))), own]


def _fields(errors: Any) -> Iterator[str]:
    if isinstance(errors, Mapping):
        yield from (str(name) for name in errors if name != "_errors")


def is_discords(reason: Mapping[str, Any]) -> bool:
    """Return whether an answer has the form of Discord's errors."""
    return isinstance(reason.get("code"), int) and reason["code"] != IN_FRONT
