"""Where a study lies: its folder, its file, and what stands in it beside the logs."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import HarnessError, RequestError
from taketwo.executions.plan import Plan, read_plan
from taketwo.media.store import write_atomically

__all__ = ["StudyFolder", "write_json"]


@dataclass(frozen=True, kw_only=True)
class StudyFolder:
    """Where a study lies: its folder and, where there is one, the file that describes it."""

    folder: Path
    study_yaml: Path | None

    @classmethod
    def locate(cls, study: Path) -> StudyFolder:
        """Find the study that a folder or a YAML file names.

        `NAME.yaml` describes the study in the folder `NAME` beside it, `study.yaml` the one that
        it lies in.

        Raises
        ------
        RequestError
            If there is nothing of that name, or a folder without study and plan.
        """
        if study.is_dir():
            written = study / "study.yaml"
            name = study.resolve()
            beside = [name.parent / f"{name.name}{ending}" for ending in (".yaml", ".yml")]
            found = next((path for path in (written, *beside) if path.is_file()), None)
            if found is None and not (study / "plan.json").is_file():
                raise RequestError(
                    f"{study}: neither study.yaml nor plan.json here; write a study.yaml "
                    "(docs/guides/study-file.md), or name another folder"
                )
            return cls(folder=study, study_yaml=found)
        if study.is_file() and study.suffix in {".yaml", ".yml"}:
            folder = study.parent if study.stem == "study" else study.with_suffix("")
            return cls(folder=folder, study_yaml=study)
        what = "not a study file (.yaml)" if study.is_file() else "no such study"
        raise RequestError(f"{study}: {what}; name a study folder or its YAML file")

    @property
    def plan_path(self) -> Path:
        """Return where the frozen plan lies."""
        return self.folder / "plan.json"

    def audit_path(self, design: str) -> Path:
        """Return where an audit of the judges of that design lies."""
        return self.folder / f"judge-audit-{design}.json"

    @property
    def audit_paths(self) -> tuple[Path, ...]:
        """Return the audits of the judges that were made, by name."""
        return tuple(sorted(self.folder.glob("judge-audit-*.json")))

    @property
    def judgements(self) -> Path:
        """Return the folder of the study's own labels."""
        return self.folder / "judgements"

    @property
    def ratings(self) -> Path:
        """Return the folder where filled forms of human raters are kept."""
        return self.folder / "ratings"

    @property
    def is_writable(self) -> bool:
        """Return whether anything can be written here; on a mounted archive a study is only read."""
        return os.access(self.folder, os.W_OK)

    def plan(self) -> Plan:
        """Return the frozen plan."""
        return read_plan(self.plan_path)


def write_json(path: Path, record: JsonValue) -> None:
    """Write a record; the file appears whole or not at all.

    Raises
    ------
    HarnessError
        If it cannot be written and does not hold just this record.
    """
    data = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False).encode("utf-8")
    try:
        write_atomically(path, data)
    except HarnessError:
        if not path.is_file() or path.read_bytes() != data:
            raise
