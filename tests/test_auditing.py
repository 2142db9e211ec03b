from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.outcomes.imports.files import summary as inspect_summary
from tests.outcomes.imports.files import write_inspect, write_json, write_text

from taketwo.analysis.comparison import Comparison
from taketwo.auditing import audit
from taketwo.errors import InvalidResults, RequestError, UnknownName, UnpairedCells

DATA = Path(__file__).parent / "data"
HEADER = "system,execution,item_id,score"


def runs(path: Path, *, systems: str = "ab", executions: int = 2, questions: int = 30) -> Path:
    """Write a table in which b is right more often than a, in every execution alike."""
    lines = [
        f"{system},{execution},q{q:02d},{int(q % 3 == 0 or (system != 'a' and q % 3 == 1))}"
        for system in systems
        for execution in range(1, executions + 1)
        for q in range(questions)
    ]
    return write_text(path, HEADER, *lines)


def test_the_reconstruction_of_the_paper_is_a_directional_reversal() -> None:
    found = audit(
        DATA / "repair_paper_accuracy.csv",
        question="question_id",
        wide="{execution}_{system}",
        baseline="static",
        method="dynamic",
        cluster="video_id_synthetic",
        by=["format", "modality"],
    )

    (pair,) = found.comparison.comparisons
    accuracy = pair.metrics["accuracy"]
    effects = [round(effect.effect * 1283) for effect in accuracy.executions]
    assert effects == [94, -52]
    assert accuracy.verdict == "directional_reversal"
    assert pair.alignment == "blocked"
    assert {table.factor for table in accuracy.subgroups} == {"format", "modality"}
    assert found.notes == (
        "'score' says right or wrong and is compared as accuracy",
        "the primary family is 1 metric: accuracy",
    )


def test_five_metrics_of_a_wide_table_are_the_family() -> None:
    found = audit(
        DATA / "repair_paper_five_metrics_synthetic.csv",
        question="question_id",
        wide="{metric}_{execution}_{system}",
        baseline="static",
        cluster="video_id_synthetic",
    )

    assert found.comparison.rule.primary == (
        "accuracy", "turns", "visible_calls", "primitive_ops", "latency_s",
    )  # fmt: skip
    assert set(found.comparison.comparisons[0].metrics) == set(found.comparison.rule.primary)


def test_all_pairs_of_on_randomness_are_compared_by_repository() -> None:
    found = audit(
        DATA / "on_randomness.verdicts.csv.gz",
        system="model",
        execution="draw_id",
        question="item_id",
        score="verdict",
        cluster="item_id:^(.*?)__",
        alignment="arbitrary",
    )

    assert len(found.comparison.comparisons) == 15
    assert found.comparison.population.clusters.n == 12
    assert {pair.alignment for pair in found.comparison.comparisons} == {"arbitrary"}


def test_json_holds_the_comparison_and_the_account(tmp_path: Path) -> None:
    found = audit(runs(tmp_path / "t.csv"), baseline="a", alignment="blocked")

    record = json.loads(json.dumps(found.to_json(), allow_nan=False))

    assert record["format"] == "taketwo.comparison/1"
    assert record["reading"]["systems"] == ["a", "b"]
    assert record["comparisons"][0]["metrics"]["accuracy"]["executions"][0]["n"] == 30
    assert isinstance(found.comparison, Comparison)


def test_the_report_is_written_without_a_plan(tmp_path: Path) -> None:
    out = tmp_path / "out.html"

    audit(runs(tmp_path / "t.csv"), baseline="a", alignment="blocked", report=out)

    page = out.read_text("utf-8")
    assert "Content-Security-Policy" in page
    assert re.search(r"audit-[0-9a-f]{12}", page)


def test_results_of_a_harness_are_audited(tmp_path: Path) -> None:
    for model, wrong in (("m1", {1, 2, 3}), ("m2", {3})):
        for day in (1, 2):
            samples = [
                inspect_summary(
                    f"q{i}", "I" if i in wrong else "C", metadata={"video": f"v{i % 5}"}
                )
                for i in range(20)
            ]
            write_inspect(
                tmp_path / f"{model}-{day}.eval", samples, model=model, created=f"2026-01-0{day}"
            )

    found = audit(tmp_path, baseline="m1", cluster="video")

    assert found.comparison.runs == {"m1": (1, 2), "m2": (1, 2)}
    assert found.reading.alignment == "arbitrary"
    assert [mean.mean for mean in found.comparison.means if mean.metric == "accuracy"] == [
        0.85, 0.85, 0.95, 0.95,
    ]  # fmt: skip


def test_one_system_says_what_it_scored_and_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(InvalidResults) as caught:
        audit(runs(tmp_path / "t.csv", systems="a"))
    assert "only one system was found, 'a' (mean score: K1 0.3333, K2 0.3333)" in str(caught.value)


