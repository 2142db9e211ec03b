"""What is said in a video, as timed segments: from subtitles or from the sound."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import UnreadableVideo
from taketwo.media import speech
from taketwo.media.subtitles import cues_of
from taketwo.media.video import file_sha256

__all__ = [
    "OFFLINE_TRANSCRIBER",
    "Segment",
    "Transcript",
    "read_subtitles",
    "transcribe",
    "transcriber_identity",
]

OFFLINE_TRANSCRIBER = "taketwo/offline-transcriber"
"""Model name under which the offline transcriber is asked for."""

DEFAULT_MODEL = "tiny.en"
"""Weights that the offline transcriber uses."""

_FORMAT = "taketwo.transcript/1"
_PAUSE_S = 0.6
_LONGEST_SEGMENT_S = 15.0
_MOST_SUBTITLE_BYTES = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A stretch of speech.

    Attributes
    ----------
    start_s, end_s : float
        Seconds from the first video timestamp, `start_s <= end_s`.
    text : str
        What is said, on one line, without markup.
    """

    start_s: float
    end_s: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """Everything that is said in a video or a window of it.

    Attributes
    ----------
    segments : tuple of Segment
        In order of time; none means that nothing is said.
    source : str
        `"subtitles:<first 12 digits of the file's SHA-256>"` or the identity of a transcriber.
    language : str or None
        ISO 639-1 code where known.
    """

    segments: tuple[Segment, ...]
    source: str
    language: str | None

    def between(self, start_s: float, end_s: float) -> Transcript:
        """Return the segments that overlap a window, whole, not cut at its ends."""
        inside = tuple(
            segment
            for segment in self.segments
            if segment.start_s < end_s and segment.end_s > start_s
        )
        return replace(self, segments=inside)

    def to_json(self) -> str:
        """Return the transcript as JSON text that `from_json` reads back equal."""
        return json.dumps(
            {
                "format": _FORMAT,
                "source": self.source,
                "language": self.language,
                "segments": [[s.start_s, s.end_s, s.text] for s in self.segments],
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> Transcript:
        """Return a transcript written by `to_json`.

        Raises
        ------
        ValueError
            The text is no such JSON.
        """
        try:
            record = cast("dict[str, object]", json.loads(text))
            if record["format"] != _FORMAT:
                raise ValueError(f"expected format {_FORMAT!r}, got {record['format']!r}")
            rows = cast("Sequence[tuple[float, float, str]]", record["segments"])
            segments = tuple(
                Segment(start_s=float(start), end_s=float(end), text=str(words))
                for start, end, words in rows
            )
            language = record["language"]
            return cls(
                segments=segments,
                source=str(record["source"]),
                language=None if language is None else str(language),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"this is no transcript of ours: {error!r}") from error


def read_subtitles(path: Path) -> Transcript:
    """Read an SRT or WebVTT file.

    A byte order mark, any line ends, missing hours, cue settings and markup are understood; cues
    without text are left out; cues that cannot be read are passed over. A file of 0 bytes says
    that nothing is said. Text that is not UTF-8 is read as UTF-16 by its mark, else as
    Windows-1252.

    Raises
    ------
    UnreadableVideo
        The file is missing, larger than 16 MiB, or holds text but not a single cue.
    """
    try:
        size = path.stat().st_size
        if size > _MOST_SUBTITLE_BYTES:
            raise UnreadableVideo(
                f"subtitles {path} have {size} bytes, more than {_MOST_SUBTITLE_BYTES}; "
                "this is no file of subtitles of one video"
            )
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise UnreadableVideo(f"subtitles {path} cannot be read: there is no such file") from error
    except (OSError, ValueError) as error:
        raise UnreadableVideo(f"subtitles {path} cannot be read: {error}") from error
    try:
        cues = cues_of(data)
    except ValueError as error:
        raise UnreadableVideo(f"subtitles {path} cannot be read: {error}") from error
    segments = tuple(Segment(start_s=c.start_s, end_s=c.end_s, text=c.text) for c in cues)
    return Transcript(
        segments=segments, source=f"subtitles:{file_sha256(path)[:12]}", language=None
    )


def transcriber_identity(model: str = DEFAULT_MODEL) -> str:
    """Return which transcriber this is: name, engine, version, weights and settings."""
    return f"{OFFLINE_TRANSCRIBER} ({speech.transcriber_identity(model)})"


def transcribe(audio: NDArray[np.float32], *, model: str = DEFAULT_MODEL) -> Transcript:
    """Turn sound into segments of speech, offline and deterministically.

    Parameters
    ----------
    audio : ndarray of float32, shape (samples,)
        16 kHz mono in -1 to 1, as `load_audio` gives it; second 0 is its first sample.
    model : str
        Name of the weights.

    Raises
    ------
    UnknownName
        No weights have this name.
    HarnessError
        The extra `offline` is not installed, or the weights are not the pinned ones.

    Notes
    -----
    About 0.05 s of CPU per second of sound, 0.6 s once a process for loading. Segments end at
    pauses of 0.6 s and at the ends of sentences, because the model's own segments sometimes join
    two utterances across a pause.
    """
    words = speech.spoken_words(audio, model)
    return Transcript(
        segments=tuple(_segments(words)),
        source=transcriber_identity(model),
        language=speech.transcriber_model(model).language,
    )


def _segments(words: Sequence[speech.SpokenWord]) -> Iterator[Segment]:
    begun: list[speech.SpokenWord] = []
    for word in words:
        if begun and _is_break(begun, word):
            yield _segment(begun)
            begun = []
        begun.append(word)
    if begun:
        yield _segment(begun)


def _is_break(begun: Sequence[speech.SpokenWord], word: speech.SpokenWord) -> bool:
    return (
        word.start_s - begun[-1].end_s >= _PAUSE_S
        or begun[-1].text.rstrip().endswith((".", "?", "!"))
        or word.end_s - begun[0].start_s > _LONGEST_SEGMENT_S
    )


def _segment(words: Sequence[speech.SpokenWord]) -> Segment:
    text = " ".join("".join(word.text for word in words).split())
    start_s, end_s = round(words[0].start_s, 3), round(words[-1].end_s, 3)
    return Segment(start_s=start_s, end_s=max(start_s, end_s), text=text)
