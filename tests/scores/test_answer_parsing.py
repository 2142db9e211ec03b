from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.agents.answer import parse_answer
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.scores.answer_parsing import ParsedOption, parse_option


def asked(*options: str) -> VisibleQuestion:
    return VisibleQuestion(question_id="q", text="?", options=options, video_duration_s=None)


CARS = asked("red car", "blue car", "12", "green car")
WITH_NONE = asked("red car", "blue car", "12", "None of the above")
LETTERS = asked(*(f"thing {number}" for number in range(26)))
NUMBERED = asked(*(f"thing {number}" for number in range(30)))
COUNTS = asked(*(str(number) for number in range(25)), "25+")


@pytest.mark.parametrize(
    ("text", "index", "how"),
    [
        ('{"answer": "B", "reasoning": "seen"}', 1, "structured"),
        ('{"answer": "blue car"}', 1, "structured"),
        ('I said FINAL ANSWER: A, but now {"answer": "B"}', 1, "structured"),
        ("final answer: C", 2, "anchored"),
        ("**FINAL ANSWER:** C", 2, "anchored"),
        ("**Final answer: C**", 2, "anchored"),
        ("FINAL ANSWER: blue car", 1, "anchored"),
        ("FINAL ANSWER: C) 12", 2, "anchored"),
        ("FINAL ANSWER: C (12)", 2, "anchored"),
        ("<answer>C</answer>", 2, "anchored"),
        ("C) 12", 2, "anchored"),
        ("(C)", 2, "anchored"),
        ("**C**", 2, "anchored"),
        ("c", 2, "anchored"),
        ("The answer is c.", 2, "anchored"),
        ("The car drives by twice.\n\n(B)", 1, "anchored"),
        ("The car drives by twice.\n**B**\n\n", 1, "anchored"),
        ("The car drives by twice.\nC) 12", 2, "anchored"),
        ("I looked at everything.\nMy final choice is **B**.", 1, "anchored"),
        ("I looked at everything.\nSo, the option: (B)", 1, "anchored"),
        ("blue car", 1, "option_text"),
        ("I looked at everything.\nBlue car.", 1, "option_text"),
    ],
)
def test_a_single_option_is_read_with_where_it_stood(text: str, index: int, how: str) -> None:
    expected = ParsedOption(outcome="letter", option_index=index, how=how)  # type: ignore[arg-type]

    assert parse_option(text, CARS) == expected


@pytest.mark.parametrize(
    "text",
    [
        "FINAL ANSWER: A or B",
        '{"answer": ["A", "B"]}',
        "{'answer': 'A', 'answer': 'B'}",
        "The answer is either the red car or the blue car.",
        "A red car drives by, I think.",
        "It is not (C)",
        "It must be (A) or (B).\nHard to say.",
        "A) red car\nB) blue car",
        "(A)\n(B)",
        "red car\nblue car",
        "C) 13",
        "FINAL ANSWER: A. blue car",
        'So {"answer": "B',
        "I pick option b although unsure",
        "FINAL ANSWER: B\nOn reflection, FINAL ANSWER: perhaps",
        "Of the four, B",
        "FINAL ANSWER: [A, B]",
        "FINAL ANSWER: A) or B?",
        "FINAL ANSWER: A, b",
        '{"answer": "A. red car? no, blue car"}',
        "12 of them, I would say",
    ],
)
def test_talk_of_options_that_names_no_single_one_is_ambiguous(text: str) -> None:
    assert parse_option(text, CARS) == ParsedOption(outcome="ambiguous")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t ",
        "I cannot determine the answer.",
        "I can't tell from these frames, it's too dark.",
        "The red car and the blue car both pass.\nFINAL ANSWER: I cannot determine it.",
        "FINAL ANSWER: None",
        '{"answer": null}',
        "None of the above",
        "None of A, B or C.",
        "FINAL ANSWER: none of these",
        "FINAL ANSWER:",
        "The answer is a bicycle",
        "FINAL ANSWER: E",
        "A bicycle drives by.",
        "I would need 120 more frames.",
        "<think>B, surely (B)</think>",
        "<think>Suppose FINAL ANSWER: B. But wait",
        "<think>Suppose (B). " + "But " * 30_000 + "FINAL ANSWER: B",
    ],
)
def test_what_refuses_or_looks_like_no_option_is_none(text: str) -> None:
    assert parse_option(text, CARS) == ParsedOption(outcome="none")


