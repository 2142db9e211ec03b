"""The command `taketwo`: finds the verb, runs it, and turns errors into messages and exit statuses."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from typing import cast

import click

from taketwo.errors import TaketwoError

__all__ = ["COMMANDS", "command_line", "main"]

COMMANDS: dict[str, str] = {
    "demo": "Watch a full study run offline, and read its verdict.",
    "plan": "See what a study would run, what it would cost and what it could detect.",
    "run": "Execute a study, or resume it.",
    "score": "Judge the answers of a study from its logs.",
    "compare": "Say whether the method's effect survives complete re-execution.",
    "report": "Write the report, tables and figures of a study.",
    "audit": "Say whether a claim survives, from results that other harnesses wrote.",
    "rating-form": "Draw trajectories that people rate, to see whether the judge rates alike.",
    "export": "Open the runs of a study in the viewers and scripts of others.",
    "rejudge": "See what another judge makes of the trajectories or answers of a finished run.",
    "gate": "Let a pipeline fail where a claim did not survive.",
    "benchmark": "See what is in a benchmark, which videos are there, and draw a holdout.",
    "doctor": "Find out whether this machine can run studies, and what is missing.",
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that help stays quick and light."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"taketwo.cli.{cmd_name.replace('-', '_')}")
        return cast("click.Command", module.command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("taketwo"), prog_name="taketwo")
def command_line() -> None:
    """Find out whether the result of a video agent is real.

    A study runs all arms on all questions in K complete executions, and says whether the
    effect of the method survives. Start with: taketwo demo

    \b
    Exit status
      0  done
      2  the request cannot be met as written
      3  what was given cannot be used (the message says where)
      4  a fault of Take Two or of the machine
      130  interrupted; a study can be resumed
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    Errors of the tree in `taketwo.errors` are printed without a traceback; anything else is a
    fault of ours and keeps it.
    """
    try:
        status = command_line.main(
            args=None if arguments is None else list(arguments), standalone_mode=False
        )
        sys.exit(status if isinstance(status, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted; the same command goes on where it stopped", err=True)
        sys.exit(130)
    except TaketwoError as error:
        click.echo(f"{type(error).__name__}: {error}", err=True)
        sys.exit(error.exit_status)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "taketwo":
            raise
        click.echo(
            f"RequestError: this needs the package that provides {error.name!r}, which is not installed; "
            "install what runs studies with: pip install 'taketwo[offline]'",
            err=True,
        )
        sys.exit(2)


if __name__ == "__main__":
    main()
