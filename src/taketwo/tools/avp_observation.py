"""`observe_video`: the observation of AVP, one look over the whole video or over parts of it, in a form.

Frames are taken by their presentation times, so a part begins where it is said to begin, and two
parts never share a picture by accident. One look takes a bounded number of frames: a higher rate is
lowered over all parts alike, both ends of each included.
"""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from taketwo.media.video import VideoInfo
from taketwo.tools.avp_controls import (
    ChoosesFps,
    ChoosesInterval,
    ChoosesResolution,
    ObservationSettings,
    free_controls_form,
    most_frames,
)
from taketwo.tools.avp_evidence import (
    Observation,
    ObservationForm,
    ObservationLog,
    cleaned_evidence,
    spans_text,
)
from taketwo.tools.avp_spans import (
    Sample,
    Span,
    allowed_fps,
    sampled,
    shown_spans,
)
from taketwo.tools.extract_video_parts import frames_remark
from taketwo.tools.fencing import FENCE_RULE, fence, question_block, video_length_line
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.structured import Structured
from taketwo.tools.transcribe_speech import transcript_lines
from taketwo.tools.video_tool import (
    Resolution,
    ToolContext,
    ToolReply,
    VideoTool,
    Working,
    max_side_of,
)

__all__ = ["OBSERVE_VIDEO", "observe_video_tool"]

_OBSERVER = f"""\
You look at a video for colleagues who cannot see it. You are shown frames from the parts of the
video that are named, each frame after its time, as in [frame at 12.00 s]. Report what they show that
bears on the question.

- Describe it in detail: who and what is there, what is done, where, in which order and how often.
  Write text on screen exactly as it stands, and count one by one where a number is asked for.
- List as key evidence each stretch of the video that matters, in seconds of the whole video. A
  stretch is an interval and never a point: its start rounded down and its end up to a whole second.
- Report nothing that you were not shown. Where nothing in these parts bears on the question, say
  plainly that nothing relevant is seen here and that a look over the whole video may help, and leave
  the key evidence empty.
- Earlier reports may be wrong. Where you see something else, say so.

{FENCE_RULE}"""
_MAX_CHARACTERS = 24_000
_MOST_OF_GOAL = 4_000


class _Look(BaseModel):
    """What a look is for."""

    model_config = ConfigDict(extra="forbid")

    description: str = Field(default="", description="The goal of this look")
    sub_query: str = Field(default="", description="The question it serves")
    independent: bool = Field(
        default=False, description="Whether the observer is kept from earlier reports"
    )


def observe_video_tool(settings: ObservationSettings) -> VideoTool:
    """Return the tool as `settings` have it; a fixed control is no argument of it.

    What it reports is also kept in the cell's `ObservationLog`.
    """

    async def run(context: ToolContext, arguments: BaseModel) -> ToolReply:
        return await _Observing(settings, context, arguments).reply()

    return VideoTool(
        name="observe_video",
        description=(
            "Have an observer look at the whole video or at parts of it, with the question before "
            "it, and report what it saw with times in seconds."
        ),
        guidance=(
            "`observe_video` has an observer, which knows the question, look over the whole video "
            "or over parts of it and report what bears on the question, with the seconds."
        ),
        arguments=free_controls_form(_Look, settings.fixed, "ObserveVideo"),
        run=run,
        prompts={"observer": _OBSERVER},
        hidden_arguments=frozenset({"independent"}),
        works=lambda context: _works(settings, context),
    )


def _works(settings: ObservationSettings, context: ToolContext) -> Working:
    if not context.has_audio:
        return Working()
    sound = (
        "its speech is given as a transcript"
        if settings.with_transcript
        else "its sound is not heard"
    )
    return Working(mode="degraded", reason=f"frames stand in for the video, {sound}")


