"""The judges of answers as tables: the comparison under each, their noise, and what they could not grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from taketwo.analysis.judges import JudgeRow, JudgeTable
from taketwo.analysis.verdict import VERDICT_TEXTS
from taketwo.report.judge_use_tables import PartJudge
from taketwo.report.numbers import (
    UNDEFINED,
    change,
    count,
    decimal_text,
    interval,
    is_number,
    p_value,
    percent,
)
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = [
    "AnswerJudges",
    "JudgeNoise",
    "JudgedPair",
    "OptionAgainstJudge",
    "UngradableAnswers",
    "noise_table",
    "options_table",
    "robustness_table",
    "served_table",
    "ungradable_table",
]

_DECIMALS = 3


@dataclass(frozen=True, kw_only=True)
class JudgedPair:
    """A pair of arms compared under each judge's labels; `reason` says why there is no table.

    `left_out` are judges that the table cannot have, each with the reason.
    """

    method: str
    baseline: str
    table: JudgeTable | None
    reason: str = ""
    left_out: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, kw_only=True)
class JudgeNoise:
    """How often a judge contradicted itself: of `answers` labelled `repeats` times each, `split` were."""

    judge: str
    repeats: int
    answers: int
    split: int


@dataclass(frozen=True, kw_only=True)
class OptionAgainstJudge:
    """Answers that matching the option and a judge both scored, counted by both results."""

    judge: str
    both_right: int
    option_only: int
    judge_only: int
    both_wrong: int


@dataclass(frozen=True, kw_only=True)
class UngradableAnswers:
    """Cells of one arm in one execution: right ones among the `scored`, and those nobody could grade.

    `scored` does not count the ungradable ones.
    """

    arm: str
    execution: int
    right: int
    scored: int
    ungradable: int


@dataclass(frozen=True, kw_only=True)
class AnswerJudges:
    """What is known of the judges of answers; what was not looked at is left empty.

    `extractor_uses` counts replies whose option the `extractor` was asked for. `served` are the
    models that the providers say they served, by the judge's name. `parts` are judges that stand in
    no table of `pairs`, beside the one that counts.
    """

    pairs: tuple[JudgedPair, ...] = ()
    noise: tuple[JudgeNoise, ...] = ()
    options: tuple[OptionAgainstJudge, ...] = ()
    ungradable: tuple[UngradableAnswers, ...] = ()
    extractor: str | None = None
    extractor_uses: int = 0
    served: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    parts: tuple[PartJudge, ...] = ()


def robustness_table(pair: JudgedPair) -> Table | None:
    """Return the comparison of a pair under each judge's labels; None where there is none."""
    table = pair.table
    if table is None:
        return None
    left_out = "".join(f" {judge} is not in it: {why}." for judge, why in pair.left_out.items())
    runs = len(table.rows[0].effects) if table.rows else 0
    has_shift = runs > 1
    rows: list[list[str | Cell]] = []
    for row in table.rows:
        cells: list[str | Cell] = [
            Cell(
                text=row.judge,
                detail=f"{'primary, ' if row.judge == table.primary else ''}labelled {row.n_own:,} "
                "questions",
            )
        ]
        for effect, found in zip(row.effects, row.headlines, strict=True):
            ends = interval("accuracy", found.low, found.high)
            cells.append(Cell(text=change("accuracy", effect), detail=ends))
        if has_shift:
            cells.append(Cell(text=change("accuracy", row.shift), detail=_p(row.shift_p)))
        rows.append([*cells, VERDICT_TEXTS[row.verdict], percent(row.agreement), _kappa(row)])
    fleiss = table.fleiss
    kappa = (
        ""
        if fleiss is None or fleiss.value is None
        else f" Fleiss' kappa over all judges: {_number(fleiss.value)} {_ends(fleiss.low, fleiss.high)}."
    )
    return Table(
        name=f"judges-{pair.method}-{pair.baseline}",
        caption=f"{pair.method} against {pair.baseline} under each judge's labels",
        columns=(
            Column(heading="Judge"),
            *(Column(heading=f"Effect in K{k}", is_number=True) for k in range(1, runs + 1)),
            *([Column(heading="First minus last", is_number=True)] if has_shift else []),
            Column(heading="Verdict"),
            Column(heading="Same label as the primary", is_number=True),
            Column(heading="Cohen's kappa", is_number=True),
        ),
        rows=rows_of(rows),
        note=(
            f"On the {table.n:,} questions that all judges labelled in every cell. {table.same_verdict} of "
            f"{len(table.rows)} judges give the primary judge's verdict; under {table.reversing} the "
            f"effect has both signs.{kappa}{left_out} The publication on re-execution (REPAIR) shows this as its "
            "Table A2."
        ),
        records=tuple(_judge_record(row) for row in table.rows),
    )


def _judge_record(row: JudgeRow) -> Record:
    record: dict[str, str | int | float | bool | None] = {
        "judge": row.judge,
        "n_own": row.n_own,
        "shift": row.shift,
        "shift_p": row.shift_p,
        "verdict": row.verdict,
        "agreement": row.agreement,
        "kappa": None if row.kappa is None else row.kappa.value,
        "kappa_low": None if row.kappa is None else row.kappa.low,
        "kappa_high": None if row.kappa is None else row.kappa.high,
    }
    for k, (effect, found) in enumerate(zip(row.effects, row.headlines, strict=True), start=1):
        record |= {f"effect_{k}": effect, f"low_{k}": found.low, f"high_{k}": found.high}
    return record


