from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from taketwo.benchmarks.question import Question
from taketwo.benchmarks.rendered import rendered
from taketwo.benchmarks.rendered_evidence import Evidence, Look, evidence_of_script
from taketwo.benchmarks.scene import VideoScript
from taketwo.errors import DataError
from taketwo.media.store import MediaStore
from taketwo.scores.perception_bound import chance, perceive, perception_bound

RED = ("red", "circle")
COUNT = {"op": "count", "colour": "red", "shape": "circle"}
WINDOW = {"op": "while_sign", "text": "HARBOR"}


def looks(count: int) -> Evidence:
    return Evidence(tuple(Look(float(t), ("HARBOR",), {RED: count}) for t in range(4)), ())


def a_question(folder: Path, values: list[int]) -> Question:
    """Return a question whose first option is true, with its program beside its video."""
    record = {
        "format": "taketwo.rendered/1",
        "questions": {"q": {"program": {**COUNT, "window": WINDOW}, "values": values}},
    }
    (folder / "scripts.json").write_text(json.dumps(record), encoding="utf-8")
    return Question(
        question_id="q",
        text="How many?",
        video_id="v",
        video_path=str(folder / "v.mp4"),
        options=tuple(map(str, values)),
        answer_index=0 if values else None,
        answer_text=None if values else "3",
        attributes={"kind": "counting"},
    )


def test_chance_is_the_mean_of_one_over_the_number_of_options(tmp_path: Path) -> None:
    two, four, open_ = (a_question(tmp_path, v) for v in ([1, 2], [1, 2, 3, 4], []))
    assert chance([two, four, open_]) == pytest.approx((1 / 2 + 1 / 4 + 0) / 3)
    with pytest.raises(DataError, match="0 questions"):
        chance([])


@pytest.mark.parametrize(
    ("values", "evidence", "accuracy"),
    [
        ([3, 5], looks(3), 1.0),
        ([3, 5], looks(5), 0.0),
        ([3, 9], looks(5), 1.0),
        ([3, 7], looks(5), 0.5),
        ([3, 4, 5, 6], Evidence((), ()), 0.25),
        ([], looks(3), 1.0),
        ([], looks(4), 0.0),
    ],
)
def test_credit_goes_to_the_nearest_option_and_is_shared_between_equals(
    values: list[int], evidence: Evidence, accuracy: float, tmp_path: Path
) -> None:
    bound = perception_bound([a_question(tmp_path, values)], perceived=lambda _: evidence)
    assert bound.accuracy == accuracy
    assert bound.by_kind == {"counting": accuracy}


def test_questions_without_programs_leave_the_bound_undefined(tmp_path: Path) -> None:
    question = a_question(tmp_path, [1, 2])
    other = replace(question, video_path=str(tmp_path / "elsewhere" / "v.mp4"))
    bound = perception_bound([other], perceived=lambda _: looks(1))
    assert (bound.accuracy, bound.questions, bound.by_kind) == (None, 0, {})


def test_a_perfect_observer_reaches_1_and_the_offline_one_comes_near(tmp_path: Path) -> None:
    benchmark = rendered(3, tmp_path, videos=1, questions=12, difficulty="easy", open_questions=1)
    home = Path(benchmark.questions[0].video_path).parent
    record = json.loads((home / "scripts.json").read_bytes())
    script = VideoScript.from_json(next(iter(record["videos"].values()))["script"])
    paths: list[Path] = []

    def perfect(path: Path) -> Evidence:
        paths.append(path)
        return evidence_of_script(script)

    assert perception_bound(benchmark.questions, perceived=perfect).accuracy == 1.0
    assert len(paths) == 1
    store = MediaStore(tmp_path / "media")
    offline = perception_bound(
        benchmark.questions, perceived=lambda path: perceive(path, store=store, fps=2.0)
    )
    assert offline.questions == 12
    assert offline.accuracy is not None
    assert offline.accuracy >= 0.75
