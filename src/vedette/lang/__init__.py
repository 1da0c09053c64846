"""Vedette SQL: text in, checked queries out.

In: the text of statements (docs/language.md describes them). Out: `model.Statement`s, with regions and joined
tables bound by value; or `QueryError` with every problem of the text, each with line, column and caret.
May not know: kernels, stages, runtimes, Spark.
"""

from vedette.lang.canonical import print_query, print_statement
from vedette.lang.catalog import Catalog
from vedette.lang.check import check_schema
from vedette.lang.parse import parse
from vedette.lang.print import print_area, print_expr, print_place

__all__ = [
    "Catalog",
    "check_schema",
    "parse",
    "print_area",
    "print_expr",
    "print_place",
    "print_query",
    "print_statement",
]
