"""Events that may still become part of an alert (CCQ): how they are kept, found, matched and forgotten.

In: events in the order of (time, id), each with the variables of triggers that it can stand for. Out: tuples.
"""