def test_none_of_the_above_is_an_answer_only_where_it_is_an_option() -> None:
    said = ParsedOption(outcome="letter", option_index=3, how="option_text")

    assert parse_option("None of the above", WITH_NONE) == said
    assert parse_option("None of the above", CARS).outcome == "none"
    assert parse_option("None of those, really", WITH_NONE).outcome == "ambiguous"
    assert parse_option("FINAL ANSWER: None", WITH_NONE).outcome == "none"
    assert parse_option("FINAL ANSWER: none", asked("some", "None")).option_index == 1


@pytest.mark.parametrize("question", [LETTERS, COUNTS])
def test_words_are_not_labels_where_every_letter_is_one(question: VisibleQuestion) -> None:
    for text in ("I cannot determine the answer.", "a red car", "I can't say, it's dark.", "None"):
        assert parse_option(text, question).outcome == "none", text


def test_words_with_a_hyphen_and_initials_name_no_option() -> None:
    for said in ("T-shirt", "X-ray", "e.g. a car", "i.e. unclear", "N. Korea", "Q: what?"):
        for text in (f"FINAL ANSWER: {said}", f"I looked.\n{said}", f'{{"answer": "{said}"}}'):
            assert parse_option(text, LETTERS).option_index is None, text


def test_all_line_breaks_count_alike() -> None:
    for end in ("\n", "\r\n", "\r", "\u2028"):
        assert parse_option(f"I count.{end}FINAL ANSWER:{end}B{end}", CARS).option_index == 1
        assert parse_option(f"It drives by.{end}(B){end}", CARS).option_index == 1
        assert parse_option(f"(A) or so{end}(B){end}", CARS).outcome == "ambiguous"


def test_every_label_of_26_is_read_in_either_case() -> None:
    for index, label in enumerate(LETTERS.labels):
        for text in (f"FINAL ANSWER: {label}", f"({label.lower()})", f"Done.\n**{label}**"):
            assert parse_option(text, LETTERS).option_index == index, text


def test_numbers_label_more_than_26_options() -> None:
    assert parse_option("Done.\n(27)", NUMBERED).option_index == 26
    assert parse_option("FINAL ANSWER: 30. thing 29", NUMBERED).option_index == 29
    assert parse_option("option 3 or option 4", NUMBERED).outcome == "ambiguous"
    assert parse_option("FINAL ANSWER: 31", NUMBERED).outcome == "none"
    assert parse_option("FINAL ANSWER: B", NUMBERED).outcome == "none"


@pytest.mark.parametrize(
    ("text", "outcome", "index"),
    [
        ("Ｃ", "letter", 2),
        ("（ｃ）", "letter", 2),
        ("ＦＩＮＡＬ ＡＮＳＷＥＲ：Ｂ", "letter", 1),
        ("FINAL ANSWER：B", "letter", 1),
        ("ｂｌｕｅ\u3000ｃａｒ", "letter", 1),
        ("（Ａ）　or　（Ｂ）", "ambiguous", None),
    ],
)
def test_full_width_characters_are_read_like_ordinary_ones(
    text: str, outcome: str, index: int | None
) -> None:
    found = parse_option(text, CARS)

    assert (found.outcome, found.option_index) == (outcome, index)


