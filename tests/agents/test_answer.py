from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.agents.answer import Answer, parse_answer
from taketwo.benchmarks.question import VisibleQuestion


def asked(*options: str) -> VisibleQuestion:
    return VisibleQuestion(question_id="q", text="?", options=options, video_duration_s=None)


FOUR = asked("red car", "blue car", "12", "None of the above")
LETTERS = asked(*(f"thing {number}" for number in range(26)))
NUMBERED = asked(*(f"thing {number}" for number in range(30)))
OPEN = asked()


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ('{"answer": "B"}', 1),
        ('```json\n{"answer": "B", "reasoning": "seen"}\n```', 1),
        ('I think:\n```\n{"reasoning": "a {brace} \\"}\\" here", "answer": "b"}\n```', 1),
        ('{"answer": "B. blue car"}', 1),
        ('{"answer": "Blue Car."}', 1),
        ('{"answer": 12}', 2),
        ('{"answer": "None of the above"}', 3),
        ("{'answer': 'B', 'reasoning': 'x'}", 1),
        ('{"answer": "B", "reasoning": "cut off in the mid', 1),
        ('{"answer": "B",}', 1),
        ('First {"answer": "A"}, but on reflection {"answer": "B"}', 1),
        ("FINAL ANSWER: B", 1),
        ("**FINAL ANSWER:** B", 1),
        ("**Final Answer**: (B)", 1),
        ("### Final answer: \\boxed{B}", 1),
        ("FINAL ANSWER:\n\nB", 1),
        ("I will end with FINAL ANSWER: <label>.\nFINAL ANSWER: B) blue car", 1),
        ("FINAL ANSWER: C) 12", 2),
        ("FINAL ANSWER: B, because the car is blue", 1),
        ("FINAL ANSWER: A. I saw a red one", 0),
        ("<think>FINAL ANSWER: A</think>\nFINAL ANSWER: B", 1),
        ("so the trace goes on FINAL ANSWER: A\n</think>\nFINAL ANSWER: B", 1),
        ("The answer is B.", 1),
        ("The correct answer is **B**", 1),
        ("B", 1),
        ("(b).", 1),
        ("B. blue car", 1),
        ("blue car", 1),
        ("Option B", 1),
    ],
)
def test_a_clear_commitment_is_read(text: str, index: int) -> None:
    answer = parse_answer(text, FOUR)

    assert (answer.status, answer.option_index) == ("answered", index)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I cannot determine the answer.",
        "The answer is a red bicycle",
        "The answer is not B",
        "A red car drives by and then a blue one.",
        "FINAL ANSWER: A or B",
        "FINAL ANSWER: A, B",
        "FINAL ANSWER: A) or B)",
        "FINAL ANSWER: A. blue car",
        "FINAL ANSWER: E",
        "FINAL ANSWER:",
        '{"answer": ["A", "B"]}',
        '{"answer": true}',
        '{"answer": ""}',
        '{"answer": "A or B"}',
        '{"answer": "A"} but no, {"answer": "not sure"}',
        "{'answer': 'A', 'answer': 'B'}",
        '{"verdict": "B"}',
        "FINAL ANSWER: B\nOn reflection, FINAL ANSWER: perhaps",
        "A - no idea",
    ],
)
def test_what_is_unclear_is_unparsed_and_never_a_guess(text: str) -> None:
    answer = parse_answer(text, FOUR)

    assert (answer.status, answer.option_index) == ("unparsed", None)
    assert answer.text == text


@pytest.mark.parametrize(
    "text",
    ['{"answer": null}', "{'answer': None}", "FINAL ANSWER: None", '{"answer": "N/A"}', "none"],
)
@pytest.mark.parametrize("question", [FOUR, LETTERS])
def test_null_and_none_abstain(text: str, question: VisibleQuestion) -> None:
    assert parse_answer(text, question).status == "abstained"


def test_none_is_an_answer_where_it_is_an_option() -> None:
    assert parse_answer("FINAL ANSWER: none", asked("some", "None")).option_index == 1


