"""Raters see what the judge sees and nothing that says whose trajectory it is."""

from __future__ import annotations

import csv
import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from taketwo.benchmarks.canonical import sha256_of_text
from taketwo.benchmarks.question import Milestone, Question, Sweep
from taketwo.errors import InvalidResults, RequestError
from taketwo.scores.judge_audit.rating_form import (
    FormCell,
    RatingForm,
    key_beside,
    make_form,
    read_key,
    write_form,
)
from taketwo.scores.judge_audit.rating_page import rater_instructions
from taketwo.scores.process_scores import AXES

NASTY = "<script>alert(1)</script>\"'<img src=http://x.example/a.png>\u202etxt\x00\ud800"


def question(name: str, *, difficulty: str = "easy", sweep: Sweep | None = "yes") -> Question:
    return Question(
        question_id=name,
        text=f"How many slices in {name}?",
        video_id="v",
        video_path="v.mp4",
        options=("four", "five"),
        answer_index=1,
        attributes={"difficulty": difficulty},
        milestones=(Milestone(milestone_id="M1", text="Find the timer.", kind="counting"),),
        sweep=sweep,
        explanation="The gold note: five.",
    )


def cells(
    questions: dict[str, str], arms: tuple[str, ...] = ("dvd_arm", "star_arm"), runs: int = 1
) -> list[FormCell]:
    return [
        FormCell(
            question=question(name, difficulty=difficulty),
            arm=arm,
            execution=k,
            text=f"[step 1] said: text of {name} number {at}{k}",
        )
        for name, difficulty in questions.items()
        for at, arm in enumerate(arms)
        for k in range(1, runs + 1)
    ]


def form_of(items: list[FormCell], *, questions: int = 20, seed: int = 1) -> RatingForm:
    return make_form(items, questions=questions, rng=np.random.default_rng(seed))


