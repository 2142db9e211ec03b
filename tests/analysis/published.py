"""What the two papers print and what can be recomputed: the facts behind docs/concepts/published-numbers.md.

Published values are typed from the papers; recomputed ones come from the reconstruction, or from the
papers' own other numbers. `page()` renders the tables of the documentation; run this module to print it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

import polars as pl
from tests.analysis.outcome_tables import DATA, paper

from taketwo.analysis.compare import compare
from taketwo.analysis.comparison import Comparison
from taketwo.executions.rule import Rule
from taketwo.outcomes.table import Outcomes
from taketwo.report.literature import magnitude_of
from taketwo.stats.grim import grim

N = 1283
STEP = 100 / N
FACTORS = ("format", "modality", "difficulty", "duration")


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A printed number beside the recomputed one, and what to make of it."""

    section: str
    what: str
    published: str
    recomputed: str
    verdict: str

    def row(self) -> str:
        return f"| {self.what} | {self.published} | {self.recomputed} | {self.verdict} |"


def with_factors() -> Outcomes:
    """Return the reconstructed paper with its question factors as attributes."""
    wide = pl.read_csv(DATA / "repair_paper_accuracy.csv").select("question_id", *FACTORS)
    texts = [
        (row["question_id"], json.dumps({name: row[name] for name in FACTORS}))
        for row in wide.iter_rows(named=True)
    ]
    levels = pl.DataFrame(texts, schema=["question_id", "levels"], orient="row")
    frame = paper().frame.join(levels, on="question_id", how="left")
    return Outcomes(frame.with_columns(attributes=pl.col("levels")).drop("levels"))


def reconstruction() -> Comparison:
    """Return the comparison of the reconstruction, subgroups included."""
    return compare(with_factors(), Rule(), study="reconstruction", seed=20, by=FACTORS)


def _printed(value: float, like: str) -> str:
    """Return `value` with the sign and digits of `like`."""
    decimals = len(like.partition(".")[2].rstrip("%†"))
    sign = "+" if like.startswith("+") or (like.startswith("-") and value > 0) else ""
    text = f"{value:{sign}.{decimals}f}"
    return text.lstrip("-+") if float(text) == 0 else text


def _same(section: str, what: str, published: str, value: float) -> Fact:
    found = _printed(value, published)
    if found == published:
        return Fact(section=section, what=what, published=published, recomputed=found, verdict="agrees")  # fmt: skip
    off = abs(Decimal(found) - Decimal(published))
    unit = Decimal(1).scaleb(-len(published.partition(".")[2]))
    told = "differs in the last digit" if off <= unit else "differs"
    return Fact(section=section, what=what, published=published, recomputed=found, verdict=told)


def _end(section: str, what: str, published: str, value: float) -> Fact:
    found = _printed(value, published)
    steps = abs(float(published) - value) / STEP
    told = (
        "agrees"
        if found == published
        else f"{steps:.1f} steps of 1/1283 apart: noise of 10,000 draws"
        if steps <= 2
        else "differs"
    )
    return Fact(section=section, what=what, published=published, recomputed=found, verdict=told)


def _p(section: str, what: str, published: str, exact: float, corrected: float) -> Fact:
    is_corrected = f"{corrected:.1e}" == f"{float(published):.1e}"
    is_exact = f"{exact:.1e}" == f"{float(published):.1e}"
    told = (
        "agrees"
        if is_exact
        else "printed as exact; is the chi-square with continuity correction"
        if is_corrected
        else "differs"
    )
    return Fact(
        section=section, what=what, published=published,
        recomputed=f"exact {exact:.2e}, corrected {corrected:.2e}", verdict=told,
    )  # fmt: skip


