"""The three stages that a position travels through, and what they say to each other.

    rows ─ intake ─► TRACK (by object) ─► PARTICIPATE (by region) ─► ASSEMBLE (by query) ─► changes

In: normalised rows and statements. Out: changes, late rows, rejects. Each stage is a state and a `step`
from messages to messages; all of a stage's state can be written to bytes and read back. Nothing here knows
Spark, or how messages travel.
"""
