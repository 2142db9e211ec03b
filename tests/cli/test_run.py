"""What the terminal shows after a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.plans import make_plan, make_trajectory

from taketwo import study
from taketwo.benchmarks.question import Question
from taketwo.cli.main import main
from taketwo.executions.expected_cost import expected_cost
from taketwo.executions.trajectory import Failure, RunStatus, Trajectory

_PLAN = make_plan(
    questions=[
        Question(
            question_id=name,
            text="What?",
            video_id=name,
            video_path=f"{name}.mp4",
            answer_text="it",
        )
        for name in ("q0", "q1")
    ],
    executions=1,
)


@dataclass(frozen=True)
class _Done:
    trajectories: Sequence[Trajectory]


def _ran(
    monkeypatch: pytest.MonkeyPatch, statuses: Sequence[tuple[str, RunStatus, str | None]]
) -> None:
    """Let a run of the study end in these cells of the baseline: question, status, cause."""
    planned = study.Planned(
        plan=_PLAN, folder=Path("march"), cost=expected_cost(_PLAN), is_new=False
    )
    done = _Done([
        replace(
            make_trajectory(question, run_status=status),
            failure=None if cause is None else Failure(cause=cause, message="of the test"),
        )
        for question, status, cause in statuses
    ])

    def plan(_: object) -> study.Planned:
        return planned

    def run_study(_: object, **__: object) -> _Done:
        return done

    monkeypatch.setattr("taketwo.study.plan", plan)
    monkeypatch.setattr("taketwo.cli.run.plan", plan)
    monkeypatch.setattr("taketwo.executions.run.run_study", run_study)


def test_a_video_that_is_not_there_is_no_failure_of_an_arm(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _ran(
        monkeypatch,
        [("q0", "answered", None), ("q1", "media_error", "VideoMissing")],
    )

    assert _status("run", "march.yaml", "--quiet") == 0

    told = capsys.readouterr().err
    assert "2 cells: answered 1, video missing 1\n" in told
    assert (
        "  1 without a video, first question 'q1', arm 'base', K1: media_error, VideoMissing"
        in told
    )
    assert "their questions leave the comparison" in told
    assert "without an answer" not in told


def test_a_failure_of_the_media_stays_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _ran(
        monkeypatch,
        [("q0", "answered", None), ("q1", "media_error", "DecoderDied")],
    )

    assert _status("run", "march.yaml", "--quiet") == 0

    told = capsys.readouterr().err
    assert "2 cells: answered 1, media_error 1\n" in told
    assert (
        "  1 without an answer, first question 'q1', arm 'base', K1: media_error, DecoderDied"
        in told
    )
    assert "leave the comparison" not in told


def _status(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert isinstance(stop.value.code, int)
    return stop.value.code