def _table_3(comparison: Comparison) -> list[Fact]:
    section = "REPAIR, Tables 3 and 6: accuracy"
    item = comparison.comparisons[0].metrics["accuracy"]
    first, second = item.executions
    shift = item.shifts[0]
    static, dynamic = item.movements
    facts = [
        _same(section, "Static K1, %", "60.80", 100 * first.baseline_mean),
        _same(section, "Dynamic K1, %", "68.12", 100 * first.method_mean),
        _same(section, "Static K2, %", "65.55", 100 * second.baseline_mean),
        _same(section, "Dynamic K2, %", "61.50", 100 * second.method_mean),
        _same(section, "effect K1, pp", "+7.33", 100 * first.effect),
        _same(section, "effect K2, pp", "-4.05", 100 * second.effect),
        _same(section, "shift (swing), pp", "+11.38", 100 * shift.estimate),
        _same(section, "t(1282)", "6.597", shift.test.statistic or 0),
        Fact(
            section=section, what="p of the shift", published="6.11e-11",
            recomputed=f"{shift.test.p:.2e}",
            verdict="agrees" if f"{shift.test.p:.2e}" == "6.11e-11" else "differs",
        ),
    ]  # fmt: skip
    ends = (
        ("K1 low", "+4.83", first.low), ("K1 high", "+9.90", first.high),
        ("K2 low", "-6.39", second.low), ("K2 high", "-1.79", second.high),
        ("shift low", "+8.03", shift.low), ("shift high", "+14.81", shift.high),
    )  # fmt: skip
    facts += [_end(section, f"95 % interval, {w}, pp", p, 100 * (v or 0)) for w, p, v in ends]
    tables = (
        ("K1", "1.7e-8", first.mcnemar), ("K2", "8.6e-4", second.mcnemar),
        ("Static K1 to K2", "2.4e-4", static.mcnemar),
        ("Dynamic K1 to K2", "1.3e-6", dynamic.mcnemar),
    )  # fmt: skip
    facts += [
        _p(section, f"McNemar p, {w}", p, t.exact_p, t.corrected_p) for w, p, t in tables if t
    ]
    facts += [
        _same(section, "bootstrap SE K1, pp", "1.27", 100 * (first.se or 0)),
        _same(section, "bootstrap SE K2, pp", "1.18", 100 * (second.se or 0)),
        _same(section, "s_K, pp", "8.05", 100 * (item.s_k or 0)),
        _same(section, "s_K over mean SE", "6.6", item.ratio_to_se or 0),
        _same(section, "Static change, pp", "+4.75", 100 * static.re),
        _same(section, "Dynamic change, pp", "-6.63", 100 * dynamic.re),
        _same(section, "Static churn, %", "20.81", 100 * (static.churn or 0)),
        _same(section, "Dynamic churn, %", "23.46", 100 * (dynamic.churn or 0)),
        _same(section, "Static net share of churn, %", "23", 100 * (static.net_share or 0)),
        _same(section, "Dynamic net share of churn, %", "28", 100 * (dynamic.net_share or 0)),
    ]
    return facts


def _table_4(comparison: Comparison) -> list[Fact]:
    section = "REPAIR, Table 4: beside the literature"
    item = comparison.comparisons[0].metrics["accuracy"]
    spread = magnitude_of(100 * (item.s_k or 0))
    swing = magnitude_of(100 * (item.swing or 0))
    return [
        _same(section, "median gain, pp", "6.10", spread.points / spread.times_median),
        _same(section, "s_K over the median", "1.32", spread.times_median),
        _same(section, "gains below s_K, of 7", "6", spread.exceeds),
        _same(section, "swing over the median", "1.87", swing.times_median),
        _same(section, "gains below the swing, of 7", "7", swing.exceeds),
    ]


TABLE_5 = {
    "turns": ("-0.920", "-0.680", "-0.241", "3.6e-02", "Sign stable, magnitude shifts"),
    "visible_calls": ("-0.859", "-0.613", "-0.246", "3.3e-02", "Sign stable, magnitude shifts"),
    "primitive_ops": ("+0.991", "+0.025", "+0.966", "2.2e-13", "Attenuates to null"),
    "latency_s": ("-3.492", "+21.314", "-24.806", "1.0e-19", "Direction reversal"),
}  # fmt: skip


