"""Which words belong to one milestone: what was cited for it, and what only it has."""

from __future__ import annotations

import pytest
from tests.scores.judge_audit.test_milestone_ablation import cell, judgement_of

from taketwo.scores.judge_audit.milestone_evidence import (
    MilestoneMarks,
    is_still_there,
    marks_of,
)


def marks(name: str, **evidence: str) -> MilestoneMarks:
    item = cell()
    milestone = next(step for step in item.question.milestones if step.milestone_id == name)
    return marks_of(item.question, milestone, judgement_of(item, evidence=evidence))


@pytest.mark.parametrize(
    ("sentence", "cited", "quoted"),
    [
        ("The overlay first reads 0:45 at 62 s.", True, True),
        ("The OVERLAYS first reads 0:45, at last.", True, False),  # 4 of 5 words
        ("An overlay reads.", False, False),  # no number of the citation
        ("The overlay reads 0:46 at 70 s.", False, False),  # other numbers
        ("62, overlay first.", True, True),  # all of it is cited
        ("At 62.", False, False),  # one word of content is too few
    ],
)
def test_a_sentence_is_cited_by_most_words_and_a_number_and_quoted_by_nearly_all(
    sentence: str, cited: bool, quoted: bool
) -> None:
    found = marks("M1", M1="overlay first reads 0:45 at 62")

    assert found.is_cited(sentence) is cited
    assert found.is_quoted(sentence) is quoted


def test_each_fragment_of_a_citation_counts_by_itself() -> None:
    found = marks("M2", M2="lime is green … lemon is yellow; a board of wood")

    assert found.is_cited("The lemon: yellow.")
    assert found.is_cited("Boards of wood.")
    assert not found.is_cited("A lemon of wood.")


def test_names_phrases_and_long_numbers_decide_alone_and_plain_words_need_another() -> None:
    crate = marks("M4")

    assert crate.mentions("It came from palermo.")
    assert crate.mentions("It says SICILIAN gold here.")
    assert not crate.mentions("A label.")
    assert crate.mentions("A label on the crate.")
    assert marks("M1").mentions("It reads 0:45.")


def test_a_word_of_two_milestones_marks_neither_of_them() -> None:
    # M2 is cited with the crate, which stands in the text of M4 too
    shared = marks("M4", M2="the crate is green")

    assert "crate" in marks("M4").weak
    assert "crate" not in shared.weak


@pytest.mark.parametrize(
    ("evidence", "found"),
    [
        ("five slices fall", True),  # a numeral is its number
        ("5 slices fall", True),
        ("six slices fall", False),
        ("５ slices", True),  # full width
        ("slice", True),  # plural
        ("", False),
        ("a", False),
        ("the video shows", False),  # no word of content
        ("not there; five slices", True),  # one fragment is enough
    ],
)
def test_a_citation_is_still_there_where_one_sentence_has_it(evidence: str, found: bool) -> None:
    assert is_still_there(evidence, "A knife lies there. Then 5 slices fall.") is found


def test_words_of_two_sentences_are_no_citation() -> None:
    assert not is_still_there("red kite above tower", "A red kite flies. It is above a tower.")
