"""Write the REPAIR paper's tables from its reconstruction: python studies/paper/tables.py FOLDER.

Every table says that it is a reconstruction.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import COLUMNS, Outcomes
from taketwo.report.document import Mark, Sources, build_document
from taketwo.report.html import write_report
from taketwo.report.paper_tables import paper_tables
from taketwo.report.tables import Table

__all__ = ["RECONSTRUCTION", "main", "outcomes", "reconstruction", "tables"]

DATA = Path(__file__).parents[2] / "tests" / "data"
METRICS = ("accuracy", "turns", "visible_calls", "primitive_ops", "latency_s")
FACTORS = ("format", "modality", "difficulty", "duration")
RECONSTRUCTION = (
    "Reconstruction: a table of synthetic answers that satisfies the paper's printed figures; it is not "
    "the paper's data."
)


def outcomes() -> Outcomes:
    """Return the reconstruction as an outcomes table."""
    wide = pl.read_csv(DATA / "repair_paper_five_metrics_synthetic.csv")
    levels = pl.read_csv(DATA / "repair_paper_accuracy.csv").select("question_id", *FACTORS)
    texts = {
        row["question_id"]: json.dumps({name: row[name] for name in FACTORS})
        for row in levels.iter_rows(named=True)
    }
    cells = pl.concat(
        wide.select(
            "question_id",
            pl.col("video_id_synthetic").alias("video_id"),
            *(pl.col(f"{m}_K{k}_{arm}").cast(pl.Float64).alias(m) for m in METRICS),
            attributes=pl.col("question_id").replace_strict(texts, return_dtype=pl.String),
            arm=pl.lit(arm),
            execution=pl.lit(k, pl.Int32),
            baseline=pl.lit(None if arm == "static" else "static", pl.String),
            availability=pl.lit("available"),
            run_status=pl.lit("answered"),
            score_status=pl.lit("scored"),
        )
        for k in (1, 2)
        for arm in ("static", "dynamic")
    )
    absent = [
        pl.lit(None, column.dtype).alias(column.name)
        for column in COLUMNS
        if column.name not in cells.columns
    ]
    return Outcomes(cells.with_columns(absent).select(column.name for column in COLUMNS))


def reconstruction() -> Comparison:
    """Return the comparison of the reconstruction, subgroups included."""
    return compare(
        outcomes(), Rule(), study="reconstruction of the REPAIR paper", seed=1, by=FACTORS
    )


def tables(comparison: Comparison) -> tuple[Table, ...]:
    """Return the paper's tables, each marked as a reconstruction."""
    return tuple(
        replace(
            table,
            caption=f"RECONSTRUCTION. {table.caption}",
            note=f"{RECONSTRUCTION} {table.note}",
        )
        for table in paper_tables(comparison.comparisons[0], comparison)
        if table.name != "table-a5"
    )


def main(arguments: Sequence[str]) -> int:
    """Write the tables and the report; return an exit status."""
    if len(arguments) != 1:
        sys.stderr.write("usage: python studies/paper/tables.py FOLDER\n")
        return 2
    folder = Path(arguments[0])
    comparison = reconstruction()
    for table in tables(comparison):
        table.save(folder)
    mark = Mark(label="reconstruction", reasons=(RECONSTRUCTION,))
    document = build_document(Sources(comparison=comparison, marks=(mark,)))
    write_report(document, folder / "report.html", frames=folder / "frames")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
