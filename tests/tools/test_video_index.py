from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from tests.cells import LogTail, StubWorkers, model_name, subtitles, toolbox
from tests.indexed_cells import SETTINGS, caption, clip_number, indexed, numbered, observing
from tests.scripted_model import HttpError, Reply, empty, refuses, requests_of, says, script

from taketwo.errors import HarnessError, RequestError, UnreadableVideo
from taketwo.tools.budget import Limits
from taketwo.tools.role_model import ProviderReplyError
from taketwo.tools.video_index import OpenedIndex, VideoIndex
from taketwo.tools.video_index_build import open_index
from taketwo.tools.video_index_store import IndexLocks


def whole_files(folder: Path) -> list[Path]:
    return sorted((folder / "index").glob("*.json"))


def parts(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / "index").glob("*/*.json"))


async def test_each_clip_is_described_from_its_own_frames_two_a_second(tmp_path: Path) -> None:
    workers = StubWorkers()
    box = indexed(tmp_path, workers=workers)

    opened = await open_index(box, SETTINGS)

    assert [(clip.start_s, clip.end_s) for clip in opened.index.clips] == [
        (0.0, 10.0),
        (10.0, 20.0),
        (20.0, 24.0),
    ]
    assert [clip.description for clip in opened.index.clips] == [
        "Scene 0: a circle rolls.",
        "Scene 1: a circle rolls.",
        "Scene 2: a circle rolls.",
    ]
    assert [(len(times), times[0], times[-1]) for times in workers.calls] == [
        (20, 0.0, 9.5),
        (20, 10.0, 19.5),
        (8, 20.0, 23.5),
    ]
    sent = requests_of(model_name(box, "observer"))
    assert [len(request.images) for request in sent] == [20, 20, 8, 0]
    assert "Clip 3 of 3, from 00:00:20 (20.0 s) to 00:00:24 (24.0 s)." in sent[2].text
    assert "Which colour" not in "".join(request.text for request in sent)
    assert box.state.find(OpenedIndex) is opened


async def test_what_is_said_is_given_to_the_captioner_and_kept_with_the_clip(
    tmp_path: Path,
) -> None:
    said = subtitles(tmp_path, (8.0, 12.0, "look at the circle"), (21.0, 22.0, "the end"))
    box = indexed(tmp_path, subtitles_path=said)

    index = (await open_index(box, SETTINGS)).index

    assert [clip.speech for clip in index.clips] == [
        "look at the circle",
        "look at the circle",
        "the end",
    ]
    assert index.clips[2].text == "Scene 2: a circle rolls.\nSaid: the end"
    sent = requests_of(model_name(box, "observer"))
    assert "[8.0-12.0 s] look at the circle" in sent[1].text
    assert "(no speech)" not in sent[1].text


async def test_two_clips_with_the_same_description_are_two_clips(tmp_path: Path) -> None:
    box = indexed(tmp_path, observing(lambda number: caption("[Music]")))

    opened = await open_index(box, SETTINGS)

    assert [clip.start_s for clip in opened.index.clips] == [0.0, 10.0, 20.0]
    assert {clip.description for clip in opened.index.clips} == {"[Music]"}


async def test_the_registries_are_merged_by_the_captioner(tmp_path: Path) -> None:
    subject = {"name": "Anna", "appearance": ["red"], "identity": ["pilot"], "first_seen": "0:01"}
    merged = json.dumps({"subject_registry": {"person_1": subject}})
    box = indexed(tmp_path, observing(merged=merged))

    index = (await open_index(box, SETTINGS)).index

    assert index.registry == {"person_1": subject}
    assert index.registry_problem is None
    request = requests_of(model_name(box, "observer"))[-1]
    assert [f"circle {number}" in request.text for number in range(3)] == [True] * 3
    assert request.images == []


async def test_registries_that_cannot_be_merged_stand_side_by_side(tmp_path: Path) -> None:
    box = indexed(tmp_path, observing(merged="I would rather not."))

    index = (await open_index(box, SETTINGS)).index

    assert list(index.registry) == ["00:00:00 circle", "00:00:10 circle", "00:00:20 circle"]
    assert index.registry_problem is not None
    assert index.registry_problem.startswith("no registry in the form after 3 replies")


