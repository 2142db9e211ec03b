from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.executions.written_logs import (
    cell_event,
    sample_member,
    start_member,
    write_log,
    zip_bytes,
)
from tests.plans import make_plan

from taketwo.benchmarks.question import Question
from taketwo.errors import DataError, ForeignLog
from taketwo.executions.deaths import death_record
from taketwo.executions.log_zip import open_log_file
from taketwo.executions.logs import (
    UnknownLayout,
    attempt_files,
    collect,
    error_records,
    merge,
    read_header,
    read_log,
)
from taketwo.executions.request_hash import identity_of_request
from taketwo.executions.trajectory import ModelCall, Note, PrimitiveOperation, ToolCall

QUESTIONS = [
    Question(
        question_id=name,
        text="What?",
        video_id="v",
        video_path="v.mp4",
        options=("a", "b"),
        answer_index=0,
    )
    for name in ("q1", "q2")
]
PLAN = make_plan(questions=QUESTIONS, executions=1)
START = start_member(plan_sha256=PLAN.sha256)


def failed(status: str, cause: str = "HttpError") -> list[dict[str, object]]:
    failure = {"cause": cause, "message": "HTTP 500", "http_status": 500, "retryable": True}
    return [cell_event(run_status=status, answer=None, failure=failure)]


def test_a_finished_cell_is_read_with_its_answer_and_seconds(tmp_path: Path) -> None:
    path = write_log(tmp_path / "attempt-01.eval", START, sample_member("base", "q1"))

    (cell,) = read_log(path)

    assert (cell.arm, cell.question_id, cell.execution) == ("base", "q1", 1)
    assert (cell.run_status, cell.answer_index, cell.answer_text) == ("answered", 1, "B")
    assert (cell.latency_s, cell.latency_wall_s, cell.log) == (1.5, 2.5, "attempt-01.eval")


def test_a_cell_without_its_end_is_not_run_whatever_else_it_says(tmp_path: Path) -> None:
    member = sample_member("base", "q1", events=[], error={"message": "CancelledError()"})

    (cell,) = read_log(write_log(tmp_path / "attempt-01.eval", START, member))

    assert cell.run_status == "not_run"
    assert cell.failure is not None
    assert cell.failure.message == "CancelledError()"


def model_event(**fields: object) -> dict[str, object]:
    return {
        "event": "model",
        "model": "openai/gpt",
        "input": [],
        "input_refs": [[0, 2]],
        "output": {
            "model": "gpt-2026",
            "choices": [
                {
                    "message": {
                        "role": "assistant",
                        "content": "attachment://h1",
                        "tool_calls": [{"id": "c1", "function": "look", "arguments": {"at": 3}}],
                    }
                }
            ],
            "usage": {
                "input_tokens": 10,
                "input_tokens_cache_read": 4,
                "output_tokens": 5,
                "total_tokens": 19,
            },
        },
        "call": {
            "request": {
                "model": "gpt",
                "temperature": 0.5,
                "seed": 11,
                "tools": [{"name": "look"}],
            },
            "response": {"id": "resp_1", "system_fingerprint": "fp"},
            "call_refs": [[0, 2]],
            "call_key": "messages",
        },
        "timestamp": "2026-01-01T00:00:03+00:00",
        **fields,
    }


POOLS = {
    "events_data": {
        "messages": [
            {"role": "system", "content": "attachment://h2"},
            {"role": "user", "content": [{"type": "text", "text": "ask"}]},
        ],
        "calls": [
            {"role": "system", "content": "attachment://h2"},
            {"role": "user", "content": [{"image_url": "<base64-data-removed>"}]},
        ],
    },
    "attachments": {"h1": "a long reply", "h2": "the system prompt"},
}


