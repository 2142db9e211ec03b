"""The tables of the REPAIR paper, in its shape, from any comparison of one method with one baseline."""

from __future__ import annotations

from statistics import median

from taketwo.analysis.comparison import Comparison, MetricComparison, Movement, PairComparison
from taketwo.report.literature import literature_gains, magnitude_of
from taketwo.report.numbers import UNDEFINED, p_value, scale_of
from taketwo.report.paper_appendix import (
    clusters_table,
    population_table,
    provenance_table,
    subgroups_in_paper_shape,
)
from taketwo.report.paper_shape import (
    MAGNITUDE_ONLY,
    bracket,
    paper_change,
    paper_table,
    plain,
    points,
)
from taketwo.report.tables import Record, Table

__all__ = [
    "effects_table",
    "gains_table",
    "metrics_in_paper_shape",
    "movements_in_paper_shape",
    "paper_tables",
]


def paper_tables(pair: PairComparison, comparison: Comparison) -> tuple[Table, ...]:
    """Return Tables 3, 4, 5, 6, A1, A3, A5 and A7, those for which there are numbers."""
    item = pair.metrics.get("accuracy")
    found: list[Table | None] = [metrics_in_paper_shape(pair)]
    if item is not None and item.shifts:
        found = [
            effects_table(pair, item),
            gains_table(item),
            *found,
            movements_in_paper_shape(pair, item),
            subgroups_in_paper_shape(item),
            clusters_table(pair, item),
        ]
    found += [population_table(comparison), provenance_table()]
    return tuple(table for table in found if table is not None)


def effects_table(pair: PairComparison, item: MetricComparison) -> Table:
    """Return Table 3: accuracy and effect per execution, and the swing."""
    rows: list[list[str]] = []
    records: list[Record] = []
    for effect in item.executions:
        p = effect.mcnemar.exact_p if effect.mcnemar else None
        rows.append([
            f"K{effect.execution}",
            plain(100 * effect.baseline_mean),
            plain(100 * effect.method_mean),
            points(effect.effect),
            bracket("accuracy", effect.low, effect.high),
            p_value(p),
        ])
        records.append({
            "execution": effect.execution, "baseline": effect.baseline_mean,
            "method": effect.method_mean, "effect": effect.effect, "low": effect.low,
            "high": effect.high, "mcnemar_exact_p": p,
            "mcnemar_corrected_p": effect.mcnemar.corrected_p if effect.mcnemar else None,
        })  # fmt: skip
    ks = item.swing_between or (0, 0)
    swing = UNDEFINED if item.swing is None else plain(100 * item.swing)
    rows.append([f"Swing K{ks[0]} − K{ks[1]}", "", "", swing, UNDEFINED, ""])
    return paper_table(
        "table-3",
        f"Accuracy of {pair.method} and {pair.baseline} in each execution (the paper's Table 3)",
        ("Exec.", f"{pair.baseline} (%)", f"{pair.method} (%)", "Δ (pp)", "95% CI", "p"),
        rows,
        "Percentile intervals by question, with infinitely many draws. p is the exact McNemar test; the "
        "paper prints the continuity-corrected chi-square under that name (in the records).",
        records,
    )


def gains_table(item: MetricComparison) -> Table | None:
    """Return Table 4: the literature's matched gains, and how far the effect moved here."""
    if item.s_k is None or item.swing is None:
        return None
    gains = literature_gains()
    rows = [[gain.system, f"+{gain.gain_pp:.2f}"] for gain in gains]
    rows.append(["Median", f"+{median(gain.gain_pp for gain in gains):.2f}"])
    rows += [
        ["Execution spread s_K, this study", plain(100 * item.s_k)],
        ["Swing between executions, this study", plain(100 * item.swing)],
    ]
    s_k, swing = magnitude_of(100 * item.s_k), magnitude_of(100 * item.swing)
    return paper_table(
        "table-4",
        "How far the effect moved, beside matched gains of the literature (the paper's Table 4)",
        ("System", "Gain (pp)"),
        rows,
        f"s_K is {s_k.times_median:.2f} times the median and exceeds {s_k.exceeds} of {s_k.of}, the swing "
        f"{swing.times_median:.2f} times and exceeds {swing.exceeds} of {swing.of}. {MAGNITUDE_ONLY}",
    )


