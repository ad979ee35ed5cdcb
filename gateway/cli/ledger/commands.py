"""The subcommands of `tapeway ledger`."""

from __future__ import annotations

from typing import Annotated

import typer

from gateway.cli.lazy import run

app = typer.Typer(
    help="List incoming and outgoing messages, and retry or drop them.", no_args_is_help=True
)

_Row = Annotated[str, typer.Argument(help="A row such as in-12 or out-34, as listed.")]


@app.command("list")
def list_rows(
    status: Annotated[str, typer.Option(help="Only rows with this status, such as dead.")] = "",
    limit: Annotated[int, typer.Option(help="Show at most N incoming and N outgoing rows.")] = 20,
) -> None:
    """List the newest rows of the inbox and the outbox."""
    run("gateway.cli.ledger.actions:show_list", status, limit)


@app.command("show")
def show(row: _Row) -> None:
    """Print a row and its content as JSON."""
    run("gateway.cli.ledger.actions:show_row", row)


@app.command("retry")
def retry(row: _Row) -> None:
    """Answer a question that ended without an answer, or send a message again."""
    run("gateway.cli.ledger.actions:change", "retry", row)


@app.command("resume")
def resume(
    row: Annotated[str, typer.Argument(help="A row, such as in-12; all if you name none.")] = "",
) -> None:
    """Let messages go on that are held since a restore: they are answered or sent."""
    run("gateway.cli.ledger.actions:change", "resume", row)


@app.command("drop")
def drop(row: _Row) -> None:
    """Drop a message, neither answering nor sending it."""
    run("gateway.cli.ledger.actions:change", "drop", row)
