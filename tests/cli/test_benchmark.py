"""The commands on benchmarks: what they print, write and exit with."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from tests.benchmarks import synthetic_agentvidbench, synthetic_sage_bench
from tests.benchmarks.test_minerva import row as minerva_row
from tests.benchmarks.test_video_mme import row as video_mme_row
from tests.cli.test_main import status_of
from tests.media.clips import X264, Clip, write

from taketwo.cli.benchmark import command, options_of
from taketwo.errors import RequestError


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four questions on four videos; one is missing, one no video, one of another duration."""
    clip = write(Clip(name="good.mp4", codec="libx264", options=X264, frames=12), tmp_path)
    os.link(clip, tmp_path / "short.mp4")
    (tmp_path / "text.mp4").write_bytes(b"no video")
    rows = [
        {
            "question_id": name,
            "text": "What is shown?",
            "video_path": f"{name}.mp4",
            "answer": "a number",
            "attributes": {"kind": kind},
            "video_duration_s": 60 if name == "short" else 0.4,
        }
        for name, kind in (("good", "a"), ("short", "a"), ("text", "b"), ("gone", "b"))
    ]
    (tmp_path / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_options_are_texts_truth_values_and_lists() -> None:
    found = options_of("data", ["subtitles=true", "exclude=a.json", "exclude=b.json", "label=x=y"])

    assert found == {
        "path": "data",
        "subtitles": True,
        "exclude": ["a.json", "b.json"],
        "label": "x=y",
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("videos", "'videos' is no option of a benchmark; write KEY=VALUE"),
        ("=x", "'=x' is no option of a benchmark"),
        ("path=other", "the path is given twice"),
    ],
)
def test_what_is_no_option_is_named(written: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        options_of("data", [written])


def test_a_check_says_what_a_benchmark_is_made_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    synthetic_agentvidbench.write(tmp_path)

    assert status_of("benchmark", "check", "agentvidbench", "--path", str(tmp_path)) == 0

    shown = capsys.readouterr().out
    assert "every row can be used" in shown
    assert "100 questions on 71 videos" in shown
    assert "guessing an option is right in 3.85% of multiple-choice questions" in shown
    assert "3.75 skills a question" in shown
    assert re.search(r"^temporal +93 +93.00 +", shown, re.MULTILINE)
    assert re.search(r"^Daily Lifestyle +\d+ +[\d.]+ +23 +32.4$", shown, re.MULTILINE)
    assert re.search(r"^temporal_localization +113 +24.8$", shown, re.MULTILINE)
    assert re.search(r"^5 +40$", shown, re.MULTILINE)


def test_a_check_names_every_broken_row_also_beyond_the_fiftieth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = synthetic_sage_bench.rows()[:80]
    for row in rows[10:]:
        row["modality"] = "smell"
    folder = synthetic_sage_bench.write(tmp_path / "sage", rows)

    assert status_of("benchmark", "check", "sage_bench", "--path", str(folder)) == 3

    shown = capsys.readouterr()
    assert "70 of 80 rows cannot be used" in shown.err
    for number in range(11, 81):
        assert f"row {number}: field 'modality' is 'smell'" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("name", ["video_mme", "minerva"])
def test_a_check_says_that_a_loader_has_not_seen_the_data(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = video_mme_row() if name == "video_mme" else minerva_row()
    (tmp_path / "r.jsonl").write_text(json.dumps(row), "utf-8")
    arguments = ("benchmark", "check", name, "--path", str(tmp_path / "r.jsonl"))
    says = "read by its documentation, unverified against the data"

    assert status_of(*arguments) == 0
    head, *_ = capsys.readouterr().out.split("\n\n")
    assert status_of(*arguments, "--json") == 0
    record = json.loads(capsys.readouterr().out)

    assert re.fullmatch(rf"Benchmark {name} \w+: every row can be used\n  {says}", head)
    assert record["unverified"] == says


def test_a_check_of_questions_of_ones_own_has_no_such_reservation(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of("benchmark", "check", "local", "--path", "q.jsonl") == 0
    assert "unverified" not in capsys.readouterr().out
    assert status_of("benchmark", "check", "local", "--path", "q.jsonl", "--json") == 0
    assert json.loads(capsys.readouterr().out)["unverified"] is None


def test_a_check_says_of_how_many_choices_no_option_is_the_truth(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(synthetic_sage_bench.write(tmp_path / "sage", synthetic_sage_bench.rows()))

    assert status_of("benchmark", "check", "sage_bench", "--path", folder) == 0
    told = capsys.readouterr().out
    assert status_of("benchmark", "check", "sage_bench", "--path", folder, "--json") == 0
    ids = json.loads(capsys.readouterr().out)["truths_in_words"]

    assert len(ids) == synthetic_sage_bench.NO_OPTION_IS_TRUE
    assert (
        f"of 12 multiple-choice questions no option is the truth word by word, first {ids[0]};"
        in told
    )


def test_broken_rows_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(video_mme_row(answer="E")), "utf-8")

    status = status_of(
        "benchmark", "check", "video_mme", "--path", str(tmp_path / "r.jsonl"), "--json"
    )

    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert status == 3
    assert problem == "r.jsonl, line 1: field 'answer' is 'E', not one letter from A to D"


def test_a_study_says_its_benchmark_itself(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (local / "march.yaml").write_text(
        "study: march\nbenchmark: {name: local, path: q.jsonl}\narms: {a: {agent: nobody}}\n",
        encoding="utf-8",
    )

    assert status_of("benchmark", "check", "march.yaml") == 0
    assert "4 questions on 4 videos" in capsys.readouterr().out
    assert status_of("benchmark", "check", "march.yaml", "videos=clips") == 2
    assert "a study says the options of its benchmark itself, found also 'videos'" in (
        capsys.readouterr().err
    )


def test_a_study_without_a_benchmark_is_bad_usage(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (local / "march.yaml").write_text("study: march\narms: {a: {agent: x}}\n", encoding="utf-8")

    assert status_of("benchmark", "check", "march.yaml") == 2
    assert "benchmark: missing; name one" in capsys.readouterr().err


def test_a_second_name_is_refused(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("benchmark", "check", "local", "--path", "q.jsonl", "name=demo") == 2
    assert "'name' is no option" in capsys.readouterr().err


def test_names_of_a_data_set_cannot_command_the_terminal(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "question_id": "q",
        "text": "What?",
        "video_path": "gone.mp4",
        "video_id": "a\x1b[2Jb",
        "answer": "x",
        "attributes": {"kind": "loud\u202e\x07\nline"},
    }
    (local / "q.jsonl").write_text(json.dumps(row), encoding="utf-8")

    status_of("benchmark", "check", "local", "--path", "q.jsonl")
    status_of("benchmark", "availability", "local", "--path", "q.jsonl")

    shown = capsys.readouterr().out
    assert "loud[U+202E][U+0007] line" in shown
    assert "a[U+001B][2Jb (1 question): missing" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_the_group_is_at_hand_without_engine_and_decoder() -> None:
    program = (
        "import sys\n"
        "for name in ('inspect_ai', 'av', 'cv2', 'PIL'): sys.modules[name] = None\n"
        "from taketwo.cli.main import main\n"
        "main(['benchmark', 'check', '--help'])\n"
    )

    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )

    assert found.returncode == 0
    assert "See whether every row can be used" in found.stdout


def test_an_unknown_benchmark_has_near_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("benchmark", "check", "sagebench") == 2
    assert "did you mean 'sage_bench'" in capsys.readouterr().err


def test_lost_videos_are_named_with_the_reason_and_exit_3(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = status_of(
        "benchmark", "availability", "local", "--path", "q.jsonl", "--freeze", "list.json"
    )

    shown = capsys.readouterr()
    assert status == 3
    assert (
        "1 of 4 questions can be asked (1 available, 1 missing, 1 other duration, 1 unreadable)"
        in (shown.out)
    )
    assert "durations may differ by the larger of 2 s and 2%" in shown.out
    assert "short (1 question): other duration, lasts 0.4 s, the data set says 60.0 s" in shown.out
    assert re.search(r"text \(1 question\): unreadable, .*text\.mp4", shown.out)
    assert re.search(r"gone \(1 question\): missing, video '.*gone\.mp4' does not exist", shown.out)
    assert re.search(r"^kind: b +2 +50.00 +0 +0.00 +-50.00$", shown.out, re.MULTILINE)
    assert "looking at video 1 of 3" in shown.err
    record = json.loads((local / "list.json").read_bytes())
    assert record["question_ids"] == ["short", "text", "gone"]
    assert len(record["available"][0]["video_sha256"]) == 64


def test_what_a_frozen_list_leaves_is_all_there(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status_of("benchmark", "availability", "local", "--path", "q.jsonl", "--freeze", "list.json")
    capsys.readouterr()

    status = status_of(
        "benchmark", "availability", "local", "--path", "q.jsonl", "exclude=list.json", "--json"
    )

    record = json.loads(capsys.readouterr().out)
    assert status == 0
    assert record["counts"] == {"available": 1}
    assert record["question_ids"] == []
    assert record["after"]["questions"] == 1


def test_a_list_that_was_used_is_not_replaced_by_another(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("benchmark", "availability", "local", "--path", "q.jsonl", "--freeze", "list.json")
    status_of(*arguments)
    assert status_of(*arguments) == 3
    (local / "gone.mp4").write_bytes((local / "good.mp4").read_bytes())

    assert status_of(*arguments) == 2
    assert "list.json: another list lies there, which a study may have used" in (
        capsys.readouterr().err
    )


def test_a_tolerance_lets_another_duration_pass(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = status_of(
        "benchmark", "availability", "local", "--path", "q.jsonl", "--tolerance", "100"
    )

    shown = capsys.readouterr().out
    assert status == 3
    assert "(2 available, 1 missing, 1 unreadable)" in shown
    assert "durations may differ by 100 s" in shown


def test_no_video_at_all_is_told(local: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = status_of("benchmark", "availability", "local", "--path", "q.jsonl", "videos=nowhere")

    assert status == 3
    assert "No question can be asked." in capsys.readouterr().out


def test_a_holdout_is_drawn_written_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = synthetic_sage_bench.write(tmp_path / "sage", synthetic_sage_bench.rows())
    out = tmp_path / "holdout.json"
    drawn = (
        "benchmark", "holdout", "sage_bench", "--path", str(folder), "--n", "150",
        "--by", "duration, question_type,modality", "--seed", "17", "--out", str(out),
    )  # fmt: skip

    assert status_of(*drawn) == 0
    shown = capsys.readouterr().out
    assert "150 of 1,744 questions held out, drawn by question with seed 17" in shown
    assert re.search(r"^0-60 s, mcq, visual +\d+ +[\d.]+ +\d+ +[\d.]+$", shown, re.MULTILINE)
    assert "0 of 150 videos of the holdout also have questions outside it" in shown
    record = json.loads(out.read_bytes())
    assert (len(record["question_ids"]), record["seed"], record["unit"]) == (150, 17, "question")
    assert status_of(*drawn) == 0
    capsys.readouterr()

    status = status_of(
        "benchmark", "population", "sage_bench", "--path", str(folder), "--part", str(out),
        "--against", "rest", "--json",
    )  # fmt: skip

    compared = json.loads(capsys.readouterr().out)
    assert status == 0
    assert compared["part"]["questions"] == 150
    assert compared["reference"]["questions"] == 1594
    verbal = next(item for item in compared["differences"] if item["level"] == "verbal")
    assert abs(verbal["points"]) < 2.0
    assert compared["video_overlap"] == {"shared": 0, "first": 150, "second": 1594}


def test_videos_on_both_sides_are_counted_and_whole_videos_leave_none(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question_id": f"q{n}", "text": "What?", "video_path": f"v{n // 4}.mp4", "answer": "x"}
        for n in range(40)
    ]
    (local / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    drawn = (
        "benchmark", "holdout", "local", "--path", "q.jsonl", "--n", "12", "--by", "", "--seed", "1",
    )  # fmt: skip

    status_of(*drawn, "--out", "one.json")
    assert re.search(r"[1-9]\d* of \d+ videos of the holdout also", capsys.readouterr().out)
    status_of(*drawn, "--out", "two.json", "--unit", "video")
    assert "0 of 3 videos of the holdout also have questions outside it" in capsys.readouterr().out


def test_a_part_is_what_the_files_name_or_what_they_leave(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (local / "ids.json").write_text('["good"]', encoding="utf-8")
    arguments = ("benchmark", "population", "local", "--path", "q.jsonl", "--part", "ids.json")

    status_of(*arguments)
    named = capsys.readouterr().out
    status_of(*arguments, "--complement")
    left = capsys.readouterr().out

    assert "a part of 1 questions on 1 videos, against the whole of 4 on 4" in named
    assert re.search(r"^kind: a +2 +50.00 +1 +100.00 +\+50.00$", named, re.MULTILINE)
    assert "largest difference 50.00 points" in named
    assert "a part of 3 questions on 3 videos" in left


@pytest.mark.parametrize(
    ("ids", "arguments", "message"),
    [
        ([], (), "ids.json: names no question; give the ids, or drop the file"),
        (
            ["good"],
            ("--part", "all.json", "--against", "rest"),
            "4 questions are in the part and 0",
        ),
        (["x"], (), "1 of 1 ids are of no question of benchmark 'local': 'x'"),
    ],
)
def test_a_part_that_is_none_is_bad_usage(
    local: Path,
    ids: list[str],
    arguments: tuple[str, ...],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (local / "ids.json").write_text(json.dumps(ids), encoding="utf-8")
    (local / "all.json").write_text('["good", "short", "text", "gone"]', encoding="utf-8")

    status = status_of(
        "benchmark", "population", "local", "--path", "q.jsonl", "--part", "ids.json", *arguments
    )

    assert status == 2
    assert message in capsys.readouterr().err


def test_every_command_of_the_group_has_an_example_and_exit_statuses() -> None:
    page = (Path(__file__).parents[2] / "docs/reference/commands.md").read_text("utf-8")

    assert isinstance(command, click.Group)
    assert set(command.commands) == {"check", "availability", "population", "holdout"}
    for name in command.commands:
        section = page.split(f"## `taketwo benchmark {name}`")[1].split("\n## ")[0]
        assert "Exit status" in section, name
        assert "Example" in section, name


@pytest.mark.parametrize("tolerance", ["nan", "inf", "-1"])
def test_a_tolerance_that_would_switch_the_check_off_is_bad_usage(
    local: Path, tolerance: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = status_of(
        "benchmark", "availability", "local", "--path", "q.jsonl", "--json",
        "--tolerance", tolerance, "--freeze", "list.json",
    )  # fmt: skip

    shown = capsys.readouterr()
    assert status == 2
    assert "tolerance" in shown.err
    assert shown.out == ""
    assert not (local / "list.json").exists()


def test_whole_videos_that_give_nothing_write_no_list(
    local: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question_id": f"q{n}", "text": "What?", "video_path": f"v{n // 5}.mp4", "answer": "x"}
        for n in range(10)
    ]
    (local / "q.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    drawn = (
        "benchmark", "holdout", "local", "--path", "q.jsonl", "--by", "", "--seed", "1",
        "--unit", "video", "--out", "h.json",
    )  # fmt: skip

    assert status_of(*drawn, "--n", "8") == 2
    assert "they give 5; ask for one of these" in capsys.readouterr().err
    assert not (local / "h.json").exists()
    assert status_of(*drawn, "--n", "4") == 0
    assert "4 questions were asked for; whole videos give 5" in capsys.readouterr().out
