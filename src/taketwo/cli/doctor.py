"""`taketwo doctor`: what this machine can do."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from taketwo.diagnosis import doctor

__all__ = ["command"]


@click.command("doctor")
@click.option("--quick", is_flag=True, help="Leave out the rendered question end to end.")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
def command(quick: bool, as_json: bool) -> int:
    """Find out whether this machine can run studies, and what is missing.

    Looks at versions, decoders, offline models, keys (names only) and settings that would change a
    study, and answers one rendered question end to end.

    \b
    Exit status
      0  nothing that is installed is broken
      4  something is (the line says what)

    \b
    Example
      taketwo doctor
    """
    diagnosis = doctor(end_to_end=not quick)
    if as_json:
        click.echo(json.dumps([asdict(check) for check in diagnosis.checks], indent=1))
    else:
        width = max(len(check.name) for check in diagnosis.checks)
        for check in diagnosis.checks:
            click.echo(f"{check.state:9}  {check.name:{width}}  {check.detail}")
    return 0 if diagnosis.is_sound else 4
