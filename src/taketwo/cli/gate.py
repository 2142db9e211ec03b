"""`taketwo gate`: an exit status for scripts that says whether a claim holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal, cast

import click

from taketwo.analysis.comparison import Comparison
from taketwo.analysis.gate import Claim, gate
from taketwo.benchmarks.canonical import JsonValue
from taketwo.cli.compare import drift_option
from taketwo.cli.edited_study import tell_edited_rule
from taketwo.errors import InvalidResults, PlanChanged
from taketwo.study import compare

__all__ = ["command"]

NOT_EVALUATED = 3


@click.command("gate")
@click.argument("what", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--metric", default="accuracy", show_default=True, help="Metric of the claim.")
@click.option(
    "--claim",
    "kind",
    type=click.Choice(["direction", "equivalent"]),
    default="direction",
    show_default=True,
    help="The same supported direction in every execution, or every shift inside the margin "
    "that the rule declared.",
)
@click.option(
    "--sign",
    type=click.Choice(["higher", "lower"]),
    help="Direction that is claimed of the method; without it either will do.",
)
@click.option("--method", help="Method of the claim, where the study has several comparisons.")
@click.option("--baseline", help="Baseline of the claim, where the study has several comparisons.")
@drift_option
@click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")
@click.pass_context
def command(
    context: click.Context,
    what: tuple[Path, ...],
    metric: str,
    kind: Literal["direction", "equivalent"],
    sign: Literal["higher", "lower"] | None,
    method: str | None,
    baseline: str | None,
    allow_drift: bool,
    as_json: bool,
) -> None:
    """Answer by exit status whether a claim survived complete re-execution.

    WHAT is a study (folder or YAML file), an outcomes table with its plan.json beside it, the logs of
    the executions (.eval), or a comparison (.json) that compare or audit wrote.

    \b
    Exit status
      0  the claim holds
      1  it does not
      2  bad usage
      3  it cannot be evaluated (one execution, nothing measured, failed cells, drift)

    \b
    Example
      taketwo gate studies/march.yaml --metric accuracy --sign higher
    """
    tell_edited_rule(what)
    claim = Claim(metric=metric, kind=kind, sign=sign, method=method, baseline=baseline)
    try:
        comparison = _comparison(what, allow_drift=allow_drift)
    except PlanChanged as error:
        click.echo(f"cannot be evaluated: {error}", err=True)
        context.exit(NOT_EVALUATED)
    result = gate(comparison, claim)
    if as_json:
        click.echo(json.dumps(result.to_json(), indent=1, ensure_ascii=False))
    else:
        words = result.holding.replace("_", " ")
        click.echo(f"{words}: {result.claim.metric}, {result.comparison}: {result.reason}")
    context.exit(result.exit_status)


def _comparison(what: tuple[Path, ...], *, allow_drift: bool) -> Comparison:
    if len(what) != 1 or what[0].suffix != ".json":
        return compare(*what, allow_drift=allow_drift)
    try:
        record = cast("JsonValue", json.loads(what[0].read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidResults(f"{what[0]}: not a readable comparison ({error})") from error
    if not isinstance(record, dict):
        raise InvalidResults(f"{what[0]}: not a comparison but {type(record).__name__}")
    return Comparison.from_json(record)
