"""A synthetic SAGE-Bench whose evaluated set, holdout and losses have the published margins.

Nothing of the product is used here. Table A5 of REPAIR (2026) gives the margins of all 1,744 and of
the 1,283 evaluated questions on 922 videos, Table A6 the shares of the 150 held out on 146 videos,
122 of them shared; the 311 lost ones (290 at first, 21 later) are what remains. The length of the
held-out videos is not published; it is set so that everything adds up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any, Literal

Group = Literal["evaluated", "holdout", "lost"]

LOST_AT_FIRST, LOST_LATER = 290, 21
WHOLE: dict[str, dict[str, int]] = {
    "ques_type": {"mcq": 793, "open-ended": 951},
    "modality": {"visual": 1266, "verbal": 105, "both": 373},
    "difficulty": {"easy": 518, "medium": 438, "hard": 715, "very hard": 73},
    "length": {"short": 920, "long": 824},
}
EVALUATED: dict[str, dict[str, int]] = {
    "ques_type": {"mcq": 586, "open-ended": 697},
    "modality": {"visual": 932, "verbal": 75, "both": 276},
    "difficulty": {"easy": 385, "medium": 322, "hard": 526, "very hard": 50},
    "length": {"short": 681, "long": 602},
}
HOLDOUT: dict[str, dict[str, int]] = {
    "ques_type": {"mcq": 72, "open-ended": 78},
    "modality": {"visual": 104, "verbal": 14, "both": 32},
    "difficulty": {"easy": 58, "medium": 41, "hard": 47, "very hard": 4},
    "length": {"short": 79, "long": 71},
}
SECONDS = {"short": 321.0, "long": 1234.0}

# Videos by length. The evaluated questions lie on 922, the held-out ones on 146, of which 122 shared.
_EVALUATED_VIDEOS = {"short": 490, "long": 432}
_SHARED = {"short": 64, "long": 58}
_OTHER_OF_HOLDOUT = {"short": 13, "long": 11}


@dataclass(frozen=True)
class Row:
    """A raw row, and what becomes of its question; `lost_later` ones were there at first."""

    values: dict[str, Any]
    group: Group
    lost_later: bool


def published_population(seed: int = 11) -> list[Row]:
    """Return the rows in a random order."""
    rng = random.Random(seed)
    lost = {
        name: {
            level: count - EVALUATED[name][level] - HOLDOUT[name][level]
            for level, count in levels.items()
        }
        for name, levels in WHOLE.items()
    }
    rows: list[Row] = []
    groups: tuple[tuple[Group, dict[str, dict[str, int]]], ...] = (
        ("evaluated", EVALUATED),
        ("holdout", HOLDOUT),
        ("lost", lost),
    )
    for group, margins in groups:
        columns = {
            name: [level for level, count in levels.items() for _ in range(count)]
            for name, levels in margins.items()
        }
        for column in columns.values():
            rng.shuffle(column)
        videos = {
            length: _videos(group, length, count) for length, count in margins["length"].items()
        }
        for at in range(len(columns["length"])):
            length = columns["length"][at]
            video = videos[length].pop()
            rows.append(
                Row(
                    _raw(len(rows), video, length, {name: c[at] for name, c in columns.items()}),
                    group,
                    group == "lost" and video.startswith("gone-later"),
                )
            )
    rng.shuffle(rows)
    return rows


def _videos(group: Group, length: str, count: int) -> list[str]:
    """Return a video for each question of a group and a length."""
    if group == "lost":
        later = {"short": 10, "long": 11}[length]
        names = [f"gone-later-{length}-{number}" for number in range(later)]
        return [*names, *(f"gone-{length}-{number}" for number in range(count - later))]
    if group == "evaluated":
        names = [f"film-{length}-{number}" for number in range(_EVALUATED_VIDEOS[length])]
    else:
        names = [f"film-{length}-{number}" for number in range(_SHARED[length])]
        names += [f"only-{length}-{number}" for number in range(_OTHER_OF_HOLDOUT[length])]
    return list(islice(cycle(names), count))


def _raw(number: int, video: str, length: str, levels: dict[str, str]) -> dict[str, Any]:
    question = f"What is thing number {number}?"
    if levels["ques_type"] == "mcq":
        question += (
            "\nAnswer from the following options:\n(A) this\n(B) that\n(C) neither\n(D) both"
        )
    return {
        "video_id": video,
        "gt_answer": "neither" if levels["ques_type"] == "mcq" else f"the {number}th thing",
        "ques_type": levels["ques_type"],
        "difficulty": levels["difficulty"],
        "modality": levels["modality"],
        "video_duration": "",
        "duration_seconds": SECONDS[length],
        "question": question,
    }
