"""The gateway: connects tape, agent and channels, and runs them (see docs/architecture.md).

This module imports nothing, so that `tapeway --help` stays fast.
"""
