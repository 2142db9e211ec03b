"""The task of a study: its samples are the cells of one execution, its solver runs one cell.

    inspect eval taketwo/study -T plan=studies/march/plan.json -T execution=1 --no-score

The agent never sees a sample: it gets its question from the plan, without the truth. The truth
stands in the sample's target so that `inspect view` can show it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageAssistant, GenerateConfig, ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from taketwo.benchmarks.question import Question
from taketwo.executions.cell import CellEnd, run_cell
from taketwo.executions.environment import code_sha256
from taketwo.executions.plan import Arm, Plan, PlannedQuestion, read_plan
from taketwo.executions.schedule import Cell, cell_order
from taketwo.executions.studio import Studio
from taketwo.executions.unchanged import check_unchanged

__all__ = ["study", "task_of_cells"]


@task
def study(plan: str, execution: int) -> Task:
    """Return the task of one execution of a frozen study.

    Parameters
    ----------
    plan
        Path of `plan.json`; the study's folder is the one that it lies in.
    execution
        Number of the execution, from 1.

    Raises
    ------
    PlanChanged
        If prompts, tools, questions, videos, code or packages are no longer those of the plan.
    """
    path = Path(plan).resolve()
    frozen = read_plan(path)
    present = check_unchanged(frozen, path.parent)
    cells = cell_order(frozen, execution)
    return task_of_cells(frozen, execution, path.parent, cells, located=present)


def task_of_cells(
    plan: Plan,
    execution: int,
    folder: Path,
    cells: Sequence[Cell],
    *,
    located: Sequence[PlannedQuestion],
    on_start: Callable[[str], None] | None = None,
    on_pause: Callable[[str, bool], None] | None = None,
) -> Task:
    """Return the task that runs `cells` of an execution, without checking the plan again.

    `located` are the plan's questions with the paths that their media have now, as they were
    checked: what runs is what was checked, also where the study has moved. `on_start` is told the
    id of every cell when it starts, not while it waits for its turn; `on_pause` when its clock stops
    (True) and goes on (False).
    """
    return Task(
        dataset=MemoryDataset(
            [_sample(plan, execution, cell) for cell in cells], name=f"{plan.study} K{execution}"
        ),
        solver=_cells(
            replace(plan, questions=tuple(located)), execution, folder, on_start, on_pause
        ),
        config=GenerateConfig(
            adaptive_connections=False,
            cache=False,
            cache_prompt=False,
            max_connections=plan.connections,
            max_retries=plan.retries,
            timeout=max(1, round(plan.timeout_s)),
        ),
        fail_on_error=False,
        metadata={
            "study": plan.study,
            "plan_sha256": plan.sha256,
            "execution": execution,
            "code_sha256": code_sha256(),
            "plan": str(folder / "plan.json"),
        },
        name="study",
    )


def _sample(plan: Plan, execution: int, cell: Cell) -> Sample:
    question = plan.planned(cell.question_id).question
    return Sample(
        id=cell.sample_id,
        input=_readable(question),
        target=_truth(question),
        metadata={
            "arm": cell.arm,
            "question_id": cell.question_id,
            "execution": execution,
            **_levels(plan.arm(cell.arm)),
        },
    )


def _readable(question: Question) -> str:
    """Return the question as a reader of the log sees it."""
    options = [
        f"{label}. {option}"
        for label, option in zip(question.labels, question.options, strict=True)
    ]
    return "\n".join([question.text, *options])


def _truth(question: Question) -> str:
    if question.answer_index is not None:
        return question.labels[question.answer_index]
    return question.answer_text or ""


def _levels(arm: Arm) -> dict[str, str]:
    return {f"factor_{name}": level for name, level in arm.factors.items()}


def _cells(
    plan: Plan,
    execution: int,
    folder: Path,
    on_start: Callable[[str], None] | None,
    on_pause: Callable[[str, bool], None] | None,
) -> Solver:
    """Return the solver that runs the cell which a sample names.

    It takes no parameters, since the engine would write them, the whole plan, into every log.
    """
    opened: list[Studio] = []

    @solver(name="cell")
    def cell() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate  # a cell chooses its models by the arm
            if not opened:
                opened.append(Studio(plan, folder, on_pause))
            studio = opened[0]
            async with studio.cells:
                arm, question_id = state.metadata["arm"], state.metadata["question_id"]
                if on_start is not None:
                    on_start(Cell(arm=arm, question_id=question_id).sample_id)
                end = await run_cell(plan, execution, arm, question_id, studio)
            state.output = _shown(plan, question_id, end)
            state.messages.append(ChatMessageAssistant(content=state.output.completion))
            state.metadata["run_status"] = end.run_status
            return state

        return solve

    return cell()


def _shown(plan: Plan, question_id: str, end: CellEnd) -> ModelOutput:
    """Return what a reader of the log sees as the cell's reply."""
    answer = end.answer
    if end.failure is not None:
        text = f"({end.run_status}: {end.failure.cause})"
    elif answer is not None and answer.option_index is not None:
        text = plan.planned(question_id).question.labels[answer.option_index]
    elif answer is not None and end.run_status == "answered":
        text = answer.text
    else:
        text = f"({end.run_status})"
    return ModelOutput.from_content("taketwo", text)
