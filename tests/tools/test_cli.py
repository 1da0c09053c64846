"""The command line: what it prints, what it exits with, and that nothing typed ends in a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from vedette.cli import app
from vedette.cli.options import parse_map, parse_span
from vedette.lang import parse
from vedette.pipeline.patterns.memory import Memory
from vedette.space import planar

SQL = """\
CREATE REGION yard AS RECT (0, 0, 10, 10);
CREATE QUERY here AS SELECT oid FROM objects INSIDE yard;
CREATE QUERY trucks AS SELECT oid FROM objects WHERE kind = 'truck' INSIDE yard;
CREATE QUERY vans AS SELECT COUNT(*) FROM objects WHERE kind = 'truck' KNN 2 AROUND b;
CREATE QUERY beside AS SELECT oid FROM objects INSIDE CIRCLE (3) AROUND b DWELL 2;
"""
ROWS = """\
oid,t,x,y,kind
a,0,5,5,truck
b,0,20,20,car
a,1,6,6,truck
b,1,oops,1,car
c,2,10,10,car
a,2,11,5,truck
c,3,30,30,car
"""


def vedette(*words: object) -> Result:
    """A command; `run` in this process unless it says otherwise. What Spark does is in tests/runtime/spark."""
    if words[0] == "run" and "--engine" not in words:
        words += ("--engine", "local")
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "q.sql").write_text(SQL)
    (tmp_path / "in.csv").write_text(ROWS)
    return tmp_path


def changes(folder: Path) -> list[tuple[str, int, int, str | None, float | None]]:
    table = ds.dataset(folder / "changes").to_table().to_pylist()
    return sorted((r["query"], r["t"], r["sign"], r["oid"], r["value"]) for r in table)


# -------------------------------------------------------------------------------------- check, explain


def test_example_check_counts(place: Path) -> None:
    result = vedette("check", "q.sql", "--input", "in.csv")
    assert (result.exit_code, result.stdout.strip()) == (0, "OK: 5 statements, 4 queries")


def test_example_check_shows_all_errors_with_carets(place: Path) -> None:
    (place / "bad.sql").write_text(
        "CREATE QUERY a AS SELECT oid FROM objects INSIDES (0, 0, 1, 1);\nDROP QUERY nobody;\n"
    )
    result = vedette("check", "bad.sql")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "bad.sql:1:43:" in result.stderr
    assert "^^^^^^^" in result.stderr
    assert "did you mean INSIDE?" in result.stderr
    assert "bad.sql:2:" in result.stderr


def test_example_check_knows_the_columns_of_an_input(place: Path) -> None:
    (place / "bad.sql").write_text("CREATE QUERY a AS SELECT oid FROM objects WHERE knid = 'x' INSIDE (0, 0, 1, 1);")
    assert vedette("check", "bad.sql").exit_code == 0
    result = vedette("check", "bad.sql", "--input", "in.csv")
    assert result.exit_code == 1
    assert "did you mean kind?" in result.stderr


def test_example_check_takes_tables_and_spaces(place: Path) -> None:
    (place / "fav.csv").write_text("oid,w\na,1\n")
    (place / "f.sql").write_text(
        "CREATE QUERY f AS SELECT oid FROM objects o, fav f WHERE o.oid = f.oid INSIDE CIRCLE (1, 1, 2 KM);"
    )
    assert vedette("check", "f.sql", "--table", "fav=fav.csv", "--space", "lonlat").exit_code == 0
    assert vedette("check", "f.sql", "--table", "fav=fav.csv").exit_code == 1
    assert vedette("check", "f.sql", "--table", "fav=nothing.csv").exit_code == 1
    assert vedette("check", "f.sql", "--table", "fav").exit_code == 2


def test_example_explain_prints_what_parses_back(place: Path) -> None:
    result = vedette("explain", "q.sql")
    assert result.exit_code == 0
    printed = "\n".join(line.strip() for line in result.stdout.splitlines() if line.strip().startswith("CREATE"))
    assert parse(printed, space=planar()) == parse(SQL, space=planar())
    for words in (
        "a still rectangle from (0, 0) to (10, 10), the region yard",
        "the 2 nearest objects to object b, moving with it",
        "a circle of 3 that moves with object b",
        "how many objects",
        "joins once it was inside for 2 (in the unit of t)",
        "planar: distances in units of the coordinates",
    ):
        assert words in result.stdout


def test_example_explain_shows_what_is_shared(place: Path) -> None:
    result = vedette("explain", "q.sql")
    lines = [line.strip("│ ") for line in result.stdout.splitlines() if line.startswith("│")]
    cells = [[cell.strip() for cell in line.split("│")] for line in lines]
    assert cells == [
        ["filter", "kind = 'truck'", "2: trucks, vans"],
        ["focal object", "b", "2: vans, beside"],
        ["place", "the region yard", "2: here, trucks"],
    ]
    (place / "one.sql").write_text("CREATE QUERY a AS SELECT oid FROM objects INSIDE (0, 0, 1, 1);")
    assert "No condition is shared" in vedette("explain", "one.sql").stdout


# ------------------------------------------------------------------------------------------------- run


def test_example_run_writes_changes_late_and_rejects(place: Path) -> None:
    result = vedette("run", "q.sql", "--input", "in.csv", "--output", "out")
    assert result.exit_code == 0, result.output
    assert changes(place / "out") == [
        ("here", 0, 1, "a", None),
        ("here", 2, -1, "a", None),
        ("here", 2, 1, "c", None),
        ("here", 3, -1, "c", None),
        ("trucks", 0, 1, "a", None),
        ("trucks", 2, -1, "a", None),
        ("vans", 0, 0, None, 1.0),
    ]
    rejects = ds.dataset(place / "out" / "rejects").to_table().to_pylist()
    assert [(r["oid"], r["x"]) for r in rejects] == [("b", None)]
    assert rejects[0]["reason"]
    assert ds.dataset(place / "out" / "late").to_table().num_rows == 0
    assert "rejects" in result.stdout
    assert "'oops'" in result.stderr


@pytest.mark.parametrize("options", [["--batch-rows", "1"], ["--batch-rows", "3", "--regions", "3", "--buckets", "2"]])
def test_agrees_for_any_cut(place: Path, options: list[str]) -> None:
    ordered = "oid,t,x,y,kind\n" + "".join(f"o{n % 5},{n},{n % 13},{n % 7},car\n" for n in range(60))
    (place / "in.csv").write_text(ordered)
    assert vedette("run", "q.sql", "--input", "in.csv", "--output", "one").exit_code == 0
    assert vedette("run", "q.sql", "--input", "in.csv", "--output", "many", *options).exit_code == 0
    assert changes(place / "one") == changes(place / "many")
    assert len(changes(place / "one")) > 20


@pytest.mark.parametrize("kind", ["csv", "json"])
def test_example_run_in_other_formats(place: Path, kind: str) -> None:
    assert vedette("run", "q.sql", "--input", "in.csv", "--output", "out", "--format", kind).exit_code == 0
    text = "".join(p.read_text() for p in sorted((place / "out" / "changes").glob(f"part-*.{kind}")))
    assert text.count("here") == 4
    if kind == "json":
        assert json.loads(text.splitlines()[0])["sign"] in (-1, 0, 1)


def test_example_run_maps_columns_and_sees_lonlat(place: Path) -> None:
    (place / "ships.csv").write_text(
        "mmsi,ts,lon,lat\n211,2024-05-01T00:00:00Z,4.10,51.98\n211,2024-05-01T00:10:00Z,4.45,51.99\n"
        "305,2024-05-01T00:05:00Z,4.46,95\n"
    )
    (place / "port.sql").write_text("CREATE QUERY port AS SELECT oid FROM objects INSIDE CIRCLE (4.5, 52.0, 10 KM);")
    result = vedette(
        "run", "port.sql", "--input", "ships.csv", "--output", "out", "--map", "oid=mmsi,t=ts", "--lateness", "1min"
    )
    assert result.exit_code == 0, result.output
    table = ds.dataset(place / "out" / "changes").to_table()
    assert [(r["query"], r["sign"], r["oid"]) for r in table.to_pylist()] == [("port", 1, 211)]
    assert table.schema.field("t").type == pa.timestamp("us", tz="UTC")
    assert ds.dataset(place / "out" / "rejects").to_table().num_rows == 1
    assert vedette("run", "port.sql", "--input", "ships.csv", "--output", "out2", "--map", "oid=mmsi").exit_code == 1


def test_recovers_with_a_checkpoint(place: Path) -> None:
    folder = place / "parts"
    folder.mkdir()
    lines = ROWS.splitlines()
    for number in range(3):
        (folder / f"{number}.csv").write_text("\n".join([lines[0], *lines[1 + 2 * number : 3 + 2 * number]]) + "\n")
    command = ["run", "q.sql", "--input", "parts", "--output", "out", "--checkpoint", "cp"]
    assert vedette(*command).exit_code == 0
    (folder / "3.csv").write_text("\n".join([lines[0], *lines[7:]]) + "\n")
    again = vedette(*command)
    assert again.exit_code == 0, again.output
    assert "going on after micro-batch 2" in again.stderr
    assert vedette("run", "q.sql", "--input", "parts", "--output", "whole").exit_code == 0
    assert changes(place / "out") == changes(place / "whole")
    for change, said in ((["--lateness", "5"], "another lateness"), (["--batch-rows", "1"], "batch_rows")):
        refused = vedette(*command, *change)
        assert refused.exit_code == 1
        assert said in refused.stderr
    assert vedette(*command, "--lateness", "5", "--overwrite").exit_code == 0


def test_recovers_with_fewer_updates_in_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "q.sql").write_text("CREATE PATTERN p AS DIST (5, 5) BETWEEN 2 AND 1 AGO LOWEST 1 EVERY 1;")
    caps: list[int] = []
    page_out = Memory._page_out

    def watched(memory: Memory) -> None:
        caps.append(memory.cap)
        page_out(memory)

    monkeypatch.setattr(Memory, "_page_out", watched)
    command = ["run", "q.sql", "--input", "in.csv", "--batch-rows", "2"]
    assert vedette(*command, "--output", "whole").exit_code == 0
    assert set(caps) == {1 << 20}
    for resident in (1, 3, 2):
        caps.clear()
        again = vedette(*command, "--output", "out", "--checkpoint", "cp", "--resident-updates", resident)
        assert again.exit_code == 0, again.output
        assert set(caps) == {resident}
        assert changes(place / "out") == changes(place / "whole") != []


def test_example_run_refuses_to_overwrite(place: Path) -> None:
    command = ["run", "q.sql", "--input", "in.csv", "--output", "out"]
    assert vedette(*command).exit_code == 0
    refused = vedette(*command)
    assert refused.exit_code == 1
    assert "is not empty" in refused.stderr
    assert vedette(*command, "--overwrite").exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run"], 2, "Missing argument"),
        (["fly"], 2, "No such command"),
        (["run", "q.sql", "--input", "in.csv"], 2, "--output"),
        (["run", "none.sql", "--input", "in.csv", "--output", "o"], 1, "cannot read none.sql"),
        (["run", ".", "--input", "in.csv", "--output", "o"], 1, "is a folder"),
        (["run", "in.csv", "--input", "in.csv", "--output", "o"], 1, "in.csv:1:1"),
        (["run", "q.sql", "--input", "none.csv", "--output", "o"], 1, "no such file"),
        (["run", "q.sql", "--input", "q.sql", "--output", "o"], 1, "ends in .sql"),
        (["run", "q.sql", "--input", "in.csv", "--output", "in.csv"], 1, "is a file"),
        (
            ["run", "q.sql", "--input", "in.csv", "--output", "o", "--engine", "spark", "--batch-rows", "5"],
            1,
            "--batch-files",
        ),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--commands", "c"], 1, "--engine spark"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--master", "local[2]"], 2, "--engine spark"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--bounds", "1,2,3"], 2, "x0,y0,x1,y1"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--bounds", "5,5,1,1"], 1, "x0 < x1"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--lateness", "soon"], 2, "length of time"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--map", "oid"], 2, "NAME=COLUMN"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--map", "oid=id"], 1, "no column 'id'"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--regions", "0"], 2, "regions"),
        (["run", "q.sql", "--input", "in.csv", "--output", "o", "--resident-updates", "0"], 2, "resident-updates"),
        (["check", "in.csv"], 1, "in.csv:1:1"),
        (["generate", "--out", "q.sql"], 1, "is a file"),
        (["generate", "--out", "g", "--objects", "-1"], 2, "objects"),
        (["generate", "--out", "g", "--nodes", "in.csv"], 2, "go together"),
        (["generate", "--out", "g", "--nodes", "in.csv", "--edges", "in.csv"], 1, "no column node_id"),
        (["generate", "--out", "g", "--lonlat", "here"], 2, "lon,lat"),
        (["generate", "--out", "g", "--lonlat", "0,89"], 1, "lat 89"),
        (["bench", "nothing"], 1, "benchmark"),
    ],
)
def test_example_mistakes_are_told_in_words(place: Path, words: list[str], code: int, said: str) -> None:
    result = vedette(*words)
    assert result.exit_code == code, result.output
    assert said in result.stderr


def test_example_a_run_that_failed_early_can_be_repeated(place: Path) -> None:
    (place / "bad.csv").write_text(ROWS.replace("kind", "sort"))
    assert vedette("run", "q.sql", "--input", "bad.csv", "--output", "out").exit_code == 1
    assert vedette("run", "q.sql", "--input", "in.csv", "--output", "out").exit_code == 0


def test_example_surprises_ask_for_a_report(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("vedette.cli.asking.read_statements", explode)
    result = vedette("check", "q.sql")
    assert result.exit_code == 1
    assert "ZeroDivisionError: boom" in result.stderr
    assert "VEDETTE_TRACEBACK=1" in result.stderr
    monkeypatch.setenv("VEDETTE_TRACEBACK", "1")
    assert "Traceback" in CliRunner().invoke(app, ["check", "q.sql"]).stderr


def test_example_the_keyboard_stops_politely(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vedette.cli.asking.read_statements", interrupt)
    result = vedette("check", "q.sql")
    assert result.exit_code == 130
    assert "Goodbye" in result.stderr


# -------------------------------------------------------------------------------------------- generate


def test_example_generate_writes_parts(place: Path) -> None:
    words = ["generate", "--objects", 50, "--ticks", 5, "--ticks-per-file", 2, "--out", "traffic", "--seed", 3]
    result = vedette(*words)
    assert result.exit_code == 0
    assert "5 ticks in 3 files" in result.stdout
    table = pq.read_table(place / "traffic")
    assert table["t"].unique().to_pylist() == [0, 10, 20, 30, 40]
    assert vedette(*words).exit_code == 1
    assert vedette(*words, "--overwrite").exit_code == 0
    assert pq.read_table(place / "traffic").equals(table)


def test_example_generate_feeds_check(place: Path) -> None:
    options = [
        "--time",
        "timestamp",
        "--ids",
        "text",
        "--lonlat",
        "4.9,52.37",
        "--format",
        "csv",
        "--start",
        "2024-05-01T06:00:00",
    ]
    assert vedette("generate", "--objects", 20, "--ticks", 2, "--out", "t", *options).exit_code == 0
    assert "2024-05-01 06:00:00" in (place / "t" / "part-00000.csv").read_text()
    (place / "c.sql").write_text(
        "CREATE QUERY c AS SELECT oid FROM objects WHERE class = 'car' AND speed > 3 INSIDE CIRCLE (4.9, 52.37, 1 KM);"
    )
    assert vedette("check", "c.sql", "--input", "t").exit_code == 0


# ------------------------------------------------------------------------------------------- the rest


def test_example_version_and_help(place: Path) -> None:
    assert vedette("--version").stdout.startswith("vedette ")
    text = vedette("--help").stdout
    for name in ("run", "check", "explain", "generate", "demo", "bench"):
        assert name in text
        assert "vedette " + name in vedette(name, "--help").stdout


def test_example_bench_runs_a_script(place: Path) -> None:
    (place / "bench").mkdir()
    (place / "bench" / "tiny.py").write_text(
        "import sys, pathlib; pathlib.Path('said').write_text(' '.join(sys.argv[1:]))"
    )
    assert vedette("bench", "tiny", "--size", "3").exit_code == 0
    assert (place / "said").read_text() == "--size 3"
    assert os.sep not in vedette("bench", "../tiny").stdout


@pytest.mark.parametrize(
    ("text", "value"),
    [("none", None), ("0s", 0), ("0", 0), ("15", 15), ("5s", "5s"), (" 10 MIN ", "10 min"), ("1.5h", "1.5h")],
)
def test_example_lengths_of_time(text: str, value: object) -> None:
    assert parse_span(text) == value


def test_example_maps() -> None:
    assert parse_map(["OID=mmsi, t=ts", "x=Lon"]) == {"oid": "mmsi", "t": "ts", "x": "Lon"}
