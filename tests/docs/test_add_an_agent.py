"""The agents of the guide run as they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest
from pydantic import BaseModel
from tests.cells import COLOURS, model_name, toolbox
from tests.scripted_model import requests_of

from taketwo.agents import external_protocol
from taketwo.agents.catalog import agent_spec
from taketwo.tools.budget import Limits
from taketwo.tools.expected_work import ExpectedWork

GUIDE = (Path(__file__).parents[2] / "docs/guides/add-an-agent.md").read_text("utf-8")


def code(name: str) -> str:
    """Return the block of the guide that begins with the line `# NAME`."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
    (found,) = [block for block in blocks if block.startswith(f"# {name}\n")]
    return found


def module(name: str) -> ModuleType:
    made = ModuleType(name.removesuffix(".py"))
    exec(compile(code(name), name, "exec"), made.__dict__)  # noqa: S102 the guide's own code
    return made


async def test_the_first_agent_looks_and_answers(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=["Blue. FINAL ANSWER: B"], tools=[])

    answer = await module("my_agents.py").middle_frame(COLOURS, box, side=320)

    assert (answer.status, answer.option_index) == ("answered", 1)
    (request,) = requests_of(model_name(box, "orchestrator"))
    assert len(request.images) == 1
    assert "[frame at 12.00 s]" in request.text
    assert len(code("my_agents.py").split("async def")[1].splitlines()) <= 20


async def test_the_first_agent_ends_at_a_limit(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=[], tools=[], limits=Limits(turns=0))

    answer = await module("my_agents.py").middle_frame(COLOURS, box)

    assert (answer.status, answer.limit) == ("limit", "turns")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_the_framework_of_the_guide_asks_the_cells_model(tmp_path: Path) -> None:
    box = toolbox(tmp_path, orchestrator=["FINAL ANSWER: C"], tools=[])

    answer = await module("my_framework.py").on_openai(COLOURS, box)

    assert answer.option_index == 2
    assert box.budget.used("turns") == 1
    assert set(box.unavailable) == {"primitive_ops", "latency_s"}


async def test_the_program_of_the_guide_answers(tmp_path: Path) -> None:
    script = tmp_path / "answer.py"
    script.write_text(code("answer.py"))
    spec = agent_spec("command")
    box = toolbox(tmp_path, tools=[])

    answer = await spec.build(spec.checked({"command": [sys.executable, str(script)]}))(
        COLOURS, box
    )

    assert (answer.option_index, answer.reasoning) == (0, "a guess")
    assert (box.budget.used("tokens"), box.latency_s) == (940, 1.5)
    assert set(box.unavailable) == {"primitive_ops", "frames"}


def test_the_work_of_the_guide_is_one() -> None:
    assert module("my_work.py").work == ExpectedWork(
        turns=6, visible_calls=5, observer_calls=3, observer_frames=16, calls_most=9
    )


def test_the_guide_names_every_event_with_all_its_fields() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", GUIDE, flags=re.MULTILINE))
    kinds: tuple[type[BaseModel], ...] = get_args(external_protocol.Event)
    for kind in kinds:
        name = get_args(kind.model_fields["event"].annotation)[0]
        fields = [field for field in kind.model_fields if field != "event"]
        assert [field for field in fields if f"`{field}`" not in rows[name]] == [], name


def test_the_options_of_the_guide_are_options() -> None:
    for name in ("command", "http"):
        (written,) = re.findall(rf"agent: {name}\n    options: (\{{.*\}})\n", GUIDE)
        keys = set(re.findall(r"(\w+): ", re.sub(r"\{[^{}]*\}", "", written[1:-1])))
        assert keys <= set(agent_spec(name).options.model_fields), name
