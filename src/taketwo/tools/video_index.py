"""The index of one video: its clips, the subjects that appear in it, and what making it cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import DataError
from taketwo.tools.clip_index import Clip, span
from taketwo.tools.text_search import TextSearch

__all__ = ["IndexWork", "TokenUse", "VideoIndex"]

FORMAT = "taketwo.video-index/1"
_NAMED = 8


@dataclass(frozen=True, kw_only=True)
class TokenUse:
    """What one model used; None where a reply of it did not report its usage."""

    model: str
    input_tokens: int | None
    output_tokens: int | None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "model": self.model,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }


@dataclass(frozen=True, kw_only=True)
class IndexWork:
    """Work that was done for an index.

    `latency_s` is the sum of self-timed seconds, as in a cell, whatever ran at the same time;
    `frames` are those handed to a model; `operations` are primitive operations.
    """

    model_calls: int = 0
    operations: int = 0
    frames: int = 0
    latency_s: float = 0.0
    usage: tuple[TokenUse, ...] = ()

    @property
    def tokens(self) -> int | None:
        """Return input plus output of all models; None where one call did not report them."""
        parts = [part for use in self.usage for part in (use.input_tokens, use.output_tokens)]
        known = [part for part in parts if part is not None]
        return sum(known) if len(known) == len(parts) else None

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return {
            "model_calls": self.model_calls,
            "operations": self.operations,
            "frames": self.frames,
            "latency_s": self.latency_s,
            "usage": [use.to_json() for use in self.usage],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> IndexWork:
        """Read what `to_json` wrote."""
        values = cast("dict[str, int]", dict(record))
        uses = cast("list[dict[str, str]]", record["usage"])
        return cls(**{**values, "usage": tuple(TokenUse(**use) for use in uses)})  # pyright: ignore[reportArgumentType] written by to_json

    @classmethod
    def sum_of(cls, parts: Iterable[IndexWork]) -> IndexWork:
        """Return all work of `parts` together, the usage by model."""
        done = list(parts)
        models = sorted({use.model for part in done for use in part.usage})
        uses = [use for part in done for use in part.usage]
        return cls(
            model_calls=sum(part.model_calls for part in done),
            operations=sum(part.operations for part in done),
            frames=sum(part.frames for part in done),
            latency_s=round(sum(part.latency_s for part in done), 6),
            usage=tuple(
                TokenUse(
                    model=model,
                    input_tokens=_sum(use.input_tokens for use in uses if use.model == model),
                    output_tokens=_sum(use.output_tokens for use in uses if use.model == model),
                )
                for model in models
            ),
        )


@dataclass(frozen=True, kw_only=True)
class VideoIndex:
    """What an agent knows of a video before it is asked anything.

    `scope` says for which study, execution and arm it was made: it is used nowhere else.
    `registry_problem` says why the registries of the clips could not be merged; they then stand in
    `registry` side by side. `described` is whether clips were to be described at all, from frames;
    else they are the stretches of speech.
    """

    scope: str
    clips: tuple[Clip, ...]
    registry: Mapping[str, JsonValue]
    registry_problem: str | None
    described: bool
    work: IndexWork = field(default_factory=IndexWork)

    @property
    def failed(self) -> tuple[Clip, ...]:
        """Return the clips that could not be described."""
        return tuple(clip for clip in self.clips if clip.problem is not None)

    @property
    def has_text(self) -> bool:
        """Return whether there is anything to search in."""
        return any(clip.text for clip in self.clips)

    @property
    def remark(self) -> str | None:
        """Return what is missing from the index, as results say it; None where nothing is."""
        failed = self.failed
        if not failed:
            return None
        named = ", ".join(span(clip.start_s, clip.end_s) for clip in failed[:_NAMED])
        more = f" and {len(failed) - _NAMED} more" if len(failed) > _NAMED else ""
        return f"{len(failed)} of {len(self.clips)} clips could not be described: {named}{more}"

    def to_bytes(self) -> bytes:
        """Return the index as it stands in its file."""
        record: dict[str, JsonValue] = {
            "format": FORMAT,
            "scope": self.scope,
            "described": self.described,
            "work": self.work.to_json(),
            "subject_registry": dict(self.registry),
            "registry_problem": self.registry_problem,
            "clips": [clip.to_json() for clip in self.clips],
        }
        return json.dumps(record, ensure_ascii=False, indent=1).encode("utf-8", "replace")

    @classmethod
    def from_bytes(cls, data: bytes) -> VideoIndex:
        """Read what `to_bytes` wrote.

        Raises
        ------
        DataError
            If it is no index of ours.
        """
        try:
            record = cast("dict[str, JsonValue]", json.loads(data))
            if record["format"] != FORMAT:
                raise DataError(f"format is {record['format']!r}, this reader knows {FORMAT}")
            return cls(
                scope=cast("str", record["scope"]),
                described=cast("bool", record["described"]),
                work=IndexWork.from_json(cast("Mapping[str, JsonValue]", record["work"])),
                registry=cast("Mapping[str, JsonValue]", record["subject_registry"]),
                registry_problem=cast("str | None", record["registry_problem"]),
                clips=tuple(
                    Clip.from_json(clip)
                    for clip in cast("list[Mapping[str, JsonValue]]", record["clips"])
                ),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"no index of a video: {error!r}") from error


@dataclass(frozen=True, kw_only=True)
class OpenedIndex:
    """An index as the tools of one cell use it."""

    index: VideoIndex
    search: TextSearch
    duration_s: float


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)
