"""The tables of the REPAIR paper's appendix: subgroups, judges, videos, population, provenance."""

from __future__ import annotations

from taketwo.analysis.comparison import Comparison, Interval, MetricComparison, PairComparison
from taketwo.analysis.judges import JudgeTable
from taketwo.report.literature import literature_gains
from taketwo.report.numbers import UNDEFINED, p_value
from taketwo.report.paper_shape import MAGNITUDE_ONLY, bracket, paper_table, plain, points
from taketwo.report.tables import Record, Table

__all__ = [
    "clusters_table",
    "judges_table",
    "population_table",
    "provenance_table",
    "subgroups_in_paper_shape",
]


def subgroups_in_paper_shape(item: MetricComparison) -> Table | None:
    """Return Table A1: the effect of every subgroup in the first and the last execution."""
    if not item.subgroups or item.subgroups[0].tested != "shift":
        return None
    rows: list[list[str]] = []
    records: list[Record] = []
    for table in item.subgroups:
        for sub in table.levels:
            first, last = sub.effects[0], sub.effects[-1]
            rows.append([
                f"{table.factor}: {sub.level}",
                f"{sub.n:,}",
                points(first),
                points(last),
                points(first - last),
            ])
            records.append({
                "factor": table.factor, "level": sub.level, "n": sub.n, "first": first,
                "last": last, "shift": sub.shift, "low": sub.low, "high": sub.high,
            })  # fmt: skip
    changing = sum(table.changing_sign for table in item.subgroups)
    of = sum(table.of for table in item.subgroups)
    tests = ", ".join(
        f"{t.factor} p = {p_value(t.interaction.p if t.interaction.p is not None else t.interaction.permutation_p)}"
        for t in item.subgroups
    )
    shared = ", ".join(t.factor for t in item.subgroups if t.overlap)
    overlap = f" By {shared} a question counts under each of its levels." if shared else ""
    return paper_table(
        "table-a1",
        "Effects by subgroup (the paper's Table A1)",
        ("Subgroup", "N", "Δ first", "Δ last", "Z"),
        rows,
        f"{changing} of {of} levels change sign; the factors divide the same questions, so these are not "
        f"{of} findings. Whether the shift differs between levels: {tests}. Z from unrounded "
        f"effects.{overlap}",
        records,
    )


def judges_table(table: JudgeTable) -> Table:
    """Return Table A2: effects and shift under each judge's labels."""
    rows = [
        [
            f"{row.judge}{' (primary)' if row.judge == table.primary else ''}",
            f"{row.n_own:,}",
            points(row.effects[0]),
            points(row.effects[-1]),
            UNDEFINED if row.shift is None else points(row.shift),
            UNDEFINED if row.kappa is None or row.kappa.value is None else f"{row.kappa.value:.2f}",
        ]
        for row in table.rows
    ]
    return paper_table(
        "table-a2",
        "The comparison under each judge (the paper's Table A2)",
        ("Judge", "N own", "Δ first", "Δ last", "Z", "Kappa"),
        rows,
        f"On the {table.n:,} questions that all judges labelled in every cell. {table.same_verdict} of "
        f"{len(table.rows)} judges give the primary judge's verdict, under {table.reversing} the sign "
        "changes.",
    )


def clusters_table(pair: PairComparison, item: MetricComparison) -> Table | None:
    """Return Table A3: the percentile intervals by video of effects, shift and both arms' movements."""
    if item.cluster is None:
        return None
    numbers: list[tuple[str, float, Interval | None]] = [
        (f"K{e.execution}: {pair.method} − {pair.baseline}", e.effect, e.clustered)
        for e in item.executions
    ]
    numbers += [(f"Shift K{s.earlier} − K{s.later}", s.estimate, s.clustered) for s in item.shifts]
    numbers += [(f"{m.arm}: K{m.later} − K{m.earlier}", m.re, m.clustered) for m in item.movements]
    rows = [
        [
            name,
            points(value),
            UNDEFINED if found is None else bracket("accuracy", found.low, found.high),
        ]
        for name, value, found in numbers
    ]
    liberal = (
        " Fewer than 50 videos, or one with more than a tenth of the questions: these intervals are "
        "too short, CR2 decides."
        if item.cluster.percentile_is_liberal
        else ""
    )
    return paper_table(
        "table-a3",
        "Intervals by video (the paper's Table A3)",
        ("Quantity", "Effect (pp)", "95% CI"),
        rows,
        f"{item.n:,} questions on {item.cluster.n:,} videos, drawn whole.{liberal}",
        tuple(
            {
                "quantity": name,
                "effect": value,
                "low": None if found is None else found.low,
                "high": None if found is None else found.high,
            }
            for name, value, found in numbers
        ),
    )


def population_table(comparison: Comparison) -> Table | None:
    """Return Table A5: shares of the subgroups among planned and compared questions."""
    shares = comparison.population.subgroups
    if not shares:
        return None
    rows = [
        [
            f"{share.factor}: {share.level}",
            f"{share.n_union:,}",
            plain(100 * share.share_union),
            f"{share.n_matched:,}",
            plain(100 * share.share_matched),
            points(share.share_matched - share.share_union),
        ]
        for share in shares
    ]
    return paper_table(
        "table-a5",
        "Planned and compared questions by subgroup (the paper's Table A5)",
        ("Subset", "All N", "All %", "Matched N", "Matched %", "Δ (pp)"),
        rows,
        "Equal shares do not rule out that questions left for reasons that the factors do not show.",
    )


def provenance_table() -> Table:
    """Return Table A7: where the seven gains come from."""
    return paper_table(
        "table-a7",
        "Provenance of the matched gains (the paper's Table A7)",
        ("System", "Benchmark", "Source", "Baseline → method", "Agg.", "Gain (pp)"),
        [
            [
                gain.system,
                ", ".join(gain.benchmarks),
                gain.source,
                gain.contrast.replace("->", "→"),
                gain.aggregation,
                f"+{gain.gain_pp:.2f}",
            ]
            for gain in literature_gains()
        ],
        "Difference within each benchmark, conditions of one benchmark averaged first, unweighted mean over "
        f"benchmarks (M); S: one benchmark. Copied from the paper. {MAGNITUDE_ONLY}",
    )
