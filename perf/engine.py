"""CPU per model call of a study against a bare inspect_ai agent, and the size of a cell's log.

    python perf/engine.py [--cells 60] [--pairs 9]

Both sides make the same calls to the same model without latency, with the same prompts and tool
schemas, log with the same settings (request capture on, one picture a look, pictures by hash), and run in this process, in pairs, the
order inside a pair alternating. Printed are the median of the ratios (goal: at most 1.4) and the
mean bytes of a cell's log over 200 cells (goal: under 10 KB + 1 KB a model call).
"""

from __future__ import annotations

import argparse
import base64
import itertools
import statistics
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import av
import numpy as np
from inspect_ai import Task
from inspect_ai import eval as evaluate  # pyright: ignore[reportUnknownVariableType] its untyped parameters are not used
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelAPI,
    ModelCall,
    ModelOutput,
    ModelUsage,
    execute_tools,
    get_model,
    modelapi,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolCall, ToolChoice, ToolInfo, tool
from numpy.typing import NDArray

from taketwo.agents.catalog import agent_spec
from taketwo.agents.video_react import VIDEO_REACT_TOOLS
from taketwo.benchmarks.question import Question
from taketwo.executions.log_zip import open_log_file
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion, Sampling
from taketwo.executions.rule import Rule
from taketwo.executions.schedule import cell_order
from taketwo.executions.task import task_of_cells
from taketwo.media.frames import encode_jpeg
from taketwo.tools.catalog import tools_block

LOOKS = 4
CALLS = 2 * LOOKS + 1
OBSERVED = """Focus answer: three red circles are seen.
Observations:
[1.0 s] 3 red circles (confidence 0.90)
[1.0 s] text "EXIT 42" (confidence 0.98)
Coverage: rich
Uncertainty: nothing can be said about sound."""


@modelapi(name="instant")
class Instant(ModelAPI):
    """A model that takes no time: looks `LOOKS` times, then answers."""

    async def generate(
        self,
        input: list[ChatMessage],  # noqa: A002 the engine's name
        tools: list[ToolInfo],
        tool_choice: ToolChoice,
        config: GenerateConfig,
    ) -> tuple[ModelOutput, ModelCall]:
        """Return the next reply and the request as it was captured."""
        request = {
            "model": self.model_name,
            "messages": [{"role": message.role, "content": message.text} for message in input],
            "tools": [one.model_dump(exclude_none=True) for one in tools],
            "temperature": config.temperature,
        }
        looks = sum(message.role == "tool" for message in input)
        if self.model_name == "observer":
            message = ChatMessageAssistant(content=OBSERVED)
        elif looks < LOOKS:
            arguments = {
                "start_time": looks,
                "end_time": looks + 0.01,
                "fps": 1,
                "focus": "circles",
            }
            call = ToolCall(id=f"look_{looks}", function="analyze_video", arguments=arguments)
            message = ChatMessageAssistant(content="I look at the next second.", tool_calls=[call])
        else:
            text = 'Seen often enough.\n```json\n{"answer": "A", "reasoning": "three circles"}\n```'
            message = ChatMessageAssistant(content=text)
        output = ModelOutput(
            model=self.model_name,
            choices=[ChatCompletionChoice(message=message, stop_reason="stop")],
            usage=ModelUsage(input_tokens=500, output_tokens=40, total_tokens=540),
        )
        return output, ModelCall.create(request, {"id": "r", "model": self.model_name})


