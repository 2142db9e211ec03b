"""Cells of every agent of the catalogue: real ones (`run_cell`), over a stub decoder, played by a puppet."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from inspect_ai.event import Event
from inspect_ai.log import transcript
from tests.cells import StubWorkers, video_info
from tests.plans import make_plan
from tests.puppet import Puppet
from tests.scripted_model import Reply, Request, script

from taketwo.agents.answer import Answer
from taketwo.agents.catalog import agent_spec
from taketwo.benchmarks.question import Question
from taketwo.executions.cell import CellEnd, run_cell
from taketwo.executions.log_events import trajectory_of
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion, Sampling
from taketwo.executions.trajectory import PrimitiveOperation, ToolCall, Trajectory
from taketwo.media.store import MediaStore
from taketwo.outcomes.build import outcomes_of
from taketwo.tools.budget import Limits
from taketwo.tools.primitives import CellMedia
from taketwo.tools.video_index_store import IndexLocks
from taketwo.tools.web import Pause, SearchHit, Web, WebPage

__all__ = [
    "ARM",
    "SETUPS",
    "Cells",
    "Ran",
    "Setup",
    "every_setup",
    "question",
    "quick",
    "tools_of",
]

ARM = "canary_arm"
"""The name of the arm; no request may hold it."""
_puppet: ContextVar[Puppet] = ContextVar("_puppet")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """An agent with options; `name` names the test's case."""

    name: str
    agent: str
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


def _setup(name: str, **options: Any) -> Setup:
    return Setup(name=name, agent=name.split()[0], options=options)


SETUPS: tuple[Setup, ...] = (
    _setup("single_turn"),
    _setup("single_turn with transcript", transcript=True, fps=1.0, cap=50),
    _setup("single_turn native", native_video=True),
    _setup("video_react"),
    _setup("video_react in text", call_form="text", observer_sees_question=False),
    _setup("video_react fixed", fixed_fps=1.0, fixed_resolution="low", full_video=True),
    _setup("sage static"),
    _setup("sage dynamic", library="composites"),
    _setup("sage in text", library="composites", call_form="text", calls_per_turn=1),
    _setup("dvd", search="bm25"),
    _setup("dvd lite", search="bm25", lite=True),
    _setup("dvd faithful", search="bm25", faithful=True),
    _setup("dvd in text", search="bm25", call_form="text"),
    _setup("avp"),
    _setup("avp faithful", faithful=True),
    _setup("avp fixed", fixed_fps=1.0, fixed_resolution="low", full_video=True),
    _setup("star"),
    _setup("star faithful", faithful=True),
)


every_setup = pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.name)


def question(number: int = 0, **changes: Any) -> Question:
    """Return a question whose true option is the second one."""
    facts: dict[str, Any] = {
        "question_id": f"q{number}",
        "text": f"Which colour is circle {number}?",
        "video_id": "v",
        "video_path": "/videos/video.mp4",
        "options": ("red", "blue", "green"),
        "answer_index": 1,
    }
    return Question(**(facts | changes))


@dataclass
class StubWeb:
    """One hit for every search and one page for every address, with `text` in them."""

    text: str = "a blue circle"

    async def search(self, query: str, count: int, *, pause: Pause) -> Sequence[SearchHit]:
        return [SearchHit(title=self.text, url="https://example.org/page", snippet=self.text)]

    async def page(self, url: str) -> WebPage:
        return WebPage(url=url, title=self.text, text=self.text, characters=len(self.text))


