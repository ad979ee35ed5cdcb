"""Supervision: keeps channels connected.

manager  starts and restarts them; status: their states
host     the gateway as a channel sees it; gap: what a channel may have missed
"""