def metrics_in_paper_shape(pair: PairComparison) -> Table | None:
    """Return Table 5: every primary metric's effects, shift, adjusted p and assessment."""
    items = [item for item in pair.metrics.values() if item.primary and item.shifts]
    if not items:
        return None
    ks = [effect.execution for effect in items[0].executions]
    rows: list[list[str]] = []
    records: list[Record] = []
    for item in items:
        shift = next(s for s in item.shifts if (s.earlier, s.later) == (ks[0], ks[-1]))
        p = item.omnibus.p_holm if item.omnibus else None
        scale = scale_of(item.metric)
        rows.append([
            f"{scale.label} ({scale.change_unit.strip() or 'count'})",
            *(
                paper_change(item.metric, effect.effect) + ("" if effect.supported else "†")
                for effect in item.executions
            ),
            paper_change(item.metric, shift.estimate),
            bracket(item.metric, shift.low, shift.high),
            p_value(p),
            item.paper_label or item.verdict_text,
        ])
        records.append({
            "metric": item.metric, "unit": item.unit,
            **{f"effect_K{effect.execution}": effect.effect for effect in item.executions},
            "shift": shift.estimate, "low": shift.low, "high": shift.high, "p_holm": p,
            "paper_label": item.paper_label, "verdict": item.verdict,
        })  # fmt: skip
    counts = pair.counts
    kept = f"{counts.sign_preserved} of {counts.of}" if counts else UNDEFINED
    rows.append(["Metrics that keep the sign of the effect", *[""] * (len(ks) + 3), kept])
    supported = f"{counts.supported_sign_preserved} of {counts.of}" if counts else UNDEFINED
    return paper_table(
        "table-5",
        f"What re-execution did to {pair.method} against {pair.baseline} (the paper's Table 5)",
        ("Metric", *(f"Δ K{k}" for k in ks), "Z", "95% CI on Z", "p (Holm)", "Assessment"),
        rows,
        f"† the interval of the effect covers zero. With support in every execution the sign is kept in "
        f"{supported}. p: paired t of the shift (omnibus for more than two executions) by question.",
        records,
    )


def movements_in_paper_shape(pair: PairComparison, item: MetricComparison) -> Table:
    """Return Table 6: what each arm did by itself between the first and the last execution."""
    ks = (item.executions[0], item.executions[-1])
    moves = [
        m for m in item.movements if (m.earlier, m.later) == (ks[0].execution, ks[1].execution)
    ]
    rows: list[list[str]] = []
    for move in moves:
        means = [
            effect.baseline_mean if move.arm == pair.baseline else effect.method_mean
            for effect in ks
        ]
        rows.append([
            move.arm,
            *(plain(100 * mean) for mean in means),
            points(move.re),
            UNDEFINED if move.churn is None else plain(100 * move.churn),
            p_value(move.mcnemar.exact_p if move.mcnemar else None),
        ])
    swing = UNDEFINED if len(moves) < 2 else plain(100 * abs(moves[0].re - moves[1].re))
    rows.append(["Combined swing", "", "", swing, "", ""])
    return paper_table(
        "table-6",
        "How far each arm moved by itself (the paper's Table 6)",
        (
            "Method",
            f"K{ks[0].execution} (%)",
            f"K{ks[1].execution} (%)",
            "Δ re (pp)",
            "Churn (%)",
            "p",
        ),
        rows,
        _net_sentence(moves),
    )


def _net_sentence(moves: list[Movement]) -> str:
    shares = [f"{100 * m.net_share:.0f} % for {m.arm}" for m in moves if m.net_share is not None]
    return f"Net movement recovers {' and '.join(shares)} of the churn." if shares else ""
