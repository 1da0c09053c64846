"""Motion patterns in the stages.

They are evaluated in TRACK, where an object's whole trajectory passes; the lowest and highest scores of all buckets are
merged in ASSEMBLE.

    book.py      which patterns stand, as the tables that kernels take; the grid
    beats.py     how patterns that are kept as bits lie
    memory.py    what is kept of objects: the table of hits, trails; room for more, and what is forgotten
    pages.py     updates beyond memory, in pages that never change
    saving.py    all of it as sections, and back
    track.py     the part in TRACK
    answer.py    the part in ASSEMBLE
"""
