"""A sentry's orders: a space, queries, and how time is treated. Everything a run is made from.

Orders know nothing of the data yet; a run binds them to a stream when its columns are known. Statements added later are
picked up by every local run of them at its next batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from vedette.conditions import parse_timestamp
from vedette.errors import ConfigError, QueryError, SourceError
from vedette.lang import Catalog, check_schema, parse
from vedette.lang.words import quote_name
from vedette.model import Schema, Statement
from vedette.pipeline.duration import TimeLength, read_duration
from vedette.space import Space, planar

RESIDENT_UPDATES = 1 << 20


class Orders:
    """What to watch, and how: `vedette.Watch` is these orders and the ways to carry them out."""

    def __init__(
        self,
        space: Space | None = None,
        queries: str | Path = "",
        *,
        lateness: TimeLength = 0,
        timeout: TimeLength | None = None,
        late: Literal["apply", "drop"] = "apply",
        max_ahead: TimeLength | None = None,
        regions: int | None = None,
        buckets: int | None = None,
        resident_updates: int = RESIDENT_UPDATES,
        tables: Mapping[str, Any] | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        if late not in ("apply", "drop"):
            raise ConfigError(f"late: expected 'apply' or 'drop', found {late!r}")
        for option, count in (("regions", regions), ("buckets", buckets)):
            if count is None:
                continue  # as many as suit the engine
            if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 4096:
                raise ConfigError(f"{option}: expected a whole number from 1 to 4096, found {count!r}")
        if isinstance(resident_updates, bool) or not isinstance(resident_updates, int) or resident_updates < 1:
            raise ConfigError(
                f"resident_updates: expected a whole number from 1 on, found {resident_updates!r}; "
                f"leave it out for {RESIDENT_UPDATES:,} in each bucket"
            )
        self.space = space if space is not None else planar()
        self.lateness = read_duration(lateness, "lateness")
        self.timeout = None if timeout is None else read_duration(timeout, "timeout")
        if self.timeout is not None and self.timeout.value == 0:
            raise ConfigError("timeout: with 0 no object would ever have a position; leave it out for none")
        self.max_ahead = None if max_ahead is None else read_duration(max_ahead, "max_ahead")
        self.late: Literal["apply", "drop"] = late
        self.regions = regions
        self.buckets = buckets
        self.resident_updates = resident_updates
        self.columns = dict(columns or {})
        self.tables = {name.lower(): _collected(table) for name, table in (tables or {}).items()}
        self.statements: list[Statement] = []
        self.schema: Schema | None = None
        self.now: int | None = None
        self._catalog = Catalog()
        text, filename = read_queries(queries)
        if text.strip():
            self._take(text, None, filename)

    def add(self, sql: str, at: int | str | datetime | None = None) -> None:
        """Add statements; runs pick them up at their next batch. `at`: the tick at which they act, as AT in SQL."""
        self._take(sql, at, "<sql>")

    def drop(self, name: str) -> None:
        """Drop a query, or another standing statement; runs pick it up at their next batch."""
        kind = self._catalog.kind_of(name.lower()) or "QUERY"
        self._take(f"DROP {kind} {quote_name(name.lower())};", None, "<drop>")

    def _take(self, text: str, at: int | str | datetime | None, filename: str) -> None:
        tick = None if at is None else _tick(at)
        now = self.now if tick is None else max(tick, self.now if self.now is not None else tick)
        statements = parse(
            text,
            space=self.space,
            schema=self.schema,
            tables=self.tables,
            catalog=self._catalog,
            now=now,
            filename=filename,
        )
        if tick is not None:
            statements = [
                s if s.at is not None else replace(s, at=tick, at_is_timestamp=not isinstance(at, int))
                for s in statements
            ]
        for statement in statements:
            self._catalog.apply(statement, self.now)
        self.statements.extend(statements)

    def bind(self, schema: Schema) -> None:
        """The columns of the stream are known now: check what could not be checked before."""
        problems = [p for statement in self.statements for p in check_schema(statement, schema)]
        if problems:
            raise QueryError(problems)
        self.schema = schema


def _collected(table: Any) -> Any:
    """A table that queries join, in memory: it is bound by value. A Spark DataFrame is fetched."""
    return table.toArrow() if hasattr(table, "toArrow") else table


def _tick(at: int | str | datetime) -> int:
    if isinstance(at, int):
        return at
    tick = parse_timestamp(at if isinstance(at, str) else at.isoformat())
    if tick is None:
        raise ConfigError(f"at: expected a tick or an ISO 8601 time, found {at!r}")
    return tick


def read_queries(queries: str | Path) -> tuple[str, str]:
    """SQL text and where it is from: a text with a line break, a ';' or a leading CREATE is SQL, all else a path."""
    if isinstance(queries, str):
        text = queries.strip()
        if not text or ";" in text or "\n" in text or text.upper().startswith(("CREATE", "AT ", "DROP", "--")):
            return queries, "<sql>"
    path = Path(queries)
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except OSError as error:
        raise SourceError(f"cannot read the queries from {path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SourceError(f"cannot read the queries from {path}: it is not UTF-8 text ({error.reason})") from error
