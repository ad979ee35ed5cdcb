"""Take secrets out of a text that arrives in pieces."""

from __future__ import annotations

from gateway.redaction.redactor import SHOWN_CHARACTERS, Redactor


class RedactedStream:
    """Cleans a text that arrives in pieces; it holds back what may become a secret."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = self._held = ""

    def push(self, delta: str) -> str:
        """Return the next part of the clean text."""
        text = self._redactor.clean(self._shown + self._held + delta)
        shown = self._shown
        start = next((n for n, char in enumerate(shown) if text[n : n + 1] != char), len(shown))
        end = max(start, len(text) - self._redactor.held_back(text))
        self._shown, self._held = text[max(0, end - SHOWN_CHARACTERS) : end], text[end:]
        return text[start:end]

    def rest(self) -> str:
        """Return what was held back: what follows is another text."""
        text, self._shown, self._held = self._held, "", ""
        return text
