"""What every agent of the catalogue keeps: it answers, it uses its tools, and it invents nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.agent_cells import (
    SETUPS,
    Cells,
    Ran,
    Setup,
    StubWeb,
    every_setup,
    question,
    quick,  # noqa: F401 a fixture of this module
    tools_of,
)
from tests.puppet import Asked, Puppet, at, offered_in
from tests.scripted_model import HttpError, Reply, empty, malformed, refuses

from taketwo.agents.catalog import AGENT_NAMES
from taketwo.tools.budget import Limits
from taketwo.tools.web import Pause, SearchHit, WebPage

_MANY: Mapping[str, Mapping[str, Any]] = {"star": {"max_tools": 30}, "sage": {"max_steps": 30}}
_REPORT = re.compile(r"report \d+\.")


def test_every_agent_of_the_catalogue_is_held_to_the_contract() -> None:
    assert {setup.agent for setup in SETUPS} == set(AGENT_NAMES)


@every_setup
async def test_it_answers_without_being_pressed(setup: Setup, tmp_path: Path) -> None:
    ran = await Cells(tmp_path, setup).run(Puppet(wants=0))

    assert (ran.status, ran.option) == ("answered", 1), ran.end
    assert (ran.answer.forced, ran.answer.limit) == (False, None)


@every_setup
async def test_each_of_its_tools_works_and_what_it_reports_is_read(
    setup: Setup, tmp_path: Path
) -> None:
    many = replace(setup, options={**setup.options, **_MANY.get(setup.agent, {})})
    ran = await Cells(tmp_path, many).run(Puppet(wants=tools_of(many)))

    assert (ran.status, ran.option) == ("answered", 1), ran.end
    assert [(call.name, call.result) for call in ran.tools if call.error] == []
    assert {call.name for call in ran.tools} == set(tools_of(setup))
    assert ("finish" in ran.puppet.called) == (setup.agent == "dvd")
    if setup.name != "star faithful":  # which loses results, as published
        assert unread(ran) == []


def unread(ran: Ran) -> list[str]:
    """Return the tools whose result stands in no later request of the orchestrator."""
    missing: list[str] = []
    asked = 0
    for event in ran.trajectory.events:
        if event.kind == "model":
            asked += event.role == "orchestrator"
        elif event.kind == "tool":
            later = [one.request.text for one in ran.puppet.of("orchestrator")[asked:]]
            told = _REPORT.findall(event.result) or [event.result.splitlines()[0]]
            if not any(all(part in text for part in told) for text in later):
                missing.append(event.name)
    return missing


Said = str | Callable[[Puppet, Asked], Reply]


def calling(arguments: Mapping[str, Any], name: str | None = None) -> Said:
    """Return a step that calls the tool `name`, or the first one on offer, whatever fits it."""

    def said(puppet: Puppet, asked: Asked) -> Reply:
        offered = [tool for tool in offered_in(asked.request) if tool != "finish"]
        return puppet.calling(asked, (name or (offered[0] if offered else "finish"), arguments))

    return said


USELESS: Mapping[str, Said] = {
    "words": "The weather is nice today.",
    "broken JSON": '{"selected_option": "B", "tool_name": "finish", "info_sufficient": tr',
    "no option": '{"answer": "Q", "selected_option": "Q"}\nFINAL ANSWER: Q',
    "two options": "The answer is A or B.",
    "unknown tool": calling({"answer": "A"}, "answer_tool"),
    "wrong types": calling({"start_time": {"a": 1}, "fps": "fast", "answer": ["A"]}),
    "outside the video": calling({"start_time": 5000, "end_time": 6000, "query": "x"}),
}


def useless(*kinds: str) -> Puppet:
    """Return a puppet whose orchestrator says these things first; a single one for ever."""
    puppet = Puppet()

    def instead(asked: Asked) -> Reply | None:
        if asked.role != "orchestrator" or (len(kinds) > 1 and asked.of_role > len(kinds)):
            return None
        said = USELESS[kinds[min(asked.of_role, len(kinds)) - 1]]
        return said(puppet, asked) if callable(said) else said

    puppet.instead = instead
    return puppet


@every_setup
@pytest.mark.parametrize("kind", USELESS)
async def test_replies_that_say_nothing_never_become_an_answer(
    setup: Setup, kind: str, tmp_path: Path
) -> None:
    ran = await Cells(tmp_path, setup, limits=Limits(turns=6)).run(useless(kind))

    assert ran.status in {"unparsed", "abstained", "limit"}, ran.end
    assert ran.option is None


@every_setup
@pytest.mark.parametrize(
    "kinds",
    [
        ("words", "broken JSON"),
        ("no option", "two options"),
        ("unknown tool", "words"),
        ("wrong types", "outside the video"),
    ],
)
async def test_replies_that_say_nothing_are_sent_back(
    setup: Setup, kinds: tuple[str, ...], tmp_path: Path
) -> None:
    ran = await Cells(tmp_path, setup).run(useless(*kinds))

    if setup.agent == "single_turn":  # one turn is all it has
        assert (ran.status, ran.option) == ("unparsed", None)
    else:
        assert (ran.status, ran.option) == ("answered", 1), ran.end


async def fails(setup: Setup, folder: Path, reply: Reply, number: int) -> Ran:
    puppet = Puppet(wants=2, instead=at(reply, number))
    ran = await Cells(folder, setup).run(puppet)
    # Nothing is asked after the fault; clips of an index that are under way are finished.
    under_way = 2 if setup.agent == "dvd" else 0
    assert number <= len(puppet.asked) <= number + under_way
    return ran


@every_setup
async def test_a_fault_of_a_provider_at_any_call_ends_the_cell_without_an_answer(
    setup: Setup, tmp_path: Path
) -> None:
    plain = Puppet(wants=2)
    await Cells(tmp_path, setup).run(plain)
    last = len(plain.asked)
    refusal = refuses('{"answer": "A"}\nFINAL ANSWER: A')
    faults: list[tuple[Reply, int]] = [
        *((HttpError(400), number) for number in sorted({1, min(2, last), (last + 1) // 2})),
        (HttpError(500), last),
        (TimeoutError("slow"), last),
        (empty(), 1),
        (malformed(), last),
        (refusal, 1),
        (refusal, last),
    ]

    for case, (reply, number) in enumerate(faults):
        ran = await fails(setup, tmp_path / f"{case}", reply, number)

        assert (ran.status, ran.end.answer) == ("provider_error", None), (reply, number, ran.end)
        assert ran.end.failure is not None
        is_reply = not isinstance(reply, Exception)
        assert ran.end.failure.cause == ("ProviderReplyError" if is_reply else type(reply).__name__)


@every_setup
@pytest.mark.parametrize(
    "words",
    ["FINAL ANSWER: A", '{"answer": "A", "found": "yes", "answers": [{"time_s": NaN}]}', "{" * 300],
    ids=["line", "object", "braces"],
)
async def test_whatever_an_observer_says_the_answer_is_the_orchestrators(
    setup: Setup, words: str, tmp_path: Path
) -> None:
    puppet = Puppet(wants=3, instead=at(words, role="observer"))

    ran = await Cells(tmp_path, setup).run(puppet)

    assert (ran.status, ran.option) == ("answered", 1), ran.end


@every_setup
async def test_a_tool_that_breaks_is_an_error_that_the_model_reads(
    setup: Setup, tmp_path: Path
) -> None:
    many = replace(setup, options={**setup.options, **_MANY.get(setup.agent, {})})
    ran = await Cells(tmp_path, many, web=BrokenWeb()).run(Puppet(wants=tools_of(many)))

    assert (ran.status, ran.option) == ("answered", 1), ran.end
    web = {"web_search", "parse_website", "web-search-tool"}
    assert {call.name for call in ran.tools if call.error} == web & set(tools_of(many))
    assert {call.error for call in ran.tools} <= {None, "web_failed"}


class BrokenWeb(StubWeb):
    """A web whose every use breaks in a way that nobody foresaw."""

    async def search(self, query: str, count: int, *, pause: Pause) -> Sequence[SearchHit]:
        raise KeyError("hits")

    async def page(self, url: str) -> WebPage:
        raise RuntimeError("no page")


@every_setup
async def test_a_transcriber_that_does_not_transcribe_is_a_fault_of_its_provider(
    setup: Setup, tmp_path: Path
) -> None:
    puppet = Puppet(wants=tools_of(setup), instead=at("It says A.", role="transcriber"))

    ran = await Cells(tmp_path, setup).run(puppet)

    if any(one.role == "transcriber" for one in puppet.asked):
        assert (ran.status, ran.end.answer) == ("provider_error", None), ran.end
    else:
        assert (ran.status, ran.option) == ("answered", 1), ran.end


@every_setup
async def test_an_empty_reply_is_asked_for_again_and_a_refusal_is_not(
    setup: Setup, tmp_path: Path
) -> None:
    statuses = []
    for case, reply in enumerate([empty(), malformed(), refuses("FINAL ANSWER: A")]):
        cells = Cells(tmp_path / f"{case}", setup, retries=1)
        ran = await cells.run(Puppet(instead=at(reply, 1)))
        statuses.append((ran.status, ran.option))

    assert statuses == [("answered", 1), ("answered", 1), ("provider_error", None)]


@every_setup
@pytest.mark.parametrize(("count", "label"), [(26, "Z"), (30, "30")])
async def test_the_last_of_many_options_can_be_answered(
    setup: Setup, count: int, label: str, tmp_path: Path
) -> None:
    options = tuple(f"thing {number}" for number in range(count))
    cells = Cells(tmp_path, setup, questions=[question(options=options)])

    ran = await cells.run(Puppet(answer=label))

    assert (ran.status, ran.option) == ("answered", count - 1), ran.end
    last = f"{label}. thing {count - 1}\n"
    assert any(last in one.request.text for one in ran.puppet.of("orchestrator"))


@every_setup
async def test_an_open_question_is_answered_in_words(setup: Setup, tmp_path: Path) -> None:
    asked = question(options=(), answer_index=None, answer_text="blue")

    ran = await Cells(tmp_path, setup, questions=[asked]).run(Puppet(answer="deep blue"))

    assert (ran.status, ran.option) == ("answered", None), ran.end
    assert ran.answer.text == "deep blue"


@every_setup
async def test_who_abstains_has_abstained(setup: Setup, tmp_path: Path) -> None:
    ran = await Cells(tmp_path, setup).run(Puppet(answer="none"))

    assert (ran.status, ran.option) == ("abstained", None), ran.end
