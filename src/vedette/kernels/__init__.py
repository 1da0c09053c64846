"""Arrays in, arrays out: the loops over updates, compiled.

In: numpy arrays (and named tuples of them). Out: numpy arrays. A kernel knows neither queries as
users write them, nor Arrow, nor Spark; it may not know where a batch begins or ends, except where
its docstring says so.
"""