class Page(HTMLParser):
    """What a browser would find: tags, addresses and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"src", "href"}]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_questions_are_drawn_by_difficulty_with_one_run_of_every_arm() -> None:
    levels = {f"e{n}": "easy" for n in range(30)} | {f"h{n}": "hard" for n in range(10)}

    form = form_of(cells(levels, runs=3))

    drawn = {entry.question_id for entry in form.key.items.values()}
    assert Counter(name[0] for name in drawn) == {"e": 15, "h": 5}
    places = Counter((entry.question_id, entry.arm) for entry in form.key.items.values())
    assert set(places.values()) == {1}
    assert len(places) == 40
    assert {entry.execution for entry in form.key.items.values()} == {1, 2, 3}


def test_fewer_arms_of_each_question_may_be_asked_for() -> None:
    items = cells({f"q{n}": "easy" for n in range(12)}, arms=("a", "b", "c", "d"))

    form = make_form(items, per_question_arms=2, questions=12, rng=np.random.default_rng(1))

    arms = Counter(entry.arm for entry in form.key.items.values())
    assert sum(arms.values()) == 24
    assert len(arms) == 4  # drawn for each question, not the first two


def test_every_rater_gets_all_items_in_an_order_of_their_own() -> None:
    form = form_of(cells({f"q{n}": "easy" for n in range(8)}))
    one, two = form.orders.values()

    assert sorted(one) == sorted(two) == sorted(form.key.items)
    assert one != two
    assert list(form.orders) == ["rater-1", "rater-2"]


def test_the_same_seed_gives_the_same_form_whatever_the_order_of_the_cells() -> None:
    items = cells({f"q{n}": "easy" for n in range(30)}, runs=3)

    assert form_of(items) == form_of(items[::-1])
    assert form_of(items) != form_of(items, seed=2)


def test_questions_that_cannot_be_rated_are_counted_by_reason() -> None:
    items = cells({"q1": "easy", "q2": "easy"})
    bare = FormCell(
        question=Question(
            question_id="q0", text="?", video_id="v", video_path="v", answer_text="x"
        ),
        arm="dvd_arm",
        execution=1,
        text="t",
    )

    form = form_of([*items[:3], bare])

    assert form.left_out == {"no milestones": 1, "trajectories of fewer than 2 arms": 1}
    assert {entry.question_id for entry in form.key.items.values()} == {"q1"}


def test_a_form_without_a_question_or_a_second_rater_is_refused() -> None:
    with pytest.raises(RequestError, match="no question can be rated: none at all"):
        form_of([])
    with pytest.raises(
        RequestError, match="at least 1 question, 2 raters and 1 to 2 arms a question; asked for"
    ):
        make_form(cells({"q": "easy"}), raters=1, rng=np.random.default_rng(1))


def test_the_files_say_nothing_of_arm_execution_truth_or_question_id(tmp_path: Path) -> None:
    form = form_of(cells({f"quiz-{n}": "easy" for n in range(4)}, runs=2))
    write_form(form, tmp_path)

    for path in (*tmp_path.glob("*.csv"), *tmp_path.glob("*.html")):
        text = path.read_text("utf-8").replace("text of quiz", "").replace("slices in quiz", "")
        for secret in ("dvd_arm", "star_arm", "gold", "quiz-", "execution", "accuracy"):
            assert secret not in text, (path, secret)


def test_a_page_shows_what_the_judge_sees(tmp_path: Path) -> None:
    form = form_of(cells({"q1": "easy"}))
    write_form(form, tmp_path)

    page = Page((tmp_path / "rater-1.html").read_text("utf-8"))

    for words in (
        "How many slices in q1?",
        "A. four\nB. five",
        "M1 (counting): Find the timer.",
        "SWEEP_REQUIRED: yes",
        "said: text of q1 number 01",
        "said: text of q1 number 11",
        *AXES,
    ):
        assert words in page.words
    at = [page.words.rindex(item) for item in form.orders["rater-1"]]
    assert at == sorted(at)


def test_raters_follow_the_judges_own_wording_without_its_format() -> None:
    text = rater_instructions("standard")

    assert all(f"- {axis}: " in text for axis in AXES)
    assert "milestone" in text
    for word in ("JSON", "UNTRUSTED", "misunderstood_condition"):
        assert word not in text


def test_nothing_is_loaded_nothing_runs_and_nothing_hides(tmp_path: Path) -> None:
    item = FormCell(question=question("q1"), arm="a", execution=1, text=NASTY)
    write_form(form_of([item]), tmp_path)
    text = (tmp_path / "rater-1.html").read_text("utf-8")

    page = Page(text)

    assert "script" not in page.tags
    assert "img" not in page.tags
    assert all(address.startswith("#") for address in page.addresses)
    assert "default-src 'none'" in text
    assert "<script>alert(1)</script>" in page.words
    assert "[U+202E]txt[U+0000][U+D800]" in page.words


def test_the_key_leads_back_to_the_cell_and_is_read_as_written(tmp_path: Path) -> None:
    form = form_of(cells({f"q{n}": "easy" for n in range(3)}))
    write_form(form, tmp_path)

    assert read_key(key_beside([tmp_path / "rater-1.csv"])) == form.key
    for item, entry in form.key.items.items():
        cell = form.cells[item]
        assert (entry.question_id, entry.arm) == (cell.question.question_id, cell.arm)
        assert entry.text_sha256 == sha256_of_text(cell.text)


def test_the_table_is_empty_and_in_the_raters_order(tmp_path: Path) -> None:
    form = form_of(cells({f"q{n}": "easy" for n in range(3)}))
    write_form(form, tmp_path)
    with (tmp_path / "rater-2.csv").open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)

    assert heading == ["item", *AXES, "note"]
    assert [row[0] for row in rows] == list(form.orders["rater-2"])
    assert {field for row in rows for field in row[1:]} == {""}


def test_a_filled_table_is_never_overwritten_and_named(tmp_path: Path) -> None:
    form = form_of(cells({f"q{n}": "easy" for n in range(3)}))
    write_form(form, tmp_path)
    write_form(form, tmp_path)  # the same again is no loss
    filled = tmp_path / "rater-2.csv"
    filled.write_text(filled.read_text("utf-8").replace(",,,,,,", ",2,2,2,2,2,", 1), "utf-8")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    with pytest.raises(RequestError, match=r"rater-2.csv: there already, filled in or of another"):
        write_form(form, tmp_path)
    with pytest.raises(RequestError, match=r"key.json, .*rater-1.csv, .*rater-2.csv: there"):
        write_form(form_of(cells({"other": "easy"}), seed=9), tmp_path)

    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_key_that_is_none_or_nowhere_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"no key.json beside .*rater-1.csv; put the tables"):
        key_beside([tmp_path / "deep" / "rater-1.csv"])
    path = tmp_path / "key.json"
    for broken in ("{}", "[]", "{", json.dumps({"format": "other", "items": {}, "raters": []})):
        path.write_text(broken, "utf-8")
        with pytest.raises(InvalidResults, match=r"key.json: not the key of a rating form"):
            read_key(path)


@pytest.mark.parametrize(
    "raters", ["rater-1", 3, None, {"rater-1": 1}, [], ["rater-1", 2], ["a", "a"], ["a", " "], [["a"]]]
)  # fmt: skip
def test_a_key_whose_raters_are_no_list_of_names_is_refused_by_name(
    raters: object, tmp_path: Path
) -> None:
    write_form(form_of(cells({f"q{n}": "easy" for n in range(3)})), tmp_path)
    path = tmp_path / "key.json"
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(record | {"raters": raters}), "utf-8")

    with pytest.raises(InvalidResults) as caught:
        read_key(path)

    assert f"raters is {raters!r}, expected a list of names that are all different" in str(
        caught.value
    )
