"""The factors of many arms as tables: levels ranked, levels against levels, setting by setting."""

from __future__ import annotations

import re
from collections.abc import Mapping

from taketwo.analysis.breakdown import RESOLVED_READING
from taketwo.analysis.factor_records import (
    FactorFinding,
    FactorFindings,
    LevelComparison,
    RankedLevel,
    Ranking,
    Setting,
)
from taketwo.executions.rule import Metric
from taketwo.report.numbers import UNDEFINED, change, interval, level, p_value, percent, scale_of
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["factors_sentence", "levels_table", "ranking_table", "settings_table"]


def factors_sentence(findings: FactorFindings) -> str:
    """Return what the tables of the factors rest on, and which factors they leave out."""
    left = "".join(f" Not shown: {reason}." for reason in findings.left_out)
    if findings.metric is None:
        return f"No table of the factors can be made.{left}"
    units = f" on {findings.clusters:,} videos" if findings.by == "video" else ""
    return (
        f"{scale_of(findings.metric).label} of {len(findings.arms)} arms, averaged over each arm's "
        f"runs, on the {findings.questions:,} questions{units} that every run of every arm has.{left}"
    )


def ranking_table(finding: FactorFinding, findings: FactorFindings) -> Table:
    """Return the levels of a factor by their macro-averages, each with its rank and the rank's doubt."""
    ranking = finding.ranking
    ends = {item.level: (item.lowest, item.highest) for item in finding.averages}
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for item in ranking.levels:
        low, high = ends[item.level]
        rows.append([
            item.level,
            str(item.arms),
            level(ranking.metric, item.score),
            UNDEFINED
            if item.arms == 1
            else f"{level(ranking.metric, low)} to {level(ranking.metric, high)}",
            str(item.rank),
            f"{item.low} to {item.high}",
            percent(item.p_first),
            percent(item.p_top),
        ])
        records.append(_rank_record(ranking, item, low, high))
    return Table(
        name=f"ranking-{_file_name(finding.factor)}",
        caption=f"Levels of {finding.factor} by {scale_of(ranking.metric).label.lower()}",
        columns=_columns(
            finding.factor,
            "Arms",
            "Mean over arms",
            "Lowest to highest arm",
            "Rank",
            "Ranks in the draws",
            "First",
            f"In the first {ranking.top}",
        ),
        rows=rows_of(rows),
        note=_ranking_note(ranking, findings),
        records=tuple(records),
    )


def _ranking_note(ranking: Ranking, findings: FactorFindings) -> str:
    drawn = f"{ranking.clusters:,} {findings.by}s"
    taus = [
        f"{value:.2f} {words}"
        for value, words in (
            (ranking.tau_to_sample, "between a draw and the sample"),
            (ranking.tau_between_draws, "between two draws"),
        )
        if value is not None
    ]
    kendall = f" Kendall's tau-b: {', '.join(taus)}.".replace("-0.", "\u22120.") if taus else ""
    unbalanced = "" if ranking.unbalanced is None else f" {ranking.unbalanced.capitalize()}."
    return (
        f"A level's score is the unweighted mean over its arms, each over {ranking.questions:,} "
        f"questions. All levels are ranked anew on each of {ranking.draws:,} draws of the {drawn}, every "
        f"arm from the same draw; ranks: between which {100 * ranking.level:g} % of "
        f"the draws lie.{kendall}{unbalanced}"
    )


def _rank_record(ranking: Ranking, item: RankedLevel, low: float, high: float) -> Record:
    return {
        "factor": ranking.factor,
        "level": item.level,
        "metric": ranking.metric,
        "arms": item.arms,
        "questions": ranking.questions,
        "mean": item.score,
        "lowest": low,
        "highest": high,
        "rank": item.rank,
        "rank_low": item.low,
        "rank_high": item.high,
        "p_first": item.p_first,
        "p_top": item.p_top,
        "top": ranking.top,
    }


