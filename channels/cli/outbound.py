"""Prints an answer while it is being written; printed text cannot be changed."""

from __future__ import annotations

from channels.cli.format import to_terminal, without_open_sequence


class Printer:
    """Returns the text to print next for each answer that is being written."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def next(self, message_id: str, text: str) -> str:
        """Return the text to print when an answer has grown, or when a reset has replaced it."""
        clean = to_terminal(without_open_sequence(text))
        shown, self._shown[message_id] = self._shown.get(message_id, ""), clean
        return clean[len(shown) :] if clean.startswith(shown) else f"\n[starting over]\n{clean}"

    def finish(self, message_id: str, text: str) -> str:
        """Return the rest of a finished text; a changed text begins on a new line."""
        clean = to_terminal(text)
        shown = self._shown.pop(message_id, "")
        rest = clean[len(shown) :] if clean.startswith(shown) else f"\n{clean}"
        return f"{rest}\n"

    def cut_off(self) -> str:
        """Return what ends the line of answers that will not go on."""
        unfinished, self._shown = any(self._shown.values()), {}
        return "\n" if unfinished else ""
