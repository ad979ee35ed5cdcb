"""Read the file of the linker's model, which `python -m bench.train_linker` writes."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Final

import orjson

from tape.errors import WeightsInvalid
from tape.linking.boosted_trees import Trees
from tape.linking.model import LEAST_CHOSEN, Model
from tape.linking.room import LinkerRoom
from tape.linking.utterance import Utterance

FORM: Final = 1
SHIPPED: Final = Path(__file__).with_name("numbers.json")
STAGES: Final = ("pair", "lane", "new", "relevance")
LEAST_WIDTHS: Final = {"pair": 76, "lane": 90, "new": 75, "relevance": 68}
"""Minimum widths of the stages' rows: those with the features of the agent and the kind of room."""


@functools.cache
def load(path: Path = SHIPPED) -> Model:
    """Read a model, each file once: compiling its trees takes a tenth of a second.

    Raises WeightsInvalid if the file is missing, damaged or outdated.
    """
    try:
        model = from_numbers(path.read_bytes())
        for name, least in LEAST_WIDTHS.items():
            if (width := getattr(model, name).width) < least:
                raise ValueError(f"the rows of {name} have {width} numbers, not at least {least}")
        _try_out(model)
        return model
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WeightsInvalid(path, str(error) or type(error).__name__) from error


def from_numbers(numbers: bytes) -> Model:
    """Make a model from the bytes of its file; invalid bytes raise any kind of error."""
    found = orjson.loads(numbers)
    if found["form"] != FORM:
        raise ValueError(f"form {found['form']!r} is not {FORM}")
    stages = {name: Trees(int(found[name]["width"]), found[name]["trees"]) for name in STAGES}
    weights = {int(word): float(weight) for word, weight in found["weights"].items()}
    least_new = float(found["least_new"])
    least_chosen = float(found.get("least_chosen", LEAST_CHOSEN))
    return Model(weights=weights, least_new=least_new, least_chosen=least_chosen, **stages)


def _try_out(model: Model) -> None:
    # Rows that are shorter than the trees expect raise ValueError.
    room = LinkerRoom()
    for at, author in enumerate(("one", "two", "three")):
        utterance = Utterance(str(at), 60.0 * at, author, author, "a text to try it out")
        room.add(utterance, model.link(room, utterance))
        model.relevant(room.before(utterance.key), room.heard[-1])
