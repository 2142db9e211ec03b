"""What judges said of the trajectories, as tables: profiles, failure tags, milestones, breakdowns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from taketwo.analysis.dominant_tags import TagRates
from taketwo.analysis.effects import Interval
from taketwo.analysis.milestone_rates import MilestoneCount, milestone_kinds
from taketwo.analysis.process import AXIS_METRICS, MEASURES, ArmProfile, Measured, ProcessBreakdown
from taketwo.executions.rule import Metric
from taketwo.report.numbers import UNDEFINED, count, level, of_planned, percent, scale_of
from taketwo.report.process_intervals import (
    ends,
    interval_note,
    interval_record,
    rate,
    rate_ends,
)
from taketwo.report.tables import Cell, Column, Record, Table, rows_of
from taketwo.scores.process_scores import AXES, FAILURE_TAGS

__all__ = [
    "REFERENCE",
    "breakdown_table",
    "milestones_table",
    "profile_table",
    "tags_table",
    "tied",
]

REFERENCE = "curated trajectories"
_SHORT = {axis: short for axis, (_, short) in AXES.items()}
_HEADINGS = {
    "accuracy": "Accuracy",
    "trajectory_score": "Trajectory score",
    "mc_rate": "Milestones",
}
_BROKEN_DOWN: tuple[Metric, ...] = ("trajectory_score", "mc_rate", "accuracy")


def profile_table(
    profiles: Sequence[ArmProfile],
    reference: Mapping[Metric, Measured] | None = None,
    *,
    name: str = "trajectories",
    caption: str = "Trajectories by arm: what was judged, and the means",
) -> Table:
    """Return a row per profile: the means with what each is a mean of, the reference last."""
    rows: list[list[str | Cell]] = [
        [
            Cell(text=_named(profile)),
            _judged(profile),
            *(_mean(metric, profile.measures[metric], profile.judged) for metric in MEASURES),
        ]
        for profile in profiles
    ]
    records = [_record(profile) for profile in profiles]
    if reference is not None:
        score = reference["trajectory_score"]
        rows.append([
            Cell(text=REFERENCE, detail="judged as if they were an arm's: our reading"),
            # How many were planned is not known here: only judged ones are handed over.
            Cell(text=count(score.n), detail="judged"),
            Cell(text=UNDEFINED, tone="quiet"),
            *(_mean(metric, reference[metric], score.n) for metric in MEASURES[1:]),
        ])
        records.append({
            "arm": REFERENCE,
            "judged": score.n,
            **{metric: reference[metric].value for metric in MEASURES[1:]},
            **{f"n_{metric}": reference[metric].n for metric in MEASURES[1:]},
        })
    return Table(
        name=name,
        caption=caption,
        columns=(
            Column(heading="Arm"),
            Column(heading="Judged / planned", is_number=True),
            *(
                Column(heading=_HEADINGS.get(metric, _SHORT.get(metric, "")), is_number=True)
                for metric in MEASURES
            ),
        ),
        rows=rows_of(rows),
        note=_profile_note(profiles),
        records=tuple(records),
    )


def _profile_note(profiles: Sequence[ArmProfile]) -> str:
    axes = ", ".join(f"{_SHORT[axis]} {scale_of(axis).label.lower()}" for axis in AXIS_METRICS)
    intervals = interval_note([
        found.interval for profile in profiles for found in profile.measures.values()
    ])
    return (
        f"Axes, 0 to 2 each: {axes}. The trajectory score, 0 to 1, is half the mean of the axes "
        "that apply to a question. Where a mean is over fewer cells than were judged, its "
        "denominator stands below it: an axis that does not apply, a judgement that failed and a "
        f"trajectory that was not judged are in no mean, and never 0.{intervals}"
    )


def _named(profile: ArmProfile) -> str:
    return profile.arm if profile.execution is None else f"K{profile.execution} {profile.arm}"


def _judged(profile: ArmProfile) -> Cell:
    details: list[str] = []
    if profile.judge_errors:
        details.append(f"{profile.judge_errors:,} judge error{'s' * (profile.judge_errors > 1)}")
    if profile.not_judged:
        details.append(f"{profile.not_judged:,} not judged")
    return Cell(
        text=of_planned(profile.judged, profile.planned),
        detail="\n".join(details),
        tone="warn" if profile.judge_errors else "",
    )


def _mean(metric: Metric, found: Measured, judged: int) -> Cell:
    if found.value is None:
        return Cell(text=UNDEFINED, tone="quiet")
    details = [
        *([] if metric in AXIS_METRICS else ends(metric, found.interval)),
        *([f"n = {found.n:,}"] if found.n != judged else []),
    ]
    return Cell(text=level(metric, found.value), detail="\n".join(details))


def _record(profile: ArmProfile) -> Record:
    record: dict[str, str | int | float | bool | None] = {
        "arm": profile.arm,
        "execution": profile.execution,
        "planned": profile.planned,
        "judged": profile.judged,
        "judge_errors": profile.judge_errors,
        "not_judged": profile.not_judged,
    }
    for metric, found in profile.measures.items():
        record[metric] = found.value
        record[f"n_{metric}"] = found.n
        record |= interval_record(found.interval, metric)
    return record


def tags_table(
    rates: TagRates, intervals: Mapping[tuple[str, str], Interval | None] | None = None
) -> Table:
    """Return how often each failure tag was given per 100 judged trajectories, by arm.

    `intervals` are those of the rates, by tag and arm.
    """
    known = intervals or {}
    arms = tuple(rates.judged)
    absent = [tag for tag in FAILURE_TAGS if tag not in rates.tags]
    leading = {arm: rates.dominant(arm) for arm in arms}
    rows: list[list[str | Cell]] = [
        [
            tag.replace("_", " "),
            *(
                Cell(
                    text=rate(rates.per_100(tag, arm)),
                    detail="\n".join([
                        *rate_ends(known.get((tag, arm))),
                        *(["dominant"] if leading[arm] == (tag,) else []),
                    ]),
                    tone="" if rates.judged[arm] else "quiet",
                )
                for arm in arms
            ),
        ]
        for tag in rates.tags
    ]
    rows.append([
        "dominant tag",
        *(tied(leading[arm], nothing="none" if rates.judged[arm] else UNDEFINED) for arm in arms),
    ])
    rows.append(["judged trajectories", *(count(rates.judged[arm]) for arm in arms)])
    never = ", ".join(tag.replace("_", " ") for tag in absent)
    return Table(
        name="failure-tags",
        caption="Failure tags per 100 judged trajectories",
        columns=(Column(heading="Tag"), *(Column(heading=arm, is_number=True) for arm in arms)),
        rows=rows_of(rows),
        note=(
            "A trajectory may have several tags, or none. Ordered by the mean over arms; tags that "
            f"tie for the first place are all named.{f' Never given: {never}.' if never else ''}"
            f"{interval_note(known.values())}"
        ),
        records=tuple(
            {
                "tag": tag,
                "arm": arm,
                "count": rates.counts[tag].get(arm, 0),
                "judged": rates.judged[arm],
                "per_100": rates.per_100(tag, arm),
                **interval_record(known.get((tag, arm))),
                "dominant": tag in leading[arm] if rates.judged[arm] else None,
            }
            for tag in rates.tags
            for arm in arms
        ),
    )


def tied(tags: Sequence[str], *, nothing: str = UNDEFINED) -> Cell:
    """Return the tags that share the first place, a line each: columns of numbers do not wrap."""
    first, *others = [tag.replace("_", " ") for tag in tags] or [nothing]
    return Cell(text=f"{first}," if others else first, detail=",\n".join(others))


def milestones_table(
    counts: Mapping[str, Mapping[str, MilestoneCount]],
    reference: Mapping[str, MilestoneCount] | None = None,
    intervals: Mapping[tuple[str, str], Interval | None] | None = None,
) -> Table | None:
    """Return the share of the milestones reached by type and arm, None without milestones.

    `intervals` are those of the shares, by arm and type.
    """
    known = intervals or {}
    columns = {**counts, **({} if reference is None else {REFERENCE: reference})}
    kinds = milestone_kinds(counts.values())
    if not kinds:
        return None
    none = MilestoneCount()
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for kind in kinds:
        found = {arm: by_kind.get(kind, none) for arm, by_kind in columns.items()}
        rows.append([
            kind.replace("_", " "),
            *(
                Cell(
                    text=percent(item.rate),
                    detail="\n".join([
                        *ends("mc_rate", known.get((arm, kind))),
                        *([f"n = {item.n:,}"] if item.n else []),
                    ]),
                    tone="" if item.n else "quiet",
                )
                for arm, item in found.items()
            ),
        ])
        records += [
            {
                "kind": kind,
                "arm": arm,
                "covered": item.covered,
                "partial": item.partial,
                "incorrect": item.incorrect,
                "missing": item.missing,
                "milestones": item.n,
                "rate": item.rate,
                **interval_record(known.get((arm, kind))),
            }
            for arm, item in found.items()
        ]
    return Table(
        name="milestone-types",
        caption="Milestones reached, by type",
        columns=(
            Column(heading="Type"),
            *(Column(heading=arm, is_number=True) for arm in columns),
        ),
        rows=rows_of(rows),
        note=(
            "Covered counts 1, partial a half, incorrect and missing 0, pooled over the milestones "
            "of all judged trajectories (n); the means of the arms above are over questions instead."
            f"{interval_note(known.values())}"
        ),
        records=tuple(records),
    )


def breakdown_table(found: ProcessBreakdown) -> Table | None:
    """Return trajectory score, milestones and accuracy by a factor of the questions and arm."""
    if not found.levels:
        return None
    arms = tuple(found.levels[0].arms)
    rows: list[list[str | Cell]] = []
    records: list[Record] = []
    for item in found.levels:
        row: list[str | Cell] = [item.level.replace("_", " "), count(item.questions)]
        for arm in arms:
            measures = item.arms[arm]
            row.append(_three(measures))
            records.append({
                "factor": found.factor,
                "level": item.level,
                "questions": item.questions,
                "arm": arm,
                **{metric: measures[metric].value for metric in _BROKEN_DOWN},
                **{f"n_{metric}": measures[metric].n for metric in _BROKEN_DOWN},
                **{
                    name: value
                    for metric in _BROKEN_DOWN
                    for name, value in interval_record(measures[metric].interval, metric).items()
                },
            })
        rows.append(row)
    return Table(
        name=f"trajectories-{found.factor}",
        caption=f"Trajectory score, milestones and accuracy by {found.factor}",
        columns=(
            Column(heading=found.factor.capitalize()),
            Column(heading="Questions", is_number=True),
            *(Column(heading=arm, is_number=True) for arm in arms),
        ),
        rows=rows_of(rows),
        note=(
            "The trajectory score with the number of judged cells; below it the milestones reached "
            "and the accuracy. "
            + (
                "A question counts under each of its levels: rows overlap and do not add up."
                if found.overlap
                else "Levels are parts of one set of questions."
            )
            + interval_note([
                measures[metric].interval
                for item in found.levels
                for measures in item.arms.values()
                for metric in _BROKEN_DOWN
            ])
        ),
        records=tuple(records),
    )


def _three(measures: Mapping[Metric, Measured]) -> Cell:
    score, reached, right = (measures[metric] for metric in _BROKEN_DOWN)
    lines = [
        *ends("trajectory_score", score.interval),
        f"n = {score.n:,}",
        *_with_ends("milestones", "mc_rate", reached),
        *_with_ends("accuracy", "accuracy", right),
    ]
    if score.value is None:
        return Cell(text=UNDEFINED, detail="\n".join(lines), tone="quiet")
    return Cell(text=level("trajectory_score", score.value), detail="\n".join(lines))


def _with_ends(what: str, metric: Metric, found: Measured) -> list[str]:
    if not found.n:
        return []
    return [f"{what} {level(metric, found.value)}", *ends(metric, found.interval)]
