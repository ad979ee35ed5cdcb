"""Re-export the channels' clock, which the gateway uses too."""

from channels.clock import Clock, SystemClock

__all__ = ["Clock", "SystemClock"]