def test_a_generation_is_read_from_pools_and_attachments(tmp_path: Path) -> None:
    events = [
        model_event(),
        {
            "event": "info",
            "source": "taketwo.model",
            "data": {"role": "observer", "media_sha256": ["ff"], "latency_s": 0.25},
        },
        cell_event(),
    ]
    path = write_log(
        tmp_path / "attempt-01.eval", START, sample_member("base", "q1", events=events, **POOLS)
    )

    (cell,) = read_log(path)
    (call,) = cell.model_calls

    assert (call.role, call.model, call.served_model) == ("observer", "openai/gpt", "gpt-2026")
    assert (call.fingerprint, call.response_id, call.started_s) == ("fp", "resp_1", 2.0)
    assert (call.input_tokens, call.output_tokens, call.latency_s) == (14, 5, 0.25)
    assert (call.text, call.tool_calls) == ("a long reply", ("look",))
    assert call.input_text == "the system prompt\n\nask"
    assert call.sampling_sent == {"temperature": 0.5}
    expected = identity_of_request(
        {
            "model": "gpt",
            "temperature": 0.5,
            "tools": [{"name": "look"}],
            "messages": [
                {"role": "system", "content": "the system prompt"},
                {"role": "user", "content": [{"image_url": "<base64-data-removed>"}]},
            ],
        },
        ["ff"],
    )
    assert call.request_sha256 == expected.request_sha256


def test_visible_calls_primitives_and_notes_keep_their_order(tmp_path: Path) -> None:
    events = [
        {"event": "tool", "id": "c1", "function": "look", "arguments": {"at": 3}, "result": "seen"},
        {
            "event": "info",
            "source": "taketwo.primitive",
            "data": {"operation": "analyze", "succeeded": False, "freshness": "shared"},
        },
        {
            "event": "info",
            "source": "taketwo.tool",
            "data": {"call_id": "c1", "latency_s": 0.5, "frames": ["aa"], "frame_times_s": [3]},
        },
        {"event": "info", "source": "taketwo.note", "data": {"text": "forced"}},
        cell_event(),
    ]

    (cell,) = read_log(
        write_log(tmp_path / "attempt-01.eval", START, sample_member("base", "q1", events=events))
    )

    tool, primitive, note = cell.events
    assert isinstance(tool, ToolCall)
    assert (tool.arguments, tool.result, tool.frames) == ({"at": 3}, "seen", ("aa",))
    assert (tool.frame_times_s, tool.latency_s, tool.error) == ((3.0,), 0.5, None)
    assert isinstance(primitive, PrimitiveOperation)
    assert (primitive.operation, primitive.succeeded, primitive.freshness) == (
        "analyze",
        False,
        "shared",
    )
    assert isinstance(note, Note)
    assert note.text == "forced"


def test_a_request_whose_media_do_not_add_up_has_no_hash(tmp_path: Path) -> None:
    events = [
        model_event(),
        {
            "event": "info",
            "source": "taketwo.model",
            "data": {"role": "observer", "media_sha256": ["aa", "bb"]},
        },
        cell_event(),
    ]

    (cell,) = read_log(
        write_log(
            tmp_path / "attempt-01.eval", START, sample_member("base", "q1", events=events, **POOLS)
        )
    )

    assert cell.model_calls[0].media_sha256 == ("aa", "bb")
    assert cell.model_calls[0].request_sha256 is None


MEMBERS = [START, *(sample_member("base", f"q{number}") for number in range(4))]
WHOLE = zip_bytes(MEMBERS, directory=False)
ENDS = [len(zip_bytes(MEMBERS[:count], directory=False)) for count in range(1, 6)]


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(size=st.one_of(st.integers(0, len(WHOLE)), st.sampled_from(ENDS)))
def test_a_log_cut_off_anywhere_gives_its_whole_members_and_no_other(
    tmp_path: Path, size: int
) -> None:
    path = tmp_path / "cut.eval"
    path.write_bytes(WHOLE[:size])

    log = open_log_file(path)

    assert log.is_cut_off
    count = sum(end <= size for end in ENDS)
    assert [(name, log.read(name)) for name in log.names] == MEMBERS[:count]


def test_a_complete_log_is_read_through_its_directory_and_the_last_of_two_members_holds(
    tmp_path: Path,
) -> None:
    path = write_log(
        tmp_path / "attempt-01.eval",
        START,
        sample_member("base", "q1", events=failed("provider_error")),
        sample_member("base", "q1"),
    )

    (cell,) = read_log(path)

    assert not open_log_file(path).is_cut_off
    assert cell.run_status == "answered"


