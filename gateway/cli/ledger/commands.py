"""The subcommands of `tapeway ledger`."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.help import CommandApp
from gateway.cli.lazy import run

app = CommandApp(help="List messages in and out, and retry or drop them.")

_Row = Annotated[str, typer.Argument(help="A row such as in-12 or out-34, as listed.")]


@app.command("list", examples=["ledger list", "ledger list --status dead"])
def list_rows(
    status: Annotated[str, typer.Option(help="Only rows with this status, such as dead.")] = "",
    limit: Annotated[int, typer.Option(help="Show at most N incoming and N outgoing rows.")] = 20,
) -> None:
    """List the newest rows of the inbox and the outbox."""
    run("gateway.cli.ledger.actions:show_list", status, limit)


@app.command("show", examples=["ledger show in-12"])
def show(row: _Row) -> None:
    """Print a row and its content as JSON."""
    run("gateway.cli.ledger.actions:show_row", row)


@app.command("retry", examples=["ledger retry in-12", "ledger retry out-34"])
def retry(row: _Row) -> None:
    """Answer a question again, or send a message again."""
    run("gateway.cli.ledger.actions:change", "retry", row)


@app.command("drop", examples=["ledger drop out-34"])
def drop(row: _Row) -> None:
    """Drop a message, neither answering nor sending it."""
    run("gateway.cli.ledger.actions:change", "drop", row)
