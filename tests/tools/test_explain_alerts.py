"""What `vedette explain` says of alerts and combinations, and the picture that it draws."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from vedette.cli import app

SQL = """
CREATE REGION downtown AS RECT (0, 0, 40, 30);
CREATE ALERT gang WHEN DIAMETER(p1, p2, p3) < 100 AND NOT (INSIDE(p1, downtown) OR RKNN((3, 4), 2, p2));
CREATE ALERT pair WHEN DIAMETER(p2, p1) < 120 AND NOT INSIDE(p1, downtown);
CREATE QUERY pick AS SELECT oid FROM objects WHERE KNN (3, 1, 1) AND INSIDE (downtown);
CREATE QUERY rest AS SELECT oid FROM objects WHERE INSIDE (downtown) AND NOT KNN (3, 1, 1);
"""


def explained(folder: Path, sql: str, *more: str) -> str:
    (folder / "q.sql").write_text(sql)
    result = CliRunner().invoke(app, ["explain", str(folder / "q.sql"), *more])
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def test_example_explain_shows_what_alerts_share(tmp_path: Path) -> None:
    said = explained(tmp_path, SQL, "--graphs", str(tmp_path / "graphs"))
    for words in (
        "DIAMETER('p1', 'p2', 'p3') < 100: the smallest circle around all of them, across",
        "fewer than 2 others strictly closer to p2 than the point",
        "hears of 3 objects: p1, p2, p3",
        "2 alerts name 5 constraints, 4 of them different; 2 links infer some from others; the diagram has 5 nodes.",
        "(the 3 nearest objects to the point (1, 1)) AND (inside a still rectangle",
        "2: pick, rest",
    ):
        assert words in said
    assert (tmp_path / "graphs" / "alerts.svg").read_text().startswith("<?xml")


def test_example_a_diagram_too_large_to_be_seen_is_not_drawn(tmp_path: Path) -> None:
    many = "".join(f"CREATE ALERT a{i} WHEN DIAMETER(x{i}, y{i}) < 5;" for i in range(90))
    said = explained(tmp_path, many, "--graphs", str(tmp_path / "graphs"))
    assert "... and 70 more" in said
    assert not (tmp_path / "graphs" / "alerts.svg").exists()