@given(st.integers(0, 29))
def test_numbers_label_more_than_26_options(index: int) -> None:
    text = f'{{"answer": "{index + 1}"}}'

    assert parse_answer(text, NUMBERED).option_index == index
    assert parse_answer(f"FINAL ANSWER: {index + 1}. thing {index}", NUMBERED).option_index == index


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("FINAL ANSWER: B\u00a0", 1),
        ("FINAL ANSWER:\u00a0B", 1),
        ("FINAL\u202fANSWER\u00a0: B", 1),
        ("FINAL\u200b ANSWER\u200b: B", 1),
        ("\ufeffFINAL ANSWER: B", 1),
        ("FINAL ANSWER: B\u200b", 1),
        ("FINAL ANSWER: \u2066B\u2069.", 1),
        ("B\u200b", 1),
        ("\u200eB", 1),
        ("\u200fB\u200f", 1),
        ("\ufeffB", 1),
        ("B\u2060.\u3000blue\u2009car", 1),
        ('{"answer": "B\u200b"}', 1),
        ('{"answer": "B\\u200b"}', 1),
        ('{"answer\u200b": "B"}', 1),
        ('{"answer":\u00a0"B"}', 1),
        ('{"answer": "blue\u00a0car"}', 1),
        ('{"answer": "bl\u00adue\tcar"}', 1),
        ("<think\u200b>FINAL ANSWER: A</think>\nFINAL ANSWER: B", 1),
        ("Ｂ", 1),
        ("（ｂ）", 1),
        ("FINAL ANSWER：Ｂ", 1),
        ("FINAL ANSWER: Ｂ．blue car", 1),
        ("Ｂ）ｂｌｕｅ\u3000ｃａｒ", 1),
        ("\U0001d401", 1),
        ('{"answer": "\uff22\u200b"}', 1),
    ],
)
def test_spaces_marks_and_widths_that_nobody_sees_change_no_answer(text: str, index: int) -> None:
    answer = parse_answer(text, FOUR)

    assert (answer.status, answer.option_index, answer.text) == ("answered", index, text)


@pytest.mark.parametrize(
    "text",
    [
        "a\u00a0red bicycle",
        "a\u200b red bicycle",
        "FINAL ANSWER: A\u00adfrican",
        "FINAL ANSWER: A\u200bB",
        "FINAL ANSWER: A, \u200bB",
        "FINAL ANSWER: A,\u00a0B",
        "FINAL ANSWER: Ａ，Ｂ",
        "FINAL ANSWER: Ａ）、Ｂ",
        "FINAL ANSWER: Ａ．ｂｌｕｅ ｃａｒ",
        "FINAL ANSWER: B\u0301",
        "FINAL ANSWER: \u00aa",
        "FINAL ANSWER: \u216d",
        "FINAL ANSWER: A\nFINAL ANSWER\u200b: perhaps",
        "Ａ案",
        "\u200b",
        '{"answer": "\ufeff"}',
    ],
)
def test_what_nobody_sees_makes_no_answer_of_what_is_none(text: str) -> None:
    answer = parse_answer(text, FOUR)

    assert (answer.status, answer.option_index, answer.text) == ("unparsed", None, text)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("cafe\u0301", "caf\u00e9"),
        ("cafe\u0301", "CAFE\u200b\u0301"),
        ("a\u00a0dog", "a dog"),
        ("co\u00adoperate", "cooperate"),
        ("\u200frtl", "rtl"),
        ("\u05d0\u05d1", "\u200f\u05d0\u05d1\u200e"),
    ],
)
def test_an_option_is_found_however_its_characters_are_composed(option: str, said: str) -> None:
    question = asked("tea", option)

    for text in (said, f"FINAL ANSWER: {said}", f"B. {said}", f'{{"answer": "{said}"}}'):
        assert parse_answer(text, question).option_index == 1, text


def test_options_that_differ_only_in_what_is_left_out_are_told_apart_as_written() -> None:
    joined, apart = "\U0001f468\u200d\U0001f469", "\U0001f468\U0001f469"
    question = asked("tea", joined, apart)

    assert parse_answer(joined, question).option_index == 1
    assert parse_answer(f"FINAL ANSWER: {apart}", question).option_index == 2
    assert parse_answer(f"FINAL ANSWER: C. {apart}", question).option_index == 2


