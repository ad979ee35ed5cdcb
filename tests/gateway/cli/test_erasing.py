"""`tapeway tape erase`, beside a running gateway and without one."""

from __future__ import annotations

from pathlib import Path

from tests.gateway.erasing.stage import ANN, BOB, CHAT, SECRET, hear, holding, said
from tests.kit.gateways import gateway_of, make_environ, run_tapeway
from tests.kit.plain_channels import Brings, PlainChannel


async def talk(tmp_path: Path, *commands: tuple[str, ...]) -> list[tuple[int, str, str]]:
    """Run commands beside a gateway to which people talk; return what each printed."""
    channel = PlainChannel()
    async with gateway_of(tmp_path, None, Brings(channel), ACCESS__MODE="open") as gateway:
        other = said(2, f"did you see that {SECRET}", BOB)
        await hear(gateway, channel, said(1, SECRET), other)
        return [await run_tapeway(make_environ(tmp_path), *command) for command in commands]


async def test_a_person_is_erased_beside_a_running_gateway(tmp_path: Path) -> None:
    erase = ("tape", "erase", "--person", f"plain:{ANN.id}", "--yes")
    ((code, out, err),) = await talk(tmp_path, erase)
    assert (code, err) == (0, "")
    assert out.startswith("erased: ")
    assert holding(tmp_path, ANN.name) == []


async def test_answers_to_others_that_repeat_it_are_listed_and_can_be_erased(
    tmp_path: Path,
) -> None:
    erase = ("tape", "erase", CHAT, "--message", "1", "--yes")
    (_, out, _), (_, listed, _) = await talk(tmp_path, erase, ("tape", "erase", "--list"))
    assert SECRET in out
    assert SECRET in listed
    tape, entry = listed.splitlines()[-1].split()[:2]
    code, _out, err = await run_tapeway(
        make_environ(tmp_path), "tape", "erase", tape, "--message", entry, "--yes"
    )
    assert (code, err) == (0, "")
    _, listed, _ = await run_tapeway(make_environ(tmp_path), "tape", "erase", "--list")
    assert entry not in listed


async def test_a_chat_is_erased_without_a_gateway(tmp_path: Path) -> None:
    await talk(tmp_path)
    assert holding(tmp_path)
    code, _out, err = await run_tapeway(
        make_environ(tmp_path), "tape", "erase", CHAT, "--chat", "--yes"
    )
    assert (code, err) == (0, "")
    assert holding(tmp_path) == []


async def test_what_cannot_be_erased_is_a_sentence(tmp_path: Path) -> None:
    done = await talk(
        tmp_path,
        ("tape", "erase", CHAT, "--message", "77", "--yes"),
        ("tape", "erase", CHAT, "--yes"),
        ("tape", "erase", "--person", "Ann", "--yes"),
        ("tape", "erase", CHAT, "--chat"),
    )
    assert [code != 0 for code, _out, _err in done] == [True] * 4
    assert "no message 77" in done[0][2]
    assert "channel:id" in done[2][2]
    assert holding(tmp_path)
