"""What a benchmark is made of, what is lost and how a part differs, as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from taketwo.benchmarks.population import Composition, Difference, LevelCount, Overlap
from taketwo.cli.text_table import text_table
from taketwo.question_sets import BenchmarkCheck, HeldOut, PopulationReport
from taketwo.report.untrusted import harmless
from taketwo.video_availability import AvailabilityReport

__all__ = ["availability_text", "check_text", "holdout_text", "population_text"]

_MOST_LEVELS = 40
_NAME = 80


def check_text(found: BenchmarkCheck) -> str:
    """Return the account of a benchmark of which every row can be used."""
    benchmark = found.benchmark
    parts = [
        f"Benchmark {benchmark.name} {benchmark.version}: every row can be used"
        + (f"\n  {found.unverified}" if found.unverified else ""),
        *([found.saturation] if found.saturation else []),
        *([_in_words(found.truths_in_words)] if found.truths_in_words else []),
        _composition(found.composition),
    ]
    return "\n\n".join(parts)


def _in_words(ids: Sequence[str]) -> str:
    return (
        f"of {len(ids):,} multiple-choice questions no option is the truth word by word, first "
        f"{_shown(ids[0])}; a judge compares their answers"
    )


def availability_text(found: AvailabilityReport) -> str:
    """Return which videos are lost, and what that does to the questions."""
    availability = found.availability
    counts = availability.counts
    total = len(availability.states)
    told = ", ".join(f"{count:,} {state}" for state, count in sorted(counts.items()))
    unchecked = sum(
        item.state == "available" and item.expected_s is None for item in availability.states
    )
    tolerance = f"{availability.tolerance_s:g} s"
    if availability.tolerance_share:
        tolerance = f"the larger of {tolerance} and {availability.tolerance_share:.0%}"
    parts = [
        f"Benchmark {availability.benchmark.name} {availability.benchmark.version}: "
        f"{counts.get('available', 0):,} of {total:,} questions can be asked ({told})\n"
        f"  durations may differ by {tolerance}"
        + (f"; of {unchecked:,} questions the data set gives none" if unchecked else ""),
        *([_lost(found)] if availability.lost else []),
    ]
    if found.after is None:
        parts.append("No question can be asked.")
    elif availability.lost:
        parts.append(
            _differences(found.differences, "all", "available")
            + f"\n  largest difference {_largest(found.differences):.2f} points\n  "
            + _overlap(found.overlap, "available questions", "that are lost")
        )
    return "\n\n".join(parts)


def population_text(found: PopulationReport) -> str:
    """Return how a part differs from the whole or the rest, and which videos both have."""
    return (
        f"Benchmark {found.benchmark.name} {found.benchmark.version}: a part of "
        f"{found.part.questions:,} questions on {found.part.videos:,} videos, against the "
        f"{found.against} of {found.reference.questions:,} on {found.reference.videos:,}\n\n"
        + _differences(found.differences, found.against, "part")
        + f"\n  largest difference {_largest(found.differences):.2f} points\n  "
        + _overlap(found.overlap, "the part", "in the rest")
    )


def holdout_text(found: HeldOut) -> str:
    """Return how many were drawn from each stratum, and which videos lie on both sides."""
    holdout = found.holdout
    total = len(holdout.question_ids)
    rows = [
        [
            _shown(", ".join(key)) or "(all)",
            f"{holdout.sizes[key]:,}",
            f"{100 * holdout.sizes[key] / len(found.benchmark.questions):.2f}",
            f"{count:,}",
            f"{100 * count / total:.2f}" if total else "-",
        ]
        for key, count in holdout.allocation.items()
    ]
    shared = len(holdout.shared_videos)
    return (
        f"Benchmark {found.benchmark.name} {found.benchmark.version}: {total:,} of "
        f"{len(found.benchmark.questions):,} questions held out, drawn by {holdout.unit} with seed "
        f"{found.seed}\n"
        + (
            ""
            if total == holdout.asked
            else f"  {holdout.asked:,} questions were asked for; whole videos give {total:,}\n"
        )
        + "\n"
        + text_table([", ".join(holdout.strata) or "stratum", "all", "%", "held out", "%"], rows)
        + f"\n\n{shared:,} of {holdout.videos:,} videos of the holdout also have questions outside it"
        + ("; draw whole videos with --unit video to have none" if shared else "")
    )


def _composition(found: Composition) -> str:
    lines = [f"{found.questions:,} questions on {found.videos:,} videos"]
    if found.durations is not None:
        lengths = found.durations
        lines.append(
            f"videos of {_minutes(lengths.shortest_s)} to {_minutes(lengths.longest_s)}, median "
            f"{_minutes(lengths.median_s)}"
            + (f" (of {lengths.videos:,} videos)" if lengths.videos < found.videos else "")
        )
    if found.chance is not None:
        lines.append(
            f"guessing an option is right in {found.chance:.2%} of multiple-choice questions"
        )
    if found.skills_per_question is not None:
        lines.append(f"{found.skills_per_question:.2f} skills a question")
    parts = ["\n".join(lines)]
    for factor, levels in groupby(found.levels, key=lambda level: level.factor):
        parts.append(_levels(factor, list(levels)))
    if found.milestones:
        total = sum(count for _, count in found.milestones)
        rows = [[_shown(kind), f"{n:,}", f"{100 * n / total:.1f}"] for kind, n in found.milestones]
        parts.append(text_table([f"{total:,} milestones by type", "n", "%"], rows))
        each = [[str(n), f"{count:,}"] for n, count in found.milestones_per_question]
        parts.append(text_table(["milestones of a question", "questions"], each))
    return "\n\n".join(parts)


def _levels(factor: str, levels: Sequence[LevelCount]) -> str:
    rows = [
        [
            _shown(item.level),
            f"{item.questions:,}",
            f"{100 * item.share:.2f}",
            f"{item.videos:,}",
            f"{100 * item.video_share:.1f}",
        ]
        for item in levels[:_MOST_LEVELS]
    ]
    text = text_table([_shown(factor), "questions", "%", "videos", "%"], rows)
    more = len(levels) - _MOST_LEVELS
    return f"{text}\n  and {more:,} more levels (--json has all)" if more > 0 else text


def _differences(found: Iterable[Difference], whole: str, part: str) -> str:
    rows = [
        [
            _shown(f"{item.factor}: {item.level}"),
            f"{item.whole:,}",
            f"{100 * item.whole_share:.2f}",
            f"{item.part:,}",
            f"{100 * item.part_share:.2f}",
            f"{round(item.points, 2) + 0.0:+.2f}",
        ]
        for item in found
    ]
    return text_table(["", whole, "%", part, "%", "points"], rows)


def _largest(found: Iterable[Difference]) -> float:
    return max((abs(item.points) for item in found), default=0.0)


def _overlap(found: Overlap, first: str, second: str) -> str:
    return f"{found.shared:,} of {found.first:,} videos of {first} also have questions {second}"


def _lost(found: AvailabilityReport) -> str:
    by_video: dict[tuple[str, str, str], int] = {}
    for item in found.availability.states:
        if item.state != "available":
            key = (item.video_id, item.state, item.reason or "")
            by_video[key] = by_video.get(key, 0) + 1
    return "Lost:\n" + "\n".join(
        f"  {_shown(video)} ({count} {'question' if count == 1 else 'questions'}): {state}, "
        f"{harmless(reason)}"
        for (video, state, reason), count in by_video.items()
    )


def _shown(text: str) -> str:
    """Return a name of a data set as a terminal may show it, in one line."""
    return " ".join(harmless(text, _NAME).split())


def _minutes(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds / 60:.1f} min"
