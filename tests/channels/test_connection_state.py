"""Events of a connection, and the calls that its host gets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from channels.connection_state import ConnectionState
from channels.host import Cursors
from channels.testing import FakeHost


class Calls(FakeHost):
    """Keeps the calls in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []

    def ready(self) -> None:
        self.made.append("ready")

    def down(self, why: str) -> None:
        self.made.append(f"down: {why}")

    def heartbeat(self) -> None:
        self.made.append("heartbeat")

    def gap_opened(self) -> None:
        self.made.append("gap_opened")

    def gap_closed(self, cursors: Cursors | None = None) -> None:
        self.made.append("gap_closed" if cursors is None else "gap_closed with cursors")

    def take(self) -> list[str]:
        made, self.made = self.made, []
        return made


def made(links: int = 1) -> tuple[ConnectionState, Calls]:
    calls = Calls()
    return ConnectionState(calls, calls, links), calls


def whole() -> tuple[ConnectionState, Calls]:
    """Return a state that is connected and has read its history."""
    state, calls = made()
    state.connected()
    state.catch_up_finished(state.catch_up_begun())
    calls.take()
    return state, calls


def test_a_link_is_up_between_its_connection_and_its_loss() -> None:
    state, _calls = made(links=2)
    state.connected(1)
    assert (state.is_up(0), state.is_up(1)) == (False, True)
    state.lost("closed", 1)
    assert not state.is_up(1)


def test_a_channel_begins_behind_and_is_ready_once_it_has_caught_up() -> None:
    state, calls = made()
    phases = [state.phase]
    state.connected()
    phases.append(state.phase)
    state.catch_up_finished(state.catch_up_begun(), Cursors())
    assert [*phases, state.phase] == ["connecting", "catching_up", "ready"]
    assert calls.made == ["ready", "gap_closed with cursors"]


def test_a_channel_can_catch_up_before_it_is_announced() -> None:
    state, calls = made()
    state.connected(announce=False)
    assert (state.phase, calls.made) == ("catching_up", [])
    state.catch_up_finished(state.catch_up_begun())
    state.announce()
    assert calls.made == ["gap_closed", "ready"]


def test_a_lost_connection_opens_a_gap_before_it_is_down() -> None:
    state, calls = whole()
    state.lost("the network is away")
    assert (state.phase, state.is_behind) == ("down", True)
    assert calls.made == ["gap_opened", "down: the network is away"]


def test_a_platform_that_redelivers_gets_no_gap_calls() -> None:
    calls = Calls()
    state = ConnectionState(calls)
    state.connected()
    state.lost("gone")
    state.connected()
    state.catch_up_finished(state.gap)
    assert (state.phase, calls.made) == ("ready", ["ready", "down: gone", "ready"])


def test_all_links_must_be_up() -> None:
    state, calls = made(links=2)
    state.connected(0)
    state.connected(0)
    assert not state.is_connected
    assert calls.made == []
    state.connected(1)
    assert calls.made == ["ready"]
    state.lost("one is gone", 0)
    state.announce()
    assert calls.take() == ["ready", "gap_opened", "down: one is gone"]


def test_a_resumed_session_closes_the_gap() -> None:
    state, calls = whole()
    state.lost("gone")
    state.connected()
    state.resumed()
    assert state.phase == "ready"
    assert calls.made[-2:] == ["ready", "gap_closed"]


def test_a_resumed_session_does_not_close_a_gap_that_must_be_read() -> None:
    state, calls = made()
    state.connected()
    state.resumed()
    assert state.is_behind
    assert calls.made == ["ready"]


def test_a_catch_up_does_not_close_a_gap_that_opened_meanwhile() -> None:
    state, calls = made()
    state.connected()
    gap = state.catch_up_begun()
    state.lost("again")
    state.connected()
    calls.take()
    state.catch_up_finished(gap)
    assert (state.phase, calls.made) == ("catching_up", [])
    state.catch_up_finished(state.catch_up_begun())
    assert (state.phase, calls.made) == ("ready", ["gap_closed"])


