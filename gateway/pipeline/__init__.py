"""The turn pipeline.

pipeline  the eight hook steps; turn: Question and Turn; router: events and messages to channels
"""
