from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.exclusion import without_questions
from taketwo.benchmarks.question import Question
from taketwo.benchmarks.selection import allocate, draw_holdout
from taketwo.errors import RequestError


def benchmark(counts: dict[tuple[str, str], int], *, per_video: int = 1) -> Benchmark:
    pairs = [pair for pair, count in counts.items() for _ in range(count)]
    return Benchmark(
        name="b",
        version="1",
        questions=tuple(
            Question(
                question_id=f"q{number}",
                text="What?",
                video_id=f"v{number // per_video}",
                video_path=f"v{number // per_video}.mp4",
                answer_text="this",
                attributes={"modality": modality, "difficulty": difficulty},
            )
            for number, (modality, difficulty) in enumerate(pairs)
        ),
    )


@given(sizes=st.lists(st.integers(0, 500), min_size=1, max_size=40), share=st.fractions(0, 1))
def test_shares_are_kept_to_less_than_one_question(sizes: list[int], share: Fraction) -> None:
    n = int(share * sum(sizes))

    found = allocate(sizes, n)

    assert sum(found) == n
    for size, got in zip(sizes, found, strict=True):
        assert 0 <= got <= size
        assert abs(got - Fraction(size * n, sum(sizes) or 1)) < 1


def test_a_rare_stratum_is_not_lifted_to_one() -> None:
    assert allocate([1000, 3], 50) == [50, 0]


def test_more_than_there_is_cannot_be_allocated() -> None:
    with pytest.raises(ValueError, match="5 cannot be drawn out of 4"):
        allocate([2, 2], 5)


def test_the_draw_keeps_the_shares_of_every_combination() -> None:
    counts = {
        ("visual", "easy"): 300,
        ("visual", "hard"): 500,
        ("verbal", "easy"): 60,
        ("verbal", "hard"): 140,
    }
    whole = benchmark(counts)

    found = draw_holdout(
        whole, 150, strata=("modality", "difficulty"), rng=np.random.default_rng(1)
    )

    assert found.allocation == {
        ("visual", "easy"): 45,
        ("visual", "hard"): 75,
        ("verbal", "easy"): 9,
        ("verbal", "hard"): 21,
    }
    by_id = {question.question_id: question for question in whole.questions}
    drawn = Counter(tuple(by_id[name].attributes.values()) for name in found.question_ids)
    assert drawn == Counter(found.allocation)


def test_the_same_generator_draws_the_same_and_another_draws_others() -> None:
    whole = benchmark({("visual", "easy"): 100})
    first, again, other = (
        draw_holdout(whole, 10, strata=(), rng=np.random.default_rng(seed)).question_ids
        for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_whole_videos_leave_none_on_both_sides() -> None:
    whole = benchmark({("visual", "easy"): 90, ("verbal", "easy"): 30}, per_video=3)

    found = draw_holdout(
        whole, 30, strata=("modality",), rng=np.random.default_rng(3), unit="video"
    )

    assert found.shared_videos == ()
    assert len(found.question_ids) == 30
    assert found.videos == 10


def test_single_questions_say_which_videos_lie_on_both_sides() -> None:
    whole = benchmark({("visual", "easy"): 90}, per_video=3)

    found = draw_holdout(whole, 45, strata=(), rng=np.random.default_rng(3))

    assert found.shared_videos
    assert set(found.shared_videos) <= {question.video_id for question in whole.questions}


def test_a_holdout_is_left_out_by_its_file(tmp_path: Path) -> None:
    whole = benchmark({("visual", "easy"): 20})
    found = draw_holdout(whole, 5, strata=(), rng=np.random.default_rng(0))

    record = found.to_json(whole, seed=0)
    (tmp_path / "holdout.json").write_text(json.dumps(record), "utf-8")

    rest = without_questions(whole, tmp_path / "holdout.json")
    assert {q.question_id for q in rest.questions}.isdisjoint(found.question_ids)
    assert len(rest.questions) == 15
    assert (record["seed"], record["unit"], record["benchmark"]) == (0, "question", "b")


@pytest.mark.parametrize("n", [0, 20, 21])
def test_a_side_without_questions_is_refused(n: int) -> None:
    with pytest.raises(
        RequestError, match=f"a holdout of {n} questions cannot be drawn from the 20"
    ):
        draw_holdout(
            benchmark({("visual", "easy"): 20}), n, strata=(), rng=np.random.default_rng(0)
        )


def test_a_stratum_that_questions_do_not_have_is_refused() -> None:
    with pytest.raises(
        RequestError, match="no attribute 'colour' to draw by; it has difficulty, modality"
    ):
        draw_holdout(
            benchmark({("visual", "easy"): 20}), 2, strata=("colour",), rng=np.random.default_rng(0)
        )


@pytest.mark.parametrize(("n", "drawn"), [(3, "none"), (36, "all")])
def test_whole_videos_that_would_be_none_or_all_are_refused_with_what_they_can_give(
    n: int, drawn: str
) -> None:
    whole = benchmark({("visual", "easy"): 40}, per_video=10)

    with pytest.raises(RequestError) as caught:
        draw_holdout(whole, n, strata=(), rng=np.random.default_rng(1), unit="video")

    assert f"whole videos nearest to {n} questions are {drawn} of the 40" in str(caught.value)
    assert "they give 10, 20, 30; ask for one of these" in str(caught.value)
    for number in (10, 20, 30):
        found = draw_holdout(whole, number, strata=(), rng=np.random.default_rng(1), unit="video")
        assert len(found.question_ids) == number


def test_the_numbers_that_are_offered_are_drawn_by_the_same_strata_and_seed() -> None:
    counts = {(name, "easy"): 12 for name in ("a", "b", "c")}
    whole = benchmark(counts, per_video=6)

    with pytest.raises(RequestError, match=r"they give 18; ask for one of these") as caught:
        draw_holdout(whole, 3, strata=("modality",), rng=np.random.default_rng(4), unit="video")

    assert "none of the 36" in str(caught.value)
    found = draw_holdout(
        whole, 18, strata=("modality",), rng=np.random.default_rng(4), unit="video"
    )
    assert len(found.question_ids) == 18


def test_numbers_that_no_draw_gives_are_told_with_what_to_ask_for() -> None:
    whole = benchmark({("a", "easy"): 4, ("b", "easy"): 4}, per_video=4)

    with pytest.raises(RequestError, match="they give 4 where 5 are asked for"):
        draw_holdout(whole, 3, strata=("modality",), rng=np.random.default_rng(4), unit="video")


def test_one_video_gives_nothing_and_says_so() -> None:
    whole = benchmark({("a", "easy"): 4}, per_video=4)

    with pytest.raises(RequestError, match="they give no number near it by these factors"):
        draw_holdout(whole, 3, strata=(), rng=np.random.default_rng(4), unit="video")


def test_a_holdout_says_how_many_were_asked_for() -> None:
    whole = benchmark({("visual", "easy"): 40}, per_video=10)

    found = draw_holdout(whole, 12, strata=(), rng=np.random.default_rng(1), unit="video")

    assert (found.asked, len(found.question_ids)) == (12, 10)
    assert found.to_json(whole, seed=1)["asked"] == 12