def _table_5(comparison: Comparison) -> list[Fact]:
    section = "REPAIR, Table 5: five metrics (costs are invented to fit, so this checks the method)"
    pair = comparison.comparisons[0]
    facts: list[Fact] = []
    for name, (first, second, shift, p, label) in TABLE_5.items():
        item = pair.metrics[name]
        facts += [
            _same(section, f"{name}, effect K1", first, item.executions[0].effect),
            _same(section, f"{name}, effect K2", second, item.executions[1].effect),
            _same(section, f"{name}, shift", shift, item.shifts[0].estimate),
        ]
        found = f"{item.omnibus.p_holm:.1e}" if item.omnibus else ""
        facts.append(
            Fact(section=section, what=f"{name}, Holm p", published=p, recomputed=found,
                 verdict="agrees" if found == p else "differs")
        )  # fmt: skip
        same = "agrees" if item.paper_label == label else "differs"
        facts.append(
            Fact(section=section, what=f"{name}, assessment", published=label,
                 recomputed=f"{item.paper_label}; here `{item.verdict}`", verdict=same)
        )  # fmt: skip
    accuracy = pair.metrics["accuracy"]
    found = f"{accuracy.omnibus.p_holm:.1e}" if accuracy.omnibus else ""
    counts = pair.counts
    kept = f"{counts.sign_preserved} of {counts.of}" if counts else ""
    supported = f"{counts.supported_sign_preserved} of {counts.of}" if counts else ""
    return [
        Fact(section=section, what="accuracy, Holm p", published="1.8e-10", recomputed=found,
             verdict="agrees" if found == "1.8e-10" else "differs"),
        *facts,
        Fact(section=section, what="metrics that keep the sign", published="3 of 5",
             recomputed=f"{kept} (with support: {supported})",
             verdict="agrees by point estimates" if kept == "3 of 5" else "differs"),
    ]  # fmt: skip


TABLE_A1 = (
    ("MCQ", 586, "+5.29", "-3.24", "+8.53"), ("Open-ended", 697, "+9.04", "-4.73", "+13.77"),
    ("Visual", 932, "+8.91", "-4.61", "+13.52"), ("Verbal", 75, "+2.67", "-1.33", "+4.00"),
    ("Both", 276, "+3.26", "-2.90", "+6.16"), ("Easy", 385, "+4.68", "-3.90", "+8.58"),
    ("Medium", 322, "+6.72", "-4.60", "+11.32"), ("Hard", 526, "+9.39", "-3.64", "+13.03"),
    ("Very hard", 50, "+10.00", "-6.00", "+16.00"), ("Short", 681, "+5.14", "-1.62", "+6.76"),
    ("Long", 602, "+9.80", "-6.76", "+16.56"),
)  # fmt: skip
TABLE_A2 = (
    ("GPT-4o", "+7.33", "-4.05", "+11.38"), ("Claude Opus 4.6", "+5.22", "-3.51", "+8.73"),
    ("Qwen3-235B", "+5.83", "-3.977", "+9.81"), ("DeepSeek V4 Pro", "+6.59", "-4.28", "+10.87"),
)  # fmt: skip


def _possible(section: str, name: str, n: int, cells: tuple[str, str, str]) -> list[Fact]:
    """Return whether each printed effect is a whole number of questions over n."""
    facts: list[Fact] = []
    totals = [grim(text, n).total for text in cells[:2]]
    for column, text in zip(("K1", "K2", "Z"), cells, strict=True):
        found = grim(text, n)
        exact = 100 * (totals[0] - totals[1]) / n
        told = "possible"
        if (
            column == "Z"
            and _printed(exact, text) != text
            and all(grim(cell, n).is_attainable for cell in cells[:2])
        ):
            told = "sum of rounded numbers"
        elif not found.is_attainable:
            told = "impossible: no whole number of questions"
        elif column == "Z" and not all(grim(cell, n).is_attainable for cell in cells[:2]):
            told = "possible by itself; its parts are not"
        nearest = f"{found.total}/{n} = {_printed(found.value, text)}"
        facts.append(
            Fact(section=section, what=f"{name}, {column} (N = {n})", published=text,
                 recomputed=nearest, verdict=told)
        )  # fmt: skip
    return facts


def _subgroups() -> list[Fact]:
    a1 = "REPAIR, Table A1: subgroups (is the printed effect a whole number of questions?)"
    a2 = "REPAIR, Table A2: judges (the same question, N = 1283)"
    facts = [f for name, n, *cells in TABLE_A1 for f in _possible(a1, name, n, (cells[0], cells[1], cells[2]))]  # fmt: skip
    return facts + [f for name, *cells in TABLE_A2 for f in _possible(a2, name, N, (cells[0], cells[1], cells[2]))]  # fmt: skip