def test_a_stalled_connection_stays_so_until_an_event_proves_it() -> None:
    state, calls = whole()
    state.stalled("no events come", now=10.0)
    assert (state.phase, state.stalled_since) == ("stalled", 10.0)
    state.lost("reconnecting")
    state.connected()
    state.proved()
    assert (state.phase, state.stalled_since) == ("catching_up", None)
    assert calls.made == [
        "gap_opened",
        "down: no events come",
        "gap_opened",
        "down: no events come",
        "down: no events come",
        "ready",
    ]


def test_a_proof_without_a_connection_announces_nothing() -> None:
    state, calls = whole()
    state.stalled("no events come", now=10.0)
    calls.take()
    state.proved()
    assert (state.phase, calls.take()) == ("down", [])
    state.connected()
    assert calls.made == ["ready"]


def test_an_impaired_connection_is_up_and_reported_down() -> None:
    state, calls = whole()
    state.announce(impaired="a second reader")
    assert (state.phase, state.is_connected) == ("down", True)
    assert calls.made == ["down: a second reader"]


def test_a_refusal_ends_with_the_next_accepted_message() -> None:
    state, calls = whole()
    state.refused("the disk is full")
    state.accepted()
    state.accepted()
    assert state.phase == "ready"
    assert calls.made == ["down: the disk is full", "gap_closed", "ready"]


def test_a_refusal_leaves_the_gap_open_while_a_part_is_away() -> None:
    state, calls = whole()
    state.refused("the disk is full")
    state.accepted(whole=False)
    assert calls.made == ["down: the disk is full", "ready"]


def test_missed_messages_are_read_once_others_are_taken() -> None:
    state, _ = whole()
    assert not state.is_catch_up_due(0.0, 400.0)
    state.missed(now=10.0)
    state.missed(now=20.0)
    assert state.missed_since == 10.0
    assert not state.is_catch_up_due(100.0, 400.0)
    state.accepted()
    assert state.is_catch_up_due(100.0, 400.0)


def test_missed_messages_are_read_once_no_resend_will_come() -> None:
    state, _ = whole()
    state.missed(now=10.0)
    assert not state.is_catch_up_due(410.0, 400.0)
    assert state.is_catch_up_due(410.5, 400.0)


def test_a_failed_catch_up_is_due_again() -> None:
    state, _ = whole()
    state.catch_up_failed(now=10.0)
    assert state.is_catch_up_due(10.0, 400.0)
    state.catch_up_finished(state.catch_up_begun())
    assert not state.is_catch_up_due(1000.0, 400.0)


def test_an_answer_is_a_heartbeat() -> None:
    state, calls = whole()
    state.heard()
    assert calls.made == ["heartbeat"]


EVENTS = {
    "connected": lambda state: state.connected(),
    "lost": lambda state: state.lost("gone"),
    "stalled": lambda state: state.stalled("silent", 1.0),
    "proved": lambda state: state.proved(),
    "refused": lambda state: state.refused("full"),
    "accepted": lambda state: state.accepted(),
    "missed": lambda state: state.missed(1.0),
    "resumed": lambda state: state.resumed(),
    "caught up": lambda state: state.catch_up_finished(state.catch_up_begun()),
}


@given(st.lists(st.sampled_from(sorted(EVENTS)), max_size=30))
def test_the_phase_is_what_the_host_heard_last(events: list[str]) -> None:
    state, calls = made()
    for event in events:
        EVENTS[event](state)
        heard = [call for call in calls.made if call == "ready" or call.startswith("down")]
        gaps = [call for call in calls.made if call.startswith("gap")]
        is_up = state.phase in ("ready", "catching_up")
        assert is_up == (heard[-1:] == ["ready"])
        assert state.is_behind == (gaps[-1:] != ["gap_closed"])
        assert (state.phase == "ready") == (is_up and not state.is_behind)
