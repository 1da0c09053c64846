"""Triggers in the stages: events sifted in TRACK, matched in shards, told in ASSEMBLE.

In: what happened to objects. Out: alerts. The stages of a trigger know no other family.
"""
