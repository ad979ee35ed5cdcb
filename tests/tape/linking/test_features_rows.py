"""The trees get floats alone: they compare a float with an int several times as slowly."""

from __future__ import annotations

from tape.linking import Linker, Utterance
from tape.linking.features_message import Row
from tape.linking.features_relevance import relevance_rows
from tests.tape.linking.room_of import Talk


def rows_of(talk: Talk, said: Utterance) -> dict[str, list[Row]]:
    """Return what each stage of the model gets for a message."""
    model = talk.linker.model
    assert model is not None
    new, judged = model.known(talk.room, said)
    relevance = relevance_rows(talk.room, new, judged, judged.lanes[0].lane if judged.lanes else "")
    stages = {"pair": judged.pairs, "lane": judged.rows, "new": [judged.new_row]}
    return {**stages, "relevance": relevance}


def test_every_feature_is_a_float() -> None:
    talk = Talk(Linker.shipped())
    talk.say("ann", "how do I get the printer in the hall to print on both sides?", calls=True)
    talk.answer("There is a switch for both sides in the settings of the printer.")
    talk.say("bob", "ann: the old printer?", "ann", reply_to="0")
    talk.say("cid", "which road leads to the harbour? see `map`", lane="said:9")
    talk.say("ann", "bob: yes, the old grey printer", "bob")
    said = Utterance("new", talk.at + 60, "bob", "bob", "ann: that printer?", ("ann", "cid"))
    for one in (said, Utterance("other", talk.at + 60, "eve", "eve", "")):
        for stage, rows in rows_of(talk, one).items():
            kinds = {type(number) for row in rows for number in row}
            assert kinds == {float}, stage


def test_the_first_message_of_a_room_has_floats_too() -> None:
    rows = rows_of(Talk(Linker.shipped()), Utterance("0", 60.0, "ann", "ann", "is it on?"))
    assert {type(number) for number in rows["new"][0]} == {float}