@pytest.mark.parametrize("option", ["\u200b", "\u200e\ufeff", "*", "..."])
def test_an_option_of_nothing_that_is_read_never_matches_an_empty_answer(option: str) -> None:
    question = asked("tea", option)

    for text in (
        "",
        "FINAL ANSWER:",
        "FINAL ANSWER: \u200b",
        '{"answer": ""}',
        '{"answer": "\u200f"}',
    ):
        assert parse_answer(text, question).status == "unparsed", text
    assert parse_answer("FINAL ANSWER: B", question).option_index == 1


def test_an_option_of_punctuation_alone_is_read_as_itself() -> None:
    assert parse_answer('{"answer": "*"}', asked("+", "*")).option_index == 1


@pytest.mark.parametrize("text", ['{"answer": "none\u200b"}', "FINAL ANSWER:\u00a0\u200eNone"])
@pytest.mark.parametrize("question", [FOUR, OPEN])
def test_an_abstention_with_marks_is_one(text: str, question: VisibleQuestion) -> None:
    assert parse_answer(text, question).status == "abstained"


def test_an_open_answer_and_the_reasoning_stay_as_written() -> None:
    family = "\U0001f468\u200d\U0001f469 caf" + "e\u0301"
    from_line = parse_answer(f"Seen: {family}\nFINAL ANSWER\u00a0: {family}", OPEN)
    from_json = parse_answer(f'{{"answer": "B\u200b", "reasoning": "{family}"}}', FOUR)

    assert parse_answer(f"FINAL ANSWER: {family}", OPEN).text == family
    assert (from_line.status, from_json.reasoning) == ("answered", family)
    assert parse_answer(f"{family}\nFINAL ANSWER: B\u200b", FOUR).reasoning == family
    assert parse_answer("FINAL ANSWER: \u200b", OPEN).status == "unparsed"


def test_a_letter_labels_nothing_where_options_are_numbered() -> None:
    assert parse_answer("FINAL ANSWER: B", NUMBERED).status == "unparsed"
    assert parse_answer("FINAL ANSWER: 31", NUMBERED).status == "unparsed"


def test_a_label_goes_before_an_equal_option_text() -> None:
    question = asked("B", "A")

    assert parse_answer("FINAL ANSWER: A", question).option_index == 0


def test_two_options_of_the_same_folded_text_are_ambiguous() -> None:
    assert parse_answer("FINAL ANSWER: car", asked("Car", "car")).status == "unparsed"


def test_the_reasoning_is_kept() -> None:
    from_json = parse_answer('Words. {"answer": "B", "reasoning": "it is blue"}', FOUR)
    from_line = parse_answer("It is blue.\nFINAL ANSWER: B", FOUR)

    assert (from_json.reasoning, from_line.reasoning) == ("it is blue", "It is blue.")


@pytest.mark.parametrize(
    ("text", "status", "read"),
    [
        ('{"answer": "forty  two"}', "answered", "forty two"),
        ('{"answer": 42}', "answered", "42"),
        ("FINAL ANSWER: **the red door**", "answered", "the red door"),
        ('{"answer": null}', "abstained", '{"answer": null}'),
        ("FINAL ANSWER: none", "abstained", "FINAL ANSWER: none"),
        ("It shows a red door.", "unparsed", "It shows a red door."),
        ('{"answer": {"colour": "red"}}', "unparsed", '{"answer": {"colour": "red"}}'),
    ],
)
def test_an_open_answer_is_the_committed_text(text: str, status: str, read: str) -> None:
    answer = parse_answer(text, OPEN)

    assert (answer.status, answer.text, answer.option_index) == (status, read, None)


@given(st.text(alphabet=st.sampled_from("{}\"\\: answerABfinl,[]()*\n'`1."), max_size=80))
def test_no_text_breaks_the_parser_and_reading_twice_is_the_same(text: str) -> None:
    assert parse_answer(text, FOUR) == parse_answer(text, FOUR)


