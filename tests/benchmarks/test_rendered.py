from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.local import local
from taketwo.benchmarks.rendered import Composition, compose, read_programs, rendered
from taketwo.benchmarks.rendered_evidence import evidence_of_script
from taketwo.benchmarks.rendered_program import run_program
from taketwo.benchmarks.scene import VideoScript
from taketwo.benchmarks.scene_painter import ScenePainter
from taketwo.benchmarks.scene_sound import SpeechRecordings
from taketwo.errors import InvalidQuestion, RequestError
from taketwo.media.frames import frames_at
from taketwo.media.video import probe


def home(benchmark: Benchmark) -> Path:
    return Path(benchmark.questions[0].video_path).parent


def scripts_of(benchmark: Benchmark) -> dict[str, VideoScript]:
    record = json.loads((home(benchmark) / "scripts.json").read_bytes())
    return {name: VideoScript.from_json(v["script"]) for name, v in record["videos"].items()}


def test_a_painted_video_shows_the_script_at_its_seconds(tiny: Benchmark) -> None:
    question = tiny.questions[0]
    script = scripts_of(tiny)[question.video_id]
    painter = ScenePainter(script)
    cuts = [section.start_s for section in script.sections[1:]]
    times = [t for cut in cuts for t in (cut - 0.01, cut)]
    for time_s, frame in zip(times, frames_at(Path(question.video_path), times), strict=True):
        frames = [
            np.asarray(painter.image(int(time_s * 12 + 1e-6 + shift) / 12), np.int16)
            for shift in (-1, 0, 1)
        ]
        errors = [float(np.abs(frame.image - expected).mean()) for expected in frames]
        assert errors[1] == min(errors)
        assert errors[1] < 4.0


def test_a_painted_video_has_the_length_and_the_sound_of_its_script(tiny: Benchmark) -> None:
    for question in tiny.questions[:2]:
        info = probe(Path(question.video_path))
        assert info.duration_s == pytest.approx(question.video_duration_s, abs=0.1)
        assert (info.width, info.height, info.fps, info.has_audio) == (640, 360, 12.0, True)
        assert info.problems == ()


def test_sound_videos_are_kept_and_damaged_or_missing_files_come_back_byte_for_byte(
    tiny: Benchmark, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    copy = tmp_path / home(tiny).name
    kept, damaged = (copy / Path(question.video_path).name for question in tiny.questions[:2])
    stamp = kept.stat().st_mtime_ns
    damaged.write_bytes(damaged.read_bytes()[:1000])
    (copy / "questions.jsonl").unlink()

    again = rendered(3, tmp_path, videos=2, questions=12, open_questions=2)

    assert again.fingerprint == tiny.fingerprint
    assert again.version == tiny.version
    assert kept.stat().st_mtime_ns == stamp
    names = sorted(path.name for path in home(tiny).iterdir())
    assert sorted(path.name for path in copy.iterdir()) == names
    for name in names:
        assert (copy / name).read_bytes() == (home(tiny) / name).read_bytes(), name


def test_other_seeds_and_options_give_other_questions(
    composition: Composition, speech: SpeechRecordings
) -> None:
    def questions(seed: int, many_options: int) -> list[object]:
        made = compose(
            seed,
            speech,
            videos=12,
            questions=60,
            difficulty="mixed",
            open_questions=6,
            many_options=many_options,
        )
        return [posed.question.to_json() for posed in made.posed]

    same = [posed.question.to_json() for posed in composition.posed]
    assert questions(11, 1) == same
    assert questions(12, 1) != same
    assert questions(11, 0) != same


def test_what_is_kept_beside_the_videos_executes_to_the_truth(tiny: Benchmark) -> None:
    scripts = scripts_of(tiny)
    for question in tiny.questions:
        kept = read_programs(question)
        assert kept is not None
        value = run_program(kept.program, evidence_of_script(scripts[question.video_id]))
        if question.options:
            assert kept.values[question.answer_index or 0] == value
        else:
            assert question.answer_text == str(value)


def test_an_agent_is_told_nothing_of_programs_and_scripts(tiny: Benchmark) -> None:
    for question in tiny.questions:
        told = str(question.for_agent())
        assert "scripts" not in told
        assert "program" not in told
        assert question.video_path not in told


def test_the_question_file_is_a_local_benchmark(tiny: Benchmark) -> None:
    loaded = local(home(tiny) / "questions.jsonl")
    assert loaded.fingerprint == tiny.fingerprint
    assert [q.video_path for q in loaded.questions] == [q.video_path for q in tiny.questions]


def test_questions_of_other_benchmarks_have_no_program(tiny: Benchmark, tmp_path: Path) -> None:
    question = tiny.questions[0]
    elsewhere = type(question).from_json({
        **question.to_json(),
        "video_path": str(tmp_path / "v.mp4"),
    })
    assert read_programs(elsewhere) is None
    renamed = type(question).from_json({**question.to_json(), "question_id": "other"})
    with pytest.raises(InvalidQuestion, match=r"'other': .* has no program for it"):
        read_programs(renamed)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"videos": 0}, "videos 0, questions 60"),
        ({"videos": 2, "questions": 25}, "25 questions on 2 videos; a video carries at most 12"),
        ({"open_questions": -1}, "open_questions -1"),
    ],
)
def test_options_out_of_range_are_refused(
    options: dict[str, int], message: str, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match=message):
        rendered(1, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []
