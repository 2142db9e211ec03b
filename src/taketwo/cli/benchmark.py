"""`taketwo benchmark`: what is in a benchmark, what of it is there, how a part differs, what to hold out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import get_args

import click

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.selection import Unit
from taketwo.cli.benchmark_text import (
    availability_text,
    check_text,
    holdout_text,
    population_text,
)
from taketwo.errors import InvalidQuestion, RequestError
from taketwo.question_sets import Against, check_benchmark, compare_population, hold_out
from taketwo.video_availability import check_availability

__all__ = ["command", "options_of"]

LOST = 3
_PROGRESS = 50

_Command = Callable[..., None]


def options_of(path: str | None, written: Sequence[str]) -> dict[str, JsonValue]:
    """Return the options of a benchmark out of `--path` and `KEY=VALUE`; a repeated key is a list.

    Raises
    ------
    RequestError
        If one is not of that form, or the path is given twice.
    """
    found: dict[str, JsonValue] = {} if path is None else {"path": path}
    for item in written:
        key, equals, text = item.partition("=")
        if not equals or not key:
            raise RequestError(
                f"{item!r} is no option of a benchmark; write KEY=VALUE, such as videos=clips"
            )
        value: JsonValue = {"true": True, "false": False}.get(text.lower(), text)
        if key not in found:
            found[key] = value
            continue
        if key == "path":
            raise RequestError("the path is given twice; keep --path or path=")
        before = found[key]
        found[key] = [*(before if isinstance(before, list) else [before]), value]
    return found


def _of_benchmark(command: _Command) -> _Command:
    """Add what every command takes to name a benchmark, and `--json`."""
    for decorate in (
        click.option("--json", "as_json", is_flag=True, help="Print every number as JSON."),
        click.option(
            "--path", metavar="PATH", help="Where the data set lies; short for path=PATH."
        ),
        click.argument("options", nargs=-1, metavar="[KEY=VALUE]..."),
        click.argument("what", metavar="NAME|STUDY"),
    ):
        command = decorate(command)
    return command


def _shown(record: Mapping[str, JsonValue]) -> str:
    return json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)


@click.group("benchmark")
def command() -> None:
    """Find out what is in a benchmark, and which of its videos are there.

    NAME is a benchmark (sage_bench, agentvidbench, video_mme, minerva, local, ...) with its options
    as KEY=VALUE, relative to the working directory; STUDY is a study whose benchmark is meant.

    \b
    Exit status
      0  done
      2  bad usage
      3  rows that cannot be used, or videos that are lost (the message names each)

    \b
    Example
      taketwo benchmark check sage_bench --path data/sage_bench
    """


@command.command("check")
@_of_benchmark
@click.pass_context
def check(
    context: click.Context, what: str, options: tuple[str, ...], path: str | None, as_json: bool
) -> None:
    """See whether every row can be used, and what the benchmark is made of.

    All broken rows are named, with file, line and field. No video is looked at.

    \b
    Exit status
      0  every row can be used
      2  bad usage
      3  some cannot

    \b
    Examples
      taketwo benchmark check agentvidbench --path data/agentvidbench
      taketwo benchmark check video_mme --path data/Video-MME subset=long subtitles=true
      taketwo benchmark check studies/march.yaml
    """
    try:
        found = check_benchmark(what, options_of(path, options))
    except InvalidQuestion as error:
        if not error.problems:
            raise
        if as_json:
            click.echo(_shown({"problems": list(error.problems)}))
        first, *_ = str(error).splitlines()
        click.echo(f"{type(error).__name__}: {first}", err=True)
        for problem in error.problems:
            click.echo(f"  {problem}", err=True)
        context.exit(error.exit_status)
    click.echo(_shown(found.to_json()) if as_json else check_text(found))


@command.command("availability")
@_of_benchmark
@click.option(
    "--freeze",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the list of items, available and lost with the reasons; `exclude` takes it.",
)
@click.option(
    "--tolerance",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    help="How much a duration may differ from the data set's.  [default: 2 s or 2 %, the larger]",
)
@click.pass_context
def availability(
    context: click.Context,
    what: str,
    options: tuple[str, ...],
    path: str | None,
    as_json: bool,
    freeze: Path | None,
    tolerance: float | None,
) -> None:
    """See which videos are there, decodable and of the expected duration.

    Every lost video is named with the reason, and the questions that are left are compared with all
    of them, factor by factor. A frozen list has the sha256 of every file.

    \b
    Exit status
      0  every question can be asked
      2  bad usage
      3  some cannot (a list is frozen all the same), or rows cannot be used

    \b
    Example
      taketwo benchmark availability sage_bench --path data/sage_bench \\
          exclude=holdout.json --freeze available.json
    """
    found = check_availability(
        what, options_of(path, options), tolerance_s=tolerance, on_look=_told
    )
    click.echo(_shown(found.to_json()) if as_json else availability_text(found))
    if freeze is not None:
        found.write(freeze)
        click.echo(f"list: {freeze}", err=True)
    if found.availability.lost:
        context.exit(LOST)


def _told(done: int, total: int) -> None:
    if done == 1 or done % _PROGRESS == 0 or done == total:
        click.echo(f"looking at video {done:,} of {total:,}", err=True)


@command.command("population")
@_of_benchmark
@click.option(
    "--part",
    "parts",
    metavar="FILE",
    type=click.Path(path_type=Path),
    multiple=True,
    required=True,
    help="Ids of the part: a holdout, a list, or the lost questions of a frozen list; repeatable.",
)
@click.option(
    "--complement", is_flag=True, help="The part is what the files leave, not what they name."
)
@click.option(
    "--against",
    type=click.Choice(get_args(Against)),
    default="whole",
    show_default=True,
    help="What the part is compared with.",
)
def population(
    what: str,
    options: tuple[str, ...],
    path: str | None,
    as_json: bool,
    parts: tuple[Path, ...],
    complement: bool,
    against: Against,
) -> None:
    """See how a part of a benchmark differs from the whole or the rest.

    Shares are compared level by level, in percentage points, and the videos that have questions on
    both sides are counted.

    \b
    Exit status
      0  done
      2  a file does not fit the benchmark, or a side has no question
      3  rows cannot be used

    \b
    Examples
      taketwo benchmark population sage_bench --path data/sage_bench \\
          --part holdout.json --part lost.json --complement
      taketwo benchmark population sage_bench --path data/sage_bench exclude=lost.json \\
          --part holdout.json --against rest
    """
    found = compare_population(
        what, options_of(path, options), part=parts, complement=complement, against=against
    )
    click.echo(_shown(found.to_json()) if as_json else population_text(found))


@command.command("holdout")
@_of_benchmark
@click.option("--n", type=click.IntRange(min=1), required=True, help="How many questions.")
@click.option(
    "--by",
    metavar="FACTOR,...",
    required=True,
    help="Attributes whose combinations are the strata, with commas between them.",
)
@click.option(
    "--unit",
    type=click.Choice(get_args(Unit)),
    default="question",
    show_default=True,
    help="What is drawn; whole videos leave none on both sides.",
)
@click.option("--seed", type=click.IntRange(min=0), required=True, help="Seed of the draw.")
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    required=True,
    help="Where to write the ids; `exclude` takes the file.",
)
def holdout(
    what: str,
    options: tuple[str, ...],
    path: str | None,
    as_json: bool,
    n: int,
    by: str,
    unit: Unit,
    seed: int,
    out: Path,
) -> None:
    """Draw a stratified holdout whose shares are those of the whole.

    Each stratum gets its share by largest remainders: none is off by a whole question, and rare
    ones are not lifted to one.

    \b
    Exit status
      0  drawn and written
      2  bad usage, or another list lies at the output
      3  rows cannot be used

    \b
    Example
      taketwo benchmark holdout sage_bench --path data/sage_bench --n 150 \\
          --by duration,question_type,modality --seed 17 --out holdout.json
    """
    factors = [name.strip() for name in by.split(",") if name.strip()]
    found = hold_out(what, options_of(path, options), n=n, by=factors, seed=seed, unit=unit)
    found.write(out)
    click.echo(_shown(found.to_json()) if as_json else holdout_text(found))
    click.echo(f"list: {out}", err=True)
