"""One registry of the subjects of a whole video, out of those of its clips.

The captioner merges them in portions that fit into a request, and the merged ones again, until one
is left. Where a portion cannot be merged all stand side by side: nobody is lost, and it is said.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.clip_index import Clip, Subject, clock
from taketwo.tools.context_overflow import ContextOverflow
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.primitives import Primitives

__all__ = ["MERGE_PROMPT", "MergedRegistry", "Registry", "merge_of", "merged_registry"]

MERGE_PROMPT = f"""\
You are given registries of the subjects of a video, one for each part of it, in order of time. The
same person or thing may stand in several of them, under other ids and names. Make one registry of
all of them:
- Every subject of every registry is in it, once.
- Entries that are clearly the same subject become one: the name that says most, all that is known of
  appearance and identity without repetitions, and the earliest first_seen.
- Entries that may be the same but need not be stay apart.
- Give every subject an id of its own, such as person_1 or object_2.
Add nothing that the registries do not say. {FENCE_RULE}"""

_PORTION = 24_000
_MOST = 300

Registry = Mapping[str, JsonValue]
Merge = Callable[[str, Sequence[Registry]], Awaitable[tuple[Registry | None, str | None]]]
"""Merges registries under a name of the request; gives them merged, or None and why not."""


class _Merged(BaseModel):
    """The subjects of the video, by an id."""

    subject_registry: dict[str, Subject] = Field(max_length=_MOST)


@dataclass(frozen=True, kw_only=True)
class MergedRegistry:
    """The subjects of a video; `problem` says why those of its clips stand side by side."""

    subjects: Registry
    problem: str | None = None


async def merged_registry(clips: Sequence[Clip], merge: Merge) -> MergedRegistry:
    """Return the registry of a video; `merge` is asked for each portion."""
    left: list[Registry] = [clip.subjects for clip in clips if clip.subjects]
    level = 0
    while len(left) > 1:
        merged: list[Registry] = []
        for number, portion in enumerate(_portions(left)):
            if len(portion) == 1:
                merged.append(portion[0])
                continue
            found, problem = await merge(f"merge-{level}-{number:03d}", portion)
            if found is None:
                return MergedRegistry(subjects=_side_by_side(clips), problem=problem)
            merged.append(found)
        left, level = merged, level + 1
    return MergedRegistry(subjects=left[0] if left else {})


async def merge_of(
    primitives: Primitives, registries: Sequence[Registry]
) -> tuple[Registry | None, str | None]:
    """Return `registries` merged by the captioner, or None and what is wrong with its replies.

    Raises
    ------
    Exception
        The fault of a provider.
    """
    lines = "\n".join(json.dumps(dict(item), ensure_ascii=False) for item in registries)
    try:
        found = await primitives.analyze_in_form(
            _Merged,
            system=MERGE_PROMPT,
            text=f"{len(registries)} registries, one a line:\n{fence('registries', lines)}",
            frames=(),
        )
    except ContextOverflow as error:
        return None, str(error)
    if found.value is None:
        return None, f"no registry in the form after {found.asked} replies: {found.problem}"
    return {
        name: subject.model_dump(mode="json")
        for name, subject in found.value.subject_registry.items()
    }, None


def _portions(registries: Sequence[Registry]) -> list[list[Registry]]:
    """Return `registries` in portions of at least two, in their order, as large as one request takes."""
    portions: list[list[Registry]] = []
    size = 0
    for registry in registries:
        length = len(json.dumps(dict(registry), ensure_ascii=False))
        if portions and (len(portions[-1]) < 2 or size + length <= _PORTION):
            portions[-1].append(registry)
            size += length
        else:
            portions.append([registry])
            size = length
    return portions


def _side_by_side(clips: Sequence[Clip]) -> Registry:
    return {
        f"{clock(clip.start_s)} {name}": subject
        for clip in clips
        for name, subject in clip.subjects.items()
    }
