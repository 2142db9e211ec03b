"""A composition as a tool that the orchestrator sees: schema, guidance, and a call that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, create_model

from taketwo.benchmarks.canonical import canonical_json
from taketwo.tools.analyze import OBSERVE_PROMPT
from taketwo.tools.catalog import TOOLS
from taketwo.tools.clip_arguments import HIDDEN_PATH, ClipArguments
from taketwo.tools.composition import Composition, Parameter, references_in
from taketwo.tools.composition_check import argument_names
from taketwo.tools.composition_run import run_composition
from taketwo.tools.composition_values import TextsValue, TextValue, Value, WindowValue
from taketwo.tools.grounding import GROUNDING_PROMPT
from taketwo.tools.media_shelf import MediaShelf
from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.seconds import Seconds
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, Window, Working

__all__ = ["composite_tool"]

_MOST_ITEMS = 64
_PROMPTS: Mapping[PrimitiveKind, str] = {
    "analyze": OBSERVE_PROMPT,
    "ground_event": GROUNDING_PROMPT,
}


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid")


def composite_tool(composition: Composition) -> VideoTool:
    """Return a checked composition as a tool.

    A call of it is one visible call and as many primitive operations as steps run. Its canonical
    form is among its prompts as `composition`, so that a study holds it fixed.
    """
    return _tool(composition.model_dump_json(by_alias=True))


@lru_cache(maxsize=256)
def _tool(record: str) -> VideoTool:
    # Each tool has a class of its own for its arguments; one a cell would fill the memory.
    composition = Composition.model_validate_json(record)

    async def run(context: ToolContext, arguments: BaseModel) -> ToolReply:
        given, notes = _given(composition, arguments, context)
        result = await run_composition(composition, given, context, notes)
        return result.to_reply(context.state.get(MediaShelf))

    observer = [
        _PROMPTS[kind] for kind in dict.fromkeys(composition.operations) if kind in _PROMPTS
    ]
    canonical = canonical_json(composition.canonical()).decode()
    names = ", ".join(
        argument
        for name, parameter in composition.parameters.items()
        for argument in argument_names(name, parameter.type)
    )
    about = f"{composition.description.strip()} {composition.guidance.strip()}"
    return VideoTool(
        name=composition.name,
        description=composition.description.strip(),
        guidance=f"`{composition.name}({names})`: {about}",
        arguments=_model(composition),
        run=run,
        prompts={
            "composition": canonical,
            **({"observer": "\n\f\n".join(observer)} if observer else {}),
        },
        hidden_arguments=HIDDEN_PATH if "window" in composition.parameters else frozenset(),
        works=lambda context: _works(composition, context),
    )


def _model(composition: Composition) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, parameter in composition.parameters.items():
        if parameter.type == "window":
            fields |= _window_fields(name, parameter)
            continue
        item = Annotated[
            str,
            StringConstraints(strip_whitespace=True, min_length=1, max_length=parameter.max_length),
        ]
        kind: Any = item
        if parameter.type == "texts":
            kind = Annotated[
                list[item], BeforeValidator(_as_list), Field(min_length=1, max_length=_MOST_ITEMS)
            ]
        fields[name] = _field(kind, parameter, parameter.description)
    base = ClipArguments if "window" in composition.parameters else _Arguments
    return create_model(f"Arguments of {composition.name}", __base__=base, **fields)


def _window_fields(name: str, parameter: Parameter) -> dict[str, Any]:
    start, end = argument_names(name, "window")
    about = f" ({parameter.description})" if parameter.description else ""
    absent = "" if parameter.required else "; the {end} of the video if absent"
    return {
        start: _field(
            Seconds, parameter, f"Start in seconds{about}{absent.replace('{end}', 'start')}"
        ),
        end: _field(Seconds, parameter, f"End in seconds{about}{absent.replace('{end}', 'end')}"),
    }


def _field(kind: Any, parameter: Parameter, description: str) -> Any:
    if parameter.required:
        return (kind, Field(description=description))
    return (kind | None, Field(default=None, description=description))


def _as_list(value: object) -> object:
    """Read one text as a list of it."""
    return [value] if isinstance(value, str) else value


def _given(
    composition: Composition, arguments: BaseModel, context: ToolContext
) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Return the values of the parameters and remarks on what was changed to fit the video.

    Raises
    ------
    ToolFailure
        With code `invalid_window` where nothing of the video lies in a window.
    """
    values = cast("dict[str, object]", dict(arguments))
    given: dict[str, Value] = {}
    notes = arguments.path_remarks(context) if isinstance(arguments, ClipArguments) else []
    for name, parameter in composition.parameters.items():
        if parameter.type == "window":
            start, end = (
                cast("float | None", values[one]) for one in argument_names(name, "window")
            )
            window = Window(start_time=start, end_time=end)
            start_s, end_s, remarks = window.clamped(context.duration_s)
            given[name] = WindowValue(start_s=start_s, end_s=end_s)
            notes += remarks
        elif values[name] is None:
            continue
        elif parameter.type == "texts":
            given[name] = TextsValue(texts=tuple(cast("list[str]", values[name])))
        else:
            given[name] = TextValue(text=cast("str", values[name]))
    return given, tuple(notes)


def _works(composition: Composition, context: ToolContext) -> Working:
    """Say how well the composition can work where some of its primitives cannot."""
    states = {
        kind: TOOLS[kind].works(context) for kind in {*composition.operations} if kind in TOOLS
    }
    lacking = {kind for kind, state in states.items() if state.mode == "missing"}
    reasons = [
        f"{kind}: {states[kind].reason}" for kind in sorted(states) if states[kind].mode != "full"
    ]
    if not reasons:
        return Working()
    broken: set[str] = set()
    for step in composition.steps:
        sources = {
            source.name
            for port in step.bindings
            if not step.form.ports[port].droppable
            for source in step.references(port)
        }
        sources |= {one.name for text in step.when for one in references_in(text)}
        if step.do in lacking or sources & broken:
            broken.add(step.id)
    left = [
        one.name
        for text in composition.evidence.values()
        for one in references_in(text)
        if one.name not in broken
    ]
    return Working(mode="degraded" if left else "missing", reason="; ".join(reasons))
