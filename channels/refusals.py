"""What to do after a platform has refused a request: the rows of each platform's table.

A refusal is the platform's own word that nothing was carried out. Each platform has a table in its
`refusals.py`, whose rows name where their codes are documented. For a code that no row names, one
more try is made in the barest form. Pages of something in front of the platform are no refusals:
see `channels.errors.NotThePlatform`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, get_args

from channels.checkup import Trouble

Operation = Literal["send", "edit", "delete", "stream", "interaction"]
OPERATIONS: Final[tuple[Operation, ...]] = get_args(Operation)

Step = Literal[
    "wait",  # nothing was done; the same request again, with back-off
    "unreplied",  # without the reply, or outside a thread that takes no more
    "reopened",  # once the thread is reopened
    "chat",  # in the chat instead of a thread that is gone
    "unstreamed",  # without the stream: by edits of the same message, or as a message
    "plain",  # without formatting
    "bare",  # the text and nothing else
    "parts",  # in smaller parts
    "token",  # by the token of the interaction that is answered
    "gone",  # a new message: there is none to change any more
    "new",  # a new message, and the one that cannot be changed is deleted
    "done",  # nothing: it is as wanted
    "give_up",  # give up, and notify the person
]


@dataclass(frozen=True, slots=True)
class Row:
    """What some codes of a platform mean.

    codes    error codes, or words of the description where the platform has no codes
    source   where they are documented
    closed   whether the chat takes nothing of the agent, not even a sentence about it
    trouble  what explains it to the person once it is given up
    """

    codes: tuple[str, ...]
    source: str
    trouble: Trouble
    send: Step = "give_up"
    edit: Step = "give_up"
    delete: Step = "done"  # what cannot be deleted stays
    stream: Step = "unstreamed"
    interaction: Step = "give_up"
    closed: bool = False

    def step(self, operation: Operation) -> Step:
        found: Step = getattr(self, operation)
        return found


class Coded(Protocol):
    """A refusal, with the row of its code."""

    @property
    def row(self) -> Row: ...


class Table:
    """The rows of one platform; `unknown` is the row of codes that none of them names."""

    def __init__(self, rows: Sequence[Row], unknown: Trouble) -> None:
        self.rows = tuple(rows)
        bare: Step = "bare"
        self.unknown = Row((), "", unknown, send=bare, edit=bare, interaction=bare)
        self._by_code = {code: row for row in rows for code in row.codes}

    def of(self, *codes: str) -> Row:
        """Return the row of the first code that has one."""
        return next((self._by_code[one] for one in codes if one in self._by_code), self.unknown)

    def described(self, text: str) -> Row:
        """Return the row whose words occur in a description, whatever their case."""
        said = text.lower()
        words = (code for code in self._by_code if code.lower() in said)
        return self.of(*sorted(words, key=len, reverse=True))


@dataclass(slots=True)
class Forms:
    """The forms in which one request has been tried, each once."""

    operation: Operation
    tried: list[Step] = field(default_factory=list)

    def after(self, refused: Coded, open_to: Collection[str]) -> Step:
        """Return the next step; a form that is impossible here or was tried leads to the next.

        `open_to` are the other forms that the request can take now.
        """
        row = refused.row
        step = row.step(self.operation)
        if step in _FORMS and (step in self.tried or step not in open_to):
            if row.closed:
                step = "give_up"
            elif "bare" in open_to and "bare" not in self.tried:
                step = "bare"
            else:
                step = "new" if self.operation == "edit" else "give_up"
        self.tried.append(step)
        return step


_FORMS: Final[frozenset[Step]] = frozenset(
    ("unreplied", "reopened", "chat", "plain", "bare", "parts", "token")
)
