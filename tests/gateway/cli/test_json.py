"""What `--json` prints has the same fields beside a running gateway and without one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import gateway_process, make_environ, run_tapeway
from tests.kit.visitor import visit

LISTINGS = (
    *(
        "tape list",
        "tape show web:lobby",
        "tape show web:lobby --all",
        "tape search web:lobby ripe",
    ),
    *("tape erase --list", "ledger list", "ledger list --status done", "ledger show in-1"),
    *("access list", "usage --by person", "explain in-1", "explain nothing", "hooks"),
    *("config show", "health"),
)


def fields(value: Any) -> Any:
    """Return the keys of an object, and below them those of the objects in its lists."""
    if isinstance(value, list):
        return sorted({json.dumps(fields(one)) for one in value if isinstance(one, dict)})
    if not isinstance(value, dict):
        return None
    return {key: fields(one) if isinstance(one, list) else None for key, one in value.items()}


def parsed(out: str) -> list[Any]:
    """Return the documents of an output: one, or one on each line."""
    try:
        whole = json.loads(out)
    except ValueError:
        return [json.loads(line) for line in out.splitlines()]
    return whole if isinstance(whole, list) else [whole]


async def all_fields(environ: dict[str, str]) -> dict[str, Any]:
    found = {}
    for listing in LISTINGS:
        _code, out, _err = await run_tapeway(environ, *listing.split(), "--json")
        found[listing] = fields(parsed(out))
    return found


async def test_every_listing_has_the_same_fields_with_and_without_a_gateway(tmp_path: Path) -> None:
    async with FakeOpenAI(models=["model"], default=lambda _: Text(("Ripe.",))) as server:
        environ = make_environ(tmp_path / "home", server)
        async with gateway_process(environ, tmp_path / "home") as gateway:
            async with visit(await gateway.url(), "Alice") as (alice,):
                await alice.answer(await alice.say("are the plums ripe?"))
            beside = await all_fields(environ)
        alone = await all_fields(environ)
    assert alone == beside
    nothing = {listing for listing, found in beside.items() if found == []}
    assert nothing <= {"tape erase --list", "access list"}