def test_a_damaged_member_is_refused_with_its_name(tmp_path: Path) -> None:
    data = bytearray(zip_bytes([START, sample_member("base", "q1")]))
    at = data.index(b"samples/base:q1") + 40
    data[at] ^= 0xFF
    path = tmp_path / "attempt-01.eval"
    path.write_bytes(data)

    with pytest.raises(ForeignLog, match=r"member 'samples/base:q1_epoch_1.json' is damaged"):
        list(read_log(path))


def test_what_is_no_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "attempt-01.eval"
    path.write_bytes(b"{}" * 100)

    with pytest.raises(ForeignLog, match=r"not an \.eval log: it starts with"):
        list(read_log(path))


@pytest.mark.parametrize(
    "members",
    [
        [("_journal/start.json", b'{"version": 3, "eval": {}}')],
        [START, ("samples/chunk-0001.bin", b"{}")],
        [("other.json", b"{}")],
    ],
)
def test_an_unknown_layout_is_a_signal_of_its_own(
    tmp_path: Path, members: list[tuple[str, bytes]]
) -> None:
    path = write_log(tmp_path / "attempt-01.eval", *members)

    with pytest.raises(UnknownLayout):
        list(read_log(path))


def test_an_unknown_layout_is_handed_to_the_reader_that_the_caller_brings(tmp_path: Path) -> None:
    path = write_log(tmp_path / "K1" / "attempt-01.eval", ("other.json", b"{}"))
    known = write_log(tmp_path / "known.eval", START, sample_member("base", "q1"))

    cells = collect(tmp_path, PLAN, read_unknown=lambda _: read_log(known))

    assert path in attempt_files(tmp_path / "K1")
    assert [cell.run_status for cell in cells].count("answered") == 1


def test_the_header_names_study_plan_and_execution(tmp_path: Path) -> None:
    header = read_header(write_log(tmp_path / "a.eval", START))

    assert (header.study, header.plan_sha256, header.execution) == ("test", PLAN.sha256, 1)
    assert (header.status, header.config, dict(header.packages)) == (
        "started",
        {},
        {"inspect_ai": "0.3.285"},
    )
    assert header.generate == {"cache": False}


def test_every_planned_cell_has_a_row_also_without_any_log(tmp_path: Path) -> None:
    cells = collect(tmp_path, PLAN)

    assert [(cell.arm, cell.question_id, cell.run_status) for cell in cells] == [
        ("base", "q1", "not_run"),
        ("base", "q2", "not_run"),
        ("method", "q1", "not_run"),
        ("method", "q2", "not_run"),
    ]


def test_the_first_settled_record_wins_and_all_starts_are_counted(tmp_path: Path) -> None:
    again = [cell_event(answer={"status": "answered", "text": "A", "option_index": 0})]
    logs = [
        write_log(
            tmp_path / "attempt-01.eval",
            START,
            sample_member("base", "q1", events=failed("provider_error")),
            sample_member("base", "q2", events=failed("agent_error")),
        ),
        write_log(
            tmp_path / "attempt-02.eval",
            START,
            sample_member("base", "q1"),
            sample_member("base", "q2", events=[]),
        ),
        write_log(tmp_path / "attempt-03.eval", START, sample_member("base", "q1", events=again)),
    ]

    cells = {cell.sample_id: cell for cell in merge(PLAN, {1: logs})}

    assert (cells["base:q1"].answer_text, cells["base:q1"].attempts) == ("B", 3)
    assert cells["base:q1"].log == "attempt-02.eval"
    assert (cells["base:q2"].run_status, cells["base:q2"].attempts) == ("agent_error", 2)
    assert error_records(logs, read_log) == {"base:q1": 1, "base:q2": 1}


