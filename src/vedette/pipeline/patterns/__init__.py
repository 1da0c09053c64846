"""Motion patterns in the stages.

They are evaluated in TRACK, where an object's whole trajectory passes; the lowest and highest scores of all buckets are
merged in ASSEMBLE.

    book.py      which patterns stand, as the tables that kernels take; the grid
    memory.py    what is kept of objects: the table of hits, trails; room for more, and what is forgotten
    pages.py     updates beyond memory, in pages that never change
    track.py     the part in TRACK
    answer.py    the part in ASSEMBLE
"""
