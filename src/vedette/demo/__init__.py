"""A story of a minute in the terminal, on generated data: the first thing that a newcomer runs.

In: a folder, a seed, whether to hurry. Out: text, and in the folder the updates, the queries, the changes and a map.
Invariant: the same seed tells the same story.

    scene.py  the city, its traffic, and the queries that watch it
    view.py   what the terminal shows
    story.py  the telling
"""

from vedette.demo.story import tell_story

__all__ = ["tell_story"]
