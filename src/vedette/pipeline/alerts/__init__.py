"""Alerts in the stages: TRACK tells of the objects that they are about, ASSEMBLE holds their constraints and judges.

In: what happened to objects. Out: changes. Regions only pass letters on, and count for RKNN as for any query.
"""
