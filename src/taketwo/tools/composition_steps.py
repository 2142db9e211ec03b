"""The steps of a composition: one primitive operation each, from bound values to named fields."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from taketwo.media.sampling import times_by_count
from taketwo.tools.analyze import OBSERVE_PROMPT
from taketwo.tools.composition import Step
from taketwo.tools.composition_values import (
    MAX_CHARACTERS,
    Document,
    DocumentsValue,
    FlagValue,
    FramesValue,
    ObservedValue,
    TextsValue,
    TextValue,
    TranscriptValue,
    Value,
    WindowValue,
    evidence_text,
    provenance_of,
)
from taketwo.tools.extract_video_parts import frames_remark
from taketwo.tools.fencing import fence
from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.video_tool import Resolution, ToolContext, max_side_of

__all__ = ["Inputs", "run_step"]

_MAX_WORDS = 400

Inputs = Mapping[str, tuple[Value, ...]]
"""What is bound to the ports of a step and is there."""

Fields = dict[str, Value]


async def run_step(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    """Do the operation of `step` and return what it gives; a field that there is nothing of is left out.

    Raises
    ------
    BudgetExhausted, ToolFailure
        If the operation cannot be done.
    Exception
        A fault of a provider or of the media, which ends the cell.
    """
    return await _STEPS[step.do](step, inputs, context)


async def _extract(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    window = _window(step, inputs, context)
    wanted = int(step.literal("count") or 1)
    cap = context.frames_left()
    resolution: Resolution = step.literal("resolution")  # type: ignore[assignment] checked when read
    times_s = times_by_count(window.start_s, window.end_s, min(wanted, cap))
    frames = await context.primitives.extract_video_parts(times_s, max_side=max_side_of(resolution))
    # A window of a few milliseconds holds fewer frames than wanted, and none of them is missing.
    remark = frames_remark(frames, wanted if wanted > cap else len(times_s), cap)
    return {"frames": FramesValue(frames=frames, window=window, remark=remark), "window": window}


async def _transcribe(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    window = _window(step, inputs, context)
    speech = await context.primitives.transcribe_speech(window.start_s, window.end_s)
    return {"transcript": TranscriptValue(speech=speech, window=window), "window": window}


async def _ground(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    window = _window(step, inputs, context)
    found = await context.primitives.ground_event(
        event=_words(step, inputs, "event"), start_s=window.start_s, end_s=window.end_s
    )
    fields: Fields = {"found": FlagValue(is_set=found.found, remark=found.remark)}
    if found.found and found.start_s is not None and found.end_s is not None:
        fields["window"] = WindowValue(start_s=found.start_s, end_s=found.end_s)
    seen = FramesValue(frames=found.frames, window=window)
    fields["frames"] = seen
    fields["description"] = ObservedValue(text=found.description, made_from=provenance_of([seen]))
    return fields


async def _analyze(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    frames = [value for value in inputs.get("frames", ()) if isinstance(value, FramesValue)]
    speech = [value for value in inputs.get("transcript", ()) if isinstance(value, TranscriptValue)]
    notes = inputs.get("notes", ())
    task = step.literal("task") or "Report what is to be seen of it."
    parts = [
        f"Request: write down what this part of the video shows of the focus. {task}",
        f"Focus:\n{fence('focus', _words(step, inputs, 'focus'))}",
    ]
    for value in frames:
        window = value.window
        parts.append(
            f"{len(value.frames)} frames of {window.start_s:.1f}-{window.end_s:.1f} s follow below."
        )
    if "transcript" in step.bindings and not speech:
        parts.append("Speech: there is none here.")
    parts += [_material("transcript", value) for value in speech]
    parts += [_material("notes", value) for value in notes]
    text = await context.primitives.analyze(
        system=OBSERVE_PROMPT,
        text="\n\n".join(parts),
        frames=[frame for value in frames for frame in value.frames],
    )
    origin = provenance_of([*frames, *speech, *notes])
    return {"observations": ObservedValue(text=text, made_from=origin)}


async def _search(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    hits = await context.primitives.web_search(
        _words(step, inputs, "query"), int(step.literal("results") or 1)
    )
    fields: Fields = {
        "documents": DocumentsValue(
            documents=tuple(
                Document(address=hit.url, title=hit.title, text=hit.snippet) for hit in hits
            )
        )
    }
    if hits:
        fields["url"] = TextValue(text=hits[0].url)
    return fields


async def _parse(step: Step, inputs: Inputs, context: ToolContext) -> Fields:
    page = await context.primitives.parse_website(
        _words(step, inputs, "url"), int(step.literal("characters") or 1)
    )
    document = Document(address=page.url, title=page.title, text=page.text)
    return {"documents": DocumentsValue(documents=(document,))}


def _window(step: Step, inputs: Inputs, context: ToolContext) -> WindowValue:
    """Return the window of a step with its margin, inside the video."""
    margin = step.literal("margin_s") if "margin_s" in step.form.ports else 0.0
    margin_s = float(margin or 0.0)
    bound = next((one for one in inputs.get("window", ()) if isinstance(one, WindowValue)), None)
    if bound is None:
        return WindowValue(start_s=0.0, end_s=context.duration_s)
    return WindowValue(
        start_s=max(0.0, bound.start_s - margin_s),
        end_s=min(context.duration_s, bound.end_s + margin_s),
    )


def _words(step: Step, inputs: Inputs, port: str) -> str:
    """Return the words at a port on one line; a list is numbered, an observation is cut to 400 characters."""
    for value in inputs.get(port, ()):
        if isinstance(value, TextValue):
            return " ".join(value.text.split())
        if isinstance(value, TextsValue):
            items = [" ".join(text.split()) for text in value.texts]
            return " | ".join(f"{number}) {item}" for number, item in enumerate(items, start=1))
        if isinstance(value, ObservedValue):
            return " ".join(value.text.split())[:_MAX_WORDS]
    return str(step.literal(port) or "")


def _material(name: str, value: Value) -> str:
    text = evidence_text(value)
    cut = "" if len(text) <= MAX_CHARACTERS else f" (the first {MAX_CHARACTERS} characters)"
    label = "Speech" if name == "transcript" else "Notes"
    return f"{label}{cut}:\n{fence(name, text[:MAX_CHARACTERS])}"


_STEPS: Mapping[PrimitiveKind, Callable[[Step, Inputs, ToolContext], Awaitable[Fields]]] = (
    MappingProxyType({
        "extract_video_parts": _extract,
        "transcribe_speech": _transcribe,
        "ground_event": _ground,
        "analyze": _analyze,
        "web_search": _search,
        "parse_website": _parse,
    })
)
