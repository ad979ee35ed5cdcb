"""What leaves a process: requests follow no redirect, and what is printed passes the redactor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit.sources import tree_of

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gateway", "channels", "tape", "agent")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
FETCHES_FOR_ANYBODY = "agent/web/fetcher.py"
"""Sends no secret, and checks each redirect by itself."""


def called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def followers(text: str) -> Iterator[str]:
    """Yield the calls of a source whose client would follow a redirect."""
    for node in ast.walk(tree_of(text)):
        if not isinstance(node, ast.Call):
            continue
        given = {one.arg: ast.unparse(one.value) for one in node.keywords}
        fits = {
            "ClientSession": given.get("middlewares") == "(refuse_redirects,)",
            "DefaultAioHttpClient": given.get("follow_redirects") == "False",
            "AsyncOpenAI": given.get("http_client", "").startswith("http_client("),
            "DefaultAsyncHttpxClient": False,
            "DefaultHttpxClient": False,
            "urlopen": False,
        }.get(called(node), given.get("follow_redirects", "False") == "False")
        if not fits or given.get("allow_redirects", "False") != "False":
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "text",
    [
        "aiohttp.ClientSession()",
        "aiohttp.ClientSession(middlewares=())",
        "DefaultAioHttpClient()",
        "DefaultAioHttpClient(follow_redirects=True)",
        "AsyncOpenAI(api_key=key)",
        "httpx2.AsyncClient(follow_redirects=True)",
        "session.get(url, allow_redirects=True)",
        "urllib.request.urlopen(url)",
    ],
)
def test_a_client_that_would_follow_is_noticed(text: str) -> None:
    assert list(followers(text)) == [text]


def test_no_client_follows_a_redirect() -> None:
    found = {str(path.relative_to(ROOT)): list(followers(path.read_text())) for path in SOURCES}
    assert [*found.pop(FETCHES_FOR_ANYBODY)]
    assert {name: calls for name, calls in found.items() if calls} == {}


WRITER = "gateway/printing.py"
OTHERS = {
    "gateway/doctor/checks/plugin_probe.py": "answers the doctor, which takes out the secrets",
    "gateway/settings/env_example.py": "writes .env.example, when it is made",
}
"""What writes to a standard stream by itself, and why no secret can be in it."""

STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
ASKED_FOR = {"gateway/cli/service/page_link.py", "gateway/http/access_token.py"}
"""What prints a secret, since its command was asked for one."""


def prints(text: str) -> Iterator[str]:
    """Yield the calls of a source that print by themselves."""
    for node in ast.walk(tree_of(text)):
        if not isinstance(node, ast.Call):
            continue
        whole = ast.unparse(node.func)
        module, _, name = whole.rpartition(".")
        if (
            whole in ("print", "pprint", "print_exc", "write_through")
            or (module in ("typer", "click") and name in ("echo", "secho", "print"))
            or (module == "traceback" and name.startswith("print"))
            or (name in ("write", "writelines") and any(f"sys.{one}" in module for one in STREAMS))
            or (whole == "os.write" and ast.unparse(node.args[0]) in ("1", "2"))
            or any(
                one.arg == "file" and "sys.std" in ast.unparse(one.value) for one in node.keywords
            )
        ):
            yield ast.unparse(node)


@pytest.mark.parametrize(
    "text",
    [
        "print(token)",
        "print(token, file=sys.stderr)",
        "typer.echo(token)",
        "click.secho(token, err=True)",
        "sys.stdout.write(token)",
        "sys.stdout.buffer.write(token)",
        "sys.__stderr__.write(token)",
        "traceback.print_exc()",
        "os.write(2, token)",
        "write_all(file=sys.stderr)",
    ],
)
def test_a_print_that_passes_no_redactor_is_noticed(text: str) -> None:
    assert list(prints(text)) == [text]


def test_everything_is_printed_by_one_writer() -> None:
    found = {str(path.relative_to(ROOT)): list(prints(path.read_text())) for path in SOURCES}
    assert {name for name, calls in found.items() if calls} == OTHERS.keys()


def test_a_secret_is_printed_only_where_it_was_asked_for() -> None:
    found = {str(path.relative_to(ROOT)) for path in SOURCES if "print_secret" in path.read_text()}
    assert found == {WRITER, *ASKED_FOR}
