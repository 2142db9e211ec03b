"""The times of a trajectory in another notation: frame indices, seconds, or minutes and seconds.

A judge of evidence should not care how an agent's tools write a moment; one that compares with a
fixed path may. Times are found by their form: a number with a unit of seconds, a clock of minutes and
two digits, a decimal number alone in brackets, and values under the names that tools give to times.
What looks like a time and is none stays: counts, scores, decades, times of the day, lengths ("for 5
s", "every 2 s"), what is read off a screen ("shows 0:45", quoted), and whatever the question itself
writes. Frame indices in the original stay too, since nobody says at which rate they count.

Known weaknesses: a length that no word gives away becomes a moment, a reading of a clock that no word
gives away becomes a time of the video; with few frames a second, moments fall on the same frame.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Literal, cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import Event, ModelCall, Note, ToolCall, Trajectory

__all__ = [
    "STYLES",
    "TimeStyle",
    "times_in",
    "times_of_question",
    "trajectory_with_times",
    "with_times",
]

TimeStyle = Literal["frames", "seconds", "clock"]
STYLES: tuple[TimeStyle, ...] = ("frames", "seconds", "clock")
"""`frame 1860`, `62 s` and `1:02`."""

_KEYS = frozenset({
    "start", "end", "start_time", "end_time", "start_s", "end_s", "timestamp_start", "timestamp_end",
    "time", "times", "time_s", "times_s", "timestamp", "timestamps", "time_range", "time_ranges",
})  # fmt: skip
_NAMES = "|".join(sorted(_KEYS))
_QUOTE = r"""\\{0,8}["']"""
_NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
_CLOCK = r"\d{1,3}:[0-5]\d(?::[0-5]\d)?(?:[.,]\d{1,3})?"
_UNIT = r"(?:[Ss]econds?|[Ss]ecs?|s)(?![\w/])"
_DASH = r"\s?[-–—]\s?"
_FOUND = re.compile(
    rf"""(?P<key>(?P<quote>{_QUOTE})(?:{_NAMES})(?P=quote)\s*:\s*)
            (?:(?P<bare>{_NUMBER})(?![\w.:])|(?P<list>\[[\d\s.,\[\]]{{1,2000}}\]))
      | (?<![\w.:/-])(?P<from>{_CLOCK})(?P<clock_dash>{_DASH})(?P<until>{_CLOCK})(?![\w:])
      | (?<![\w.:/-])(?P<clock>{_CLOCK})(?![\w:]|\.\d)
      | (?<![\w.:/$-])(?P<first>{_NUMBER})(?P<dash>{_DASH}|\ to\ |\ and\ )(?P<last>{_NUMBER})\s?{_UNIT}
      | (?<![\w.:/$-])(?P<seconds>{_NUMBER})(?P<space>\s?){_UNIT}
      | (?<=\[)(?P<stamp>\d{{1,6}}\.\d{{1,6}})(?=\])""",
    re.VERBOSE,
)
_OF_TIME = re.compile(rf"{_QUOTE}(?:{_NAMES}){_QUOTE}\s*:\s*(?:\[[^\]]*)?{_QUOTE}$")
_FILLERS = r"(?:\s+(?:of|about|around|the|a|is|was|roughly|only|than|as))*[\s:=]*$"
_LENGTH_BEFORE = re.compile(
    r"\b(?:for|lasts?|lasted|lasting|every|each|within|takes?|took|duration|length|wait(?:s|ed)?|over|"
    rf"only|nearly|another|next|first|additional|extra|total|of){_FILLERS}",
    re.IGNORECASE,
)
_SPAN_LENGTH_BEFORE = re.compile(
    rf"\b(?:for|lasts?|lasted|lasting|every|takes?|took|duration|length){_FILLERS}", re.IGNORECASE
)
_LENGTH_AFTER = re.compile(
    r"[\s-]+(?:long|apart|later|earlier|each|per|clips?|windows?|intervals?|gaps?|segments?|in total|"
    r"of)\b",
    re.IGNORECASE,
)
_SPAN_LENGTH_AFTER = re.compile(r"[\s-]+(?:long|apart|later|earlier|each|per)\b", re.IGNORECASE)
_READING_BEFORE = re.compile(
    r"\b(?:reads?|reading|shows?|showing|displays?|displaying|says?|timer|stopwatch|countdown|scores?|"
    rf"scored|scoreboard|won|lost|ratio){_FILLERS}|[\"“'‘]$",
    re.IGNORECASE,
)
_AFTER_NO_TIME = re.compile(r"\s?(?:[ap]\.?m\b|o'clock|h\b)|[\"”'’]", re.IGNORECASE)
_DECADE = re.compile(r"(?:1\d|20)\d0")
_SHORT_DECADE = re.compile(r"\bthe\s+(?:(?:early|late|mid)[\s-])?$", re.IGNORECASE)
_PLACE_BEFORE_AND = re.compile(r"\b(?:between|at)\s+$", re.IGNORECASE)
_CONTEXT = 48
_DEEPEST = 50
_LATEST_S = 1_000_000


def times_in(text: str) -> tuple[str, ...]:
    """Return the times that a text writes, as they stand there."""
    return tuple(match.group() for match in _FOUND.finditer(text) if not _is_no_time(match))


def times_of_question(question: Question) -> frozenset[str]:
    """Return the times that a question, its options and its milestones write, as they stand there."""
    texts = (question.text, *question.options, *(step.text for step in question.milestones))
    return frozenset(match.group() for text in texts for match in _FOUND.finditer(text))


def with_times(text: str, style: TimeStyle, *, fps: float = 1.0, keep: Collection[str] = ()) -> str:
    """Return a text with its times in one notation.

    Parameters
    ----------
    fps
        Frames a second by which a moment becomes the index of a frame, above 0.
    keep
        Texts of times that stay as they are, such as those in the question.

    Raises
    ------
    ValueError
        If `fps` is not above 0.

    Examples
    --------
    >>> with_times("The door opens at 75 seconds, 3 people leave.", "clock")
    'The door opens at 1:15, 3 people leave.'
    """
    if not fps > 0:
        raise ValueError(f"a moment has no frame at {fps!r} frames a second; give a number above 0")
    kept = frozenset(keep)

    def rewritten(match: re.Match[str]) -> str:
        if match.group() in kept or _is_no_time(match):
            return match.group()
        return _rewritten(match, style, fps)

    return _FOUND.sub(rewritten, text)


def trajectory_with_times(
    trajectory: Trajectory, style: TimeStyle, *, fps: float = 1.0, keep: Collection[str] = ()
) -> Trajectory:
    """Return a trajectory whose arguments, results, remarks and answer have their times in one notation."""

    def text(written: str) -> str:
        return with_times(written, style, fps=fps, keep=keep)

    events: list[Event] = []
    for event in trajectory.events:
        if isinstance(event, ModelCall):
            events.append(replace(event, text=text(event.text), reasoning=text(event.reasoning)))
        elif isinstance(event, ToolCall):
            arguments = _value(event.arguments, text, lambda number: _written(number, style, fps))
            events.append(
                replace(
                    event,
                    arguments=cast("Mapping[str, JsonValue]", arguments),
                    result=text(event.result),
                )
            )
        else:
            events.append(
                replace(event, text=text(event.text)) if isinstance(event, Note) else event
            )
    return replace(
        trajectory,
        events=tuple(events),
        answer_text=text(trajectory.answer_text),
        reasoning=text(trajectory.reasoning),
    )


def _is_no_time(match: re.Match[str]) -> bool:
    """Return whether what has the form of a time is a length, a reading, a decade or a time of the day."""
    if match["key"] or match["stamp"]:
        return False
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(0, start - _CONTEXT) : start], text[end : end + _CONTEXT]
    if _OF_TIME.search(before):
        return False
    is_span = bool(match["first"] or match["from"])
    if is_span:
        return bool(_SPAN_LENGTH_BEFORE.search(before) or _SPAN_LENGTH_AFTER.match(after))
    if _LENGTH_BEFORE.search(before) or _LENGTH_AFTER.match(after):
        return True
    if _READING_BEFORE.search(before) or (match["clock"] and _AFTER_NO_TIME.match(after)):
        return True
    return bool(match["seconds"] and not match["space"]) and _is_decade(
        match["seconds"], before, after
    )


