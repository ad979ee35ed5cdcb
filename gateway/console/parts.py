"""What the screens of the console use of the gateway."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.access.access import Access
from gateway.access.administrators import Administrators
from gateway.access.console_door import ConsoleDoor
from gateway.access.console_links import ConsoleLinks
from gateway.access.roles import Roles
from gateway.admin.access_admin import AccessAdmin
from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.console.reads import ConsoleReads
from gateway.intake.waiting.watch import WaitingWatch
from gateway.services import Services
from gateway.setup.settings_desk import SettingsDesk
from gateway.supervision.model_board import ModelBoard
from gateway.supervision.status import StatusBoard


@dataclass(frozen=True, slots=True)
class ConsoleParts:
    """The parts of a running gateway that screens may use."""

    services: Services
    reads: ConsoleReads
    access: Access
    roles: Roles
    administrators: Administrators
    door: ConsoleDoor
    links: ConsoleLinks
    status: StatusBoard
    models: ModelBoard
    waiting: WaitingWatch
    ledger: LedgerAdmin
    access_admin: AccessAdmin
    erase: EraseAdmin
    desk: SettingsDesk | None
