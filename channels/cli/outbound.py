"""Prints an answer while it is written; a terminal cannot unprint."""

from __future__ import annotations

from channels.cli.format import to_terminal, without_open_sequence


class Printer:
    """Returns what to print next of each growing answer."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}

    def next(self, message_id: str, text: str) -> str:
        """Return what to print of a text that has grown or, after a reset, changed."""
        return self._print(message_id, to_terminal(without_open_sequence(text)))

    def finish(self, message_id: str, text: str) -> str:
        """Return the rest of a finished text and a line break.

        A sentence that replaces the text (`Stopped.`) goes on a line of its own.
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
        return f"\n[starting over]\n{clean}"