@cache
def _frames_folder() -> Path:
    """Return where all cells keep their pictures, of which the stub decoder has 256 in all."""
    folder = Path(tempfile.mkdtemp(prefix="frames-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class StubStudio:
    """What the cells of one process share, without processes that decode."""

    def __init__(
        self,
        folder: Path,
        *,
        info: Mapping[str, Any],
        workers: StubWorkers,
        web: StubWeb | None,
        subtitles: Path | None,
    ) -> None:
        self.folder = folder
        self.index_locks = IndexLocks()
        self.web = None if web is None else Web(search=web, pages=web)
        self.derived_folder = folder / "media"
        self._info, self._workers, self._subtitles = info, workers, subtitles
        self._frames = MediaStore(_frames_folder())
        self._derived = MediaStore(self.derived_folder)
        self._slots = anyio.CapacityLimiter(2)

    def tell_pause(self, arm: str, question_id: str, is_paused: bool) -> None:
        del arm, question_id, is_paused

    async def media_of(self, planned: PlannedQuestion) -> CellMedia:
        path = Path(planned.question.video_path)
        return CellMedia(
            path=path,
            info=video_info(path, **self._info),
            workers=self._workers,
            frames=self._frames,
            derived=self._derived,
            slots=self._slots,
            subtitles=self._subtitles,
        )


@dataclass(kw_only=True)
class Ran:
    """A cell that was run: how it ended, what its models were asked, and its log."""

    plan: Plan
    question_id: str
    end: CellEnd
    puppet: Puppet
    log: Sequence[Event]

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """Return the events of the cell as a log holds them, without raw requests.

        The engine keeps raw requests of some calls only, unless an evaluation asks for all of them.
        """
        return [event.model_dump(mode="json", exclude={"call"}) for event in self.log]

    @cached_property
    def trajectory(self) -> Trajectory:
        """Return the cell as everything after the log reads it."""
        metadata = {"arm": ARM, "question_id": self.question_id, "execution": 1}
        sample = {"id": f"{ARM}:{self.question_id}", "metadata": metadata, "events": self.events}
        return trajectory_of(sample)

    @property
    def status(self) -> str:
        return self.end.run_status

    @property
    def answer(self) -> Answer:
        assert self.end.answer is not None, self.end
        return self.end.answer

    @property
    def option(self) -> int | None:
        return None if self.end.answer is None else self.end.answer.option_index

    @property
    def tools(self) -> tuple[ToolCall, ...]:
        return self.trajectory.tool_calls

    @property
    def primitives(self) -> tuple[PrimitiveOperation, ...]:
        return self.trajectory.primitives

    def infos(self, source: str) -> list[dict[str, Any]]:
        """Return the data of the events of `taketwo.<source>`."""
        return [
            event["data"]
            for event in self.events
            if event["event"] == "info" and event["source"] == f"taketwo.{source}"
        ]

    def outcome(self) -> dict[str, Any]:
        """Return the row of the cell in the table of outcomes."""
        frame = outcomes_of(self.plan, [self.trajectory]).frame
        rows = frame.filter(
            (frame["arm"] == ARM)
            & (frame["question_id"] == self.question_id)
            & (frame["execution"] == 1)
        )
        return rows.row(0, named=True)


class Cells:
    """The cells of one arm: its plan, and the studio that they share."""

    def __init__(
        self,
        folder: Path,
        setup: Setup,
        *,
        questions: Sequence[Question] = (),
        limits: Limits | None = None,
        info: Mapping[str, Any] | None = None,
        workers: StubWorkers | None = None,
        web: StubWeb | None = None,
        subtitles: Path | None = None,
        price: Mapping[str, float] | None = None,
        retries: int = 0,
    ) -> None:
        spec = agent_spec(setup.agent)
        options = spec.checked(setup.options)
        self.workers = workers or StubWorkers()
        self._hears_for_index = setup.agent == "dvd"
        models = {role: ModelSpec(name=_model(role)) for role in spec.roles_for(options)}
        plan = make_plan(questions=list(questions) or [question()])
        arm = Arm(
            name=ARM,
            agent=setup.agent,
            baseline="base",
            options=options.model_dump(mode="json"),
            models=models,
            sampling={role: Sampling(temperature=0.5) for role in models},
            limits=spec.limits_for(options).tightened_by(limits or Limits()),
            tools=tuple(tool.name for tool in spec.tools(options)),
            prompts={},
            tools_sha256="1" * 64,
        )
        prices = {} if price is None else {model.name: price for model in models.values()}
        self.plan = replace(
            plan,
            arms=(plan.arms[0], arm),
            retries=retries,
            provider_seeds=True,
            prices=prices,
        )
        self.studio = StubStudio(
            folder,
            info=info or {},
            workers=self.workers,
            web=StubWeb() if web is None else web,
            subtitles=subtitles,
        )

    async def run(self, puppet: Puppet, question_id: str = "q0") -> Ran:
        """Run the cell of a question, its models played by `puppet`."""
        puppet.hears_for_index = self._hears_for_index
        _puppet.set(puppet)
        before = len(transcript().events)
        end = await run_cell(self.plan, 1, ARM, question_id, self.studio)  # type: ignore[arg-type]
        return Ran(
            plan=self.plan,
            question_id=question_id,
            end=end,
            puppet=puppet,
            log=transcript().events[before:],
        )


def _played(role: str, request: Request) -> Reply:
    return _puppet.get().reply(role, request)


@cache
def _model(role: str) -> str:
    """Return the model of a role, the same for all cells: the engine looks each new name up slowly."""
    return script([partial(_played, role)], repeat_last=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for no disk and start no text recognition in the tests of a module that imports this."""
    monkeypatch.setattr("taketwo.media.store.os.fsync", lambda _: None)
    monkeypatch.setattr("taketwo.tools.star_reading.read_text", lambda _: [])


def tools_of(setup: Setup) -> tuple[str, ...]:
    """Return the names of the tools that the orchestrator sees, without the one that ends DVD."""
    spec = agent_spec(setup.agent)
    names = (tool.name for tool in spec.tools(spec.checked(setup.options)))
    return tuple(name for name in names if name != "finish")