class _Observing:
    """One look: what is shown, what the observer is told, and what becomes of its report."""

    def __init__(
        self, settings: ObservationSettings, context: ToolContext, arguments: BaseModel
    ) -> None:
        self._settings = settings
        self._context = context
        self._asked = arguments
        self._look = cast("_Look", arguments)
        self._log = context.state.get(ObservationLog)
        self._remarks: list[str] = []

    async def reply(self) -> ToolReply:
        context, settings = self._context, self._settings
        resolution = self._resolution()
        most = min(context.frames_left(), most_frames(settings, self._video, resolution))
        sample = sampled(self._spans(), self._fps(), most)
        self._remarks += sample.remarks
        frames = await context.primitives.extract_video_parts(
            sample.times_s, max_side=max_side_of(resolution)
        )
        report = await context.primitives.analyze_in_form(
            ObservationForm,
            system=_OBSERVER,
            text=await self._told(sample),
            frames=frames,
            asks=self._asks(len(frames)),
        )
        observation = self._observation(report, sample, frames, resolution)
        self._log.observations.append(observation)
        fields = {
            "shown": spans_text(sample.spans),
            "frames": frames_remark(frames, sample.wanted, most),
            "fps": f"{sample.fps:.3g}",
            "resolution": resolution,
        }
        if self._remarks:
            fields["note"] = "; ".join(self._remarks)
        untrusted = {"observation": observation.response}
        if observation.evidence:
            untrusted["key evidence"] = "\n".join(item.to_text() for item in observation.evidence)
        if report.value is not None and report.value.reasoning.strip():
            untrusted["reasoning"] = report.value.reasoning[:_MAX_CHARACTERS]
        return ToolReply(
            fields=fields,
            untrusted=untrusted,
            seen=frames,
            truncated=sample.wanted > most or observation.response != _said(report),
        )

    @property
    def _video(self) -> VideoInfo:
        return self._context.primitives.media.info

    def _resolution(self) -> Resolution:
        asked = self._asked
        if isinstance(asked, ChoosesResolution):
            return asked.spatial_token_rate
        return self._settings.fixed.resolution or "low"

    def _fps(self) -> float:
        asked = self._asked
        if not isinstance(asked, ChoosesFps):
            return self._settings.fixed.fps or 1.0
        fps, remark = allowed_fps(asked.fps)
        if remark is not None:
            self._remarks.append(remark)
        return fps

    def _spans(self) -> tuple[Span, ...]:
        asked, duration_s = self._asked, self._context.duration_s
        if not isinstance(asked, ChoosesInterval) or asked.load_mode == "uniform":
            if isinstance(asked, ChoosesInterval) and asked.regions:
                self._remarks.append(
                    "load_mode uniform shows the whole video; regions were ignored"
                )
            return ((0.0, duration_s),)
        if not asked.regions:
            self._remarks.append("load_mode region without regions was read as the whole video")
            return ((0.0, duration_s),)
        shown = shown_spans(asked.regions, duration_s)
        self._remarks += shown.remarks
        return shown.spans

    def _asks(self, frames: int) -> int:
        """Return how often the report may be sent back: each time hands over all frames anew."""
        left = self._context.primitives.account.budget.left("frames")
        if left is None:
            return self._settings.asks
        return max(0, min(self._settings.asks, int(left) // max(1, frames) - 1))

    async def _told(self, sample: Sample) -> str:
        context, settings = self._context, self._settings
        parts = [] if context.question is None else [question_block(context.question)]
        parts += [
            video_length_line(context.duration_s),
            f"Shown here: {spans_text(sample.spans)} of the video, {sample.fps:.3g} frames a second",
        ]
        goal = self._look.description.strip() or self._look.sub_query.strip()
        if goal and (settings.with_goal or context.question is None):
            parts.append(f"What this look is for:\n{fence('goal', goal[:_MOST_OF_GOAL])}")
        earlier = self._log.to_text()
        if earlier and not self._look.independent:
            parts.append(f"Earlier reports:\n{fence('earlier reports', earlier)}")
        if context.has_audio:
            parts.append(await self._sound(sample))
        return "\n\n".join(parts)

    async def _sound(self, sample: Sample) -> str:
        if not self._settings.with_transcript:
            return "The frames are silent: you hear nothing of what is said or sounds in the video."
        speech = await self._context.primitives.transcribe_speech(
            sample.spans[0][0], sample.spans[-1][1]
        )
        lines = [
            line
            for segment, line in zip(speech.segments, transcript_lines(speech), strict=True)
            if any(
                segment.start_s < end_s and segment.end_s > start_s
                for start_s, end_s in sample.spans
            )
        ]
        said = "\n".join(lines)
        if len(said) > _MAX_CHARACTERS:
            self._remarks.append(
                f"the transcript was cut after {_MAX_CHARACTERS} of {len(said)} characters"
            )
        return (
            "The frames are silent. What is said in these parts, as a machine heard it, stands here "
            f"instead:\n{fence('transcript', said[:_MAX_CHARACTERS] or '(no speech)')}"
        )

    def _observation(
        self,
        report: Structured[ObservationForm],
        sample: Sample,
        frames: tuple[SeenFrame, ...],
        resolution: Resolution,
    ) -> Observation:
        said = _said(report)
        if report.value is None:
            self._remarks.append(f"the report does not fit its form ({report.problem})")
        if len(said) > _MAX_CHARACTERS:
            self._remarks.append(
                f"the report was cut after {_MAX_CHARACTERS} of {len(said)} characters"
            )
        entries = [] if report.value is None else report.value.key_evidence
        evidence, remarks = cleaned_evidence(entries, self._context.duration_s)
        self._remarks += remarks
        return Observation(
            round=self._log.round,
            spans=sample.spans,
            fps=sample.fps,
            resolution=resolution,
            frames=len(frames),
            response=said[:_MAX_CHARACTERS],
            evidence=evidence,
            is_independent=self._look.independent,
        )


def _said(report: Structured[ObservationForm]) -> str:
    """Return the report; one that does not fit its form is kept as it was written."""
    return (report.text if report.value is None else report.value.detailed_response).strip()


OBSERVE_VIDEO = observe_video_tool(ObservationSettings())
"""The tool with everything left to the planner."""