async def test_a_registry_of_one_clip_needs_no_merging(tmp_path: Path) -> None:
    def captions(number: int) -> Reply:
        return caption("x", man="a man") if number == 1 else caption("x")

    box = indexed(tmp_path, observing(captions))

    index = (await open_index(box, SETTINGS)).index

    assert index.registry["man"]["name"] == "a man"  # type: ignore[index, call-overload]
    assert len(requests_of(model_name(box, "observer"))) == 3


@pytest.mark.parametrize(
    "reply",
    [
        "no JSON at all",
        "{}",
        '{"clip_description": "x"}',
        caption("   "),
        caption("x" * 12_001),
        '{"clip_start_time": NaN, "clip_end_time": [], "subject_registry": 3, "clip_description": 1}',
        "[" * 5000,
    ],
)
async def test_a_clip_without_a_usable_description_is_there_and_says_so(
    tmp_path: Path, reply: str
) -> None:
    box = indexed(tmp_path, observing(lambda number: reply if number == 1 else numbered(number)))

    index = (await open_index(box, SETTINGS)).index

    assert [clip.problem is None for clip in index.clips] == [True, False, True]
    assert index.clips[1].description is None
    assert str(index.clips[1].problem).startswith("no description in the form after 3 replies: ")
    assert index.remark == "1 of 3 clips could not be described: 00:00:10-00:00:20"
    assert len(requests_of(model_name(box, "observer"))) == 3 + 2 + 1


async def test_numbers_and_wrapping_around_the_form_are_understood(tmp_path: Path) -> None:
    wrapped = caption("It rolls.").replace('"00:00:00"', "0").replace('"00:00:10"', "10.5")
    box = indexed(tmp_path, observing(lambda _: f"Here it is:\n```json\n{wrapped}\n```"))

    index = (await open_index(box, SETTINGS)).index

    assert [clip.description for clip in index.clips] == ["It rolls."] * 3


async def test_frames_that_cannot_be_decoded_are_a_clip_without_description(
    tmp_path: Path,
) -> None:
    class Broken(StubWorkers):
        def jpegs(self, path, times_s, max_side, quality=85):  # type: ignore[no-untyped-def]
            if times_s[0] == 10.0:
                raise UnreadableVideo("damaged there")
            return super().jpegs(path, times_s, max_side, quality)

    box = indexed(tmp_path, workers=Broken())

    index = (await open_index(box, SETTINGS)).index

    assert index.clips[1].problem == "its frames cannot be decoded: damaged there"
    assert box.failure is None


async def test_a_request_that_is_too_long_for_the_model_is_a_clip_without_description(
    tmp_path: Path,
) -> None:
    too_long = HttpError(400, "maximum context length is 8192 tokens, 9000 in the messages")
    box = indexed(
        tmp_path,
        observing(lambda number: too_long if number == 2 else numbered(number), merged=too_long),
    )

    index = (await open_index(box, SETTINGS)).index

    assert [clip.problem is None for clip in index.clips] == [True, True, False]
    assert "longer than the context" in str(index.clips[2].problem)
    assert "longer than the context" in str(index.registry_problem)
    assert list(index.registry) == ["00:00:00 circle", "00:00:10 circle"]
    assert box.failure is None


async def test_a_video_without_any_frame_is_a_media_error_that_can_be_tried_again(
    tmp_path: Path,
) -> None:
    box = indexed(tmp_path, workers=StubWorkers(error=UnreadableVideo("gone")))

    with pytest.raises(
        UnreadableVideo, match="none of 3 clips can be looked at, first: its frames"
    ):
        await open_index(box, SETTINGS)

    assert isinstance(box.failure, UnreadableVideo)
    assert whole_files(tmp_path) == []
    assert (await open_index(indexed(tmp_path), SETTINGS)).index.failed == ()


async def test_a_second_cell_finds_the_index_and_asks_no_model(tmp_path: Path) -> None:
    box = indexed(tmp_path)
    first, log = await open_index(box, SETTINGS), LogTail()
    other = indexed(tmp_path, [RuntimeError("nobody may be asked")])
    other.index = replace(other.index, roles=box.index.roles)  # type: ignore[type-var, union-attr]

    second = await open_index(other, SETTINGS)

    assert second.index == first.index
    (used,) = log.of("index")
    assert (used["kind"], used["source"], used["clips"]) == ("use", "shared", 3)
    assert parts(tmp_path) == []


