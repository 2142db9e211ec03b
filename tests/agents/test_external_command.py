"""Programs of others: whatever they do, it ends as a status, never as an answer that was not given."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from tests.cells import COLOURS, LogTail, subtitles, toolbox

from taketwo.agents import external_process
from taketwo.agents.answer import Answer
from taketwo.agents.catalog import agent_spec
from taketwo.agents.external import CommandAgent, CommandOptions
from taketwo.agents.external_process import CommandFailed, OutputTooLarge, TimeLimitReached
from taketwo.agents.external_protocol import PROTOCOL, BrokenProtocol
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.errors import RequestError
from taketwo.tools.budget import Limits
from taketwo.tools.toolbox import Toolbox

OPEN = VisibleQuestion(question_id="q2", text="What?", options=(), video_duration_s=24.0)
ANSWER = 'print(json.dumps({"event": "answer", "answer": "B"}))'


def agent(code: str, *, time_limit_s: float = 30.0, **options: Any) -> CommandAgent:
    """Return an agent whose program is Python that has read its input into `asked`."""
    begun = f"import json, os, sys, time\nasked = json.loads(sys.stdin.read())\n{code}"
    return CommandAgent(
        options=CommandOptions(
            command=[sys.executable, "-c", begun], time_limit_s=time_limit_s, **options
        )
    )


def box(folder: Path, limits: Limits | None = None, **changes: Any) -> Toolbox:
    return toolbox(folder, tools=[], limits=limits, **changes)


async def asked_of(folder: Path, **changes: Any) -> dict[str, Any]:
    """Return what a program is handed."""
    log = LogTail()
    code = 'print(json.dumps({"event": "progress", "text": json.dumps(asked)}))\n' + ANSWER
    await agent(code, options={"depth": 3})(COLOURS, box(folder, **changes))
    return json.loads(log.of("note")[0]["text"])


async def test_a_program_is_handed_the_question_without_its_truth(tmp_path: Path) -> None:
    speech = subtitles(tmp_path, (1.0, 2.0, "hello"))

    asked = await asked_of(tmp_path, limits=Limits(turns=4, cost_usd=0.05), subtitles_path=speech)

    assert asked == {
        "protocol": "taketwo.agent/1",
        "question": {
            "question_id": "q1",
            "format": "mcq",
            "text": "Which colour is the circle?",
            "options": ["red", "blue", "green"],
            "labels": ["A", "B", "C"],
        },
        "video": {
            "path": str((tmp_path / "video.mp4").resolve()),
            "sha256": "ab" * 32,
            "duration_s": 24.0,
            "width": 640,
            "height": 360,
            "fps": 25.0,
            "has_audio": True,
        },
        "subtitles_path": str(speech.resolve()),
        "options": {"depth": 3},
        "limits": {"turns": 4, "cost_usd": 0.05},
        "time_limit_s": 30.0,
    }


@pytest.mark.parametrize(
    ("said", "status", "index"),
    [
        ('"B"', "answered", 1),
        ('"blue"', "answered", 1),
        ('"(c) green"', "answered", 2),
        ("null", "abstained", None),
        ('"purple"', "unparsed", None),
        ('""', "unparsed", None),
        ('"A or B"', "unparsed", None),
    ],
)
async def test_an_answer_is_read_like_every_answer(
    tmp_path: Path, said: str, status: str, index: int | None
) -> None:
    line = f'{{"event": "answer", "answer": {said}, "reasoning": "seen"}}'

    answer = await agent(f"print({line!r})")(COLOURS, box(tmp_path))

    assert (answer.status, answer.option_index, answer.reasoning) == (status, index, "seen")


async def test_an_open_answer_is_its_text(tmp_path: Path) -> None:
    answer = await agent("""print('{"answer": "a blue  circle", "event": "answer"}')""")(
        OPEN, box(tmp_path)
    )

    assert answer == Answer(status="answered", text="a blue circle")


FAITHFUL = """
def say(**event): print(json.dumps(event), flush=True)
say(event="hello", protocol=asked["protocol"], reports=["operation"])
say(event="tool_call", name="look", arguments={"at": 3}, result="a circle", latency_s=0.5)
say(event="model_call", model="a/b", input_tokens=100, output_tokens=20, cost_usd=0.01, latency_s=2)
say(event="model_call", role="observer", model="a/c", input_tokens=10, output_tokens=2,
    cost_usd=0.002, latency_s=1)
