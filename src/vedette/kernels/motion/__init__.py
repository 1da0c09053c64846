"""Motion patterns over what objects did: index points, windows that slide, a table of who hit what (CMP).

    tables.py    the arrays: patterns, cells, visits, updates, the table of hits, the agenda
    distances.py from a position to a point or an area
    cells.py     which cells a predicate covers, and which it covers in part
    visits.py    updates become visits of cells; what a visit's updates say in a window
    agenda.py    who has to be looked at again, and when
    examine.py   does an object match a pattern at an instant, and until when can nothing change?
    ranks.py     the n lowest or highest scores
    follow.py    the loop over updates and instants

In: updates of one bucket in time order, patterns as columns. Out: who joined and who left each answer, at each instant.
"""
