"""Names for files and folders out of names that anybody chose: safe, not too long, and each its own."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from taketwo.executions.plan import Arm

__all__ = ["LONGEST_NAME", "model_of", "names_of_arms", "safe_name", "unique_names"]

LONGEST_NAME = 120
"""Characters of a file's name, ending and all."""

_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


def safe_name(*parts: str) -> str:
    """Return the parts joined by `_`, without a character that could lead elsewhere.

    Examples
    --------
    >>> safe_name("ours", "Qwen/Qwen3-VL", "K1")
    'ours_Qwen_Qwen3-VL_K1'
    """
    return "_".join(_UNSAFE.sub("_", part).strip(".") or "unnamed" for part in parts)


def unique_names(
    keys: Iterable[tuple[str, ...]], *, ending: str = ""
) -> dict[tuple[str, ...], str]:
    """Return a safe name for each key, of at most 120 characters with the longest `ending`.

    Names that would be the same, to a file system that does not tell upper from lower case as well, and
    names that had to be cut bear a hash of their key. The ending is not part of them.
    """
    room = LONGEST_NAME - len(ending)
    plain = {key: safe_name(*key) for key in keys}
    counts = Counter(name.casefold() for name in plain.values())
    names: dict[tuple[str, ...], str] = {
        key: name
        for key, name in plain.items()
        if len(name) <= room and counts[name.casefold()] == 1
    }
    taken = {name.casefold() for name in names.values()}
    for key, name in plain.items():
        if key in names:
            continue
        digest = hashlib.sha256("\0".join(key).encode("utf-8", "surrogatepass")).hexdigest()
        length = 8
        while (found := f"{name[: room - length - 1]}-{digest[:length]}").casefold() in taken:
            length += 4
        names[key] = found
        taken.add(found.casefold())
    return names


def model_of(arm: Arm) -> str:
    """Return the model that an arm's answers are named by: its orchestrator, or its only one."""
    found = arm.models.get("orchestrator") or next(iter(arm.models.values()), None)
    return "no model" if found is None else found.name


def names_of_arms(arms: Iterable[Arm], *, ending: str, with_model: bool = True) -> dict[str, str]:
    """Return by arm what the names of its files begin with; `ending` is the longest that follows."""
    keys = {arm.name: (arm.name, model_of(arm)) if with_model else (arm.name,) for arm in arms}
    names = unique_names(keys.values(), ending=ending)
    return {name: names[key] for name, key in keys.items()}