def test_one_execution_gives_the_single_run_table_and_what_is_not_known(tmp_path: Path) -> None:
    found = audit(runs(tmp_path / "t.csv", executions=1), baseline="a", alignment="blocked")

    accuracy = found.comparison.comparisons[0].metrics["accuracy"]
    assert accuracy.verdict == "single_execution"
    assert [effect.effect for effect in accuracy.executions] == [pytest.approx(1 / 3)]
    assert found.comparison.not_known


def test_a_missing_arm_in_one_execution_is_refused_with_its_name(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q,1", "a,2,q,1", "b,1,q,0")
    with pytest.raises(UnpairedCells, match="execution K2 has no cell of arm 'b'"):
        audit(table, baseline="a", alignment="blocked")


def test_holes_are_refused_with_remedies_that_exist_here(tmp_path: Path) -> None:
    table = runs(tmp_path / "t.csv")
    table.write_text(table.read_text("utf-8").replace("b,2,q07,1\n", ""), "utf-8")

    with pytest.raises(UnpairedCells) as caught:
        audit(table, baseline="a", alignment="blocked")

    told = str(caught.value)
    assert "1 of 120 planned cells have no score (1 not_run)" in told
    assert "--missing drop-question" in told
    assert "taketwo run" not in told
    assert "STUDY" not in told
    dropped = audit(table, baseline="a", alignment="blocked", missing="drop-question")
    assert dropped.comparison.population.n_matched == 29
    wrong = audit(table, baseline="a", alignment="blocked", missing="as-wrong")
    effects = wrong.comparison.comparisons[0].metrics["accuracy"].executions
    assert [round(effect.effect * 30) for effect in effects] == [10, 9]


def test_who_is_compared_can_be_named(tmp_path: Path) -> None:
    table = runs(tmp_path / "t.csv", systems="abc")

    found = audit(table, baseline="a", method="c", alignment="blocked")
    pairs = audit(table, method=["b", "c"], alignment="blocked").comparison.comparisons

    assert [(p.baseline, p.method) for p in found.comparison.comparisons] == [("a", "c")]
    assert "systems that are read but not compared: b" in found.notes
    assert [(p.baseline, p.method) for p in pairs] == [("b", "c")]
    assert len(audit(table, alignment="blocked").comparison.comparisons) == 3
    with pytest.raises(UnknownName, match="unknown system 'd'"):
        audit(table, baseline="d")
    with pytest.raises(RequestError, match="--method c has no baseline"):
        audit(table, method="c")
    with pytest.raises(RequestError, match="both baseline and method"):
        audit(table, baseline="a", method="a")
    with pytest.raises(RequestError, match="the level is a share between 0 and 1, found 95"):
        audit(table, level=95)


def test_the_metric_asked_for_becomes_the_accuracy(tmp_path: Path) -> None:
    rows = [
        f"{system},1,q{q},{value},{metric}"
        for system in "ab"
        for q in range(8)
        for metric, value in (("strict", q % 2), ("loose", 1), ("style", 0.5))
    ]
    table = write_text(tmp_path / "t.csv", f"{HEADER},metric", *rows)

    found = audit(table, baseline="a", primary="strict")

    assert found.comparison.rule.primary == ("accuracy",)
    assert found.outcomes.frame["accuracy"].sum() == 8
    with pytest.raises(RequestError, match=r"2 metrics say right or wrong \(loose, strict\)"):
        audit(table, baseline="a")
    with pytest.raises(RequestError, match=r"style has values other than 0 and 1, first 0\.5"):
        audit(table, baseline="a", primary="style")
    with pytest.raises(RequestError, match="audit them one by one"):
        audit(table, baseline="a", primary=["strict", "loose"])


def test_graded_scores_alone_cannot_pass_for_an_accuracy(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", HEADER, "a,1,q,0.5", "b,1,q,0.25")
    with pytest.raises(InvalidResults, match=r"none of the metrics found \(score\) is 0 or 1"):
        audit(table, baseline="a")


def test_our_own_table_brings_its_baselines(tmp_path: Path) -> None:
    first = audit(runs(tmp_path / "t.csv"), baseline="b", alignment="blocked")
    first.outcomes.write(tmp_path / "outcomes.parquet")

    again = audit(tmp_path / "outcomes.parquet")

    (pair,) = again.comparison.comparisons
    assert (pair.baseline, pair.method, pair.alignment) == ("b", "a", "blocked")


def test_an_encrypted_or_unknown_file_is_refused(tmp_path: Path) -> None:
    path = write_json(tmp_path / "x.json", {"anything": 1})
    with pytest.raises(InvalidResults, match="not results of a known format"):
        audit(path)
