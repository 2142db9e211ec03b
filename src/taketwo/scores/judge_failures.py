"""What judges could not label when they were last asked, so that a later reading does not forget it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from taketwo.media.store import write_atomically

__all__ = ["read_failures", "write_failures"]

_NAME = "judge-failures.json"


def read_failures(folder: Path) -> dict[str, str]:
    """Return the causes by key of what was judged; empty where nothing failed or nothing is kept.

    The file only tells `judge_error` from `not_judged`; a damaged one is as good as none.
    """
    path = folder / _NAME
    try:
        record: object = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return {
        key: cause
        for key, cause in cast("dict[str, object]", record).items()
        if isinstance(cause, str)
    }


def write_failures(folder: Path, causes: Mapping[str, str]) -> None:
    """Keep the causes by key, in place of those that were kept before."""
    path = folder / _NAME
    if causes or path.is_file():
        text = json.dumps(dict(sorted(causes.items())), indent=1)
        write_atomically(path, text.encode("utf-8", "replace"))
