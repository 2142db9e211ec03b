from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from taketwo.errors import InvalidResults
from taketwo.executions.trajectory import (
    Failure,
    ModelCall,
    Note,
    PrimitiveOperation,
    ToolCall,
    Trajectory,
)
from taketwo.executions.trajectory_table import read_trajectories, write_trajectories

FULL = Trajectory(
    arm="react",
    question_id="q1",
    execution=2,
    run_status="answered",
    log="attempt-01.eval",
    attempts=2,
    answer_index=1,
    answer_text="B — “zwei”",
    reasoning="seen",
    forced=True,
    started="2026-01-01T00:00:00+00:00",
    latency_s=1.25,
    latency_wall_s=2.5,
    video_sha256="ab",
    limits={"turns": 3, "latency_s": 1.5},
    events=(
        ModelCall(
            role="orchestrator",
            model="m",
            sampling_sent={"temperature": 0.5, "stop": ["a"]},
            media_sha256=("x", "y"),
            tool_calls=("look",),
        ),
        ToolCall(call_id="1", name="look", arguments={"at": [1, 2]}, frame_times_s=(0.5,)),
        PrimitiveOperation(
            operation="analyze", succeeded=True, freshness="shared", seconds=0.1, charged_s=0.2
        ),
        Note(text="forced"),
    ),
)
FAILED = Trajectory(
    arm="base",
    question_id="q1",
    execution=1,
    run_status="provider_error",
    failure=Failure(cause="HttpError", message="HTTP 500", http_status=500),
)


def test_a_table_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"

    write_trajectories(path, [FULL, FAILED])

    full, failed = read_trajectories(path)
    assert failed == FAILED
    assert full.events[1:] == (
        ToolCall(call_id="1", name="look", arguments={"at": [1, 2]}, frame_times_s=(0.5,)),
        *FULL.events[2:],
    )
    assert full == FULL
    assert [entry.name for entry in tmp_path.iterdir()] == ["trajectories.parquet"]


def test_a_table_has_a_row_per_cell_and_events_as_json(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, [FULL, FAILED])

    frame = pl.read_parquet(path)

    assert frame["arm"].to_list() == ["react", "base"]
    assert frame["latency_s"].to_list() == [1.25, None]
    assert frame["events"].to_list()[1] == "[]"
    assert pl.read_parquet_metadata(path)["format"] == "taketwo.trajectories/1"


def test_no_trajectories_make_an_empty_table(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, [])

    assert read_trajectories(path) == ()


def test_the_events_are_told_apart_by_kind() -> None:
    assert len(FULL.model_calls) == len(FULL.tool_calls) == len(FULL.primitives) == 1
    assert FULL.sample_id == "react:q1"


def test_a_missing_table_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidResults, match="no trajectories here; make them with: taketwo run"):
        read_trajectories(tmp_path / "none.parquet")


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"not parquet at all")

    with pytest.raises(InvalidResults, match="not a readable Parquet file"):
        read_trajectories(path)


@pytest.mark.parametrize(
    ("form", "message"),
    [("taketwo.trajectories/2", "written by a newer version"), ("other", "format is 'other'")],
)
def test_another_format_is_refused(tmp_path: Path, form: str, message: str) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"arm": ["a"]}).write_parquet(path, metadata={"format": form})

    with pytest.raises(InvalidResults, match=message):
        read_trajectories(path)


def test_a_table_without_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    write_trajectories(path, [FULL])
    frame = pl.read_parquet(path).drop("events")
    frame.write_parquet(path, metadata={"format": "taketwo.trajectories/1"})

    with pytest.raises(InvalidResults, match="the columns events are missing"):
        read_trajectories(path)


def test_whatever_an_agent_said_can_be_written(tmp_path: Path) -> None:
    call = ToolCall(call_id="1", name="look", arguments={"at": float("nan"), "for": "\ud800"})
    path = tmp_path / "t.parquet"

    write_trajectories(path, [replace(FULL, answer_text="a\udfff", events=(call,))])

    (read,) = read_trajectories(path)
    assert (read.answer_text, read.tool_calls[0].arguments) == ("a?", {"at": "NaN", "for": "?"})
