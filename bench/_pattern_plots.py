"""The pictures of `vedette bench patterns`: time, index points and raw reads, as in figures 8 to 12 of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

WARM_UP = 1000  # objects of the first cases, which compile all kernels and count for nothing
TIMES = {"numpy_s": "from scratch, numpy", "compiled_s": "from scratch, compiled", "step_s": "a continuous step"}
COUNTS = {"updates_in_windows": "updates in the windows", "points": "index points", "reads": "raw reads"}
NAMES = {"predicates": "predicates", "objects": "objects", "reach_s": "seconds that windows reach back"}


def draw(cases: list[dict[str, Any]], path: Path) -> None:
    """A row for each kind; by predicates, by objects, by the length of the windows."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(4, 3, figsize=(14, 15), layout="constrained")
    for n, kind in enumerate(("binary", "numerical")):
        for m, by in enumerate(NAMES):
            some = _along(cases, kind, by)
            across = [case[by] for case in some]
            for axis, lines, what in (
                (axes[2 * n, m], TIMES, "seconds a step"),
                (axes[2 * n + 1, m], COUNTS, "looked at a step"),
            ):
                for name, label in lines.items():
                    axis.plot(
                        across, [max(1e-4 if name.endswith("_s") else 1.0, c[name]) for c in some], "o-", label=label
                    )
                axis.set(xlabel=NAMES[by], title=f"{kind}: {what}", yscale="log")
                axis.grid(True, alpha=0.3)
                axis.legend(fontsize=8)
    figure.savefig(path, dpi=90)
    plt.close(figure)


def _along(cases: list[dict[str, Any]], kind: str, by: str) -> list[dict[str, Any]]:
    """The cases that differ in one thing alone: the longest such line."""
    lines: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for case in cases:
        if case["kind"] == kind and case["objects"] != WARM_UP:
            lines.setdefault(tuple(case[other] for other in NAMES if other != by), []).append(case)
    longest = max(lines.values(), key=len, default=[])
    return sorted(longest, key=lambda case: float(case[by]))
