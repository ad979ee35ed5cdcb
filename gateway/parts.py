"""The parts that handle a message, from its intake to its delivery, put together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from gateway.access.access import Access
from gateway.access.console_door import ConsoleDoor
from gateway.access.pairing import Pairing
from gateway.access.roles import Roles
from gateway.context.lane_assignment import LaneAssigner
from gateway.context.rooms.keeping import PieceKeeper
from gateway.context.rooms.memories import RoomMemories, open_linker
from gateway.delivery.sender import OutboxSender
from gateway.erasing.eraser import Eraser
from gateway.erasing.forget_me import FORGET, ForgetMe
from gateway.intake.intake import Intake
from gateway.intake.planner import IntakePlanner
from gateway.metrics.catalog import ROOM_READS
from gateway.pipeline.turn import RunningTurns
from gateway.scheduling.claimer import Claimer
from gateway.scheduling.commands import Commands
from gateway.scheduling.confirmations import Confirmations
from gateway.scheduling.debounce import Debouncer, adds_to_waiting
from gateway.scheduling.dispatcher import Dispatcher
from gateway.scheduling.lane_scheduler import LaneScheduler
from gateway.scheduling.notices import Notices
from gateway.scheduling.opening.openings import Openings
from gateway.scheduling.opening.pairer import Pairer
from gateway.scheduling.opening.requests import PURPOSE as ACCESS
from gateway.scheduling.opening.requests import AccessRequests
from gateway.scheduling.presses import CardHandler, Presses
from gateway.scheduling.recovery import AGAIN, DROP, Recovery
from gateway.scheduling.stopper import Stopper
from gateway.scheduling.suggestions import Suggestions
from gateway.services import Services
from gateway.turn.confirm_card import CONFIRM
from gateway.turn.runner import TurnRunner
from gateway.turn.suggestion_card import PURPOSE as SUGGESTION
from tape.erasing import ERASE


@dataclass(frozen=True, slots=True)
class GatewayParts:
    """The parts of a gateway that handle a message, from its intake to its delivery."""

    memories: RoomMemories
    turns: RunningTurns
    sender: OutboxSender
    dispatcher: Dispatcher
    intake: Intake
    recovery: Recovery
    stopper: Stopper
    presses: Presses
    requests: AccessRequests
    pairing: Pairing
    eraser: Eraser
    door: ConsoleDoor
    claimer: Claimer | None  # None: this process works alone


def make_parts(services: Services, access: Access) -> GatewayParts:
    """Return the parts of a gateway; each knows only what comes before it."""
    settings, spawn = services.settings, services.spawn
    turns = RunningTurns()
    counted = partial(services.meters.add, ROOM_READS)
    names = settings.agent.names_in_chats()
    keeper, most = PieceKeeper(services), settings.context.memory_bytes
    memories = RoomMemories(services.tapes, open_linker(), counted, names, keeper, most)
    sender = OutboxSender(services)
    roles = Roles(services, access)
    pairing = Pairing(services.clock, services.router.channels)
    openings = Openings(services, access, roles, sender)
    requests = AccessRequests(services, access, openings, sender)
    runner = TurnRunner(services, turns, memories, sender, roles)
    most, adds = settings.budget.parallel_per_person, partial(adds_to_waiting, services)
    scheduler = LaneScheduler(runner.run, spawn, settings.turn, most, adds)
    debouncer = Debouncer(services.clock, settings.buffer.max_wait, scheduler.ask, spawn)
    notices = Notices(services, access, sender, requests)
    stopper = Stopper(scheduler, debouncer, notices, access)
    eraser = Eraser(services, scheduler, debouncer, memories)
    handlers: dict[str, CardHandler] = {
        FORGET: ForgetMe(services, sender, eraser),
        ACCESS: requests,
        SUGGESTION: Suggestions(services, roles.of),
    }
    presses = Presses(services, sender, handlers)
    door = ConsoleDoor(services)
    commands = Commands(services, stopper.stop, presses, requests, door)
    pairer = Pairer(services, access, sender)
    dispatcher = Dispatcher(services, debouncer, scheduler, commands, notices, presses, pairer)
    presses.handlers[CONFIRM] = Confirmations(services, access, roles, dispatcher.ask_again)
    lanes = LaneAssigner(services, memories, dispatcher)
    planner = IntakePlanner(services, access, roles, lanes)
    intake = Intake(services, access, dispatcher, planner, memories, pairing)
    eraser.wiped = intake.forget_words
    recovery = Recovery(services, access, dispatcher, sender, intake)
    handling = (memories, turns, sender, dispatcher, intake, recovery, stopper)
    claimer = None
    if (shared := services.shared) is not None:
        shared.controls.on("stop", stopper.stop_for)
        shared.controls.on(AGAIN, recovery.again_for)
        shared.controls.on(DROP, recovery.drop_for)
        shared.controls.on(ERASE, eraser.erase_for)
        pairing.voided = lambda code: spawn("pairing", partial(shared.void_code, code))
        claimer = Claimer(services, shared, recovery, memories, access, pairing)
    return GatewayParts(*handling, presses, requests, pairing, eraser, door, claimer)
