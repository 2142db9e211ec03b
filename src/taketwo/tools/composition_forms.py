"""What a composition is made of: types of values, and what each primitive takes and gives.

A step binds the ports of one primitive to literals, parameters and fields of earlier steps. The
table below is all that a writer of compositions, a model among them, has to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, get_args

from taketwo.tools.operation import PrimitiveKind
from taketwo.tools.video_tool import Resolution

__all__ = ["OPERATIONS", "Literals", "OperationForm", "Port", "ValueType", "operations_text"]

ValueType = Literal[
    "window", "text", "texts", "flag", "frames", "transcript", "observed", "documents"
]
"""`observed` is a text that a model wrote about the video, `documents` are pages of the web."""


@dataclass(frozen=True, kw_only=True)
class Literals:
    """Which values may be written out at a port.

    `text` up to `high` characters on one line, `integer` and `number` from `low` to `high`, or one
    of `words`.
    """

    kind: Literal["text", "integer", "number", "word"]
    low: float = 0
    high: float = 0
    words: tuple[str, ...] = ()

    def problem(self, value: object) -> str | None:
        """Return what is wrong with a literal, or None."""
        if self.kind == "word":
            return None if value in self.words else f"must be one of {', '.join(self.words)}"
        if self.kind == "text":
            if not isinstance(value, str) or not value.strip():
                return "must be a text"
            if len(value.splitlines()) > 1:
                return "must stand on one line"
            long = len(value) > self.high
            return (
                f"has {len(value)} characters, at most {self.high:g} are allowed" if long else None
            )
        whole = self.kind == "integer"
        is_number = isinstance(value, int) if whole else isinstance(value, (int, float))
        if not is_number or isinstance(value, bool) or not self.low <= value <= self.high:  # type: ignore[operator]
            kind = "a whole number" if whole else "a number"
            return f"must be {kind} from {self.low:g} to {self.high:g}"
        return None

    def describe(self) -> str:
        """Return the literals in words."""
        if self.kind == "word":
            return " or ".join(f'"{word}"' for word in self.words)
        if self.kind == "text":
            return f"a text of up to {self.high:g} characters"
        return (
            f"{'an integer' if self.kind == 'integer' else 'a number'} {self.low:g}-{self.high:g}"
        )


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input of a primitive.

    `accepts` are the types that a reference may have. Where `many`, a list of references may stand.
    What is bound to a value that there is none of makes the step be skipped; where `droppable` it
    is left out instead.
    """

    about: str
    accepts: frozenset[ValueType] = frozenset()
    literals: Literals | None = None
    default: str | int | float | None = None
    required: bool = False
    many: bool = False
    droppable: bool = False


@dataclass(frozen=True, kw_only=True)
class OperationForm:
    """Ports and fields of a primitive. Of the ports `one_of`, at least one must be bound.

    `verb` is its short name in the notation of a composition. A field `gated_by` another one is
    there exactly when that one is.
    """

    verb: str
    ports: Mapping[str, Port]
    fields: Mapping[str, ValueType]
    one_of: tuple[str, ...] = ()
    gated_by: Mapping[str, str] = field(default_factory=dict[str, str])


_TEXT = Literals(kind="text", high=300)
_WINDOW = Port(
    about="part of the video; the whole video where it is not bound",
    accepts=frozenset({"window"}),
)
_MARGIN = Port(
    about="seconds added at both ends of the window",
    literals=Literals(kind="number", low=0, high=60),
    default=0.0,
)
_WORDS: frozenset[ValueType] = frozenset({"text", "observed"})

OPERATIONS: Mapping[PrimitiveKind, OperationForm] = MappingProxyType({
    "extract_video_parts": OperationForm(
        verb="Extract",
        ports={
            "window": _WINDOW,
            "count": Port(
                about="how many frames, spread evenly",
                literals=Literals(kind="integer", low=1, high=64),
                default=10,
            ),
            "resolution": Port(
                about="size of the frames",
                literals=Literals(kind="word", words=get_args(Resolution)),
                default="medium",
            ),
            "margin_s": _MARGIN,
        },
        fields={"frames": "frames", "window": "window"},
    ),
    "transcribe_speech": OperationForm(
        verb="Transcribe",
        ports={"window": _WINDOW, "margin_s": _MARGIN},
        fields={"transcript": "transcript", "window": "window"},
    ),
    "ground_event": OperationForm(
        verb="Ground",
        ports={
            "event": Port(
                about="what is to be seen, in words", accepts=_WORDS, literals=_TEXT, required=True
            ),
            "window": _WINDOW,
        },
        fields={
            "found": "flag",
            "window": "window",
            "description": "observed",
            "frames": "frames",
        },
        gated_by={"window": "found"},
    ),
    "analyze": OperationForm(
        verb="Analyze",
        ports={
            "focus": Port(
                about="what to report about",
                accepts=frozenset({"text", "texts", "observed"}),
                literals=_TEXT,
                required=True,
            ),
            "task": Port(
                about="how to report it; observations only",
                literals=Literals(kind="text", high=600),
                default="",
            ),
            "frames": Port(
                about="frames to look at", accepts=frozenset({"frames"}), many=True, droppable=True
            ),
            "transcript": Port(
                about="speech to take into account",
                accepts=frozenset({"transcript"}),
                many=True,
                droppable=True,
            ),
            "notes": Port(
                about="earlier observations or pages to take into account",
                accepts=frozenset({"observed", "documents"}),
                many=True,
                droppable=True,
            ),
        },
        fields={"observations": "observed"},
        one_of=("frames", "transcript", "notes"),
    ),
    "web_search": OperationForm(
        verb="Search",
        ports={
            "query": Port(about="search terms", accepts=_WORDS, literals=_TEXT, required=True),
            "results": Port(
                about="how many results at most",
                literals=Literals(kind="integer", low=1, high=10),
                default=3,
            ),
        },
        fields={"documents": "documents", "url": "text"},
        gated_by={"url": "documents"},
    ),
    "parse_website": OperationForm(
        verb="Parse",
        ports={
            "url": Port(about="address of the page", accepts=frozenset({"text"}), required=True),
            "characters": Port(
                about="how much of its text at most",
                literals=Literals(kind="integer", low=500, high=20_000),
                default=5000,
            ),
        },
        fields={"documents": "documents"},
    ),
})


def operations_text() -> str:
    """Return the table of primitives in words, as a writer of compositions needs it."""
    lines: list[str] = []
    for name, form in OPERATIONS.items():
        lines.append(f"{name} gives {', '.join(f'{n} ({t})' for n, t in form.fields.items())}")
        for port_name, port in form.ports.items():
            takes = [*sorted(f"${kind}" for kind in port.accepts)]
            if port.literals is not None:
                takes.append(port.literals.describe())
            need = (
                "required"
                if port.required
                else f"default {port.default!r}"
                if port.default is not None
                else "optional"
            )
            many = ", or a list of these" if port.many else ""
            lines.append(f"  {port_name}: {port.about}; {' or '.join(takes)}{many}; {need}")
        if form.one_of:
            lines.append(f"  at least one of {', '.join(form.one_of)}")
    return "\n".join(lines)
