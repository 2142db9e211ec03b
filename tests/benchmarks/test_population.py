from __future__ import annotations

from pathlib import Path

import pytest
from tests.benchmarks import synthetic_sage_bench as synthetic
from tests.benchmarks.test_agentvidbench import data_set, row

from taketwo.benchmarks.agentvidbench import agentvidbench
from taketwo.benchmarks.population import composition_of, differences, labels_of, video_overlap
from taketwo.benchmarks.sage_bench import sage_bench


def test_the_published_shares_of_sage_bench_come_out(tmp_path: Path) -> None:
    questions = sage_bench(synthetic.write(tmp_path, synthetic.rows())).questions

    found = {
        (item.factor, item.level): (item.questions, round(100 * item.share, 2))
        for item in composition_of(questions).levels
    }

    assert found["question_type", "mcq"] == (793, 45.47)
    assert found["question_type", "open_ended"] == (951, 54.53)
    assert found["modality", "verbal"] == (105, 6.02)
    assert found["difficulty", "very hard"] == (73, 4.19)
    assert found["length", "long"] == (824, 47.25)


def test_a_part_is_compared_with_the_whole_in_points(tmp_path: Path) -> None:
    questions = sage_bench(synthetic.write(tmp_path, synthetic.rows())).questions
    by_kind = {"mcq": 586, "open_ended": 697}
    part = [
        question
        for kind, count in by_kind.items()
        for question in [q for q in questions if q.attributes["question_type"] == kind][:count]
    ]

    by_level = {(item.factor, item.level): item for item in differences(questions, part)}

    found = by_level["question_type", "mcq"]
    assert (found.whole, found.part) == (793, 586)
    assert found.points == pytest.approx(100 * (586 / 1283 - 793 / 1744))
    assert round(found.points, 2) == 0.20
    assert round(by_level["question_type", "open_ended"].points, 2) == -0.20


def test_a_level_that_the_part_lacks_is_there_with_none(tmp_path: Path) -> None:
    questions = sage_bench(synthetic.write(tmp_path, synthetic.rows())).questions
    part = [question for question in questions if question.attributes["modality"] == "visual"]

    by_level = {(item.factor, item.level): item for item in differences(questions, part)}

    assert by_level["modality", "verbal"].part == 0
    assert by_level["modality", "verbal"].points == pytest.approx(-100 * 105 / 1744)


def test_questions_with_several_labels_count_under_each(tmp_path: Path) -> None:
    rows = [
        row(),
        row(
            question_id=2,
            skills=["event_localization"],
            categories=["temporal"],
            milestones=_four(),
        ),
    ]
    questions = agentvidbench(data_set(tmp_path, *rows)).questions

    found = composition_of(questions)

    counts = {(item.factor, item.level): item.questions for item in found.levels}
    assert counts["skill", "event_localization"] == 2
    assert counts["skill", "conditional_counting"] == 1
    assert counts["capability", "temporal"] == 2
    assert counts["capability", "counting"] == 1
    assert counts["genre", "Cooking/Food"] == 2
    assert found.skills_per_question == 1.5
    assert dict(found.milestones)["counting"] == 5
    assert found.milestones_per_question == ((3, 1), (4, 1))
    assert found.chance == pytest.approx(1 / 26)
    assert found.videos == 1


def test_skills_that_nobody_named_are_not_zero(tmp_path: Path) -> None:
    questions = sage_bench(synthetic.write(tmp_path, synthetic.rows()[:20])).questions

    found = composition_of(questions)

    assert found.skills_per_question is None
    assert "skill" not in labels_of(questions[0])


def test_the_videos_of_two_sides_are_counted(tmp_path: Path) -> None:
    questions = sage_bench(synthetic.write(tmp_path, synthetic.rows()[:10])).questions

    found = video_overlap(questions[:6], questions[4:])

    assert (found.shared, found.first, found.second) == (2, 6, 6)


def _four() -> list[dict[str, str]]:
    return [{"id": f"M{n}", "type": "counting", "description": "Count."} for n in range(1, 5)]