def noise_table(noise: Sequence[JudgeNoise]) -> Table | None:
    """Return how often each judge contradicted itself; None where no answer was judged."""
    asked = [item for item in noise if item.answers]
    if not asked:
        return None
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for item in asked:
        share = item.split / item.answers if item.repeats > 1 else None
        rows.append([
            item.judge,
            count(item.repeats),
            count(item.answers),
            UNDEFINED if share is None else count(item.split),
            percent(share) if share is not None
            else Cell(text=UNDEFINED, detail="labelled once only", tone="quiet"),
        ])  # fmt: skip
        records.append({
            "judge": item.judge, "repeats": item.repeats, "answers": item.answers,
            "not_unanimous": None if share is None else item.split, "share": share,
        })  # fmt: skip
    return Table(
        name="judge-noise",
        caption="Do judges give the same answer the same label again?",
        columns=_columns("Judge", "Labels each", "Answers", "Not unanimous", "Share"),
        rows=rows_of(rows),
        note="Of the distinct answers; the strict majority of an answer's labels counts.",
        records=tuple(records),
    )


def options_table(options: Sequence[OptionAgainstJudge]) -> Table | None:
    """Return where the option that an answer names and the judge disagree; None without an answer."""
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for item in options:
        apart = item.option_only + item.judge_only
        total = apart + item.both_right + item.both_wrong
        if not total:
            continue
        parts = (item.both_right, item.option_only, item.judge_only, item.both_wrong)
        rows.append([item.judge, count(total), *map(count, parts), percent(apart / total)])
        records.append({
            "judge": item.judge, "answers": total, "both_right": item.both_right,
            "option_only": item.option_only, "judge_only": item.judge_only,
            "both_wrong": item.both_wrong, "disagreement": apart / total,
        })  # fmt: skip
    if not rows:
        return None
    return Table(
        name="judge-options",
        caption="Matching the option against the judge",
        columns=_columns(
            "Judge", "Answers", "Both right", "Option right only", "Judge right only", "Both wrong",
            "Disagree",
        ),
        rows=rows_of(rows),
        note=(
            "Answers to multiple-choice questions that both ways could score. Where they disagree, read "
            "the answer: the option matched is what was written, the judge's label is an opinion."
        ),
        records=tuple(records),
    )  # fmt: skip


def ungradable_table(cells: Sequence[UngradableAnswers]) -> Table | None:
    """Return accuracy with ungradable answers left out and counted as wrong; None without such answers."""
    if not any(item.ungradable for item in cells):
        return None
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for item in cells:
        total = item.scored + item.ungradable
        left_out = item.right / item.scored if item.scored else None
        as_wrong = item.right / total if total else None
        name = Cell(text=item.arm, detail=f"K{item.execution}")
        rows.append([
            name, count(item.ungradable), count(total), percent(left_out), percent(as_wrong)
        ])  # fmt: skip
        records.append({
            "arm": item.arm, "execution": item.execution, "ungradable": item.ungradable,
            "scored": item.scored, "right": item.right, "accuracy_left_out": left_out,
            "accuracy_as_wrong": as_wrong,
        })  # fmt: skip
    return Table(
        name="judge-ungradable",
        caption="Answers that nobody could grade",
        columns=_columns("Arm", "Ungradable", "Of", "Accuracy, left out", "Accuracy, as wrong"),
        rows=rows_of(rows),
        note="Which reading the comparison uses stands in the plan; the other one is here to see.",
        records=tuple(records),
    )


def served_table(served: Mapping[str, Sequence[str]]) -> Table | None:
    """Return which models the providers say that they served; None where no judge was asked."""
    if not served:
        return None
    rows: list[list[str | Cell]] = [
        [judge, Cell(text=", ".join(models) or "not reported", tone=_tone(models))]
        for judge, models in served.items()
    ]
    return Table(
        name="judge-served",
        caption="Models that judged",
        columns=(Column(heading="Judge asked for"), Column(heading="Served")),
        rows=rows_of(rows),
        note="Two served models under one name are two judges whose labels were mixed.",
    )


def _number(value: float | None) -> str:
    return decimal_text(value, _DECIMALS) if is_number(value) else UNDEFINED


def _ends(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{_number(low)}, {_number(high)}]"


def _p(p: float | None) -> str:
    return "" if p is None else f"p {p_value(p)}"


def _kappa(row: JudgeRow) -> Cell:
    if row.kappa is None:
        return Cell(text=UNDEFINED, tone="quiet")
    if row.kappa.value is None:
        return Cell(text=UNDEFINED, detail=row.kappa.reason or "", tone="quiet")
    return Cell(text=_number(row.kappa.value), detail=_ends(row.kappa.low, row.kappa.high))


def _tone(models: Sequence[str]) -> Literal["", "warn", "quiet"]:
    return "quiet" if not models else "warn" if len(models) > 1 else ""


def _columns(first: str, *numbers: str) -> tuple[Column, ...]:
    return (Column(heading=first), *(Column(heading=text, is_number=True) for text in numbers))
