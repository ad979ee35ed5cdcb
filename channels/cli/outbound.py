"""Printing an answer while it is written: a terminal cannot take back what it shows."""

from __future__ import annotations

from channels.cli.format import to_terminal, without_begun


class Printer:
    """Turns an answer's growing text into what to print next."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def next(self, message_id: str, text: str) -> str:
        """Return what to print of a text that has grown (or, after a reset, changed)."""
        return self._print(message_id, to_terminal(without_begun(text)))

    def finish(self, message_id: str, text: str) -> str:
        """Return the rest of a finished text, with the line's end.

        A sentence that takes the place of what was begun (`Stopped.`) stands on a line of its own.
        """
        clean = to_terminal(text)
        shown = self._shown.pop(message_id, "")
        rest = clean[len(shown) :] if clean.startswith(shown) else f"\n{clean}"
        return f"{rest}\n"

    def _print(self, message_id: str, clean: str) -> str:
        shown = self._shown.get(message_id, "")
        self._shown[message_id] = clean
        if clean.startswith(shown):
            return clean[len(shown) :]
        return f"\n[begins again]\n{clean}"

    @property
    def writing(self) -> bool:
        """Whether an answer has been begun and not finished."""
        return bool(self._shown)
