"""The clock of the channels is the gateway's, too."""

from channels.clock import Clock, SystemClock

__all__ = ["Clock", "SystemClock"]