def levels_table(finding: FactorFinding, findings: FactorFindings) -> Table | None:
    """Return each two levels of a factor over all settings of the others; None without such a pair."""
    if not finding.comparisons:
        return None
    metric = finding.ranking.metric
    rows: list[list[str | Cell]] = [
        [
            f"{item.method} − {item.baseline}",
            Cell(
                text=change(metric, item.effect),
                detail=interval(metric, item.interval.low, item.interval.high),
            ),
            Cell(
                text=f"{item.resolved} of {item.of}",
                detail=f"{item.positive} up, {item.negative} down" if item.resolved else "",
            ),
            Cell(text=p_value(item.average.p), detail=_holm(item.average.p_holm)),
            Cell(text=p_value(item.pooled.p), detail=_holm(item.pooled.p_holm)),
            UNDEFINED if item.naive_pooled is None else p_value(item.naive_pooled.p),
        ]
        for item in finding.comparisons
    ]
    return Table(
        name=f"levels-{_file_name(finding.factor)}",
        caption=f"Levels of {finding.factor} against each other, over all settings of the other factors",
        columns=_columns(
            finding.factor,
            "Mean effect",
            "Settings resolved",
            f"p of the mean, by {findings.by}",
            "p pooled, by question",
            "p naively pooled (not valid)",
        ),
        rows=rows_of(rows),
        note=_levels_note(finding),
        records=tuple(_level_record(metric, item) for item in finding.comparisons),
    )


def _levels_note(finding: FactorFinding) -> str:
    left = sorted({setting for item in finding.comparisons for setting in item.left_out})
    without = f" Settings that have one of two levels only: {'; '.join(left)}." if left else ""
    return (
        f"{RESOLVED_READING[0].upper()}{RESOLVED_READING[1:]}. Pooled: the signs of a question's effects "
        "in all settings are flipped together. Naively pooled: gained and lost questions added over "
        "settings as if they were different questions; for comparison with others' tables only, not "
        f"defined for means over several runs. Holm: over the pairs of this table.{without}"
    )


def _level_record(metric: Metric, item: LevelComparison) -> Record:
    return {
        "factor": item.factor,
        "baseline": item.baseline,
        "method": item.method,
        "metric": metric,
        "questions": item.n,
        "settings": item.of,
        "resolved": item.resolved,
        "positive": item.positive,
        "negative": item.negative,
        "effect": item.effect,
        "low": item.interval.low,
        "high": item.interval.high,
        "interval": item.interval.method,
        "p_average": item.average.p,
        "p_average_holm": item.average.p_holm,
        "p_pooled": item.pooled.p,
        "p_pooled_holm": item.pooled.p_holm,
        "p_naive": None if item.naive_pooled is None else item.naive_pooled.p,
    }


def settings_table(finding: FactorFinding) -> Table | None:
    """Return each two levels of a factor in every setting of the others; None without such a pair."""
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    metric = finding.ranking.metric
    for item in finding.comparisons:
        for setting in item.settings:
            counts = setting.mcnemar
            rows.append([
                Cell(text=f"{item.method} − {item.baseline}", detail=_named(setting.setting)),
                change(metric, setting.effect),
                UNDEFINED if counts is None else str(counts.gained),
                UNDEFINED if counts is None else str(counts.lost),
                p_value(setting.p),
                "paired t" if counts is None else "exact McNemar",
                "yes" if setting.is_resolved else "no",
            ])
            records.append(_setting_record(finding.factor, item, setting))
    if not rows:
        return None
    return Table(
        name=f"settings-{_file_name(finding.factor)}",
        caption=f"Levels of {finding.factor} in each setting of the other factors",
        columns=_columns(
            finding.factor, "Effect", "Gained", "Lost", "p", "Test", "Resolved (p < .05)"
        ),
        rows=rows_of(rows),
        note=(
            "Exact McNemar on right and wrong; where an arm has several runs a question's score is their "
            "mean, and the test is the paired t. Not adjusted over settings."
        ),
        records=tuple(records),
    )


def _setting_record(factor: str, item: LevelComparison, setting: Setting) -> Record:
    counts = setting.mcnemar
    return {
        "factor": factor,
        "baseline": item.baseline,
        "method": item.method,
        "setting": _named(setting.setting),
        "baseline_arm": setting.baseline,
        "method_arm": setting.method,
        "effect": setting.effect,
        "gained": None if counts is None else counts.gained,
        "lost": None if counts is None else counts.lost,
        "p": setting.p,
        "resolved": setting.is_resolved,
    }


def _file_name(factor: str) -> str:
    return re.sub(r"[^\w.-]+", "-", factor)


def _holm(p: float | None) -> str:
    return "" if p is None else f"Holm {p_value(p)}"


def _named(setting: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {value}" for name, value in setting.items()) or "no other factor"


def _columns(first: str, *numbers: str) -> tuple[Column, ...]:
    return (
        Column(heading=first),
        *(Column(heading=heading, is_number=heading != "Test") for heading in numbers),
    )