def texture(rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a picture of coloured squares, 360 x 640."""
    blocks = rng.integers(0, 255, (18, 32, 3), dtype=np.uint8)
    return np.ascontiguousarray(blocks.repeat(20, axis=0).repeat(20, axis=1))


def paint(path: Path) -> Path:
    """Write a video of ten seconds with some texture."""
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=5)  # pyright: ignore[reportUnknownMemberType] the stubs leave it open
        stream.width, stream.height, stream.pix_fmt = 640, 360, "yuv420p"
        for _ in range(50):
            frame = av.VideoFrame.from_ndarray(texture(rng), format="rgb24")
            container.mux(stream.encode(frame))  # pyright: ignore[reportUnknownMemberType] the stubs leave it open
        container.mux(stream.encode())  # pyright: ignore[reportUnknownMemberType] the stubs leave it open
    return path


def make_plan(video: Path, cells: int) -> Plan:
    """Return a plan of one arm, `video_react`, on `cells` questions."""
    spec = agent_spec("video_react")
    options = spec.checked({})
    question = [
        Question(
            question_id=f"q{number}",
            text=f"How many red circles are shown in part {number}?",
            video_id="v",
            video_path=str(video),
            options=("three", "four", "five", "none"),
            answer_index=0,
        )
        for number in range(cells)
    ]
    arm = Arm(
        name="react",
        agent="video_react",
        baseline=None,
        options=options.model_dump(mode="json"),
        models={
            "orchestrator": ModelSpec(name="instant/planner"),
            "observer": ModelSpec(name="instant/observer"),
            "transcriber": ModelSpec(name="taketwo/offline-transcriber"),
        },
        sampling={"orchestrator": Sampling(temperature=0.5)},
        limits=spec.limits_for(options),
        tools=tuple(tool.name for tool in spec.tools(options)),
        prompts={},
        tools_sha256="",
    )
    return Plan(
        study="perf",
        created="2026-01-01T00:00:00+00:00",
        seed=1,
        executions=1,
        benchmark="perf",
        benchmark_version="1",
        benchmark_sha256="",
        questions=tuple(
            PlannedQuestion(
                question=item,
                question_sha256=item.content_sha256,
                video_sha256=None,
                subtitles_sha256=None,
                availability="available",
            )
            for item in question
        ),
        arms=(arm,),
        rule=Rule(),
        judge=None,
        cells=8,
        connections=8,
        retries=0,
        timeout_s=60.0,
        provider_seeds=False,
        code_sha256="",
        packages={},
    )


def bare_task(cells: int, prompts: Mapping[str, str], picture: str) -> Task:
    """Return an agent written straight on inspect_ai that makes the same calls."""

    @tool
    def analyze_video() -> Tool:
        async def execute(start_time: float, end_time: float, fps: float, focus: str) -> str:
            """Look at a window of the video.

            Args:
                start_time: Start in seconds.
                end_time: End in seconds.
                fps: Frames per second.
                focus: What to look for.
            """
            del end_time, fps
            messages: list[ChatMessage] = [
                ChatMessageSystem(content=prompts["observer"]),
                ChatMessageUser(
                    content=[
                        ContentText(text=f"Focus: {focus}"),
                        ContentText(text=f"[frame at {start_time:.2f} s]"),
                        ContentImage(image=picture),
                    ]
                ),
            ]
            output = await get_model("instant/observer").generate(messages)
            return output.completion

        return execute

    @solver
    def bare() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            del generate
            shown = [ToolInfo.model_validate(one) for one in tools_block(VIDEO_REACT_TOOLS)]
            tools = [analyze_video()]
            model = get_model("instant/planner", config=GenerateConfig(temperature=0.5))
            messages: list[ChatMessage] = [
                ChatMessageSystem(content=prompts["orchestrator"].split("\f")[0]),
                ChatMessageUser(content=state.input_text),
            ]
            while True:
                output = await model.generate(messages, shown)
                messages.append(output.message)
                if not output.message.tool_calls:
                    break
                messages += (await execute_tools(messages, tools)).messages
            state.output = output
            return state

        return solve

    samples = [
        Sample(
            id=f"q{number}",
            input=f"How many red circles are shown in part {number}?\nA. three\nB. four\nC. five",
        )
        for number in range(cells)
    ]
    return Task(dataset=MemoryDataset(samples), solver=bare(), name="bare")


def run(task: Task, log_dir: Path) -> None:
    """Evaluate `task` with the settings of an attempt."""
    logs = evaluate(
        task,
        model=None,
        log_dir=str(log_dir),
        log_buffer=1,
        log_realtime=False,
        log_images=False,
        log_model_api=True,
        log_level="warning",
        display="none",
        score=False,
        fail_on_error=False,
        max_samples=8,
        ctl_server=False,
        acp_server=False,
    )
    if logs[0].status != "success" or any(sample.error for sample in logs[0].samples or []):
        raise RuntimeError(f"the run ended as {logs[0].status}; its seconds mean nothing")


def cpu_s(work: Callable[[], None]) -> float:
    """Return the CPU seconds of this process that `work` takes."""
    before = time.process_time()
    work()
    return time.process_time() - before


def compare_cpu(folder: Path, cells: int, pairs: int) -> None:
    """Print CPU per model call of both sides and the median of the ratios."""
    plan = make_plan(paint(folder / "clip.mp4"), cells)
    jpeg = encode_jpeg(texture(np.random.default_rng(0)))
    picture = "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
    prompts = agent_spec("video_react").prompts(agent_spec("video_react").checked({}))
    numbers = itertools.count()

    def ours() -> None:
        task = task_of_cells(plan, 1, folder, cell_order(plan, 1), located=plan.questions)
        run(task, folder / f"ours-{next(numbers)}")

    def bare() -> None:
        run(bare_task(cells, prompts, picture), folder / f"bare-{next(numbers)}")

    ours()
    bare()
    ratios: list[float] = []
    for pair in range(pairs):
        if pair % 2:
            mine, theirs = cpu_s(ours), cpu_s(bare)
        else:
            theirs, mine = cpu_s(bare), cpu_s(ours)
        ratios.append(mine / theirs)
        per_call = 1000 / (cells * CALLS)
        print(
            f"pair {pair + 1}: ours {mine * per_call:.2f} ms/call, "
            f"bare {theirs * per_call:.2f} ms/call, ratio {ratios[-1]:.2f}"
        )
    print(f"median ratio of {pairs} pairs: {statistics.median(ratios):.2f} (goal: at most 1.40)")


def log_size(folder: Path, cells: int = 200) -> None:
    """Print the mean bytes of a cell's log."""
    plan = make_plan(folder / "clip.mp4", cells)
    run(
        task_of_cells(plan, 1, folder, cell_order(plan, 1), located=plan.questions), folder / "size"
    )
    path = next((folder / "size").glob("*.eval"))
    names = [name for name in open_log_file(path).names if name.startswith("samples/")]
    with zipfile.ZipFile(path) as archive:
        own = sum(archive.getinfo(name).compress_size for name in names) / len(names)
    mean, goal = path.stat().st_size / len(names), 10_000 + 1_000 * CALLS
    print(
        f"log of {len(names)} cells with {CALLS} model calls: {mean:.0f} bytes a cell in all, "
        f"{own:.0f} of them the cell's own (goal: under {goal})"
    )


def main() -> None:
    """Print both measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=60)
    parser.add_argument("--pairs", type=int, default=9)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        compare_cpu(Path(name), arguments.cells, arguments.pairs)
        log_size(Path(name))


if __name__ == "__main__":
    main()
