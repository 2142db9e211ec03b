"""The description of one clip: frames and speech in, a form out. No question is known here."""

from __future__ import annotations

from taketwo.errors import UnreadableVideo
from taketwo.media.transcript import Transcript
from taketwo.tools.clip_index import Clip, ClipCaption, ClipWindow, clock
from taketwo.tools.context_overflow import ContextOverflow
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.primitives import Primitives
from taketwo.tools.transcribe_speech import transcript_lines

__all__ = ["CAPTION_PROMPT", "CAPTION_SIDE", "UNSEEN", "captioned"]

CAPTION_SIDE = 640
"""Longer side of the frames, in pixels."""

CAPTION_PROMPT = f"""\
You write the entry of one clip in an index of a video. Later, people search these entries and answer
questions about the video from them, without seeing it. You are given the frames of the clip in
order, each after its time, as in [frame at 12.00 s], and what is said while it lasts.

Reply with one JSON object of four fields:
- clip_start_time, clip_end_time: the times of the clip as they are given to you.
- subject_registry: whoever and whatever matters in the clip, under ids of your own such as person_1
  or object_2. Of each: name (a short one; a description where no name is known), appearance (a list
  of what is visible of it: clothes, colours, size, marks), identity (a list of what it is or does:
  role, job, relation to others; empty where nothing tells), first_seen (the time of the first frame
  that shows it).
- clip_description: what happens, in order, with times: who does what to whom or with what, how many
  there are of what is countable, movements and their directions, places, changes between the frames,
  and text on screen exactly as it stands. Call subjects by the names of the registry.

Write what the frames and the speech show and nothing else; say so where something cannot be made out.
{FENCE_RULE}"""

UNSEEN = "its frames cannot be decoded"
"""How the problem of a clip begins whose frames nobody could see."""

_SPOKEN = 12_000


async def captioned(
    primitives: Primitives, window: ClipWindow, count: int, speech: Transcript
) -> Clip:
    """Return the clip with its description, or with the reason why there is none.

    `count` is how many clips the video has, `speech` everything that is said in it.

    Raises
    ------
    Exception
        The fault of a provider. Replies that do not fit the form, a request that is too long for the
        model, and frames that cannot be decoded are a clip without a description.
    """
    spoken = speech.between(window.start_s, window.end_s)
    said = _cut(" ".join(segment.text for segment in spoken.segments))
    bare = Clip(
        position=window.position, start_s=window.start_s, end_s=window.end_s, speech=said
    ).to_json()
    try:
        frames = await primitives.extract_video_parts(window.times_s, max_side=CAPTION_SIDE)
    except UnreadableVideo as error:
        return Clip.from_json({**bare, "problem": f"{UNSEEN}: {error}"})
    lines = _cut("\n".join(transcript_lines(spoken))) or "(no speech)"
    text = (
        f"Clip {window.position + 1} of {count}, from {clock(window.start_s)} "
        f"({window.start_s:.1f} s) to {clock(window.end_s)} ({window.end_s:.1f} s).\n\n"
        f"{fence('speech', lines)}"
    )
    try:
        found = await primitives.analyze_in_form(
            ClipCaption, system=CAPTION_PROMPT, text=text, frames=frames
        )
    except ContextOverflow as error:
        return Clip.from_json({**bare, "problem": str(error)})
    if found.value is None:
        problem = f"no description in the form after {found.asked} replies: {found.problem}"
        return Clip.from_json({**bare, "problem": problem})
    return Clip.from_json({
        **bare,
        "description": found.value.clip_description,
        "subjects": {
            name: subject.model_dump(mode="json")
            for name, subject in found.value.subject_registry.items()
        },
    })


def _cut(text: str) -> str:
    return text if len(text) <= _SPOKEN else f"{text[:_SPOKEN]} (cut)"
