"""Agents that run outside: `command` starts a program for each question, `http` asks a service.

Both are handed the question without its truth, and say what they did and what the answer is in the
events of `external_protocol`. An answer counts only where everything that was said is of the
protocol and the agent ended well; whatever else happens is a status, never an answer.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, cast

from pydantic import BaseModel, ConfigDict, Field
from pydantic import JsonValue as AnyJson

from taketwo.agents.agent_spec import AgentSpec
from taketwo.agents.answer import Answer
from taketwo.agents.external_http import Service, ServiceFault
from taketwo.agents.external_process import CommandRun
from taketwo.agents.external_protocol import PROTOCOL, event_of, request_of
from taketwo.agents.external_report import Report
from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.media.video import file_sha256
from taketwo.tools.budget import BudgetExhausted, Limits
from taketwo.tools.toolbox import Toolbox

__all__ = [
    "COMMAND",
    "HTTP",
    "CommandAgent",
    "CommandOptions",
    "HttpAgent",
    "HttpOptions",
    "kept_environment",
]

_KEPT = ("PATH", "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
_Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
_Header = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
_Seconds = Annotated[float, Field(gt=0, le=86_400)]


class CommandOptions(BaseModel):
    """Which program answers, and within what.

    `command` is the program and its arguments, no shell; relative paths start where Take Two runs.
    `env` names the variables that it gets besides the few that every program needs; keys of
    providers are among them only if they are named. `files` are further files that it runs
    through, held fixed like those that stand in the command. `options` are handed to it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    command: list[str] = Field(min_length=1)
    time_limit_s: _Seconds = 600.0
    env: list[_Variable] = Field(default_factory=list[str])
    files: list[str] = Field(default_factory=list[str])
    options: dict[str, AnyJson] = Field(default_factory=dict[str, AnyJson])


class HttpOptions(BaseModel):
    """Which service answers, and within what.

    `headers_env` gives headers whose values are taken from the environment, by the names of the
    variables, so that no secret stands in a study. `retries` are further attempts after a failure
    that came before the service said anything, each after `retry_wait_s` seconds, doubled each
    time. `options` are handed to it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    url: str = Field(pattern=r"^https?://[^/\s?#@]+(?:[/?][^\s#]*)?$")
    time_limit_s: _Seconds = 600.0
    headers_env: dict[_Header, _Variable] = Field(default_factory=dict[str, str])
    retries: int = Field(default=3, ge=0, le=20)
    retry_wait_s: float = Field(default=1.0, ge=0, le=60)
    options: dict[str, AnyJson] = Field(default_factory=dict[str, AnyJson])


@dataclass(frozen=True, kw_only=True)
class CommandAgent:
    """Start the program for one question and take its answer."""

    options: CommandOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, or `limit` where what it reports goes over a budget."""
        chosen = self.options
        report = Report(question, toolbox)
        run = CommandRun(chosen.command, kept_environment(chosen.env, os.environ))
        given = request_of(
            question,
            toolbox,
            options=cast("Mapping[str, JsonValue]", chosen.options),
            time_limit_s=chosen.time_limit_s,
        )
        try:
            await run.run(
                given,
                lambda line: report.take(event_of(line)),
                time_limit_s=chosen.time_limit_s,
            )
            return report.answer()
        except BudgetExhausted as error:
            return Answer(status="limit", text="", limit=error.resource)
        finally:
            report.close()
            toolbox.note(
                f"command ended with status {run.status} after {run.seconds:.3f} s; "
                f"end of its standard error: {run.said or '(nothing)'}"
            )


@dataclass(frozen=True, kw_only=True)
class HttpAgent:
    """Send one question to the service and take its answer."""

    options: HttpOptions

    async def __call__(self, question: VisibleQuestion, toolbox: Toolbox) -> Answer:
        """Return the answer, or `limit` where what it reports goes over a budget."""
        chosen = self.options
        report = Report(question, toolbox)
        service = Service(
            url=chosen.url,
            headers=_headers(chosen.headers_env, os.environ),
            time_limit_s=chosen.time_limit_s,
            retries=chosen.retries,
            retry_wait_s=chosen.retry_wait_s,
        )
        given = request_of(
            question,
            toolbox,
            options=cast("Mapping[str, JsonValue]", chosen.options),
            time_limit_s=chosen.time_limit_s,
        )
        try:
            await service.ask(given, report)
            return report.answer()
        except BudgetExhausted as error:
            return Answer(status="limit", text="", limit=error.resource)
        except ServiceFault as fault:
            toolbox.account.fail(fault)
            raise
        finally:
            report.close()


def kept_environment(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a program gets: a few that every program needs, and those named.

    Raises
    ------
    RequestError
        If one that is named is not set.
    """
    missing = [name for name in names if name not in environment]
    if missing:
        raise RequestError(
            f"option env names {', '.join(missing)}, which is not set here; set it, or remove it"
        )
    return {name: environment[name] for name in (*_KEPT, *names) if name in environment}


def _headers(by_variable: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    missing = [name for name in by_variable.values() if name not in environment]
    if missing:
        raise RequestError(
            f"option headers_env names {', '.join(missing)}, which is not set here; set it, or "
            "remove it"
        )
    headers = {header: environment[name] for header, name in by_variable.items()}
    for header, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            # The value itself is a secret and stands in no message.
            raise RequestError(
                f"the variable {by_variable[header]} cannot be sent as header {header!r}: it holds "
                "characters other than printable ASCII, such as a line break"
            )
    return headers


def _command_texts(options: BaseModel) -> Mapping[str, str]:
    """Return what stands for the prompts of a program: the files that it runs through, by hash.

    Raises
    ------
    RequestError
        If the program or a file is not there.
    """
    chosen = cast("CommandOptions", options)
    program = shutil.which(chosen.command[0])
    if program is None:
        raise RequestError(
            f"agent 'command' cannot start {chosen.command[0]!r}: no such program on the PATH, "
            f"seen from {Path.cwd()}"
        )
    texts = {"protocol": PROTOCOL}
    for name in chosen.files:
        if not Path(name).is_file():
            raise RequestError(f"agent 'command': option files names {name!r}, which is no file")
    named = [name for name in (*chosen.command[1:], *chosen.files) if Path(name).is_file()]
    return texts | {f"file {name}": file_sha256(Path(name)) for name in named}


COMMAND = AgentSpec(
    name="command",
    summary="A program of anyone's answers: the question on its input, events on its output.",
    roles=(),
    options=CommandOptions,
    limits=Limits(),
    tools_of=lambda _: (),
    prompts_of=_command_texts,
    build_from=lambda options: CommandAgent(options=cast("CommandOptions", options)),
)

HTTP = AgentSpec(
    name="http",
    summary="A service of anyone's answers: the question as a POST request, events as its reply.",
    roles=(),
    options=HttpOptions,
    limits=Limits(),
    tools_of=lambda _: (),
    prompts_of=lambda _: {"protocol": PROTOCOL},
    build_from=lambda options: HttpAgent(options=cast("HttpOptions", options)),
)
