"""The demo: a full study with models that need neither network nor key."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path

from taketwo.errors import HarnessError, RequestError
from taketwo.executions.plan import Plan
from taketwo.executions.progress import Progress
from taketwo.media.store import MediaStore, write_atomically
from taketwo.report.accounts import ContextNumber
from taketwo.reporting import ReportFiles, write_report
from taketwo.scoring import score
from taketwo.study import Planned, plan, run

__all__ = ["Shown", "demo", "demo_study"]


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the demo showed.

    `chance` is the accuracy of guessing, `perception_bound` that of a reader who knows what each
    question on a rendered video asks for and sees only what the offline models perceive
    (`bound_questions` of them); both 0 to 1.
    """

    report: ReportFiles
    chance: float
    perception_bound: float
    bound_questions: int


def demo_study() -> str:
    """Return the study file of the demo."""
    return (resources.files("taketwo") / "demonstration.yaml").read_text("utf-8")


def demo(
    folder: Path | str = "demo",
    *,
    on_step: Callable[[str], None] | None = None,
    on_planned: Callable[[Planned], None] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Shown:
    """Run the demo study in `folder`, or go on with it, and write its report.

    Raises
    ------
    RequestError
        If `folder` holds another study.
    """
    home = Path(folder)

    def say(text: str) -> None:
        if on_step is not None:
            on_step(text)

    _prepare(home)
    say("Preparing questions and videos ...")
    planned = plan(home)
    if on_planned is not None:
        on_planned(planned)
    run(home, on_progress=on_progress)
    say("Scoring, and measuring what the perception allows ...")
    score(home)
    chance, bound, bound_questions = _context(home, planned.plan)
    say("Comparing and writing the report ...")
    return Shown(
        report=write_report(home),
        chance=chance,
        perception_bound=bound,
        bound_questions=bound_questions,
    )


def _prepare(home: Path) -> None:
    study_yaml = home / "study.yaml"
    if study_yaml.is_file():
        if study_yaml.read_text("utf-8") != demo_study():
            raise RequestError(
                f"{study_yaml}: another study, or a demo of another version, lies here; name another "
                "folder (taketwo demo FOLDER) or remove this one"
            )
        return
    if home.exists() and (not home.is_dir() or any(home.iterdir())):
        raise RequestError(f"{home}: not an empty folder; name another one: taketwo demo FOLDER")
    write_atomically(study_yaml, demo_study().encode("utf-8"))


def _context(home: Path, frozen: Plan) -> tuple[float, float, int]:
    """Measure chance and the perception-only bound once, and leave them for the report."""
    from taketwo.scores.perception_bound import chance, perceive, perception_bound  # heavy: on call

    questions = [planned.question for planned in frozen.questions]
    store = MediaStore(home / "media")
    guessing = chance(questions)
    bound = perception_bound(questions, perceived=lambda path: perceive(path, store=store))
    if bound.accuracy is None:
        raise HarnessError("the demo has no question with a program; its benchmark is broken")
    numbers = (
        ContextNumber(
            label="Chance",
            metric="accuracy",
            value=guessing,
            meaning="guessing one option of each question; open questions count 0",
        ),
        ContextNumber(
            label="Perception-only bound",
            metric="accuracy",
            value=bound.accuracy,
            meaning=(
                f"a reader who knows what each of the {bound.questions} questions on rendered videos "
                "asks for and sees only what the offline models perceive"
            ),
        ),
    )
    text = json.dumps([asdict(number) for number in numbers], indent=1)
    write_atomically(home / "context.json", text.encode("utf-8"))
    return guessing, bound.accuracy, bound.questions