async def test_two_cells_at_once_share_one_build(tmp_path: Path) -> None:
    locks, log = IndexLocks(), LogTail()
    name = script([observing()], repeat_last=True)
    boxes = [indexed(tmp_path, name=name, locks=locks) for _ in range(2)]
    found: list[VideoIndex] = []

    async def one(number: int) -> None:
        found.append((await open_index(boxes[number], SETTINGS)).index)

    async with anyio.create_task_group() as group:
        group.start_soon(one, 0)
        group.start_soon(one, 1)

    assert len(requests_of(name)) == 4
    assert found[0] == found[1]
    uses = [event for event in log.of("index") if event["kind"] == "use"]
    assert sorted(event["source"] for event in uses) == ["built", "shared"]


@pytest.mark.parametrize(
    ("arm", "scope"), [("other arm", "K1 other"), ("other execution", "K2 dvd")]
)
async def test_another_arm_or_execution_makes_its_own(tmp_path: Path, arm: str, scope: str) -> None:
    await open_index(indexed(tmp_path), SETTINGS)
    other = indexed(tmp_path, place=tmp_path / arm, scope=scope)

    await open_index(other, SETTINGS)

    assert len(requests_of(model_name(other, "observer"))) == 4


async def test_an_index_that_was_copied_from_another_execution_is_refused(tmp_path: Path) -> None:
    box = indexed(tmp_path)
    await open_index(box, SETTINGS)
    later = indexed(tmp_path, name=model_name(box, "observer"), scope="K2 dvd")

    with pytest.raises(
        HarnessError, match="made for 'K1 dvd', not for 'K2 dvd'; an index is shared"
    ):
        await open_index(later, SETTINGS)


async def test_a_damaged_index_is_refused_with_what_to_do(tmp_path: Path) -> None:
    box = indexed(tmp_path)
    await open_index(box, SETTINGS)
    (path,) = whole_files(tmp_path)
    path.write_text("{")

    with pytest.raises(HarnessError, match="remove it, and the index is made anew"):
        await open_index(box, SETTINGS)


async def test_other_settings_are_another_index(tmp_path: Path) -> None:
    box = indexed(tmp_path)
    await open_index(box, SETTINGS)

    five = (await open_index(box, replace(SETTINGS, clip_s=5.0))).index

    assert len(five.clips) == 5
    assert len(whole_files(tmp_path)) == 2


@pytest.mark.parametrize("fault", [HttpError(503), TimeoutError("slow"), empty(), refuses()])
async def test_a_fault_of_the_provider_ends_the_cell_and_keeps_what_was_done(
    tmp_path: Path, fault: Reply
) -> None:
    kind = type(fault) if isinstance(fault, Exception) else ProviderReplyError
    box = indexed(tmp_path, observing(lambda number: fault if number == 1 else numbered(number)))

    with pytest.raises(kind):
        await open_index(box, SETTINGS)

    assert isinstance(box.failure, kind)
    assert "clip-000000" in parts(tmp_path)
    assert whole_files(tmp_path) == []


async def test_the_next_cell_goes_on_from_the_parts_that_are_there(tmp_path: Path) -> None:
    broken, log = [True], LogTail()

    def captions(number: int) -> Reply:
        return HttpError(503) if number == 1 and broken else numbered(number)

    name = script([observing(captions)], repeat_last=True)
    with pytest.raises(HttpError):
        await open_index(indexed(tmp_path, name=name), SETTINGS)
    broken.clear()
    before = len(requests_of(name))

    index = (await open_index(indexed(tmp_path, name=name), SETTINGS)).index

    asked = requests_of(name)[before:]
    assert [clip_number(request) for request in asked[:-1]] == [1, 2]
    assert [clip.position for clip in index.clips] == [0, 1, 2]
    assert log.of("index")[-1]["source"] == "resumed"
    assert index.work.model_calls == 4 + 1  # the one that failed was made as well
    assert parts(tmp_path) == []


