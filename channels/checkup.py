"""What a check of a running system can find: known troubles with their remedies, and results.

`tapeway doctor`, `tapeway init` and the tables in the documentation all show these texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["ok", "note", "warning", "failure"]
"""ok: as it should be; note: worth knowing; warning: works with limits; failure: does not work."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A known trouble.

    id      its name in JSON and in the documentation, as in "telegram.privacy_mode"
    sign    what a person notices, one sentence
    cause   why it is so, one sentence
    remedy  what to do about it, one or two sentences
    """

    id: str
    sign: str
    cause: str
    remedy: str

    def sentence(self, detail: str = "") -> str:
        """Return the whole text, as logs and errors show it; `detail` follows the sign."""
        sign = f"{self.sign.rstrip('.')} ({detail})." if detail else self.sign
        return f"{sign} {self.cause} {self.remedy}"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check, as in "telegram.token"; `trouble` is None where nothing is wrong.

    `says` is one line about this very system: numbers, names and paths, never a secret.
    """

    check: str
    state: State
    says: str
    trouble: Trouble | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Checkup:
    """What a platform says of a bot: its name there, a link that invites it, and the results.

    bot_id  as `Channel.bot_id`
    """

    channel: str
    bot: str
    invite: str
    results: tuple[CheckResult, ...]
    bot_id: str = ""
