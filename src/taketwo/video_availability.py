"""Which videos of a benchmark are there, and what the losses do to its questions.

What needs a decoder is imported where it is called.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from taketwo.benchmarks.benchmark import Benchmark
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.named_files import something_is_there
from taketwo.benchmarks.population import (
    Composition,
    Difference,
    Overlap,
    composition_of,
    differences,
    video_overlap,
)
from taketwo.question_sets import Options, benchmark_of, write_list

if TYPE_CHECKING:
    from taketwo.benchmarks.availability import Availability
    from taketwo.media.video import VideoInfo

__all__ = ["AvailabilityReport", "check_availability"]


@dataclass(frozen=True, kw_only=True)
class AvailabilityReport:
    """Which questions can be asked, and how those that can differ from all.

    `after` and `differences` (available against all, in points) are None and empty where none can.
    `overlap` counts the videos that have available and lost questions.
    """

    availability: Availability
    before: Composition
    after: Composition | None
    differences: tuple[Difference, ...]
    overlap: Overlap

    def write(self, path: Path) -> None:
        """Write the list of items, available and lost; `exclude` takes it and leaves out the lost.

        Raises
        ------
        RequestError
            If another list lies there.
        """
        write_list(path, self.availability.to_json())

    def to_json(self) -> dict[str, JsonValue]:
        """Return everything as JSON values."""
        return {
            **self.availability.to_json(),
            "counts": {str(state): count for state, count in self.availability.counts.items()},
            "before": self.before.to_json(),
            "after": None if self.after is None else self.after.to_json(),
            "differences": [asdict(item) for item in self.differences],
            "video_overlap": asdict(self.overlap),
        }

    def to_polars(self) -> pl.DataFrame:
        """Return a row per question: its state, reason, hash, and both durations in seconds."""
        return pl.DataFrame(
            [asdict(item) for item in self.availability.states], infer_schema_length=None
        )


def check_availability(
    what: Path | str,
    options: Options | None = None,
    *,
    tolerance_s: float | None = None,
    probe: Callable[[Path], VideoInfo] | None = None,
    on_look: Callable[[int, int], None] | None = None,
) -> AvailabilityReport:
    """Say which videos of a benchmark are there, decodable and as long as the data set says.

    Parameters
    ----------
    what, options
        A name with options, or a study; see `benchmark_of`.
    tolerance_s
        A video is of another duration where it differs by more than this, in seconds; by default
        the larger of 2 s and 2 % of what is expected.
    probe
        Looks at a file; by default measures it and decodes a frame.
    on_look
        Is told how many files were looked at, of how many.

    Raises
    ------
    RequestError
        If the tolerance is negative or no finite number.
    """
    from taketwo.benchmarks.availability import (  # needs a decoder: on call
        TOLERANCE_S,
        TOLERANCE_SHARE,
        availability_of,
    )
    from taketwo.media.video import probe as measured

    benchmark = benchmark_of(what, options)
    look = probe or measured
    if on_look is not None:
        look = _counted(look, benchmark, on_look)
    found = availability_of(
        benchmark,
        look,
        tolerance_s=TOLERANCE_S if tolerance_s is None else tolerance_s,
        tolerance_share=TOLERANCE_SHARE if tolerance_s is None else 0.0,
    )
    available = found.available
    return AvailabilityReport(
        availability=found,
        before=composition_of(benchmark.questions),
        after=composition_of(available) if available else None,
        differences=differences(benchmark.questions, available) if available else (),
        overlap=video_overlap(available, found.lost),
    )


def _counted(
    look: Callable[[Path], VideoInfo], benchmark: Benchmark, on_look: Callable[[int, int], None]
) -> Callable[[Path], VideoInfo]:
    paths = {item.video_path for item in benchmark.questions}
    total = sum(something_is_there(Path(path)) for path in paths)
    done = 0

    def counted(path: Path) -> VideoInfo:
        nonlocal done
        done += 1
        on_look(done, total)
        return look(path)

    return counted
