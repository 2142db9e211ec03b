"""A synthetic AgentVidBench: 100 questions on 71 videos with the statistics that were published.

Nothing of the product is used here; the counts are those of Figure 3 and Tables 5, 6, 8 and 9 of
the paper (arXiv 2609.21386). Production styles and audio types have no published counts: each video
gets some.
"""

from __future__ import annotations

import json
import random
from itertools import cycle, islice
from pathlib import Path
from typing import Any

GENRES = {
    "Travel/Lifestyle Vlog": 12,
    "Cooking/Food": 7,
    "Fitness/Workout": 4,
    "Science/Nature Documentary": 14,
    "News/Interview": 3,
    "Tutorial/How-to": 3,
    "Sports Competition": 9,
    "Live Performance": 4,
    "Music Clip": 2,
    "Stock/B-roll": 6,
    "Screen Recording": 4,
    "Art/Animation": 3,
}
LENGTHS = {"short": 18, "medium": 33, "long": 20}
SECONDS = {"short": range(8, 180), "medium": range(180, 601), "long": range(601, 1621)}
SOURCES = {
    "YouTube": 44,
    "Wikimedia Commons": 10,
    "NASA": 8,
    "Self Recorded": 4,
    "DVIDS (US DoD)": 2,
    "Current Biology": 1,
    "Vimeo": 1,
    "US National Park Service": 1,
}
LICENCES = {
    "YouTube CC BY (reuse allowed)": 43,
    "Public Domain": 14,
    "CC BY-NC 4.0": 4,
    "CC BY-SA 4.0": 4,
    "CC BY 4.0": 3,
    "CC BY-SA 3.0": 2,
    "CC BY 3.0": 1,
}
DIFFICULTY = {"easy": 13, "medium": 28, "hard": 29, "very hard": 30}
SKILLS: dict[str, tuple[int, dict[str, int]]] = {
    "temporal": (
        93,
        {
            "event_localization": 66,
            "change_detection": 29,
            "scene_segmentation": 10,
            "event_ordering": 10,
        },
    ),
    "perception": (
        70,
        {
            "action_recognition": 32,
            "object_recognition": 29,
            "face_detection": 13,
            "spatial_search": 7,
            "attribute_state": 6,
            "spatial_relation": 4,
        },
    ),
    "counting": (
        56,
        {"conditional_counting": 35, "simple_counting": 16, "counting_arithmetic": 7},
    ),
    "agentic_reasoning": (
        48,
        {"multi_step_planning": 22, "candidate_filtering": 17, "evidence_aggregation": 15},
    ),
    "ocr_text": (41, {"text_reading": 40, "numeric_extraction": 4}),
    "audio_visual": (13, {"speech_grounding": 10, "audio_event_detection": 3}),
}
MILESTONES = {
    "context_identification": 43,
    "temporal_localization": 113,
    "ocr_text_reading": 41,
    "audio_visual_evidence": 28,
    "visual_recognition": 69,
    "counting": 54,
    "comparison": 11,
    "exclusion_check": 59,
    "arithmetic": 9,
    "verification": 29,
}
PER_QUESTION = {3: 14, 4: 32, 5: 40, 6: 12, 7: 2}
STYLES = (
    "scene-cut edit", "static camera", "handheld camera", "single continuous shot", "drone/aerial",
    "tracking camera", "animation", "screen capture", "subtitle present", "split screen", "timelapse",
    "text-overlay heavy", "multicam switch", "slow motion",
)  # fmt: skip
SOUNDS = ("speech", "music", "ambient sound", "sound effects", "silent")

_QUESTIONS, _VIDEOS = 100, 71


def _spread(counts: dict[str, int], rng: random.Random) -> list[str]:
    column = [level for level, count in counts.items() for _ in range(count)]
    rng.shuffle(column)
    return column


def _skills(rng: random.Random) -> list[tuple[list[str], list[str]]]:
    """Return capabilities and skills of every question, so that all counts are met."""
    found: list[tuple[list[str], list[str]]] = [([], []) for _ in range(_QUESTIONS)]
    for capability, (questions, skills) in SKILLS.items():
        with_it = rng.sample(range(_QUESTIONS), questions)
        for at in with_it:
            found[at][0].append(capability)
        # Going round, so that each of them gets one at least and no skill meets a question twice.
        places = cycle(with_it)
        for skill, count in skills.items():
            for at in islice(places, count):
                found[at][1].append(skill)
    return found


def videos(seed: int = 2) -> list[dict[str, Any]]:
    """Return the rows of the videos."""
    rng = random.Random(seed)
    columns = {
        "genre": _spread(GENRES, rng),
        "length_category": _spread(LENGTHS, rng),
        "source": _spread(SOURCES, rng),
        "license": _spread(LICENCES, rng),
    }
    found: list[dict[str, Any]] = []
    for at in range(_VIDEOS):
        seconds = rng.choice(SECONDS[columns["length_category"][at]])
        found.append({
            "file_name": f"videos/video{2 * at + 1}.mp4",
            "title": f"Film {at}",
            "duration": f"{seconds // 60}:{seconds % 60:02d}",
            **{name: column[at] for name, column in columns.items()},
            "production_style": sorted({STYLES[at % 14], STYLES[(at * 5 + 3) % 14]}),
            "audio_type": sorted({SOUNDS[at % 5], SOUNDS[(at + at // 5) % 5]}),
        })
    return found


def questions(seed: int = 2) -> list[dict[str, Any]]:
    """Return the rows of the questions; every video has one at least."""
    rng = random.Random(seed + 1)
    difficulty = _spread(DIFFICULTY, rng)
    numbers = [n for n, count in PER_QUESTION.items() for _ in range(count)]
    rng.shuffle(numbers)
    kinds = _spread(MILESTONES, rng)
    skills = _skills(rng)
    films = [*range(_VIDEOS), *(rng.randrange(_VIDEOS) for _ in range(_QUESTIONS - _VIDEOS))]
    found: list[dict[str, Any]] = []
    for at in range(_QUESTIONS):
        own, kinds = kinds[: numbers[at]], kinds[numbers[at] :]
        found.append({
            "question_id": at + 1,
            "video_path": f"videos/video{2 * films[at] + 1}.mp4",
            "question_text": f"How many things happen in case {at}?",
            "options": [{"letter": chr(65 + n), "text": f"{n} things"} for n in range(26)],
            "options_type": "numeric",
            "answer": chr(65 + at % 26),
            "milestones": [
                {"id": f"M{n}", "type": kind, "description": f"Find thing {n}."}
                for n, kind in enumerate(own, start=1)
            ],
            "ecom_required": at % 3 == 0,
            "categories": skills[at][0],
            "skills": skills[at][1],
            "difficulty": difficulty[at],
        })
    return found


def write(folder: Path) -> Path:
    """Write the two files of the data set."""
    for name, rows in (("questions.jsonl", questions()), ("videos.jsonl", videos())):
        (folder / name).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return folder