def test_a_log_of_another_plan_is_refused(tmp_path: Path) -> None:
    path = write_log(tmp_path / "K1" / "attempt-01.eval", start_member(plan_sha256="f" * 64))

    with pytest.raises(ForeignLog, match=f"{path}: written for plan ffffffffffff"):
        collect(tmp_path, PLAN)


def test_a_cell_of_another_execution_is_refused(tmp_path: Path) -> None:
    write_log(tmp_path / "K1" / "attempt-01.eval", START, sample_member("base", "q1", execution=2))

    with pytest.raises(ForeignLog, match="holds cells of K2, expected K1"):
        collect(tmp_path, PLAN)


def test_a_cell_that_no_plan_has_is_refused(tmp_path: Path) -> None:
    write_log(tmp_path / "K1" / "attempt-01.eval", START, sample_member("base", "q9"))

    with pytest.raises(ForeignLog, match="1 cells of K1 are in no plan, first 'base:q9'"):
        collect(tmp_path, PLAN)


def test_attempts_are_found_as_files_and_as_folders_that_were_left(tmp_path: Path) -> None:
    first = write_log(tmp_path / "attempt-01.eval", START)
    left = write_log(tmp_path / "attempt-02" / "2026_study_x.eval", START)
    (tmp_path / "attempt-01.json").write_text("{}")

    assert attempt_files(tmp_path) == (first, left)


def test_a_seed_and_transport_do_not_change_the_identity_of_a_request() -> None:
    plain = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 1}
    noisy = {**plain, "seed": 7, "extra_headers": {"x-irid": "abc"}}

    assert identity_of_request(plain, []) == identity_of_request(noisy, [])


@pytest.mark.parametrize(
    "change",
    [
        {"messages": [{"role": "user", "content": "hi!"}]},
        {"temperature": 0.9},
        {"tools": [{"name": "look"}]},
        {"system": "You are."},
    ],
)
def test_every_other_part_of_a_request_does(change: dict[str, object]) -> None:
    plain: dict[str, object] = {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "temperature": 1,
    }
    before = identity_of_request(plain, []).request_sha256

    assert identity_of_request({**plain, **change}, []).request_sha256 != before
    assert identity_of_request(plain, ["aa"]).request_sha256 != before


def test_settings_in_nested_blocks_are_found() -> None:
    request = {
        "contents": [],
        "config": {"temperature": 0.3, "seed": 4, "system_instruction": "Be.", "tools": [1]},
    }

    identity = identity_of_request(request, [])

    assert identity.sampling == {"config.temperature": 0.3}
    assert identity.system_sha256 != identity_of_request({"contents": []}, []).system_sha256
    assert identity.tools_sha256 != identity_of_request({"contents": []}, []).tools_sha256