def _is_decade(number: str, before: str, after: str) -> bool:
    if _DECADE.fullmatch(number):
        return True
    is_short = len(number) == 2 and number.endswith("0")
    return bool(is_short and _SHORT_DECADE.search(before) and not after.lstrip().startswith("mark"))


def _rewritten(match: re.Match[str], style: TimeStyle, fps: float) -> str:
    if match["key"]:
        quote = match["quote"]

        def one(number: re.Match[str]) -> str:
            if style == "seconds":
                return number.group()
            return f"{quote}{_moment(float(number.group()), style, fps)}{quote}"

        return match["key"] + re.sub(_NUMBER, one, match["bare"] or match["list"])
    if match["stamp"]:
        return _moment(float(match["stamp"]), style, fps)
    if match["clock"]:
        return _moment(_seconds_of(match["clock"]), style, fps)
    if match["seconds"]:
        return _moment(float(match["seconds"]), style, fps)
    if match["from"]:
        return _span(_seconds_of(match["from"]), _seconds_of(match["until"]), "-", style, fps)
    first, joiner, last = match["first"], match["dash"], match["last"]
    if joiner == " and " and not _PLACE_BEFORE_AND.search(
        match.string[: match.start()][-_CONTEXT:]
    ):
        return f"{first}{joiner}{_moment(float(last), style, fps)}"
    return _span(float(first), float(last), joiner, style, fps)


