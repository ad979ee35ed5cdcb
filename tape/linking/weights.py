"""The file of numbers: what the linker has learned, written by `python -m bench.train_linker`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from tape.errors import WeightsInvalid
from tape.linking.boosted_trees import Trees
from tape.linking.model import Model
from tape.linking.room import LinkerRoom
from tape.linking.utterance import Utterance

FORM: Final = 1
SHIPPED: Final = Path(__file__).with_name("numbers.json")
STAGES: Final = ("pair", "lane", "new", "relevance")


def load(path: Path = SHIPPED) -> Model:
    """Read a model; raise NumbersUnfit where the file is missing, damaged or of another version."""
    try:
        model = from_numbers(path.read_bytes())
        _try_out(model)
        return model
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsInvalid(path, str(error) or type(error).__name__) from error


def from_numbers(numbers: bytes) -> Model:
    """Make a model of its numbers; whatever is not as it must be raises."""
    found = orjson.loads(numbers)
    if found["form"] != FORM:
        raise ValueError(f"form {found['form']!r} is not {FORM}")
    stages = {name: Trees(int(found[name]["width"]), found[name]["trees"]) for name in STAGES}
    weights = {int(word): float(weight) for word, weight in found["weights"].items()}
    return Model(weights=weights, least_new=float(found["least_new"]), **stages)


def _try_out(model: Model) -> None:
    """Judge a message; where rows have other widths than the trees, that raises ValueError."""
    room = LinkerRoom()
    for at, author in enumerate(("one", "two", "three")):
        said = Utterance(str(at), 60.0 * at, author, author, "said to try it out")
        room.add(said, model.link(room, said))
        model.relevant(room.before(said.key), room.heard[-1])


def numbers_of(
    stages: Mapping[str, tuple[int, list[Any]]], weights: Mapping[int, float], least_new: float
) -> bytes:
    """Return the file of a model: of each stage how many numbers its rows have, and its trees."""
    kept = {name: {"width": width, "trees": trees} for name, (width, trees) in stages.items()}
    words = {str(word): weight for word, weight in sorted(weights.items())}
    return orjson.dumps({"form": FORM, "least_new": least_new, **kept, "weights": words})
