"""A handful of questions on real media: a film clip, and real speech over real photographs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Literal, cast

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import canonical_json, sha256_of
from taketwo.benchmarks.question import Milestone, Question
from taketwo.benchmarks.scene_encoding import encode_mp4
from taketwo.benchmarks.scene_sound import SAMPLE_RATE, decode_mono
from taketwo.media.store import write_atomically
from taketwo.media.video import file_sha256

__all__ = ["PHOTOS_SHOWN", "photo_times", "real_clips"]

PHOTOS_SHOWN = ("coffee", "cat", "rocket", "astronaut", "cat")
"""The photograph behind each of the five sentences."""

_FPS, _WIDTH, _HEIGHT = 12, 640, 360
_BUNNY_S, _READING_S = 5.312, 27.25
_MAKER = "taketwo.real-clips/1"
_FILM = "CC BY 3.0, (c) copyright 2008, Blender Foundation / www.bigbuckbunny.org"
_READING = (
    "public domain (LibriVox reading; photographs of NASA and SpaceX) and CC0-1.0 (photographs of "
    "Rachel Michetti and Stefan van der Walt)"
)


@dataclass(frozen=True, kw_only=True)
class _Entry:
    name: str
    clip: Literal["bunny", "reading"]
    kind: str
    modality: str
    text: str
    options: tuple[str, ...] = ()
    answer: int | str
    accepted: tuple[str, ...] = ()
    skills: tuple[str, ...]
    steps: tuple[tuple[str, float, float], ...]


def photo_times() -> tuple[tuple[float, float], ...]:
    """Return when each of `PHOTOS_SHOWN` is on screen, in seconds: cuts lie in the pauses."""
    times = _sentence_times()
    cuts = [round((before[1] + after[0]) / 2 * _FPS) / _FPS for before, after in pairwise(times)]
    return tuple(zip([0.0, *cuts], [*cuts, _READING_S], strict=True))


def _sentence_times() -> list[tuple[float, float]]:
    text = (files("taketwo.benchmarks") / "assets" / "reading.json").read_text(encoding="utf-8")
    sentences = cast("list[dict[str, float]]", json.loads(text)["sentences"])
    return [(sentence["start_s"], sentence["end_s"]) for sentence in sentences]


def _entries() -> tuple[_Entry, ...]:
    heard, shown = _sentence_times(), photo_times()
    things = ("a cup of coffee", "a cat", "a rocket on its launch pad", "an astronaut")
    scenes = (
        "it climbs out of a hole in the hill",
        "it stretches its arms wide",
        "it raises a hand to its head",
    )
    steps = (
        (f"see that {scenes[0]}", 0.0, 1.6),
        (f"see that {scenes[1]}", 1.8, 4.2),
        (f"see that {scenes[2]}", 4.4, 5.3),
    )
    return (
        _Entry(
            name="bunny-animal", clip="bunny", kind="recognition", modality="visual",
            text="Which animal is seen in the clip?",
            options=("a cat", "a bear", "a squirrel", "a rabbit"), answer=3,
            skills=("recognising",), steps=(("see the rabbit", 0.0, 5.3),),
        ),
        _Entry(
            name="bunny-first", clip="bunny", kind="order", modality="visual",
            text="What does the animal do first?",
            options=(scenes[1], scenes[0], scenes[2]), answer=1,
            skills=("ordering", "watching"), steps=steps,
        ),
        _Entry(
            name="bunny-last", clip="bunny", kind="order", modality="visual",
            text="What does the animal do at the end of the clip?",
            options=(scenes[2], scenes[1], scenes[0]), answer=0,
            skills=("ordering", "watching"), steps=steps,
        ),
        _Entry(
            name="reading-name", clip="reading", kind="spoken_cue", modality="audio",
            text="Which person does the reader name?",
            answer="John Dashwood",
            accepted=("Mr John Dashwood", "Mr. John Dashwood", "Mister John Dashwood"),
            skills=("listening",), steps=(("hear the name John Dashwood", *heard[0]),),
        ),
        _Entry(
            name="reading-wife", clip="reading", kind="spoken_cue", modality="audio",
            text=(
                "According to the reader, what might the man have become if he had married "
                "another woman?"
            ),
            options=(
                "rather cold hearted", "an ill disposed young man", "still more respectable",
                "rather selfish", "more prudent",
            ),
            answer=2, skills=("listening",),
            steps=(("hear: still more respectable than he was", *heard[3]),),
        ),
        _Entry(
            name="reading-disposed", clip="reading", kind="multi_hop", modality="audio_visual",
            text=(
                "What is on screen while the reader says that he was not an ill disposed young "
                "man?"
            ),
            options=(things[2], things[1], things[0], things[3]), answer=1,
            skills=("listening", "recognising"),
            steps=(("hear: not an ill disposed young man", *heard[1]), ("see a cat", *shown[1])),
        ),
        _Entry(
            name="reading-married", clip="reading", kind="multi_hop", modality="audio_visual",
            text="What is on screen while the reader speaks of marrying a more amiable woman?",
            options=(things[3], things[0], things[1], things[2]), answer=0,
            skills=("listening", "recognising"),
            steps=(
                ("hear: had he married a more amiable woman", *heard[3]),
                ("see an astronaut", *shown[3]),
            ),
        ),
        _Entry(
            name="reading-after-coffee", clip="reading", kind="order", modality="visual",
            text="What is shown right after the cup of coffee?",
            options=(things[2], things[3], things[1]), answer=2,
            skills=("ordering", "recognising"),
            steps=(("see a cup of coffee", *shown[0]), ("see a cat", *shown[1])),
        ),
        _Entry(
            name="reading-cats", clip="reading", kind="counting", modality="visual",
            text="In how many separate stretches of the video is the cat shown?",
            options=("3", "1", "4", "2"), answer=3, skills=("counting", "recognising"),
            steps=(("see a cat", *shown[1]), ("see a cat again", *shown[4])),
        ),
    )  # fmt: skip


def real_clips(folder: Path) -> Benchmark:
    """Return nine questions on two real clips, writing the clips into a folder where missing.

    Notes
    -----
    The film clip is a copy of the package's file. The other is made at run time: sentences of a
    public-domain reading over photographs that are slowly panned. Sources and terms stand in
    `assets/LICENCES.md` and in each question's `licence`.
    """
    paths = _write_clips(folder / "real-clips")
    questions: list[Question] = []
    for entry in _entries():
        is_film = entry.clip == "bunny"
        questions.append(
            Question(
                question_id=f"real-{entry.name}",
                text=entry.text,
                video_id=f"real-{entry.clip}",
                video_path=str(paths[entry.clip]),
                options=entry.options,
                answer_index=entry.answer if isinstance(entry.answer, int) else None,
                answer_text=entry.answer if isinstance(entry.answer, str) else None,
                accepted_answers=entry.accepted,
                video_duration_s=_BUNNY_S if is_film else _READING_S,
                attributes={
                    "kind": entry.kind,
                    "variant": entry.name,
                    "modality": entry.modality,
                    "difficulty": "real",
                    "format": "mcq" if entry.options else "open",
                },
                skills=entry.skills,
                milestones=tuple(
                    Milestone(milestone_id=f"m{number}", text=text, start_s=start, end_s=end)
                    for number, (text, start, end) in enumerate(entry.steps, start=1)
                ),
                licence=_FILM if is_film else _READING,
            )
        )
    version = sha256_of([question.content_sha256 for question in questions])[:12]
    return Benchmark(name="real_clips", version=f"1+{version}", questions=tuple(questions))


def _write_clips(home: Path) -> dict[str, Path]:
    """Write the clips that are missing or differ from their recorded hash."""
    paths = {name: home / f"{name}.mp4" for name in ("bunny", "reading")}
    film = (files("taketwo.benchmarks") / "assets" / "bunny.mp4").read_bytes()
    if not paths["bunny"].is_file() or paths["bunny"].read_bytes() != film:
        write_atomically(paths["bunny"], film)
    record = home / "reading.json"
    if not _is_recorded(paths["reading"], record):
        write_atomically(paths["reading"], _reading())
        made = {"maker": _MAKER, "sha256": file_sha256(paths["reading"])}
        write_atomically(record, canonical_json(made))
    return paths


def _is_recorded(video: Path, record: Path) -> bool:
    if not video.is_file() or not record.is_file():
        return False
    expected = canonical_json({"maker": _MAKER, "sha256": file_sha256(video)})
    return record.read_bytes() == expected


def _reading() -> bytes:
    sound = decode_mono("reading.ogg")
    track = np.zeros(round(_READING_S * SAMPLE_RATE), np.float32)
    track[: len(sound)] = sound[: len(track)]
    return encode_mp4(_pans(), track, fps=_FPS, width=_WIDTH, height=_HEIGHT)


def _pans() -> Iterator[NDArray[np.uint8]]:
    """Yield the frames: each photograph moves from one end to the other and grows slowly."""
    for name, (start, end) in zip(PHOTOS_SHOWN, photo_times(), strict=True):
        with (files("taketwo.benchmarks") / "assets" / f"{name}.jpg").open("rb") as file:
            photo = Image.open(file).convert("RGB")
        count = round((end - start) * _FPS)
        for index in range(count):
            share = index / max(count - 1, 1)
            width = photo.width * (1.0 - 0.15 * share)
            height = width * _HEIGHT / _WIDTH
            x, y = (photo.width - width) * 0.5, (photo.height - height) * (0.1 + 0.6 * share)
            frame = photo.resize(
                (_WIDTH, _HEIGHT), Image.Resampling.BILINEAR, box=(x, y, x + width, y + height)
            )
            yield np.asarray(frame, np.uint8)
