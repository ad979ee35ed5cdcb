"""How a model reads names: in one line, and without anything that could look like a header."""

from __future__ import annotations

import re
from typing import Final

MAX_NAME: Final = 64

_UNFIT: Final = re.compile(
    # Control characters, line breaks and brackets, then what is invisible or reverses the text.
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\\[\\]\uff3b\uff3d"
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]+"
)


_MARKS: Final = re.compile('[#\uff03\ufe5f,\uff0c"\uff02\u201c-\u201f]')
"""What stands between the parts of a header: a name with it could pass for more than a name."""


def fit(text: str, most: int = 80) -> str:
    """Return a text in one line, without brackets and invisible characters, and not too long."""
    return _UNFIT.sub(" ", text).strip()[:most]


def fit_quote(text: str, most: int = 80) -> str:
    """Return a text for between quotation marks, which it cannot end."""
    return fit(text, most).replace('"', "'")


def fit_label(label: str) -> str:
    """Return what people call a part of a message, without what could pass for more than that."""
    return " ".join(fit(_MARKS.sub(" ", label).replace(":", " "), MAX_NAME).split()) or "part"


def shown_name(name: str, number: int | None) -> str:
    """Return a person's short number in the chat, if there is one, and their name."""
    # A name must not look like somebody's number, or like a name and what it replies to.
    flat = " ".join(fit(_MARKS.sub(" ", name), MAX_NAME).split())
    if not number and flat.casefold() == "you":  # that is the agent
        flat = ""
    return f"{f'#{number}' if number else ''} {flat}".strip() or "somebody"