@pytest.mark.parametrize(
    ("text", "index", "how"),
    [
        ("FINAL ANSWER: B\u00a0", 1, "anchored"),
        ("FINAL ANSWER\u200b: B", 1, "anchored"),
        ("B\u200b", 1, "anchored"),
        ("\u200eB", 1, "anchored"),
        ("\ufeffB", 1, "anchored"),
        ('{"answer": "B\u200b"}', 1, "structured"),
        ("It drives by.\n\u200fB\u200f", 1, "anchored"),
        ("It drives by.\n(\u2066B\u2069)", 1, "anchored"),
        ("It drives by.\nblue\u00a0car", 1, "option_text"),
        ("blue\u2009car\u200b", 1, "option_text"),
        ("It drives by.\nMy\u00a0final\u00a0choice is\u00a0**B**.", 1, "anchored"),
    ],
)
def test_spaces_and_marks_that_nobody_sees_change_nothing(text: str, index: int, how: str) -> None:
    found = parse_option(text, CARS)

    assert (found.option_index, found.how) == (index, how)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("A\u00a0bicycle drives by.", "none"),
        ("A\u00adbicycle", "none"),
        ("\u200b\u200e\ufeff", "none"),
        ("FINAL ANSWER: A,\u200bB", "ambiguous"),
        ("(A)\u200b\n(B)\u200b", "ambiguous"),
        ("red\u00a0car\nblue car", "ambiguous"),
        ("I\u00a0cannot\u00a0determine it.", "none"),
    ],
)
def test_spaces_and_marks_that_nobody_sees_make_no_option(text: str, outcome: str) -> None:
    assert parse_option(text, CARS).outcome == outcome


def test_an_option_is_found_however_its_characters_are_composed() -> None:
    question = asked("tea", "caf\u00e9", "na\u00efve art")

    assert parse_option("cafe\u0301", question).option_index == 1
    assert parse_option("I looked.\nCafe\u0301.", question).option_index == 1
    assert parse_option("Some nai\u0308ve art, maybe.", question).outcome == "ambiguous"
    assert parse_option("caf\u00e9", asked("tea", "cafe\u0301")).option_index == 1


def test_an_option_of_marks_alone_is_found_in_no_text() -> None:
    question = asked("tea", "\u200b")

    for text in ("", "\n\n", "Something.\n\nElse.", "\u200b"):
        assert parse_option(text, question).outcome == "none", text
    assert parse_option("Something.\n\ntea", question).option_index == 0


def test_options_in_full_width_or_without_spaces_between_words_are_found() -> None:
    question = asked("１２個", "１３個")

    assert parse_option("12個", question).option_index == 0
    assert parse_option("これは１２個かもしれない", question).outcome == "ambiguous"


def test_an_option_inside_a_longer_word_or_number_is_no_talk_of_it() -> None:
    question = asked("car", "12")

    assert parse_option("A carpet of 120 flowers.", question).outcome == "none"
    assert parse_option("A carpet, a car.", question).outcome == "ambiguous"


@given(st.text(alphabet=st.sampled_from("{}\"\\: answerABCfinl,[]()*\n'`1.２Ｃ）"), max_size=60))
def test_what_the_agents_reader_reads_is_never_read_otherwise(text: str) -> None:
    read = parse_answer(text, CARS)
    found = parse_option(text, CARS)

    assert (found.option_index is None) == (found.outcome != "letter")
    if read.status == "answered":
        assert found.option_index == read.option_index


def test_a_question_without_options_is_refused() -> None:
    with pytest.raises(ValueError, match="question 'q' has no options"):
        parse_option("B", asked())


def seconds(text: str) -> float:
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        parse_option(text, LETTERS)
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "unit",
    [
        "B\n",
        "(B) ",
        "B) thing 1\n",
        "**",
        "I cannot ",
        "thing ",
        " ",
        "option ",
        "so, ",
        "Ｂ",
        "`B",
        "\u0301\u0323",
        "\u0f73\u0301",
        "B\u200b\n",
        "thing\u00a01\n",
        "<answer>",
        "<answer>B</answer>",
        "B (",
        "B because ",
        "thing 1 (B)",
        "\\text{B}",
        "\\boxed{\\text{",
    ],
)
def test_long_texts_take_time_in_proportion(unit: str) -> None:
    short, long = (unit * (length // len(unit)) for length in (25_000, 100_000))

    # Four times the text: 4 times as long in proportion, 16 times as long by the square.
    assert seconds(long) < 9 * seconds(short) + 0.02
