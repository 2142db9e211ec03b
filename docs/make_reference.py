"""Write docs/reference from the sources: public names, commands, outcome columns, errors.

python docs/make_reference.py           writes
python docs/make_reference.py --check   exits with 1 where a page is out of date
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import click

import taketwo
from taketwo import errors
from taketwo.cli.main import COMMANDS, command_line
from taketwo.outcomes.table import COLUMNS

REFERENCE = Path(__file__).parent / "reference"
HEADER = "<!-- made by docs/make_reference.py; do not edit -->\n\n"


def python_page() -> str:
    """Return the page of the public names."""
    parts = [
        "# Python\n\nEvery name that `taketwo` exports. Anything else may change without notice.\n"
    ]
    for name in sorted(taketwo.__all__, key=str.casefold):
        thing = getattr(taketwo, name)
        if inspect.isfunction(thing):
            title = f"{name}{inspect.signature(thing)}"
        elif isinstance(thing, type) and not issubclass(thing, BaseException):
            title = f"class {name}"
        else:
            title = f"exception {name}"
        parts.append(f"## `{name}`\n\n```\n{title}\n```\n\n```text\n{inspect.getdoc(thing)}\n```\n")
    return "\n".join(parts)


def commands_page() -> str:
    """Return the page of the commands, as their own help shows them."""
    context = click.Context(
        command_line,
        info_name="taketwo",
        max_content_width=90,
        help_option_names=["-h", "--help"],
    )
    parts = [f"# Commands\n\n```text\n{command_line.get_help(context)}\n```\n"]
    for name in COMMANDS:
        command = command_line.get_command(context, name)
        if command is None:
            raise SystemExit(f"the command {name!r} has no module")
        parts += _command_parts(command, context, name)
    return "\n".join(parts)


def _command_parts(command: click.Command, parent: click.Context, name: str) -> list[str]:
    """Return the help of a command, and of the commands below it."""
    context = click.Context(
        command,
        info_name=name,
        parent=parent,
        max_content_width=90,
        help_option_names=["-h", "--help"],
    )
    title = f"## `{context.command_path}`"
    parts = [f"{title}\n\n```text\n{command.get_help(context)}\n```\n"]
    if isinstance(command, click.Group):
        for below, inner in command.commands.items():
            parts += _command_parts(inner, context, below)
    return parts


def outcomes_page() -> str:
    """Return the page of the columns of `outcomes.parquet`."""
    rows = [
        f"| `{column.name}` | {column.dtype} | {column.unit} | {column.meaning} |"
        for column in COLUMNS
    ]
    return "\n".join([
        "# Columns of outcomes.parquet\n",
        "One row per planned cell. What was not reported is null, never 0.\n",
        "| column | type | unit | meaning |",
        "| --- | --- | --- | --- |",
        *rows,
        "",
    ])


def errors_page() -> str:
    """Return the page of the error tree."""
    return f"# Errors\n\n```text\n{inspect.getdoc(errors)}\n```\n"


PAGES = {
    "python.md": python_page,
    "commands.md": commands_page,
    "outcomes.md": outcomes_page,
    "errors.md": errors_page,
}


def main() -> int:
    """Write the pages, or check them; returns the exit status."""
    stale = []
    for name, make in PAGES.items():
        path = REFERENCE / name
        text = HEADER + make()
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    if "--check" in sys.argv and stale:
        print(f"docs/reference is out of date: {', '.join(stale)}; run: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
