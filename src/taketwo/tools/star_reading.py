"""STAR's tools for words: text in the visible frames, and what is said in the video.

Neither stands in the published loop (its OCR file is empty), so a faithful arm goes without them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec

import anyio.to_thread
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from taketwo.media.sampling import clamp_window
from taketwo.media.text_in_frames import TextBox, read_text
from taketwo.tools.star_frames import VisibleFrame, timed_lines
from taketwo.tools.star_times import span_named
from taketwo.tools.star_tool import StarTool, focused_frames, pictures, star_tool, starred
from taketwo.tools.text_search import ranked, text_search
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.transcribe_speech import transcript_lines
from taketwo.tools.video_tool import ToolContext, ToolReply, Working

__all__ = ["TEXT_READING", "TRANSCRIPT", "text_reading_tool"]

TextReader = Callable[[NDArray[np.uint8]], Sequence[TextBox]]

_LEAST_CONFIDENCE = 0.5
_MOST_CHARACTERS = 6000
_MOST_FOUND = 12
_NOTHING = "no text"


def text_reading_tool(reader: TextReader | None = None) -> StarTool:
    """Return the tool that reads text in frames, with RapidOCR unless `reader` is given."""

    async def run(context: ToolContext, text: str) -> ToolReply:
        del text  # everything is read, whatever is looked for
        state = await starred(context)
        frames = await focused_frames(context)
        unread = [frame for frame in frames if _note_of(frame) not in frame.notes]
        slots = context.primitives.media.slots
        for frame in unread:
            frame.notes[_note_of(frame)] = await anyio.to_thread.run_sync(
                _text_of, frame.shown.jpeg, reader or read_text, limiter=slots
            )
        lines = timed_lines([(frame.time_s, frame.notes[_note_of(frame)]) for frame in frames])
        kept = "\n".join(lines)
        fields = {
            "frames read": f"{len(unread)}, {len(frames) - len(unread)} read before",
            "size": f"pictures of at most {state.max_side} pixels; enlarge patches for smaller text",
        }
        if len(kept) > _MOST_CHARACTERS:
            fields["note"] = f"cut after {_MOST_CHARACTERS} of {len(kept)} characters"
        return ToolReply(
            fields=fields,
            untrusted={"text on screen": kept[:_MOST_CHARACTERS]},
            seen=pictures(frames),
            truncated=len(kept) > _MOST_CHARACTERS,
        )

    def works(_: ToolContext) -> Working:
        if reader is None and find_spec("rapidocr") is None:
            return Working(
                mode="missing", reason="no text recognition is installed (extra: offline)"
            )
        return Working()

    return star_tool(
        name="text-reading-tool",
        kind="spatial",
        does=(
            "Reads all text in every frame in focus by text recognition and keeps it with the frames: "
            "signs, captions, scores, names. It misses handwriting and very small text."
        ),
        takes="nothing; all text is read.",
        run=run,
        works=works,
    )


def _note_of(frame: VisibleFrame) -> str:
    return f"text on screen, {frame.view}"


def _text_of(jpeg: bytes, reader: TextReader) -> str:
    with Image.open(io.BytesIO(jpeg)) as image:
        pixels = np.asarray(image.convert("RGB"), dtype=np.uint8)
    found = [box.text for box in reader(pixels) if box.confidence >= _LEAST_CONFIDENCE]
    quoted = [" ".join(text.split()).replace('"', "'") for text in found]
    return "; ".join(f'text "{text}"' for text in quoted) or _NOTHING


async def _transcript(context: ToolContext, text: str) -> ToolReply:
    """Return what is said in the stretch that the input names, else where its words are said."""
    state = await starred(context)
    span = span_named(text)
    try:
        start_s, end_s = clamp_window(*(span or (0.0, None)), context.duration_s)
    except ValueError as error:
        raise ToolFailure("invalid_window", str(error), retryable=True) from error
    speech = await context.primitives.transcribe_speech(start_s, end_s)
    state.looked(start_s, end_s)
    lines = transcript_lines(speech)
    fields = {"window": f"{start_s:.1f}-{end_s:.1f} s", "segments": str(len(lines))}
    if not lines:
        return ToolReply(fields={**fields, "note": "nothing is said there"})
    shown = lines
    if span is None and len("\n".join(lines)) > _MOST_CHARACTERS:
        search = text_search("bm25", [segment.text for segment in speech.segments])
        best = sorted(ranked(search.scores(text), _MOST_FOUND, above=0.0))
        around = sorted(
            {place + step for place in best for step in (-1, 0, 1)} & set(range(len(lines)))
        )
        shown = [lines[place] for place in around] or lines
        if around:
            fields["shown"] = (
                f"{len(best)} segments that have most words of the input in common with it "
                f"({search.label}), and those next to them; name a stretch to get all of it"
            )
    whole = "\n".join(shown)
    if len(whole) > _MOST_CHARACTERS:
        fields["note"] = f"cut after {_MOST_CHARACTERS} of {len(whole)} characters"
    return ToolReply(
        fields=fields,
        untrusted={"transcript": whole[:_MOST_CHARACTERS]},
        truncated=len(whole) > _MOST_CHARACTERS or len(shown) < len(lines),
    )


def _hears(context: ToolContext) -> Working:
    if not context.has_audio:
        return Working(mode="missing", reason="the video has no sound and no subtitles")
    return Working()


TEXT_READING: StarTool = text_reading_tool()

TRANSCRIPT: StarTool = star_tool(
    name="transcript-tool",
    kind="temporal",
    does=(
        "Returns what is said in the video, with the seconds: of the stretch that the input names, else "
        "where the words of the input are said. Use it to find when to look, and for what only speech "
        "tells."
    ),
    takes="words to look for in the speech, or a stretch such as: from 40 to 60 seconds.",
    run=_transcript,
    works=_hears,
)
