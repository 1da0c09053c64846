"""Text of options becomes values; what cannot be is a usage error that shows the right form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import typer

from vedette.errors import ConfigError


def parse_map(texts: Sequence[str]) -> dict[str, str]:
    """`oid=mmsi,t=ts` -> {"oid": "mmsi", "t": "ts"}."""
    pairs: dict[str, str] = {}
    for text in texts:
        for item in filter(None, (part.strip() for part in text.split(","))):
            ours, equals, theirs = (part.strip() for part in item.partition("="))
            if not (ours and equals and theirs):
                raise typer.BadParameter(f"{item!r} is not NAME=COLUMN, such as --map oid=mmsi,t=ts")
            if ours.lower() in pairs:
                raise typer.BadParameter(f"{ours} is mapped twice")
            pairs[ours.lower()] = theirs
    return pairs


def parse_tables(texts: Sequence[str]) -> dict[str, Path]:
    """`favourites=fav.csv` -> {"favourites": Path("fav.csv")}."""
    tables: dict[str, Path] = {}
    for text in texts:
        name, equals, path = (part.strip() for part in text.partition("="))
        if not (name and equals and path):
            raise typer.BadParameter(f"{text!r} is not NAME=PATH, such as --table favourites=favourites.csv")
        tables[name.lower()] = Path(path)
    return tables


def parse_numbers(text: str | None, count: int, form: str) -> tuple[float, ...] | None:
    """Numbers with commas between; `form` is shown if they are not."""
    if text is None:
        return None
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) != count:
        raise typer.BadParameter(f"{text!r} is not of the form {form}")
    return numbers


def parse_span(text: str) -> int | str | None:
    """A length of time: none, whole units of a long `t`, or text with a unit. Zero of any unit is zero of all."""
    plain = text.strip().lower()
    if plain in ("none", "off", ""):
        return None
    if re.fullmatch(r"[0-9]+", plain):
        return int(plain)
    if re.fullmatch(r"0+(\.0*)?\s*[a-z]+", plain):
        return 0
    if not re.fullmatch(r"[0-9]*\.?[0-9]+\s*[a-z]+", plain):
        raise typer.BadParameter(
            f"{text!r} is not a length of time, such as 5s, 10min, 2h, none, or 30 where t is a number"
        )
    return plain


def read_queries(path: Path) -> str:
    """The text of a file of statements."""
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; expected a file of Vedette SQL")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a text in UTF-8; is it really a file of Vedette SQL?") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None