def test_only_an_answered_one_carries_an_option() -> None:
    with pytest.raises(ValueError, match="status 'limit' cannot carry an option"):
        Answer(status="limit", text="", option_index=0)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\v", "\f", "\x85", "\u2028", "\u2029"])
def test_all_line_breaks_count_alike(end: str) -> None:
    for lines in (
        ["I count.", "FINAL ANSWER:", "B", ""],
        ["**FINAL ANSWER:**", "", "B", "as said"],
        ["FINAL ANSWER: B", "A was ruled out"],
        ["The answer is B", "and C is not."],
        ["", "The answer is \\boxed{B}", "} and C is not."],
    ):
        assert parse_answer(end.join(lines), FOUR).option_index == 1, lines
    assert parse_answer(f"FINAL ANSWER:{end}a red door{end}or so", OPEN).text == "a red door"
    assert (
        parse_answer(f"It is{end}blue.{end}FINAL ANSWER: B", FOUR).reasoning == f"It is{end}blue."
    )


@pytest.mark.parametrize("before", ["", " \r\n", "\u200b", "<think>so</think>\n"])
@pytest.mark.parametrize("tag", ["<think>", "<THINKING>", "<think\u200b>"])
def test_a_thought_that_was_cut_off_is_no_answer(before: str, tag: str) -> None:
    for thought in ("Suppose FINAL ANSWER: A. But", 'Perhaps {"answer": "A"}? No', "A"):
        for more in ("", " " * 100_000 + "FINAL ANSWER: A"):
            text = f"{before}{tag}{thought}{more}"

            assert parse_answer(text, FOUR) == Answer(status="unparsed", text=text)


def test_an_unended_tag_after_other_words_hides_nothing() -> None:
    assert parse_answer("I saw it. <think>FINAL ANSWER: B", FOUR).option_index == 1
    assert parse_answer("<b>" + "x" * 100_000 + "FINAL ANSWER: B", FOUR).option_index == 1


@pytest.mark.parametrize(
    ("text", "index"),
    [
        ("<answer>B</answer>", 1),
        ("It is blue.\n<ANSWER>\n(B)\n</ANSWER>", 1),
        ("<final_answer>blue car</final_answer>", 1),
        ('<answer>{"answer": "B"}</answer>', 1),
        ("FINAL ANSWER: A\nNo:\n<answer>B</answer>", 1),
        ("So it is $\\boxed{\\text{B}}$", 1),
        ("The answer is $\\boxed{\\text{B}}$.", 1),
        ("$\\boxed{\\mathrm{B}}$", 1),
        ("FINAL ANSWER: B (blue car)", 1),
        ("FINAL ANSWER: B [Blue car.]", 1),
        ("FINAL ANSWER: **B** (blue car)", 1),
        ("FINAL ANSWER: blue car (B)", 1),
        ("FINAL ANSWER: blue car (b)", 1),
        ("B (blue car)", 1),
        ("The answer is B because the car is blue.", 1),
        ("FINAL ANSWER: (B) since the other one is red", 1),
    ],
)
def test_tags_set_letters_and_a_label_beside_its_own_text_are_read(text: str, index: int) -> None:
    assert parse_answer(text, FOUR).option_index == index


@pytest.mark.parametrize(
    "text",
    [
        "<answer>A or B</answer>",
        "<answer></answer>",
        "<answer>B",
        "FINAL ANSWER: B (red car)",
        "FINAL ANSWER: red car (B)",
        "FINAL ANSWER: B (or A)",
        "FINAL ANSWER: B because it is not A",
        "FINAL ANSWER: A because it is a blue car",
        "FINAL ANSWER: a because",
        "B because the car is blue",
        "FINAL ANSWER: not B (blue car)",
    ],
)
def test_a_label_beside_another_options_text_or_label_names_nothing(text: str) -> None:
    answer = parse_answer(text, FOUR)

    assert (answer.status, answer.option_index) == ("unparsed", None)
