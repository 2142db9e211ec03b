"""A synthetic SAGE-Bench: 1,744 raw rows whose margins are those that were published.

Nothing of the product is used here: rows are drawn from the margins alone. 150 questions are held
out; of the rest 290 lie on videos that were unavailable at first and 21 on videos that were
unavailable later. Options stand in the question's text in the forms that the published results of
SAGE show; a few choices list none, and of a few the truth is none of them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl

ROWS = 1744
HOLDOUT, LOST_AT_FIRST, LOST_LATER = 150, 290, 21
WITHOUT_OPTIONS, NO_OPTION_IS_TRUE = 30, 12
NOT_POSSIBLE = "Not possible to answer."
_LEAD = "\n Answer the question based on the following options: "
_FORMS = (
    [(_LEAD + "\n ", "\n ", "({0}) {1}")] * 20
    + [(_LEAD, "\n", "({0}) {1}")] * 3
    + [(_LEAD + "\n ", " ", "({0}) {1}"), (_LEAD + "\n ", "\n ", "({0}) {0}) {1}")]
)
"""What leads in the options, what stands between them, and how each is written."""
MARGINS: dict[str, dict[str, int]] = {
    "ques_type": {"mcq": 793, "open-ended": 951},
    "modality": {"visual": 1266, "verbal": 105, "both": 373},
    "difficulty": {"easy": 518, "medium": 438, "hard": 715, "very hard": 73},
    "length": {"short": 920, "long": 824},
}
_SECONDS = {
    "short": (7.0, 59.999, 60.0, 179.5, 299.0, 300.0, 599.99),
    "long": (600.0, 1199.0, 2399.5, 2400.0),
}


def rows(seed: int = 5) -> list[dict[str, Any]]:
    """Return the raw rows; every question has a video of its own, so that losses can be chosen."""
    rng = random.Random(seed)
    columns = {
        name: [level for level, count in levels.items() for _ in range(count)]
        for name, levels in MARGINS.items()
    }
    for column in columns.values():
        rng.shuffle(column)
    choices = [number for number, kind in enumerate(columns["ques_type"]) if kind == "mcq"]
    strange = rng.sample(choices, WITHOUT_OPTIONS + NO_OPTION_IS_TRUE)
    bare, untrue = set(strange[:WITHOUT_OPTIONS]), set(strange[WITHOUT_OPTIONS:])
    found: list[dict[str, Any]] = []
    for number in range(ROWS):
        seconds = rng.choice(_SECONDS[columns["length"][number]])
        kind = columns["ques_type"][number]
        question, truth = f"What is thing number {number}?", f"the {number}th thing"
        if kind == "mcq" and number not in bare:
            options = [f"the {number + step}th thing" for step in range(rng.choice((2, 4, 5, 6)))]
            rng.shuffle(options)
            lead, between, form = rng.choice(_FORMS)
            question += lead + between.join(map(form.format, "ABCDEF", options))
            truth = NOT_POSSIBLE if number in untrue else f"{truth}{rng.choice(('', '.'))}"
        found.append({
            "video_id": f"vid_{number:04d}",
            "gt_answer": truth,
            "ques_type": kind,
            "difficulty": columns["difficulty"][number],
            "modality": columns["modality"][number],
            "video_duration": f"{int(seconds // 60)}:{seconds % 60:04.1f}",
            "duration_seconds": seconds,
            "question": question,
        })
    return found


def write(folder: Path, found: list[dict[str, Any]]) -> Path:
    """Write the rows as the data set's repository has them."""
    (folder / "data").mkdir(parents=True)
    pl.DataFrame(found).write_parquet(folder / "data" / "test-00000-of-00001.parquet")
    return folder