def _clusters(comparison: Comparison) -> list[Fact]:
    section = "REPAIR, Table A3: intervals by video (videos of the reconstruction are synthetic)"
    item = comparison.comparisons[0].metrics["accuracy"]
    static, dynamic = item.movements
    rows = (
        ("K1", "+4.89", "+9.83", item.executions[0].clustered),
        ("K2", "-6.39", "-1.73", item.executions[1].clustered),
        ("shift", "+8.08", "+14.85", item.shifts[0].clustered),
        ("Static", "+2.31", "+7.25", static.clustered),
        ("Dynamic", "-9.38", "-4.01", dynamic.clustered),
    )
    facts: list[Fact] = []
    for name, low, high, found in rows:
        ends = (100 * (found.low or 0), 100 * (found.high or 0)) if found else (0.0, 0.0)
        off = max(abs(ends[0] - float(low)), abs(ends[1] - float(high)))
        facts.append(
            Fact(
                section=section, what=f"{name}, pp", published=f"[{low}, {high}]",
                recomputed=f"[{_printed(ends[0], low)}, {_printed(ends[1], high)}]",
                verdict="consistent; not identifiable without video ids"
                if off <= 2 * STEP else "differs",
            )
        )  # fmt: skip
    return facts


SHARES = (
    ("MCQ", 793, "45.47", 586, "45.67", "+0.20"), ("Open-ended", 951, "54.53", 697, "54.33", "-0.20"),
    ("Visual", 1266, "72.59", 932, "72.64", "+0.05"), ("Verbal", 105, "6.02", 75, "5.85", "-0.17"),
    ("Both", 373, "21.39", 276, "21.51", "+0.12"), ("Easy", 518, "29.70", 385, "30.01", "+0.31"),
    ("Medium", 438, "25.11", 322, "25.10", "-0.01"), ("Hard", 715, "41.00", 526, "41.00", "0.00"),
    ("Very hard", 73, "4.19", 50, "3.90", "-0.29"), ("Short", 920, "52.75", 681, "53.08", "+0.33"),
    ("Long", 824, "47.25", 602, "46.92", "-0.33"),
)  # fmt: skip


def _shares() -> list[Fact]:
    section = "REPAIR, Table A5: shares (1,744 questions and 1,283 matched ones)"
    facts: list[Fact] = []
    for name, of_all, all_share, matched, matched_share, change in SHARES:
        a, m = 100 * of_all / 1744, 100 * matched / N
        facts += [
            _same(section, f"{name}, all, %", all_share, a),
            _same(section, f"{name}, matched, %", matched_share, m),
            _same(section, f"{name}, difference, pp", change, m - a),
        ]
    return facts


TABLE_1 = {"Qwen3.5-27B": (".22", ".09", ".37", ".44", ".49"), "Gemma-4-31B": (".38", ".08", ".31", ".48", ".51")}  # fmt: skip
TABLE_20 = {"Qwen3.5-27B": ("-0.16", "+0.16", "+0.24", "+0.28"), "Gemma-4-31B": ("-0.29", "-0.07", "+0.08", "+0.13")}  # fmt: skip


def _agentvidbench() -> list[Fact]:
    section = "AgentVidBench: Table 20 against Table 1 (effects against Single-Turn, 100 questions)"
    facts: list[Fact] = []
    for model, scores in TABLE_1.items():
        single = Decimal(scores[0])
        for name, score, printed in zip(
            ("STAR", "DVD", "AVP", "Ours"), scores[1:], TABLE_20[model], strict=True
        ):
            found = f"{Decimal(score) - single:+.2f}"
            facts.append(
                Fact(section=section, what=f"{model}, {name}", published=printed, recomputed=found,
                     verdict="agrees" if found == printed else "contradicts Table 1")
            )  # fmt: skip
    ranked = "AgentVidBench, G.2: who is ranked"
    named, others = 4, 10
    return [
        *facts,
        Fact(section=ranked, what="models re-ranked", published="14 (text), 16 (Table 22)",
             recomputed=f"Table 22 lists {named} and a remaining {others}: {named + others}; its "
             "intervals reach rank 16",
             verdict="contradicts itself; most likely the 16 open-weight settings"),
    ]  # fmt: skip


def facts() -> tuple[Fact, ...]:
    """Return all facts, in the order of the page."""
    comparison = reconstruction()
    return (
        *_table_3(comparison),
        *_table_4(comparison),
        *_table_5(comparison),
        *_subgroups(),
        *_clusters(comparison),
        *_shares(),
        *_agentvidbench(),
    )


def tables(found: tuple[Fact, ...]) -> str:
    """Return the facts as Markdown, a table per section."""
    parts: list[str] = []
    for section in dict.fromkeys(fact.section for fact in found):
        rows = [fact.row() for fact in found if fact.section == section]
        parts.append(
            "\n".join([
                f"## {section}", "", "| number | published | recomputed | verdict |",
                "| --- | --- | --- | --- |", *rows,
            ])
        )  # fmt: skip
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    print(tables(facts()), end="")
