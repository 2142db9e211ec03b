"""The statistics that AgentVidBench publishes, out of a data set that has them."""

from __future__ import annotations

import pytest
from tests.benchmarks import synthetic_agentvidbench as synthetic

from taketwo.benchmarks.agentvidbench import SUPER_CATEGORIES
from taketwo.benchmarks.population import Composition
from taketwo.question_sets import check_benchmark


@pytest.fixture(scope="module")
def composition(tmp_path_factory: pytest.TempPathFactory) -> Composition:
    folder = synthetic.write(tmp_path_factory.mktemp("agentvidbench"))
    return check_benchmark("agentvidbench", {"path": str(folder)}).composition


def of_questions(composition: Composition, factor: str) -> dict[str, int]:
    return {item.level: item.questions for item in composition.levels if item.factor == factor}


def of_videos(composition: Composition, factor: str) -> dict[str, int]:
    return {item.level: item.videos for item in composition.levels if item.factor == factor}


def test_the_questions_are_100_on_71_videos_with_26_options(composition: Composition) -> None:
    assert (composition.questions, composition.videos) == (100, 71)
    assert composition.chance is not None
    assert f"{composition.chance:.2%}" == "3.85%"


def test_difficulties_skills_and_capabilities_are_counted_by_question(
    composition: Composition,
) -> None:
    assert of_questions(composition, "difficulty") == {
        "easy": 13,
        "medium": 28,
        "hard": 29,
        "very hard": 30,
    }
    assert of_questions(composition, "capability") == {
        "temporal": 93,
        "perception": 70,
        "counting": 56,
        "agentic_reasoning": 48,
        "ocr_text": 41,
        "audio_visual": 13,
    }
    assert composition.skills_per_question == 3.75
    skills = of_questions(composition, "skill")
    assert len(skills) == 20
    assert (skills["event_localization"], skills["text_reading"]) == (66, 40)


def test_genres_durations_sources_and_licences_are_counted_by_video(
    composition: Composition,
) -> None:
    assert of_videos(composition, "length_category") == {"short": 18, "medium": 33, "long": 20}
    assert of_videos(composition, "genre") == synthetic.GENRES
    assert of_videos(composition, "source") == synthetic.SOURCES
    assert of_videos(composition, "licence") == synthetic.LICENCES
    assert sum(of_questions(composition, "genre").values()) == 100


def test_the_twelve_genres_make_the_four_published_super_categories(
    composition: Composition,
) -> None:
    shares = {
        item.level: f"{item.video_share:.1%}"
        for item in composition.levels
        if item.factor == "super_category"
    }

    assert shares == {
        "Daily Lifestyle": "32.4%",
        "Knowledge & Documentary": "28.2%",
        "Performance": "21.1%",
        "Media Arts": "18.3%",
    }
    assert set(shares) == set(SUPER_CATEGORIES)


def test_styles_and_sounds_may_be_several_of_a_video(composition: Composition) -> None:
    styles, sounds = (
        of_videos(composition, "production_style"),
        of_videos(composition, "audio_type"),
    )

    assert (len(styles), len(sounds)) == (14, 5)
    assert sum(styles.values()) > 71
    assert sum(sounds.values()) > 71


def test_the_456_milestones_are_counted_by_type_and_by_number(composition: Composition) -> None:
    assert dict(composition.milestones) == {
        "context_identification": 43,
        "temporal_localization": 113,
        "ocr_text_reading": 41,
        "audio_visual_evidence": 28,
        "visual_recognition": 69,
        "counting": 54,
        "comparison": 11,
        "exclusion_check": 59,
        "arithmetic": 9,
        "verification": 29,
    }
    assert composition.milestones[0] == ("temporal_localization", 113)
    assert dict(composition.milestones_per_question) == {3: 14, 4: 32, 5: 40, 6: 12, 7: 2}
    assert sum(count for _, count in composition.milestones) == 456


def test_lengths_of_videos_are_counted_once_a_video(composition: Composition) -> None:
    lengths = sorted(
        60 * int(row["duration"].split(":")[0]) + int(row["duration"].split(":")[1])
        for row in synthetic.videos()
    )

    assert composition.durations is not None
    assert composition.durations.videos == 71
    assert composition.durations.median_s == lengths[35]
    assert composition.durations.longest_s == lengths[-1]
