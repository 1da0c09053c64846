"""Commands one after another in one process: `python -m tests.runtime.spark.in_turn` reads a list of words a line.

Each run has a Spark context of its own; only the JVM, which takes long to start, stays. Every line is
{"words": [...], "answer": path}; the answer is {"code": ..., "output": ...}, in a file that appears when it is whole.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from typer.testing import CliRunner

from vedette.cli import app


def main() -> None:
    for line in sys.stdin:
        told = json.loads(line)
        result = CliRunner().invoke(app, told["words"])
        path = Path(told["answer"])
        hidden = path.with_suffix(".part")
        hidden.write_text(json.dumps({"code": result.exit_code, "output": result.output}), encoding="utf-8")
        hidden.replace(path)


if __name__ == "__main__":
    main()