def test_a_log_of_another_program_is_refused(tmp_path: Path) -> None:
    start = ("_journal/start.json", b'{"version": 2, "eval": {"task": "other"}}')
    member = ("samples/x_epoch_1.json", json.dumps({"id": "x", "metadata": {"arm": "a"}}).encode())

    with pytest.raises(ForeignLog, match="sample 'x' does not say which cell it is"):
        list(read_log(write_log(tmp_path / "attempt-01.eval", start, member)))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"id": "base:q1", "metadata": {}}', "does not say which cell it is"),
        (b"{", "is not JSON"),
        (b"[]", "is no JSON object"),
        (b'{"id": ' + b"[" * 100_000, "is not JSON"),
        (sample_member("base", "q1", events=[cell_event(run_status="won")])[1], "ended as 'won'"),
        (
            sample_member(
                "base",
                "q1",
                events=[model_event(), cell_event()],
            )[1],
            "refers to messages 0 to 2 of 0",
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_an_error_of_its_cell_alone(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    bad = ("samples/base:q1_epoch_1.json", content)
    nameless = ("samples/x_epoch_1.json", b"{}")
    log = write_log(
        tmp_path / "K1" / "attempt-01.eval", START, bad, nameless, sample_member("base", "q2")
    )

    first, second = read_log(log)
    collected = {cell.sample_id: cell.run_status for cell in collect(tmp_path, PLAN)}

    assert (first.sample_id, first.run_status, first.execution) == ("base:q1", "agent_error", 1)
    assert first.failure is not None
    assert first.failure.cause == "UnreadableRecord"
    assert reason in first.failure.message
    assert second.run_status == "answered"
    assert (collected["base:q1"], collected["base:q2"]) == ("agent_error", "answered")


def test_whatever_a_model_said_is_read_as_plain_json(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    said = {"at": float("nan"), "to": float("-inf"), "deep": deep, "\ud800": "\udfff"}
    events = [
        {"event": "tool", "id": "c1", "function": "look", "arguments": said, "result": "\ud800"},
        {"event": "tool", "id": "c2", "function": "look", "arguments": [1], "result": ""},
        cell_event(latency_s=10**400),
    ]

    (cell,) = read_log(
        write_log(tmp_path / "attempt-01.eval", START, sample_member("base", "q1", events=events))
    )

    first, second = cell.tool_calls
    assert {name: first.arguments[name] for name in ("at", "to", "?")} == {
        "at": "NaN",
        "to": "-Infinity",
        "?": "?",
    }
    assert "<nested too deeply>" in json.dumps(first.arguments["deep"], allow_nan=False)
    assert (first.result, second.arguments) == ("?", {"value": [1]})
    assert cell.latency_s is None


def test_a_cell_that_is_to_blame_for_dead_processes_is_an_error_without_any_log(
    tmp_path: Path,
) -> None:
    (tmp_path / "K1").mkdir()
    for attempt in (1, 2, 3):
        record = death_record(["base:q1"], is_alone=attempt > 1, said="signal 9")
        (tmp_path / "K1" / f"attempt-0{attempt}.json").write_text(json.dumps({"death": record}))

    cells = {cell.sample_id: cell for cell in collect(tmp_path, PLAN)}

    assert cells["base:q1"].run_status == "agent_error"
    assert cells["base:q2"].run_status == "not_run"


def test_a_log_of_no_bytes_is_none(tmp_path: Path) -> None:
    (tmp_path / "K1" / "attempt-02").mkdir(parents=True)
    (tmp_path / "K1" / "attempt-01.eval").touch()
    (tmp_path / "K1" / "attempt-02" / "x.eval").touch()

    assert attempt_files(tmp_path / "K1") == ()
    assert {cell.run_status for cell in collect(tmp_path, PLAN)} == {"not_run"}


@pytest.mark.parametrize(
    ("stray", "is_folder", "message"),
    [
        ("K1", False, r"K1: a file, where the folder of an execution should be; move it away"),
        ("K1/attempt-02", False, r"attempt-02: a file, where the folder of a running attempt"),
        ("K1/attempt-01.eval", True, r"attempt-01\.eval: a folder, where the log of an attempt"),
        ("K1/copy.eval", False, r"copy\.eval: no log of an attempt is called so"),
    ],
)
def test_what_no_attempt_leaves_is_refused_with_its_path(
    tmp_path: Path, stray: str, is_folder: bool, message: str
) -> None:
    path = tmp_path / stray
    path.parent.mkdir(exist_ok=True)
    if is_folder:
        path.mkdir()
    else:
        path.write_bytes(b"x")

    with pytest.raises(DataError, match=message):
        collect(tmp_path, PLAN)


def test_attempts_beyond_99_keep_their_order(tmp_path: Path) -> None:
    logs = [write_log(tmp_path / f"attempt-{number}.eval", START) for number in ("100", "02", "99")]

    assert attempt_files(tmp_path) == (logs[1], logs[2], logs[0])


def test_a_generation_that_failed_carries_its_error_and_no_served_model(tmp_path: Path) -> None:
    events = [model_event(error="RuntimeError('boom')", call=None), cell_event()]

    (cell,) = read_log(
        write_log(
            tmp_path / "attempt-01.eval", START, sample_member("base", "q1", events=events, **POOLS)
        )
    )

    (call,) = cell.model_calls
    assert isinstance(call, ModelCall)
    assert (call.error, call.served_model, call.request_sha256) == (
        "RuntimeError('boom')",
        None,
        None,
    )
