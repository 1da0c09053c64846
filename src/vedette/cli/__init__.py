"""The command line: parse arguments, call the library, print.

In: what a user types. Out: text on stdout, progress and errors on stderr, an exit code: 0 fine, 1 something is wrong
with the queries, the data or an option's value, 2 the command was not understood, 130 stopped by the keyboard.
Invariant: nothing that a user types ends in a traceback.

    commands.py  the commands and their options
    options.py   text of options becomes values
    running.py   `run`: source, engine, sink, progress, summary
    asking.py    `check`, `explain`, `generate`, `bench`
    words.py     what a query means, in words; what queries share
    terminal.py  consoles, and how errors are told
"""

from vedette.cli.commands import app, main

__all__ = ["app", "main"]
