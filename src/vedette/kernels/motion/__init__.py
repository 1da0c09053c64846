"""Motion patterns over what objects did: an update says for which instants it satisfies a step (after CMP).

    tables.py    the arrays: patterns, steps, objects, the table of hits, spans, boxes, updates
    distances.py from a position to a point or an area
    cells.py     which cells a predicate covers, and which it covers in part
    rows.py      the table of hits: an object under a pattern, found by hashing
    spans.py     sets of instants
    chains.py    what an update says to the steps of a row; where their sets meet
    agenda.py    who has to be looked at again, and when
    looks.py     a row at an instant: joined, left, and when next
    order.py     in which order updates are taken
    follow.py    the loop over updates and instants
    beats.py     patterns as bits in slices of time: the tables
    marks.py     what an update marks
    verdicts.py  all objects at an instant: who is in which answer
    trail.py     where objects were: raw updates, and boxes around them (index points)
    vicinity.py  updates by place
    panes.py     the boxes of everybody side by side
    scores.py    how far an object was: bounds by boxes, and exactly
    ranks.py     patterns with a score at an instant: within a limit, the n lowest or highest
    forget.py    spans that have passed, rows that nothing can come of

In: updates of one bucket in time order, patterns as columns. Out: who joined and who left each answer, at each instant.
"""
