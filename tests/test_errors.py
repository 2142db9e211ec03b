from __future__ import annotations

import inspect
import re

import taketwo.errors as tree
from taketwo.errors import DataError, HarnessError, RequestError, TaketwoError, UnknownName


def classes() -> dict[str, type[BaseException]]:
    return {
        name: thing
        for name, thing in vars(tree).items()
        if inspect.isclass(thing) and issubclass(thing, TaketwoError)
    }


def test_the_drawn_tree_is_the_tree_of_classes() -> None:
    drawn: dict[str, str] = {}
    path: list[str] = []
    for line in (tree.__doc__ or "").splitlines():
        match = re.match(r"    ((?:  )*)([A-Z]\w+)", line)
        if match and match[2] in classes():
            depth = (len(line) - len(line.lstrip()) - 4) // 2
            path = [*path[:depth], match[2]]
            drawn[match[2]] = path[-2] if len(path) > 1 else "Exception"

    assert drawn == {name: thing.__bases__[0].__name__ for name, thing in classes().items()}


def test_each_branch_has_its_exit_status() -> None:
    assert (RequestError.exit_status, DataError.exit_status, HarnessError.exit_status) == (2, 3, 4)
    assert {thing.exit_status for thing in classes().values() if issubclass(thing, DataError)} == {
        3
    }


def test_an_unknown_name_comes_with_near_ones() -> None:
    error = UnknownName.among("agent", "video_reakt", ["video_react", "single_turn"])

    assert str(error) == (
        "unknown agent 'video_reakt': did you mean 'video_react'? known are single_turn, video_react"
    )


def test_a_name_that_begins_a_longer_one_finds_it() -> None:
    error = UnknownName.among("system", "react", ["react/openai/gpt-5", "single/openai/gpt-5"])

    assert "did you mean 'react/openai/gpt-5'?" in str(error)


def test_a_name_that_is_near_nothing_still_lists_what_is_known() -> None:
    assert str(UnknownName.among("agent", "zzz", ["video_react"])) == (
        "unknown agent 'zzz': no name is near it; known are video_react"
    )