say(event="answer", answer="B", latency_s=4.0)
"""


async def test_what_is_reported_is_booked_and_what_is_not_is_unknown(tmp_path: Path) -> None:
    cell, log = box(tmp_path), LogTail()

    answer = await agent(FAITHFUL)(COLOURS, cell)

    assert answer.option_index == 1
    used = {name: cell.budget.used(name) for name in ("turns", "model_calls", "visible_calls")}
    assert used == {"turns": 1, "model_calls": 2, "visible_calls": 1}
    assert cell.budget.used("tokens") == 132
    assert cell.budget.used("cost_usd") == pytest.approx(0.012)
    assert cell.latency_s == pytest.approx(4.0)
    assert set(cell.unavailable) == {"frames"}
    assert [event["event"] for event in log.of("reported")] == [
        "tool_call",
        "model_call",
        "model_call",
    ]


async def test_an_agent_that_only_answers_has_no_metric_but_its_answer(tmp_path: Path) -> None:
    cell = box(tmp_path)

    await agent(ANSWER)(COLOURS, cell)

    assert set(cell.unavailable) == {
        "turns",
        "visible_calls",
        "primitive_ops",
        "tokens",
        "cost_usd",
        "latency_s",
        "frames",
    }
    assert cell.unavailable["turns"] == "the agent runs outside and reports no model calls"


async def test_calls_without_tokens_say_so_and_how_many(tmp_path: Path) -> None:
    cell = box(tmp_path)
    mixed = (
        """print('{"event": "model_call", "input_tokens": 1, "output_tokens": 1}')\n"""
        """print('{"event": "model_call", "cost_usd": 0.5}')\n"""
    )

    await agent(mixed + ANSWER)(COLOURS, cell)

    assert cell.unavailable["tokens"] == "1 of 2 model calls report no tokens"
    assert "cost_usd" not in cell.unavailable
    assert "turns" not in cell.unavailable


CALL = 'print(\'{"event": "model_call", "input_tokens": 60, "output_tokens": 0, "cost_usd": 0.01}\', flush=True)\n'
TOOL = 'print(\'{"event": "tool_call", "name": "x"}\', flush=True)\n'


@pytest.mark.parametrize(
    ("limits", "code", "resource"),
    [
        (Limits(turns=1), CALL * 2, "turns"),
        (Limits(model_calls=1), CALL * 2, "model_calls"),
        (Limits(tokens=50), CALL * 2, "tokens"),
        (Limits(cost_usd=0.01), CALL * 2, "cost_usd"),
        (Limits(visible_calls=0), TOOL, "visible_calls"),
    ],
)
async def test_work_past_a_limit_ends_as_limit_and_the_program_is_stopped(
    tmp_path: Path, limits: Limits, code: str, resource: str
) -> None:
    started = time.monotonic()

    answer = await agent(code + "time.sleep(60)\n" + ANSWER)(COLOURS, box(tmp_path, limits))

    assert answer == Answer(status="limit", text="", limit=resource)
    assert time.monotonic() - started < 20


async def test_the_call_that_reaches_a_limit_is_the_last_one_and_may_be_answered_from(
    tmp_path: Path,
) -> None:
    answer = await agent(CALL + ANSWER)(COLOURS, box(tmp_path, Limits(tokens=50, turns=1)))

    assert answer.option_index == 1


@pytest.mark.parametrize(
    ("limits", "missing"), [(Limits(tokens=5), "tokens"), (Limits(cost_usd=5), "cost_usd")]
)
async def test_a_call_without_usage_breaks_off_where_a_limit_needs_it(
    tmp_path: Path, limits: Limits, missing: str
) -> None:
    code = 'print(\'{"event": "model_call"}\')\n' + ANSWER

    with pytest.raises(BrokenProtocol, match=f"a model_call without {missing}, while limits"):
        await agent(code)(COLOURS, box(tmp_path, limits))


async def test_limits_that_nothing_is_reported_for_are_told_to_be_unchecked(
    tmp_path: Path,
) -> None:
    log = LogTail()

    await agent(ANSWER)(COLOURS, box(tmp_path, Limits(turns=4, tokens=9)))

    assert log.of("note")[0]["text"] == (
        "not checked, because the agent reports nothing of it: limits.turns, tokens"
    )


NOT_OF_THE_PROTOCOL = {
    "no JSON": ("print('I think B')", "Expecting value"),
    "no object": ("print('[1]')", "valid dictionary"),
    "NaN": ("""print('{"event": "model_call", "latency_s": NaN}')""", "NaN is no number"),
    "infinity": ("""print('{"event": "model_call", "latency_s": 1e999}')""", "finite"),
    "negative": ("""print('{"event": "model_call", "input_tokens": -5}')""", "greater than"),
    "a number as answer": ("""print('{"event": "answer", "answer": 1}')""", "valid string"),
    "a list as answer": ("""print('{"event": "answer", "answer": ["B"]}')""", "valid string"),
    "text as number": (
        """print('{"event": "model_call", "input_tokens": "5"}')""",
        "valid integer",
    ),
    "true as number": (
        """print('{"event": "model_call", "input_tokens": true}')""",
        "valid integer",
    ),
    "unknown event": ("""print('{"event": "think"}')""", "think"),
    "unknown field": ("""print('{"event": "answer", "answer": "B", "sure": 1}')""", "sure"),
    "no answer field": ("""print('{"event": "answer"}')""", "Field required"),
    "unknown operation": ("""print('{"event": "operation", "operation": "guess"}')""", "guess"),
    "name twice": (
        """print('{"event": "answer", "answer": "A", "answer": "B"}')""",
        "'answer' stands twice",
    ),
    "no UTF-8": (
        r"""sys.stdout.buffer.write(b'{"event": "answer", "answer": "\xff"}\n')""",
        "utf-8",
    ),
    "too deep": ("print('[' * 100000)", "too deep"),
    "huge number": (
        """print('{"event": "model_call", "input_tokens": 1' + '0' * 5000 + '}')""",
        "",
    ),
    "other version": (
        """print('{"event": "hello", "protocol": "taketwo.agent/9"}')""",
        "speaks 'taketwo.agent/9'",
    ),
    "late hello": (
        """print('{"event": "progress", "text": ""}'); print('{"event": "hello"}')""",
        "must be the first",
    ),
    "half a line": ("""sys.stdout.write('{"event": "answer", "answ')""", "Unterminated"),
}


@pytest.mark.parametrize("name", NOT_OF_THE_PROTOCOL)
async def test_what_is_not_of_the_protocol_is_refused_although_an_answer_follows(
    tmp_path: Path, name: str
) -> None:
    code, reason = NOT_OF_THE_PROTOCOL[name]
    follows = "" if name == "half a line" else f"\n{ANSWER}"

    with pytest.raises(BrokenProtocol) as refused:
        await agent(code + follows)(COLOURS, box(tmp_path))

    assert reason in str(refused.value)
    assert len(str(refused.value)) < 1_000


async def test_a_second_answer_takes_back_the_first(tmp_path: Path) -> None:
    with pytest.raises(BrokenProtocol, match="a second answer after the answer"):
        await agent(f"{ANSWER}\n{ANSWER}")(COLOURS, box(tmp_path))


async def test_nothing_may_follow_the_answer(tmp_path: Path) -> None:
    with pytest.raises(BrokenProtocol, match="'model_call' after the answer"):
        await agent(f"{ANSWER}\n{CALL}")(COLOURS, box(tmp_path))


async def test_no_answer_is_told(tmp_path: Path) -> None:
    with pytest.raises(BrokenProtocol, match="ended without an answer event"):
        await agent("pass")(COLOURS, box(tmp_path))


async def test_an_answer_before_a_crash_does_not_count_and_the_last_words_are_kept(
    tmp_path: Path,
) -> None:
    log = LogTail()

    with pytest.raises(CommandFailed, match=r"ended with status 1; .*ZeroDivisionError"):
        await agent(f"{ANSWER}\nsys.stdout.flush()\n1 / 0")(COLOURS, box(tmp_path))

    (note,) = log.of("note")
    assert note["text"].startswith("command ended with status 1 after ")
    assert "ZeroDivisionError: division by zero" in note["text"]


async def test_an_answer_before_a_signal_does_not_count(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="ended with signal 9"):
        await agent(f"{ANSWER}\nsys.stdout.flush()\nos.kill(os.getpid(), 9)")(
            COLOURS, box(tmp_path)
        )


async def test_a_program_that_is_not_there_says_so(tmp_path: Path) -> None:
    nowhere = CommandAgent(options=CommandOptions(command=["/nowhere/agent"]))

    with pytest.raises((CommandFailed, FileNotFoundError), match="/nowhere/agent"):
        await nowhere(COLOURS, box(tmp_path))


async def test_a_flood_is_cut_off(tmp_path: Path) -> None:
    line = json.dumps({"event": "progress", "text": "x" * 100_000})
    flood = f"for _ in range(1000):\n    print({line!r}, flush=True)"
    started = time.monotonic()

    with pytest.raises(OutputTooLarge, match="the output of the agent has more than 8388608 bytes"):
        await agent(flood)(COLOURS, box(tmp_path))

    assert time.monotonic() - started < 20


async def test_a_line_without_end_is_cut_off(tmp_path: Path) -> None:
    with pytest.raises(OutputTooLarge, match="a line of the agent has more than 1048576 bytes"):
        await agent("while True: sys.stdout.write('x' * 65536)")(COLOURS, box(tmp_path))


async def test_a_hundred_megabytes_of_standard_error_are_read_and_their_end_is_kept(
    tmp_path: Path,
) -> None:
    log = LogTail()
    flood = "for _ in range(100): sys.stderr.write('x' * (1 << 20))\nprint('last words', file=sys.stderr)\n"

    answer = await agent(flood + ANSWER)(COLOURS, box(tmp_path))

    assert answer.option_index == 1
    assert log.of("note")[-1]["text"].endswith("last words")
    assert len(log.of("note")[-1]["text"]) < 5_000


async def test_too_many_events_are_cut_off(tmp_path: Path) -> None:
    many = """for _ in range(20000): print('{"event": "progress", "text": ""}')"""

    with pytest.raises(BrokenProtocol, match="more than 10000 events"):
        await agent(many)(COLOURS, box(tmp_path))


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def gone(pid: int) -> bool:
    """Return whether a process is gone, or will be within five seconds."""
    for _ in range(100):
        if not alive(pid):
            return True
        await anyio.sleep(0.05)
    return False


def text_in(note: Path) -> str:
    return note.read_text() if note.exists() else ""


async def written(note: Path) -> None:
    """Wait until a program has written its note, 30 seconds at most."""
    for _ in range(600):
        if text_in(note):
            return
        await anyio.sleep(0.05)
    pytest.fail(f"{note} was never written")


FAMILY = """
child = os.fork()
if child == 0:
    time.sleep(600)
