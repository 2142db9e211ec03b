"""Benchmarks on which published scores are near the ceiling, so that a study may know before it pays."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.benchmarks.question import Question

__all__ = ["expected_saturation"]


def expected_saturation(benchmark: str, questions: Sequence[Question]) -> str | None:
    """Return why little room is to be expected between arms, None where nothing says so.

    Video-MME's long videos: with Gemini 2.5 Pro, a single turn and an agent were both published at
    about 90 % (AgentVidBench, 2026, arXiv 2609.21386, Appendix I).
    """
    if benchmark != "video_mme":
        return None
    of_long = sum(question.attributes.get("duration") == "long" for question in questions)
    if not of_long:
        return None
    return (
        f"{of_long:,} of {len(questions):,} questions are of Video-MME's long videos, where a single "
        "turn and an agent with Gemini 2.5 Pro were both published at about 90 % (arXiv 2609.21386, "
        "Appendix I): expect saturation, with little room for a difference between strong arms"
    )
