"""What was learned is read whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tape.errors import WeightsInvalid
from tape.linking import Linker
from tape.linking.weights import SHIPPED, load

MOST_BYTES = 264_000  # twice those of the numbers that knew no agent


def test_the_shipped_numbers_are_few() -> None:
    assert SHIPPED.stat().st_size < MOST_BYTES
    assert Linker.shipped().model is not None


def test_a_missing_file_is_an_error_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(WeightsInvalid, match=r"none\.json.*rules alone"):
        load(tmp_path / "none.json")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_cut_file_is_unfit(tmp_path: Path, share: float) -> None:
    whole = SHIPPED.read_bytes()
    cut = tmp_path / "cut.json"
    cut.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(WeightsInvalid):
        load(cut)


@pytest.mark.parametrize(
    "change",
    [
        {"form": 2},
        {"pair": {"width": 3, "trees": [[0, 1.5, 0.1, 0.2]]}},
        {"lane": {"width": 55}},
        {"lane": {"width": 76, "trees": [0.1]}},
        {"relevance": {"width": 1, "trees": [[0, 1.5, 0.1]]}},
        {"weights": {"word": 1.0}},
        {"least_new": None},
    ],
    ids=str,
)
def test_a_file_of_another_version_is_unfit(tmp_path: Path, change: dict[str, object]) -> None:
    other = tmp_path / "other.json"
    other.write_bytes(orjson.dumps(orjson.loads(SHIPPED.read_bytes()) | change))
    with pytest.raises(WeightsInvalid):
        load(other)
