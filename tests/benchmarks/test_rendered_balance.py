from __future__ import annotations

from collections import Counter

import pytest
from tests.benchmarks.recount import right_answers

from taketwo.benchmarks.rendered import Composition, compose
from taketwo.benchmarks.rendered_balance import PosedQuestion
from taketwo.benchmarks.scene_phrases import TOPICS
from taketwo.benchmarks.scene_sound import SpeechRecordings


def answer_of(posed: PosedQuestion) -> str | None:
    question = posed.question
    if question.answer_index is None:
        return question.answer_text
    return question.options[question.answer_index]


@pytest.mark.parametrize("seed", [0, 1, 2, 11, 99])
def test_every_truth_is_found_again_by_an_independent_count(
    seed: int, speech: SpeechRecordings
) -> None:
    made = compose(
        seed,
        speech,
        videos=12,
        questions=72,
        difficulty="mixed",
        open_questions=6,
        many_options=2,
    )
    scripts = {script.video_id: script for script in made.scripts}
    for posed in made.posed:
        right = right_answers(posed.question, scripts[posed.question.video_id])
        assert answer_of(posed) in right, posed.question.question_id
        assert len(right & set(posed.question.options)) <= 1, posed.question.question_id


def test_questions_are_spread_evenly_over_kinds_and_videos(composition: Composition) -> None:
    questions = [posed.question for posed in composition.posed]
    assert set(Counter(q.attributes["kind"] for q in questions).values()) == {10}
    assert set(Counter(q.video_id for q in questions).values()) == {5}
    for video in {q.video_id for q in questions}:
        kinds = [q.attributes["kind"] for q in questions if q.video_id == video]
        assert len(set(kinds)) == 5


def test_every_kind_occurs_at_every_difficulty(composition: Composition) -> None:
    found = {
        (p.question.attributes["kind"], p.question.attributes["difficulty"])
        for p in composition.posed
    }
    assert len(found) == 18


def test_true_options_are_spread_evenly_over_positions(composition: Composition) -> None:
    places: dict[int, Counter[int]] = {}
    for posed in composition.posed:
        question = posed.question
        if question.answer_index is not None:
            places.setdefault(len(question.options), Counter())[question.answer_index] += 1
    for size, counts in places.items():
        held = [counts[place] for place in range(size)]
        assert max(held) - min(held) <= 1, (size, held)


def test_numbers_of_options_vary_and_one_question_has_more_than_26(
    composition: Composition,
) -> None:
    sizes = Counter(len(posed.question.options) for posed in composition.posed)
    assert sizes[28] == 1
    assert sizes[0] == 6
    assert len([size for size in sizes if 2 <= size <= 8]) >= 4
    many = next(p.question for p in composition.posed if len(p.question.options) == 28)
    assert many.labels[-1] == "28"


def test_words_codes_topics_and_shapes_of_wrong_options_occur_in_the_video(
    composition: Composition,
) -> None:
    scripts = {script.video_id: script for script in composition.scripts}
    for posed in composition.posed:
        question, script = posed.question, scripts[posed.question.video_id]
        if question.attributes["variant"] in ("word_after", "code_with_word", "word_with_code"):
            shown = {sign.text for sign in script.signs}
            assert set(question.options) <= shown, question.question_id
        if question.attributes["variant"] in ("star_after", "star_last"):
            stars = {s.colour for s in script.shapes if s.shape == "star"}
            assert set(question.options) <= stars, question.question_id


def test_a_claim_of_the_narrator_is_among_the_options_that_contradict_it(
    composition: Composition,
) -> None:
    conflicts = [
        p.question
        for p in composition.posed
        if p.question.options
        and p.question.attributes["variant"] in ("claimed_number", "truth_of_claim")
    ]
    scripts = {script.video_id: script for script in composition.scripts}
    assert conflicts
    for question in conflicts:
        claim = next(
            u for u in scripts[question.video_id].utterances if u.text.startswith("I can see")
        )
        assert claim.about.split()[0] in question.options


def test_milestones_lie_inside_the_video(composition: Composition) -> None:
    for posed in composition.posed:
        duration = posed.question.video_duration_s
        assert posed.question.milestones
        assert duration is not None
        for step in posed.question.milestones:
            assert step.start_s is not None
            assert step.end_s is not None
            assert 0 <= step.start_s < step.end_s <= duration, posed.question.question_id


def test_no_question_is_asked_twice_of_a_video(composition: Composition) -> None:
    asked = [(p.question.video_id, p.question.text) for p in composition.posed]
    assert len(set(asked)) == len(asked) == 60


def test_paraphrases_share_no_noun_with_the_sentence_that_is_spoken() -> None:
    small = {"a", "an", "the", "of", "at", "in", "on", "to", "that", "who", "by", "no", "is", "two"}
    for topic in TOPICS:
        sentence = set(topic.sentence.lower().rstrip(".").split())
        assert not (set(topic.paraphrase.split()) - small) & sentence, topic.key
        assert set(topic.keywords) <= sentence, topic.key
        others = " ".join(t.sentence for t in TOPICS if t is not topic).lower()
        assert not set(topic.keywords) & set(others.replace(".", "").split()), topic.key