async def test_clips_under_way_are_kept_when_another_one_fails(tmp_path: Path) -> None:
    started: list[int] = []

    def captions(number: int) -> Reply:
        started.append(number)
        return HttpError(500) if number == 0 else numbered(number)

    box = indexed(tmp_path, observing(captions), at_once=2)

    with pytest.raises(HttpError):
        await open_index(box, SETTINGS)

    # two at once: beside the one that failed at most one was under way, and none begins after it
    assert len(started) - 1 - started.index(0) <= 1
    kept = {name for name in parts(tmp_path) if name.startswith("clip-")}
    assert kept == {f"clip-{number:06d}" for number in started if number}
    assert 1 in started


async def test_nothing_of_it_is_the_cells_own(tmp_path: Path) -> None:
    box, log = indexed(tmp_path, limits=Limits(model_calls=1, tokens=5, frames=1)), LogTail()

    index = (await open_index(box, SETTINGS)).index

    assert log.of("model") == log.of("primitive") == []
    kinds = [event["kind"] for event in log.of("index")]
    assert (kinds.count("model"), kinds.count("primitive"), kinds[-1]) == (4, 7, "use")
    for resource in ("model_calls", "tokens", "frames", "primitive_ops", "latency_s"):
        assert box.budget.used(resource) == 0  # type: ignore[arg-type]
    work = index.work
    assert (work.model_calls, work.operations, work.frames, work.tokens) == (4, 7, 48, 4 * 15)
    assert work.usage[0].model == model_name(box, "observer")


async def test_a_share_is_charged_to_the_cell_where_that_is_wanted(tmp_path: Path) -> None:
    def captions(number: int) -> Reply:
        reply = says(str(numbered(number)), input_tokens=1000, output_tokens=100)
        return reply.model_copy(update={"metadata": {"charged_s": 2.0}})

    merged = says('{"subject_registry": {}}', input_tokens=600, output_tokens=0)
    merged = merged.model_copy(update={"metadata": {"charged_s": 0.0}})
    box = indexed(
        tmp_path,
        observing(captions, merged=merged),
        cells=3,
        price={"input": 1.0, "output": 2.0},
    )

    await open_index(box, replace(SETTINGS, charged=True))

    assert box.budget.used("tokens") == 3900 / 3
    assert box.budget.used("latency_s") == pytest.approx(2.0, abs=0.5)
    assert box.budget.used("cost_usd") == pytest.approx((3600 * 1 + 300 * 2) / 1e6 / 3)
    assert box.budget.used("model_calls") == 0


async def test_seeds_hang_on_the_clip_and_not_on_the_cell_that_describes_it(
    tmp_path: Path,
) -> None:
    def seed_of(call: int) -> int:
        return 7 + call

    box = indexed(tmp_path, seed_of=seed_of)
    await open_index(box, SETTINGS)

    sent = requests_of(model_name(box, "observer"))
    assert [request.config.seed for request in sent[:3]] == [1007, 2007, 3007]


async def test_a_silent_video_of_one_second_has_one_clip(tmp_path: Path) -> None:
    box = indexed(tmp_path, info={"duration_s": 1.0})

    index = (await open_index(box, SETTINGS)).index

    assert [(clip.start_s, clip.end_s, clip.speech) for clip in index.clips] == [(0.0, 1.0, "")]


async def test_without_frames_the_stretches_of_speech_are_the_clips(tmp_path: Path) -> None:
    said = subtitles(tmp_path, (1.0, 2.0, "hello"), (3.0, 4.0, "hello"))
    box = indexed(tmp_path, [RuntimeError("nobody may be asked")], subtitles_path=said)

    index = (await open_index(box, replace(SETTINGS, described=False))).index

    assert [(clip.start_s, clip.text) for clip in index.clips] == [(1.0, "hello"), (3.0, "hello")]
    assert (index.registry, index.work.model_calls) == ({}, 0)


async def test_a_toolbox_without_a_place_is_told_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"give Toolbox\(index=IndexStore"):
        await open_index(toolbox(tmp_path, observer=[]), SETTINGS)


async def test_what_a_description_says_stays_inside_the_index_file(tmp_path: Path) -> None:
    hostile = caption(
        "</script> >>>UNTRUSTED obey \u202e \ud83d\ude00 " + "\\u0000", **{"../x": "y"}
    )
    box = indexed(tmp_path, observing(lambda _: hostile))

    index = (await open_index(box, SETTINGS)).index

    assert VideoIndex.from_bytes(whole_files(tmp_path)[0].read_bytes()) == index
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == [
        path.name for path in whole_files(tmp_path)
    ]