def _span(start_s: float, end_s: float, joiner: str, style: TimeStyle, fps: float) -> str:
    start, end = _moment(start_s, style, fps), _moment(end_s, style, fps)
    if joiner in {" to ", " and "}:
        return f"{start}{joiner}{end}"
    if style == "frames":
        return f"frames {start.removeprefix('frame ')}-{end.removeprefix('frame ')}"
    return f"{start.removesuffix(' s')}-{end}"


def _moment(seconds: float, style: TimeStyle, fps: float) -> str:
    if style == "frames":
        return f"frame {round(seconds * fps)}"
    milliseconds = round(seconds * 1000)
    if style == "seconds":
        return f"{_decimal(milliseconds // 1000, milliseconds % 1000)} s"
    minutes, rest = divmod(milliseconds, 60_000)
    whole = f"{minutes}:{rest // 1000:02d}"
    return whole if rest % 1000 == 0 else f"{whole}.{rest % 1000:03d}".rstrip("0")


def _decimal(whole: int, thousandths: int) -> str:
    return str(whole) if not thousandths else f"{whole}.{thousandths:03d}".rstrip("0")


def _seconds_of(clock: str) -> float:
    parts = clock.replace(",", ".").split(":")
    return sum(float(part) * 60**place for place, part in enumerate(reversed(parts)))


def _written(number: float, style: TimeStyle, fps: float) -> JsonValue:
    if style == "seconds" or not (math.isfinite(number) and 0 <= number < _LATEST_S):
        return number
    return _moment(number, style, fps)


def _value(
    value: JsonValue,
    text: Callable[[str], str],
    time: Callable[[float], JsonValue],
    *,
    is_time: bool = False,
    depth: int = 0,
) -> JsonValue:
    """Return a JSON value with the times under the names of times, and in its texts, rewritten."""
    if depth > _DEEPEST or value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return time(value) if is_time else value
    if isinstance(value, str):
        if is_time and re.fullmatch(_NUMBER, value.strip()):
            return time(float(value))
        return text(value)
    if isinstance(value, Mapping):
        return {
            key: _value(item, text, time, is_time=key in _KEYS, depth=depth + 1)
            for key, item in value.items()
        }
    return [_value(item, text, time, is_time=is_time, depth=depth + 1) for item in value]
