"""The gateway: connects and runs tape, agent, channels (see docs/explanation/architecture.md).

This module imports nothing, so that `tapeway --help` stays fast.
"""
