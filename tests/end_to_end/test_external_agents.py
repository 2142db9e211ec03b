"""Arms of anyone's programs in a study: their cells, what is known of them, and what is not."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.end_to_end.small_study import PLUGIN, make_study

from taketwo.agents.catalog import agent_spec
from taketwo.errors import PlanChanged
from taketwo.executions.expected_cost import expected_cost
from taketwo.executions.freeze import write_plan
from taketwo.executions.plan import Arm, Plan
from taketwo.executions.resolved_study import prompt_hashes
from taketwo.executions.run import run_study
from taketwo.executions.trajectory_table import read_trajectories, write_trajectories
from taketwo.outcomes.build import outcomes_of
from taketwo.tools.budget import Limits
from taketwo.tools.catalog import tools_sha256

SILENT = """\
import json, sys
asked = json.load(sys.stdin)
assert open(asked["video"]["path"], "rb").read(4)
print(json.dumps({"event": "answer", "answer": asked["question"]["labels"][0]}))
"""
TELLING = """\
import json, sys
asked = json.load(sys.stdin)
def say(**event): print(json.dumps(event), flush=True)
say(event="hello", reports=["operation"])
say(event="tool_call", name="look", arguments={"at": 1.0}, result="a red circle", latency_s=0.25)
say(event="model_call", model="playback/planner", input_tokens=1000, output_tokens=100, latency_s=1)
say(event="model_call", role="observer", model="else/where", input_tokens=10, output_tokens=1,
    cost_usd=0.5, latency_s=1)
say(event="answer", answer="A", latency_s=3.5)
"""
CRASHING = 'print(\'{"event": "answer", "answer": "A"}\', flush=True)\nraise SystemExit(3)\n'
GREEDY = """\
for _ in range(3): print('{"event": "model_call"}', flush=True)
print('{"event": "answer", "answer": "A"}')
"""


def program(folder: Path, name: str, code: str, limits: Limits | None = None) -> Arm:
    """Return an arm whose agent is a Python program."""
    script = folder / f"{name}.py"
    script.write_text(code)
    spec = agent_spec("command")
    options = spec.checked({"command": [sys.executable, str(script)], "time_limit_s": 60})
    return Arm(
        name=name,
        agent="command",
        baseline="base",
        options=options.model_dump(mode="json"),
        models={},
        sampling={},
        limits=limits or Limits(),
        tools=(),
        prompts=prompt_hashes(spec, options),
        tools_sha256=tools_sha256(()),
    )


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    base = make_study(tmp_path, questions=1, executions=1)
    (tmp_path / "plan.json").unlink()
    arms = (
        base.arm("base"),
        program(tmp_path, "silent", SILENT),
        program(tmp_path, "telling", TELLING),
        program(tmp_path, "crashing", CRASHING),
        program(tmp_path, "greedy", GREEDY, Limits(turns=2)),
    )
    changed = dataclasses.replace(
        base, arms=arms, prices={"playback/planner": {"input": 1.0, "output": 10.0}}
    )
    write_plan(changed, tmp_path)
    return changed


def test_what_programs_report_reaches_the_table_and_the_rest_is_null(
    tmp_path: Path, plan: Plan
) -> None:
    result = run_study(tmp_path, plugins=[PLUGIN])

    cells = {cell.arm: cell for cell in result.trajectories}
    assert {name: cell.run_status for name, cell in cells.items()} == {
        "base": "answered",
        "silent": "answered",
        "telling": "answered",
        "crashing": "agent_error",
        "greedy": "limit",
    }
    rows = {row["arm"]: row for row in outcomes_of(plan, result.trajectories).frame.to_dicts()}
    metrics = ("turns", "visible_calls", "primitive_ops", "latency_s", "tokens", "cost_usd")
    silent, telling, greedy = (rows[name] for name in ("silent", "telling", "greedy"))
    assert silent["answer_index"] == 0
    assert {name: silent[name] for name in (*metrics, "frames")} == dict.fromkeys((
        *metrics,
        "frames",
    ))
    assert silent["latency_wall_s"] > 0
    # By the plan's price 0.001 + 0.001; of the other model what the agent says.
    assert {name: telling[name] for name in metrics} == {
        "turns": 1,
        "visible_calls": 1,
        "primitive_ops": 0,
        "latency_s": 3.5,
        "tokens": 1111,
        "cost_usd": pytest.approx(0.502),
    }
    assert json.loads(telling["tokens_by_role"]) == {
        "observer": {"input": 10, "output": 1},
        "orchestrator": {"input": 1000, "output": 100},
    }
    assert (greedy["accuracy"], greedy["turns"], greedy["visible_calls"]) == (0.0, 3, None)
    assert (rows["crashing"]["accuracy"], rows["crashing"]["turns"]) == (None, None)
    assert "status 3" in rows["crashing"]["failure"]


def test_the_trajectory_says_who_reported_and_why_a_metric_is_unknown(
    tmp_path: Path, plan: Plan
) -> None:
    result = run_study(tmp_path, plugins=[PLUGIN])

    cells = {cell.arm: cell for cell in result.trajectories}
    look, *generations = [event for event in cells["telling"].events if event.kind != "note"]
    assert look.kind == "tool"
    assert (look.name, look.arguments, look.result, look.is_reported) == (
        "look",
        {"at": 1.0},
        "a red circle",
        True,
    )
    assert [call.role for call in cells["telling"].model_calls] == ["orchestrator", "observer"]
    assert all(event.is_reported for event in generations if event.kind == "model")
    assert cells["silent"].latency_s is None
    assert cells["silent"].unavailable["visible_calls"] == (
        "the agent runs outside and reports no tool calls"
    )
    assert dict(cells["base"].unavailable) == {}
    told = [finding.message for finding in result.manifests[0].findings]
    assert (
        "arm 'silent': turns of 1 cells is not known: the agent runs outside and reports no model "
        "calls"
    ) in told
    assert any("3 calls and operations in 1 cells are as the agent reported" in x for x in told)
    write_trajectories(tmp_path / "t.parquet", result.trajectories)
    assert read_trajectories(tmp_path / "t.parquet") == result.trajectories


def test_trajectories_from_before_are_still_read(tmp_path: Path, plan: Plan) -> None:
    result = run_study(tmp_path, plugins=[PLUGIN])
    path = tmp_path / "t.parquet"
    write_trajectories(path, result.trajectories)
    metadata = pl.read_parquet_metadata(path)
    pl.read_parquet(path).drop("unavailable").write_parquet(
        path, metadata={"format": metadata["format"]}
    )

    cells = {cell.arm: cell for cell in read_trajectories(path)}

    assert dict(cells["silent"].unavailable) == {}


def test_an_edited_program_is_a_changed_plan(tmp_path: Path, plan: Plan) -> None:
    (tmp_path / "silent.py").write_text(SILENT + "# edited\n")

    with pytest.raises(PlanChanged, match=r"arm 'silent', prompt of 'file .*silent\.py'"):
        run_study(tmp_path, plugins=[PLUGIN])


def test_what_programs_cost_is_unknown_before_they_ran(plan: Plan) -> None:
    cost = expected_cost(plan)

    assert [arm.calls for arm in cost.arms] == [1, None, None, None, None]
    assert cost.usd is None
