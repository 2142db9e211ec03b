"""lmms-eval, lm-evaluation-harness, VLMEvalKit, HAL, tau-bench, tau2-bench, Terminal-Bench."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.outcomes.imports.files import (
    cells,
    read,
    write_json,
    write_lines,
    write_sheet,
    write_text,
)

from taketwo.errors import InvalidResults, RequestError


def lmms_line(
    number: int, score: object, *, reply: object = "B", metric: str = "acc", **fields: object
) -> dict[str, object]:
    return {
        "doc_id": number,
        "target": "B",
        "filtered_resps": reply,
        "doc_hash": f"hash{number}",
        "input": "...",
        "token_counts": None,
        metric: score,
        **fields,
    }


def test_lmms_eval_reads_new_and_old_shapes_as_executions(tmp_path: Path) -> None:
    folder = tmp_path / "qwen"
    write_lines(
        folder / "20260101_120000_samples_mmx.jsonl", [lmms_line(0, 1.0), lmms_line(1, 0.0)]
    )
    old = [
        lmms_line(1, True, reply=["A"], resps=[["A"]], doc={"x": 1}),
        lmms_line(0, False, reply=["B"], resps=[["B"]], doc={"x": 0}),
    ]
    write_lines(folder / "20260102_120000_samples_mmx.jsonl", old)
    write_json(folder / "20260102_120000_results.json", {"config": {}})

    found = read(tmp_path)

    assert cells(found) == {
        ("qwen", "K1", "0"): (1.0, "scored"),
        ("qwen", "K1", "1"): (0.0, "scored"),
        ("qwen", "K2", "1"): (1.0, "scored"),
        ("qwen", "K2", "0"): (0.0, "scored"),
    }
    assert found.reading.asides[0].first.endswith("20260102_120000_results.json")


def test_lmms_eval_takes_question_video_and_levels_from_the_record_of_video_mme(
    tmp_path: Path,
) -> None:
    record = {
        "question_id": "001-2",
        "duration": "short",
        "category": "Film",
        "videoID": "vid1",
        "pred_answer": "A",
        "answer": "B",
        "score": 0.0,
    }
    other = {**record, "question_id": "001-3", "score": 1.0, "answer": "A"}
    write_lines(
        tmp_path / "m" / "20260101_120000_samples_videomme.jsonl",
        [
            lmms_line(i, r, metric="videomme_perception_score")
            for i, r in enumerate((record, other))
        ],
    )

    found = read(tmp_path, by=("duration",))

    assert cells(found) == {
        ("m", "K1", "001-2"): (0.0, "scored"),
        ("m", "K1", "001-3"): (1.0, "scored"),
    }
    assert found.reading.n_clusters == 1
    assert found.rows["subgroups"][0] == '{"duration": "short"}'
    with pytest.raises(RequestError, match="unknown field for --by 'length'"):
        read(tmp_path, by=("length",))


def test_lmms_eval_failures_are_statuses(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "m" / "20260101_120000_samples_t.jsonl",
        [
            lmms_line(0, 0.0, reply="[LMMS_EVAL_REQUEST_FAILED after 3 tries] timeout"),
            lmms_line(1, 0.0, reply="[LMMS_EVAL_BUDGET_EXCEEDED]"),
            lmms_line(2, 0.0, reply='{"error": "max_agentic_steps_reached"}'),
            lmms_line(3, 1.0, reply=["A", "B"]),
        ],
    )

    found = read(tmp_path)

    assert list(cells(found).values()) == [
        (None, "provider_error"), (None, "limit"), (None, "limit"), (1.0, "scored"),
    ]  # fmt: skip
    assert "nobody can take them apart" in found.reading.notes[0]


def test_an_appended_lmms_eval_file_is_one_run_or_a_contradiction(tmp_path: Path) -> None:
    path = tmp_path / "m" / "20260101_120000_samples_t.jsonl"
    lines = [lmms_line(0, 1.0), lmms_line(1, 0.0)]
    write_lines(path, lines + lines)
    found = read(path)
    assert len(cells(found)) == 2
    assert (found.reading.asides[0].count, found.reading.asides[0].first) == (
        2,
        f"{path}, line 3 repeats {path}, line 1",
    )

    write_lines(path, [*lines, lmms_line(0, 0.0)])
    with pytest.raises(InvalidResults) as caught:
        read(path)
    assert f"{path}, line 1: 1, scored" in str(caught.value)
    assert f"{path}, line 3: 0, scored" in str(caught.value)


def test_a_line_that_was_cut_off_is_told_with_its_number(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "m" / "20260101_120000_samples_t.jsonl", [lmms_line(0, 1.0)])
    path.write_text(path.read_text() + '{"doc_id": 1, "tar', "utf-8")
    with pytest.raises(InvalidResults, match="line 2: not readable JSON"):
        read(path)


def test_wrong_document_numbers_give_way_to_the_hash(tmp_path: Path) -> None:
    write_lines(
        tmp_path / "a" / "20260101_120000_samples_t.jsonl", [lmms_line(0, 1.0), lmms_line(1, 0.0)]
    )
    swapped = [lmms_line(0, 0.0, doc_hash="hash1"), lmms_line(1, 1.0, doc_hash="hash0")]
    path = write_lines(tmp_path / "b" / "20260101_120000_samples_t.jsonl", swapped)

    found = read(tmp_path)

    assert {k: v for k, (v, _) in cells(found).items()} == {
        ("a", "K1", "hash0"): 1.0,
        ("a", "K1", "hash1"): 0.0,
        ("b", "K1", "hash0"): 1.0,
        ("b", "K1", "hash1"): 0.0,
    }
    assert "paired by doc_hash instead" in found.reading.notes[0]

    write_lines(path, [lmms_line(0, 0.0, doc_hash="same"), lmms_line(1, 1.0, doc_hash="same")])
    with pytest.raises(InvalidResults, match="doc_hash does not tell them apart"):
        read(tmp_path)


def harness_line(doc: int, score: float, rule: str = "none") -> dict[str, object]:
    return {
        "doc_id": doc,
        "doc": {"subject": "algebra", "id": f"d{doc}"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": "2+2"}},
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "filter": rule,
        "metrics": ["exact_match"],
        "doc_hash": f"h{doc}",
        "prompt_hash": "p",
        "target_hash": "t",
        "exact_match": score,
    }


def test_lm_eval_harness_names_metrics_by_filter_where_there_are_several(tmp_path: Path) -> None:
    rows = [
        harness_line(0, 1.0, "strict-match"),
        harness_line(0, 1.0, "flexible-extract"),
        harness_line(1, 0.0, "strict-match"),
        harness_line(1, 1.0, "flexible-extract"),
    ]
    write_lines(tmp_path / "m__x" / "samples_gsm8k_2026-01-01T10-00-00.123.jsonl", rows)

    found = read(tmp_path, metrics=("exact_match,strict-match",), cluster="subject")

    assert cells(found) == {
        ("m__x", "K1", "0"): (1.0, "scored"),
        ("m__x", "K1", "1"): (0.0, "scored"),
    }
    assert found.reading.n_clusters == 1
    assert len(read(tmp_path).reading.metrics) == 2


def test_lm_eval_harness_reads_the_older_list_form(tmp_path: Path) -> None:
    older = {k: v for k, v in harness_line(0, 1.0).items() if k not in {"metrics", "filter"}}
    path = tmp_path / "m" / "samples_gsm8k_2026-01-01T10-00-00.123.jsonl"
    write_json(path, [older])
    assert cells(read(path)) == {("m", "K1", "0"): (1.0, "scored")}


def test_a_samples_file_found_in_two_folders_of_one_model_is_one_run(tmp_path: Path) -> None:
    name = "samples_gsm8k_2026-01-01T10-00-00.123.jsonl"
    first = write_lines(tmp_path / "x" / "m" / name, [harness_line(0, 1.0)])
    second = write_lines(tmp_path / "y" / "m" / name, [harness_line(0, 1.0)])
    other = write_lines(tmp_path / "y" / "n" / name, [harness_line(0, 1.0)])

    found = read(first, second, other)

    assert set(cells(found)) == {("m", "K1", "0"), ("n", "K1", "0")}
    assert found.reading.asides[0].first == f"{second} repeats {first}"


COLUMNS = ["index", "video", "duration", "question", "answer", "prediction", "score"]


def test_vlmevalkit_reads_scored_sheets_and_flags_cut_cells(tmp_path: Path) -> None:
    run = tmp_path / "outputs" / "Qwen2-VL" / "T20260101-120000_Gabc"
    rows = [
        [1, "v1", "short", "q?", "A", "A", 1],
        [2, "v1", "short", "q?", "B", "x" * 32_767, 0],
        [3, "v2", "long", "q?", "B", "Failed to obtain answer via API.", 0],
        [4, "v2", "long", "q?", "B", "hm", -1],
    ]
    write_sheet(run / "Qwen2-VL_Video-MME.xlsx", [COLUMNS[:-1], *(row[:-1] for row in rows)])
    write_sheet(run / "Qwen2-VL_Video-MME_score.xlsx", [COLUMNS, *rows])
    write_json(run / "Qwen2-VL_Video-MME_rating.json", {"overall": 0.5})

    found = read(tmp_path, by=("duration",))

    assert cells(found) == {
        ("Qwen2-VL", "K1", "1"): (1.0, "scored"),
        ("Qwen2-VL", "K1", "2"): (0.0, "scored"),
        ("Qwen2-VL", "K1", "3"): (None, "provider_error"),
        ("Qwen2-VL", "K1", "4"): (None, "judge_error"),
    }
    assert found.reading.n_clusters == 2
    assert "1 cells are exactly 32,767 characters long" in found.reading.notes[0]
    assert "row 2, column prediction" in found.reading.notes[0]
    assert {aside.what for aside in found.reading.asides} == {
        "files of predictions",
        "files in the folders",
    }


@pytest.mark.parametrize("form", ["tsv", "json"])
def test_vlmevalkit_reads_other_forms_and_never_believes_a_guess(tmp_path: Path, form: str) -> None:
    rows = [
        {"index": "1", "prediction": "A", "hit": "1", "log": "ok"},
        {
            "index": "2",
            "prediction": "??",
            "hit": "1",
            "log": "Failed to predict, thus randomly generate one. ",
        },
    ]
    for stamp in ("T20260101-120000", "T20260102-120000"):
        path = tmp_path / "m" / stamp / f"m_MMB_judge.{form}"
        text = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows), ""]
        if form == "tsv":
            write_text(path, *text)
        else:
            write_json(path, rows)
        path.write_text(path.read_text().replace('"??"', f'"{stamp}"').replace("??", stamp))

    found = read(tmp_path)

    assert cells(found) == {
        ("m", "K1", "1"): (1.0, "scored"),
        ("m", "K1", "2"): (None, "judge_error"),
        ("m", "K2", "1"): (1.0, "scored"),
        ("m", "K2", "2"): (None, "judge_error"),
    }


def test_vlmevalkit_predictions_without_scores_say_what_to_run(tmp_path: Path) -> None:
    path = write_sheet(tmp_path / "m_MMB.xlsx", [["index", "prediction"], [1, "A"]])
    with pytest.raises(InvalidResults, match="predictions without a column score or hit"):
        read(path)
    path.write_bytes(b"PK no sheet")
    with pytest.raises(InvalidResults, match="not a readable spreadsheet"):
        read(path)


def hal_run(run: str, tasks: dict[str, object], **results: object) -> dict[str, object]:
    return {
        "config": {
            "agent_name": "Generalist (gpt-4o)",
            "benchmark_name": "taubench",
            "date": run,
            "run_id": run,
        },
        "results": {"accuracy": 0.5, **results},
        "raw_eval_results": tasks,
    }


def test_hal_reads_rewards_scores_errors_and_variants(tmp_path: Path) -> None:
    tasks = {
        "1": {"reward": 1.0, "taken_actions": []},
        "2": {"score": 0},
        "3": "ERROR: container died",
        "4": [{"score": 1}, {"score": 0}],
        "5": {"cost": 3},
    }
    one = hal_run("2026-01-01", tasks, successful_tasks=["1", "5"], failed_tasks=["2"])
    write_json(tmp_path / "a_UPLOAD.json", one)
    write_json(tmp_path / "b_UPLOAD.json", hal_run("2026-01-02", {"1": {"reward": 0}}))

    name = "Generalist (gpt-4o)"
    assert cells(read(tmp_path)) == {
        (name, "K1", "1"): (1.0, "scored"),
        (name, "K1", "2"): (0.0, "scored"),
        (name, "K1", "3"): (None, "agent_error"),
        (name, "K1", "4#1"): (1.0, "scored"),
        (name, "K1", "4#2"): (0.0, "scored"),
        (name, "K1", "5"): (1.0, "scored"),
        (name, "K2", "1"): (0.0, "scored"),
    }


def test_hal_without_a_score_says_where(tmp_path: Path) -> None:
    path = write_json(tmp_path / "a_UPLOAD.json", hal_run("r", {"5": {"cost": 3}}))
    with pytest.raises(
        InvalidResults, match="the task is in neither list of successful and failed"
    ):
        read(path)
    zipped = tmp_path / "b_UPLOAD.zip"
    zipped.write_bytes(b"PK")
    with pytest.raises(InvalidResults, match="decrypt it with hal-decrypt first"):
        read(zipped)


def tau_result(task: int, reward: float, trial: int, **info: object) -> dict[str, object]:
    return {"task_id": task, "reward": reward, "trial": trial, "info": info, "traj": []}


def test_tau_bench_trials_are_executions_and_harness_errors_are_no_rewards(tmp_path: Path) -> None:
    write_json(
        tmp_path / "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0101120000.json",
        [
            tau_result(7, 1.0, 0),
            tau_result(8, 0.0, 0, error="APIError", traceback="..."),
            tau_result(7, 0.0, 1),
            tau_result(8, 1.0, 1),
        ],
    )
    write_json(
        tmp_path / "tool-calling-gpt-4o-0.0_range_0--1_user-gpt-4o-llm_0102120000.json",
        [tau_result(7, 1.0, 0), tau_result(8, 1.0, 0)],
    )

    system = "tool-calling-gpt-4o-0.0"
    assert cells(read(tmp_path)) == {
        (system, "K1", "7"): (1.0, "scored"),
        (system, "K1", "8"): (None, "provider_error"),
        (system, "K2", "7"): (0.0, "scored"),
        (system, "K2", "8"): (1.0, "scored"),
        (system, "K3", "7"): (1.0, "scored"),
        (system, "K3", "8"): (1.0, "scored"),
    }


def simulation(task: str, trial: int, reward: float | None, ending: str) -> dict[str, object]:
    info = None if reward is None else {"reward": reward}
    return {
        "id": f"{task}-{trial}",
        "task_id": task,
        "trial": trial,
        "termination_reason": ending,
        "reward_info": info,
    }


TAU2_INFO = {
    "num_trials": 2,
    "agent_info": {"implementation": "llm_agent", "llm": "gpt-4.1"},
    "environment_info": {"domain_name": "retail"},
}
SIMULATIONS = [
    simulation("t1", 0, 1.0, "user_stop"),
    simulation("t1", 1, None, "max_steps"),
    simulation("t2", 0, 0.0, "infrastructure_error"),
]
TAU2_CELLS = {
    ("llm_agent/gpt-4.1", "K1", "t1"): (1.0, "scored"),
    ("llm_agent/gpt-4.1", "K2", "t1"): (None, "limit"),
    ("llm_agent/gpt-4.1", "K1", "t2"): (None, "provider_error"),
    ("llm_agent/gpt-4.1", "K2", "t2"): (None, "not_run"),
}


def test_tau2_reads_one_file_and_a_file_per_simulation_alike(tmp_path: Path) -> None:
    base = {"timestamp": "2026", "info": TAU2_INFO, "tasks": [{"id": "t1"}, {"id": "t2"}]}
    write_json(tmp_path / "one" / "run.json", {**base, "simulations": SIMULATIONS})
    write_json(
        tmp_path / "many" / "results.json",
        {**base, "simulation_index": [{"id": item["id"]} for item in SIMULATIONS]},
    )
    for item in SIMULATIONS:
        write_json(tmp_path / "many" / "simulations" / f"{item['id']}.json", item)

    for folder in ("one", "many"):
        assert cells(read(tmp_path / folder)) == TAU2_CELLS, folder


def test_tau2_never_leaves_its_folder(tmp_path: Path) -> None:
    path = write_json(
        tmp_path / "results.json", {"info": TAU2_INFO, "simulation_index": ["../../secret"]}
    )
    with pytest.raises(InvalidResults, match=r"simulation_index\[0\] names no simulation"):
        read(path)


def trial(task: str, resolved: bool | None, mode: str = "unset", k: str = "1-of-1") -> object:
    return {
        "task_id": task,
        "trial_name": f"{task}.{k}.run",
        "is_resolved": resolved,
        "failure_mode": mode,
    }


def test_terminal_bench_tells_the_agents_failures_from_the_harness(tmp_path: Path) -> None:
    results = [
        trial("a", True),
        trial("b", False),
        trial("c", None, "agent_timeout"),
        trial("d", True, "agent_timeout"),
        trial("e", False, "test_timeout"),
        trial("f", None, "agent_installation_failed"),
        trial("g", None),
    ]
    for run in ("r1", "r2"):
        write_json(
            tmp_path / run / "results.json", {"id": run, "results": results, "n_resolved": 2}
        )
        write_json(
            tmp_path / run / "run_metadata.json",
            {"run_id": run, "agent_name": "terminus", "model_name": "gpt-4o"},
        )

    found = cells(read(tmp_path))

    assert len(found) == 14
    assert {q: cell for (_, k, q), cell in found.items() if k == "K2"} == {
        "a": (1.0, "scored"),
        "b": (0.0, "scored"),
        "c": (None, "limit"),
        "d": (1.0, "scored"),
        "e": (None, "judge_error"),
        "f": (None, "agent_error"),
        "g": (None, "not_judged"),
    }
    assert {system for system, _, _ in found} == {"terminus/gpt-4o"}


def test_terminal_bench_attempts_of_one_run_are_executions(tmp_path: Path) -> None:
    results = [trial("a", k == 1, k=f"{k}-of-3") for k in (3, 1, 2)]
    path = write_json(tmp_path / "run" / "results.json", {"results": results, "n_resolved": 1})

    assert cells(read(path)) == {
        ("run", "K1", "a"): (1.0, "scored"),
        ("run", "K2", "a"): (0.0, "scored"),
        ("run", "K3", "a"): (0.0, "scored"),
    }


def test_two_harnesses_can_be_read_together(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "system,execution,item_id,score", "a,1,7,1")
    path = write_json(tmp_path / "x.json", [tau_result(7, 1.0, 0)])

    found = read(table, path)

    assert found.reading.formats == ("long table", "tau-bench results")
    assert json.loads(json.dumps(found.reading.to_json()))["systems"] == ["a", "x"]


def test_domains_of_tau2_make_one_execution_per_trial(tmp_path: Path) -> None:
    for domain in ("retail", "airline"):
        info = {**TAU2_INFO, "num_trials": 1, "environment_info": {"domain_name": domain}}
        runs = [simulation("t1", 0, 1.0, "user_stop")]
        write_json(tmp_path / f"{domain}.json", {"info": info, "simulations": runs})

    assert cells(read(tmp_path)) == {
        ("llm_agent/gpt-4.1", "K1", "airline/t1"): (1.0, "scored"),
        ("llm_agent/gpt-4.1", "K1", "retail/t1"): (1.0, "scored"),
    }


def test_names_from_files_cannot_steer_the_terminal(tmp_path: Path) -> None:
    table = write_text(tmp_path / "t.csv", "system,execution,item_id,score", "a\x1b[2J,1,7,1")
    shown = read(table).reading.text()
    assert "\x1b" not in shown
    assert "a\N{REPLACEMENT CHARACTER}[2J: 1 execution" in shown