with open(asked["options"]["note"], "w") as note: note.write(str(child))
"""
needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux")


@needs_proc
async def test_a_hanging_program_and_its_children_are_ended(tmp_path: Path) -> None:
    note = tmp_path / "note"
    hanging = agent(
        f"{FAMILY}\n{ANSWER}\nsys.stdout.flush()\ntime.sleep(600)",
        time_limit_s=1.5,
        options={"note": str(note)},
    )

    with pytest.raises(TimeLimitReached, match=r"stopped after 1\.5 s \(option time_limit_s\)"):
        await hanging(COLOURS, box(tmp_path))

    assert await gone(int(note.read_text()))


@needs_proc
async def test_a_program_that_ignores_the_signal_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_process, "_GRACE_S", 0.2)
    note = tmp_path / "note"
    deaf = agent(
        "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"with open({str(note)!r}, 'w') as file: file.write(str(os.getpid()))\ntime.sleep(600)",
        time_limit_s=1.5,
    )

    with pytest.raises(TimeLimitReached):
        await deaf(COLOURS, box(tmp_path))

    assert await gone(int(note.read_text()))


@needs_proc
async def test_children_that_hold_the_output_do_not_hold_up_an_answer(tmp_path: Path) -> None:
    note = tmp_path / "note"
    started = time.monotonic()

    answer = await agent(f"{FAMILY}\n{ANSWER}", options={"note": str(note)})(COLOURS, box(tmp_path))

    assert answer.option_index == 1
    assert time.monotonic() - started < 20
    assert await gone(int(note.read_text()))


@needs_proc
async def test_a_child_that_left_the_group_holds_nothing_up_either(tmp_path: Path) -> None:
    note = tmp_path / "note"
    escaped = FAMILY.replace("if child == 0:", "if child == 0:\n    os.setsid()")
    started = time.monotonic()
    try:
        answer = await agent(f"{escaped}\ntime.sleep(0.3)\n{ANSWER}", options={"note": str(note)})(
            COLOURS, box(tmp_path)
        )
    finally:
        os.kill(int(note.read_text()), 9)

    assert answer.option_index == 1
    assert time.monotonic() - started < 20


@needs_proc
async def test_the_end_of_the_cell_ends_the_program(tmp_path: Path) -> None:
    note = tmp_path / "note"
    hanging = agent(
        f"with open({str(note)!r}, 'w') as file: file.write(str(os.getpid()))\ntime.sleep(600)"
    )

    async def run() -> None:
        await hanging(COLOURS, box(tmp_path))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await written(note)
        tasks.cancel_scope.cancel()

    assert await gone(int(note.read_text()))


RUNNER = """
import asyncio, sys
from taketwo.agents.external_process import CommandRun
code = "import os, time\\nwith open(%r, 'w') as file: file.write(str(os.getpid()))\\ntime.sleep(600)"
run = CommandRun([sys.executable, "-c", code % sys.argv[1]], {})
asyncio.run(run.run(b"", print, time_limit_s=600))
"""


@needs_proc
async def test_a_program_does_not_outlive_the_process_that_started_it(tmp_path: Path) -> None:
    note = tmp_path / "note"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    async with await anyio.open_process(
        [sys.executable, "-c", RUNNER, str(note)], env=environment
    ) as runner:
        await written(note)
        assert alive(int(note.read_text()))
        runner.kill()

    assert await gone(int(note.read_text()))


async def test_the_environment_holds_no_keys_but_those_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    monkeypatch.setenv("MY_KEY", "mine")
    log = LogTail()
    tell = 'print(json.dumps({"event": "progress", "text": " ".join(sorted(os.environ))}))\n'

    await agent(tell + ANSWER, env=["MY_KEY"])(COLOURS, box(tmp_path))

    names = set(log.of("note")[0]["text"].split())
    assert {"PATH", "MY_KEY"} <= names
    assert not names & {"OPENAI_API_KEY", "PYTHONPATH"}
    assert names <= {
        "PATH",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "MY_KEY",
    }


async def test_a_variable_that_is_not_set_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)

    with pytest.raises(RequestError, match="option env names MY_KEY, which is not set here"):
        await agent(ANSWER, env=["MY_KEY"])(COLOURS, box(tmp_path))


async def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    log = LogTail()
    said = CommandAgent(
        options=CommandOptions(
            command=[
                sys.executable,
                "-c",
                "import json, sys\n"
                'print(json.dumps({"event": "progress", "text": sys.argv[1]}))\n'
                'print(json.dumps({"event": "answer", "answer": "B"}))',
                "$HOME; touch x && *",
            ]
        )
    )

    await said(COLOURS, box(tmp_path))

    assert log.of("note")[0]["text"] == "$HOME; touch x && *"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, "command: Field required"),
        ({"command": []}, "command: List should have at least 1 item"),
        ({"command": "python x.py"}, "command: Input should be a valid list"),
        ({"command": ["x"], "time_limit_s": 0}, "time_limit_s: Input should be greater than 0"),
        ({"command": ["x"], "time_limit_s": float("inf")}, "time_limit_s"),
        ({"command": ["x"], "env": ["A=B"]}, "env.0: String should match pattern"),
        ({"command": ["x"], "shell": True}, "shell: Extra inputs are not permitted"),
    ],
)
def test_wrong_options_are_refused_before_anything_runs(
    options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RequestError) as refused:
        agent_spec("command").checked(options)

    assert reason in str(refused.value)


def test_the_files_of_the_command_are_held_fixed(tmp_path: Path) -> None:
    spec = agent_spec("command")
    script, weights = tmp_path / "agent.py", tmp_path / "weights.bin"
    script.write_text("1")
    weights.write_bytes(b"2")
    options = spec.checked({"command": [sys.executable, str(script)], "files": [str(weights)]})
    before = dict(spec.prompts(options))

    weights.write_bytes(b"3")

    after = dict(spec.prompts(options))
    assert set(before) == {"protocol", f"file {script}", f"file {weights}"}
    assert {name for name in before if before[name] != after[name]} == {f"file {weights}"}


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"command": ["no-such-program-here"]}, "no such program on the PATH"),
        ({"command": [sys.executable], "files": ["none.bin"]}, "'none.bin', which is no file"),
    ],
)
def test_a_missing_program_or_file_is_told_when_the_plan_is_made(
    options: dict[str, Any], reason: str
) -> None:
    spec = agent_spec("command")

    with pytest.raises(RequestError, match=reason):
        spec.prompts(spec.checked(options))


def test_the_protocol_has_a_version() -> None:
    assert PROTOCOL == "taketwo.agent/1"
