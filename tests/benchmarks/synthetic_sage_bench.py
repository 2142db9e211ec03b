"""A synthetic SAGE-Bench: 1,744 raw rows whose margins are those that were published.

Nothing of the product is used here: rows are drawn from the margins alone. 150 questions are held
out; of the rest 290 lie on videos that were unavailable at first and 21 on videos that were
unavailable later.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars as pl

ROWS = 1744
HOLDOUT, LOST_AT_FIRST, LOST_LATER = 150, 290, 21
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
    found: list[dict[str, Any]] = []
    for number in range(ROWS):
        seconds = rng.choice(_SECONDS[columns["length"][number]])
        kind = columns["ques_type"][number]
        question, truth = f"What is thing number {number}?", f"the {number}th thing"
        if kind == "mcq":
            options = [f"the {number + step}th thing" for step in range(rng.choice((4, 5, 6)))]
            rng.shuffle(options)
            listed = "\n".join(f"({'ABCDEF'[at]}) {text}" for at, text in enumerate(options))
            question += f"\nAnswer from one of the following options:\n{listed}"
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
