"""The subcommands of `tapeway access`."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from gateway.cli.help import CommandApp
from gateway.cli.lazy import ask

app = CommandApp(help="List, grant and revoke access to the agent.")

_Who = Annotated[
    str, typer.Argument(help="A person, chat or server as channel:id, such as telegram:-100123.")
]
Role = Literal["owner", "admin", "member"]
_AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Account = Annotated[
    str, typer.Option(metavar="ID", help="One account of the channel: a Slack workspace's ID.")
]


@app.command("list", examples=["access list", "access list --json"])
def list_rules(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List who may talk to the agent, and the chats that wait to be opened."""
    ask("gateway.cli.access.actions:show_rules", as_json)


@app.command(
    "grant",
    examples=["access grant telegram:-1001234567890", "access grant telegram:42 --role admin"],
)
def grant(
    who: _Who,
    role: Annotated[Role, typer.Option(help="A person's role.")] = "member",
    account: _Account = "",
    as_json: _AsJson = False,
) -> None:
    """Open a chat, or let a person in.

    `former` opens the groups that an upgrade has closed.
    """
    given = {"who": who, "role": role, "account": account}
    ask("gateway.cli.access.actions:change", "grant", given, as_json)


@app.command("revoke", examples=["access revoke telegram:42"])
def revoke(who: _Who, account: _Account = "", as_json: _AsJson = False) -> None:
    """Close a chat, or take a person's role."""
    given = {"who": who, "account": account}
    ask("gateway.cli.access.actions:change", "revoke", given, as_json)
