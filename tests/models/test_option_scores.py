from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from taketwo.models.asked import understand
from taketwo.models.conversation import Conversation, Evidence
from taketwo.models.option_scores import chances, draw, open_candidates, score_options
from taketwo.models.timeline import counted
from taketwo.models.video_lines import CountLine, TextLine, WordsLine

WORDS = (
    TextLine(start_s=1, end_s=5, text="EXIT"),
    TextLine(start_s=7, end_s=11, text="LAMP"),
    TextLine(start_s=13, end_s=17, text="RIVER"),
    TextLine(start_s=19, end_s=23, text="STONE"),
)
SPEECH = (
    WordsLine(start_s=2, end_s=4, text="The train to the coast is late."),
    WordsLine(start_s=8, end_s=9, text="I lost seven coins."),
    WordsLine(start_s=14, end_s=16, text="My favourite colour is purple."),
)


def count(start_s: float, end_s: float, number: int, colour: str, shape: str) -> CountLine:
    return CountLine(start_s=start_s, end_s=end_s, count=number, colour=colour, shape=shape)


COUNTS = (
    count(1, 5, 2, "blue", "square"),
    count(1, 5, 3, "red", "circle"),
    count(13, 17, 4, "green", "triangle"),
    count(20, 23, 5, "blue", "square"),
)


def conversation(
    question: str, options: Sequence[str] = (), evidence: Evidence | None = None
) -> Conversation:
    known = Evidence(texts=WORDS, counts=COUNTS, speech=SPEECH) if evidence is None else evidence
    return Conversation(
        question=question,
        options=tuple(options),
        labels=tuple("ABCDEFGH"[: len(options)]),
        duration_s=24.0,
        form="json",
        must_answer=False,
        may_abstain=False,
        calls=(),
        failed_calls=0,
        evidence=known,
    )


def best(question: str, *options: str) -> str:
    scores = score_options(understand(question), conversation(question, options), options)
    assert sorted(scores)[-1] > sorted(scores)[-2], scores
    return options[int(np.argmax(scores))]


@pytest.mark.parametrize(
    ("question", "options", "answer"),
    [
        ("How many red circles are shown?", ("1", "2", "3", "4"), "3"),
        ("How many green triangles can be seen?", ("two", "three", "four", "five"), "four"),
        ("How many purple stars are shown?", ("0", "1", "2"), "0"),
        ('Which word appears right after "EXIT"?', ("STONE", "RIVER", "LAMP"), "LAMP"),
        ("Which word is shown right before RIVER?", ("EXIT", "LAMP", "STONE"), "LAMP"),
        ("Which of these words appears first?", ("RIVER", "LAMP", "STONE"), "LAMP"),
        ("Which of these words appears last?", ("RIVER", "LAMP", "EXIT"), "RIVER"),
        ("Which word is never shown?", ("EXIT", "LAMP", "MOUNTAIN"), "MOUNTAIN"),
        ("Which colour does the speaker name?", ("red", "blue", "purple"), "purple"),
        (
            "What does the speaker say about the train?",
            ("it is full", "it is late", "it is new"),
            "it is late",
        ),
        (
            'What word is shown while the speaker says "my favourite colour"?',
            ("EXIT", "LAMP", "RIVER"),
            "RIVER",
        ),
        (
            "How many more blue squares are there at the end than at the beginning?",
            ("1", "2", "3", "5"),
            "3",
        ),
        (
            'When the speaker says "my favourite colour is purple", how many green triangles are '
            "shown?",
            ("2", "3", "4"),
            "4",
        ),
        (
            "In which order do the words appear?",
            ("LAMP, EXIT, RIVER", "EXIT, LAMP, RIVER", "RIVER, LAMP, EXIT"),
            "EXIT, LAMP, RIVER",
        ),
        (
            "How does the number of blue squares change from the first to the last scene?",
            ("it grows by 2", "it falls by 3", "it grows by 3"),
            "it grows by 3",
        ),
        (
            "Which of these shapes appears first after the red circle?",
            ("the blue square", "the green triangle"),
            "the green triangle",
        ),
        ("How many coins does the speaker mention?", ("4", "7", "9"), "7"),
        ("What word is shown at 20 seconds?", ("EXIT", "STONE", "LAMP"), "STONE"),
    ],
)
def test_each_kind_of_question_is_answered_from_clear_evidence(
    question: str, options: tuple[str, ...], answer: str
) -> None:
    assert best(question, *options) == answer
    assert best(question, *reversed(options)) == answer


def test_two_looks_at_one_moment_are_not_added_up() -> None:
    looks = (count(0, 5, 4, "red", "circle"), count(2, 3, 5, "red", "circle"))
    evidence = Evidence(counts=(*looks, count(0, 5, 2, "red", "star")))
    question = "How many red circles are shown?"

    numbers = counted(understand(question), conversation(question, evidence=evidence))

    assert set(numbers) == {4, 5}
    assert sum(numbers.values()) == pytest.approx(1.0)


def test_a_misread_letter_does_not_hide_a_word() -> None:
    evidence = Evidence(texts=(TextLine(start_s=1, end_s=2, text="HARB0UR"),))
    question = "Which word is shown?"

    scores = score_options(
        understand(question), conversation(question, evidence=evidence), ("LANTERN", "HARBOUR")
    )

    assert scores[1] > scores[0] == 0.0


def test_without_evidence_no_option_is_better_than_another() -> None:
    for question in ("How many red circles are shown?", "Which word is shown?"):
        empty = conversation(question, ("1", "2"), Evidence())

        assert score_options(understand(question), empty, ("1", "2")) == (0.0, 0.0)


def test_open_questions_get_candidates_from_the_evidence() -> None:
    def candidates(question: str) -> tuple[str, ...]:
        return open_candidates(understand(question), conversation(question))

    assert candidates("How many red circles are shown?") == ("3",)
    assert "purple" in candidates("Which colour does the speaker name?")
    assert candidates("Which word is shown right after EXIT?")[0] == "LAMP"
    assert (
        open_candidates(understand("What is it?"), conversation("What is it?", (), Evidence()))
        == ()
    )


def test_temperature_zero_takes_the_best_and_splits_ties_evenly() -> None:
    assert chances((0.2, 0.9, 0.9), 0.0).tolist() == [0.0, 0.5, 0.5]


def test_probabilities_are_the_softmax_of_five_times_the_score() -> None:
    expected = np.exp([5 * 0.2 / 0.7, 5 * 0.6 / 0.7])

    assert chances((0.2, 0.6), 0.7) == pytest.approx(expected / expected.sum())


def test_higher_temperature_is_more_random_and_equal_seeds_draw_equally() -> None:
    def draws(temperature: float, seed: int) -> list[int]:
        rng = np.random.default_rng(seed)
        return [draw((0.4, 0.6, 0.1), temperature, rng) for _ in range(400)]

    assert draws(0.7, 5) == draws(0.7, 5)
    assert set(draws(0.0, 5)) == {1}
    cool, hot = draws(0.3, 5).count(1), draws(3.0, 5).count(1)
    assert cool > hot > 400 / 3
