"""Consoles, and how errors are told.

In: a command. Out: the same command, whose errors are lines of text on stderr and an exit code.
"""

from __future__ import annotations

import functools
import os
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from vedette.errors import VedetteError

P = ParamSpec("P")
R = TypeVar("R")


def out() -> Console:
    """Where results go. Made anew each time, since stdout may have been replaced."""
    return Console(highlight=False)


def err() -> Console:
    """Where progress, notes and errors go."""
    return Console(stderr=True, highlight=False)


def told(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose errors are told to the user in words."""

    @functools.wraps(command)
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except VedetteError as error:
            tell(str(error), error.code)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            err().print("\nStopped. Goodbye.")
            raise typer.Exit(130) from None
        except BrokenPipeError:  # the reader of our output has gone, as `| head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            raise typer.Exit(1) from None
        except MemoryError:
            tell("out of memory; use smaller micro-batches: --batch-files 1, or --batch-rows 1000000")
            raise typer.Exit(1) from None
        except Exception as error:
            if isinstance(error, typer.Exit | typer.Abort | typer.BadParameter):
                raise
            _tell_unexpected(error)
            raise typer.Exit(1) from None

    return inner


def tell(message: str, code: str = "") -> None:
    """An error in red; messages of queries carry their own codes and places."""
    console = err()
    prefix = "" if code == "VD100" else f"error {code}: " if code else "error: "
    console.print(Text(prefix + message, style="red"), soft_wrap=True)


def note(message: str) -> None:
    """Something the user should know that stops nothing."""
    err().print(Text(f"note: {message}", style="yellow"), soft_wrap=True)


def _tell_unexpected(error: Exception) -> None:
    if os.environ.get("VEDETTE_TRACEBACK"):
        traceback.print_exception(error)
        return
    said = (str(error).strip() or "no message").splitlines()[0]
    tell(f"this should not have happened: {type(error).__name__}: {said}")
    err().print("Please report it, with what you typed and the output of the same command after VEDETTE_TRACEBACK=1.")
