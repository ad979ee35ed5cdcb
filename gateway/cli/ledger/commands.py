"""The subcommands of `tapeway ledger`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gateway.cli.help import CommandApp
from gateway.cli.lazy import ask

app = CommandApp(help="List messages in and out, and retry or drop them.")

_Row = Annotated[str, typer.Argument(metavar="ROW", help="A row: in-12 or out-34, as listed.")]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Status = Literal[
    "accepted", "waiting", "taken", "taped", "joined", "refused", "done", "failed", "stopped",
    "dropped", "dead", "draft", "pending", "sending", "sent", "ambiguous", "held",
]  # fmt: skip
"""The statuses of incoming messages, then those of outgoing ones; both may be `dead`."""


@app.command("list", examples=["ledger list", "ledger list --status dead"])
def list_rows(
    status: Annotated[
        Status | None,
        typer.Option(
            metavar="STATUS", help="Only rows with this status, such as dead, failed or waiting."
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, help="Show at most N incoming and N outgoing rows.")
    ] = 20,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print each row as a line of JSON.")
    ] = False,
) -> None:
    """List the newest messages in and out: who, what, when, why.

    Messages that only went onto the tape are listed with --status taped.
    """
    ask("gateway.cli.ledger.actions:show_list", status or "", limit, as_json)


@app.command("show", examples=["ledger show in-12"])
def show(row: _Row, as_json: _AsJson = False) -> None:
    """Print a row and its content."""
    ask("gateway.cli.ledger.actions:show_row", row, as_json)


@app.command("retry", examples=["ledger retry in-12", "ledger retry out-34"])
def retry(row: _Row, as_json: _AsJson = False) -> None:
    """Answer a question again, or send a message again."""
    ask("gateway.cli.ledger.actions:change", "retry", row, as_json)


@app.command("resume", examples=["ledger resume", "ledger resume in-12"])
def resume(
    row: Annotated[
        str, typer.Argument(metavar="ROW", help="A row, such as in-12; all if you name none.")
    ] = "",
    as_json: _AsJson = False,
) -> None:
    """Answer or send the messages that are held since a restore."""
    ask("gateway.cli.ledger.actions:change", "resume", row, as_json)


@app.command("drop", examples=["ledger drop out-34"])
def drop(row: _Row, as_json: _AsJson = False) -> None:
    """Drop a message, neither answering nor sending it."""
    ask("gateway.cli.ledger.actions:change", "drop", row, as_json)
