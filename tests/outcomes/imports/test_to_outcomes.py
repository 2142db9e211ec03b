from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.outcomes.imports.files import cells, read, write_text

from taketwo.errors import InvalidResults, RequestError, UnknownName
from taketwo.executions.rule import Rule
from taketwo.outcomes.imports.to_outcomes import to_outcomes
from taketwo.outcomes.pairing import pair
from taketwo.outcomes.table import COLUMNS

HEADER = "system,execution,item_id,score"


def test_systems_become_arms_and_absent_cells_are_not_run(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv",
        f"{HEADER},cluster,kind,status",
        "a,1,q1,1,v1,x,ok",
        "a,1,q2,0,v1,y,ok",
        "b,1,q1,,v1,x,error",
    )

    outcomes = to_outcomes(read(table, by=("kind",)), {"b": "a"})

    names = ["arm", "baseline", "execution", "question_id", "video_id", "run_status"]
    assert outcomes.frame.select(*names, "score_status", "accuracy").rows() == [
        ("a", None, 1, "q1", "v1", "answered", "scored", 1.0),
        ("a", None, 1, "q2", "v1", "answered", "scored", 0.0),
        ("b", "a", 1, "q1", "v1", "agent_error", "not_judged", None),
        ("b", "a", 1, "q2", "v1", "not_run", "not_judged", None),
    ]
    assert outcomes.frame["failure"].to_list() == ["ok", "ok", "error", None]
    assert json.loads(outcomes.frame["attributes"][0]) == {"kind": "x"}
    assert outcomes.frame["log"][0] == str(table)
    assert outcomes.frame.columns == [column.name for column in COLUMNS]


def test_every_status_has_its_place_in_the_table(tmp_path: Path) -> None:
    statuses = {
        "abstained": ("available", "abstained", "scored"),
        "unparsed": ("available", "unparsed", "scored"),
        "limit": ("available", "limit", "scored"),
        "agent_error": ("available", "agent_error", "not_judged"),
        "provider_error": ("available", "provider_error", "not_judged"),
        "media_error": ("available", "media_error", "not_judged"),
        "not_run": ("available", "not_run", "not_judged"),
        "ungradable": ("available", "answered", "ungradable"),
        "judge_error": ("available", "answered", "judge_error"),
        "not_judged": ("available", "answered", "not_judged"),
        "no_video": ("missing", "media_error", "not_judged"),
    }
    table = write_text(
        tmp_path / "t.csv",
        f"{HEADER},status",
        "a,1,scored,1,scored",
        *(f"a,1,{status},,{status}" for status in statuses),
    )

    frame = to_outcomes(read(table), {}).frame

    found = {
        row["question_id"]: (row["availability"], row["run_status"], row["score_status"])
        for row in frame.iter_rows(named=True)
    }
    assert found == {"scored": ("available", "answered", "scored"), **statuses}


def test_metrics_of_a_cell_stand_in_one_row(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv",
        f"{HEADER},metric",
        "a,1,q1,1,solved",
        "a,1,q1,12.5,latency_s",
        "a,1,q1,0.25,style",
        "a,1,q2,3,latency_s",
    )

    frame = to_outcomes(read(table), {}).frame

    assert frame.select("question_id", "accuracy", "latency_s", "style", "score_status").rows() == [
        ("q1", 1.0, 12.5, 0.25, "scored"),
        ("q2", None, 3.0, None, "not_judged"),
    ]


def test_nothing_is_rounded_to_an_accuracy(tmp_path: Path) -> None:
    graded = write_text(tmp_path / "t.csv", f"{HEADER},metric", "a,1,q1,0.5,accuracy")
    with pytest.raises(
        InvalidResults, match=r"accuracy has 1 values other than 0 and 1, first 0\.5"
    ):
        to_outcomes(read(graded), {})
    two = write_text(tmp_path / "u.csv", f"{HEADER},metric", "a,1,q1,1,strict", "a,1,q1,1,loose")
    with pytest.raises(RequestError, match=r"2 metrics say right or wrong \(loose, strict\)"):
        to_outcomes(read(two), {})


def test_a_system_that_is_not_there_gets_near_names(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "static,1,q1,1")
    with pytest.raises(UnknownName, match="unknown system 'statik': did you mean 'static'"):
        to_outcomes(read(table), {"statik": "static"})


def test_our_own_table_survives_the_round_trip(tmp_path: Path) -> None:
    table = write_text(
        tmp_path / "t.csv",
        f"{HEADER},status,metric,cluster",
        "a,1,q1,1,ok,accuracy,v",
        "a,1,q1,2,ok,turns,v",
        "a,1,q2,,error,accuracy,v",
        "b,1,q1,0,limit,accuracy,v",
        "b,1,q1,9,limit,turns,v",
        "b,1,q2,,ungradable,accuracy,v",
    )
    first = to_outcomes(read(table), {"b": "a"})
    first.write(tmp_path / "outcomes.parquet")

    found = read(tmp_path / "outcomes.parquet")
    again = to_outcomes(found, found.baselines)

    assert found.baselines == {"b": "a"}
    assert found.reading.alignment == "blocked"
    ignored = ["log", "failure", "attributes"]
    assert again.frame.drop(ignored).equals(first.frame.drop(ignored))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        f"{system},{execution},q{question},{rng.integers(2)},v{question % 3}"
        for system in "ab"
        for execution in (1, 2, 10)
        for question in range(6)
        if rng.random() < 0.9
    ] + ["a,1,q0x,1,v0", "b,1,q0x,1,v0"]
    folder = tmp_path_factory.mktemp("shuffled")
    shuffled = [rows[index] for index in rng.permutation(len(rows))]
    tables = [
        read(write_text(folder / name / "t.csv", f"{HEADER},cluster", *lines))
        for name, lines in (("one", rows), ("two", shuffled))
    ]

    one, two = (to_outcomes(table, {"b": "a"}).frame.drop("log") for table in tables)

    assert one.equals(two)
    assert cells(tables[0]) == cells(tables[1])


def test_holes_are_refused_unless_the_rule_says_what_they_are(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q1,1", "a,1,q2,1", "b,1,q1,1")
    outcomes = to_outcomes(read(table), {"b": "a"})

    assert pair(outcomes, Rule(missing="as-wrong")).values["accuracy"][:, 1, 0].tolist() == [1, 0]
    assert pair(outcomes, Rule(missing="drop-question")).population[:, 0].tolist() == [True, False]


@pytest.mark.slow
def test_a_million_rows_with_holes_are_accounted_for_in_seconds(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    questions, executions = 100_000, 5
    whole = pl.DataFrame({
        "system": np.repeat(["a", "b"], executions * questions),
        "execution": np.tile(np.repeat(np.arange(executions), questions), 2),
        "item_id": [f"q{i:06d}" for i in range(questions)] * (2 * executions),
        "score": rng.integers(0, 2, 2 * executions * questions),
    })
    kept = whole.filter(pl.Series(rng.random(whole.height) > 0.03)).sample(
        fraction=1, shuffle=True, seed=1
    )
    kept.write_csv(tmp_path / "t.csv")

    started = time.process_time()
    found = read(tmp_path / "t.csv")
    outcomes = to_outcomes(found, {"b": "a"})
    seconds = time.process_time() - started

    counts = found.reading.statuses
    assert sum(counts[system]["scored"] for system in "ab") == kept.height
    assert sum(counts[system]["not_run"] for system in "ab") == whole.height - kept.height
    assert outcomes.frame.height == whole.height
    assert outcomes.frame["accuracy"].sum() == kept["score"].sum()
    assert seconds < 30
