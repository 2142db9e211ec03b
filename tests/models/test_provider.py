from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import re
import threading
import wave

import numpy as np
import pytest
from inspect_ai.model import (
    ChatMessageSystem,
    ChatMessageUser,
    ContentAudio,
    ContentImage,
    ContentText,
    ContentVideo,
    GenerateConfig,
    Model,
    ModelAPI,
    get_model,
)

from taketwo.errors import DataError, RequestError, UnknownName
from taketwo.models.offline_observer import Observation
from taketwo.models.provider import OfflineModels

RED = (
    ("red", "circle", 100, 80, 25),
    ("red", "circle", 200, 80, 25),
    ("red", "circle", 300, 80, 25),
)


def model(name: str, **arguments: object) -> Model:
    return get_model(f"taketwo/{name}", memoize=False, **arguments)  # pyright: ignore[reportArgumentType]


def wav(samples: int, rate: int = 16_000) -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes(np.zeros(samples, "<i2").tobytes())
    return buffer.getvalue()


async def test_the_observer_reports_on_labelled_frames(painted, labelled) -> None:
    content = [
        ContentText(text="Focus: red circles\nWindow: 0.0-2.0 s"),
        *labelled(0.0, painted(RED, "EXIT 42", "black")),
        *labelled(1.0, painted(RED, "EXIT 42", "black")),
    ]

    output = await model("offline-observer").generate([ChatMessageUser(content=content)])

    assert "Focus answer:\n[0.0-1.0 s] 3 red circles" in output.completion
    assert '[0.0-1.0 s] text "EXIT 42"' in output.completion
    assert "Coverage: rich" in output.completion
    assert output.model == "taketwo/offline-observer"


async def test_hashes_usage_and_seconds_go_with_the_output(painted, labelled) -> None:
    jpegs = [painted(RED), painted()]
    content = [ContentText(text="Focus: x"), *labelled(0.0, jpegs[0]), *labelled(1.0, jpegs[1])]

    output = await model("offline-observer").generate([ChatMessageUser(content=content)])

    assert output.metadata is not None
    assert output.metadata["media_sha256"] == [hashlib.sha256(jpeg).hexdigest() for jpeg in jpegs]
    assert output.metadata["charged_s"] > 0
    assert output.metadata["usage"] == "estimated"
    assert output.usage is not None
    # 8 + 18 + 18 characters in quarters, and 258 for each picture
    assert output.usage.input_tokens == 11 + 2 * 258


async def test_the_captured_request_holds_hashes_in_the_place_of_pictures(
    painted, labelled
) -> None:
    jpeg = painted(RED)
    api = OfflineModels("offline-observer")

    _, call = await api.generate(
        [ChatMessageUser(content=labelled(3.0, jpeg))], [], "none", GenerateConfig(temperature=0.5)
    )

    assert call.request["messages"] == [
        {
            "role": "user",
            "content": [
                "[frame at 3.00 s]",
                {"sha256": hashlib.sha256(jpeg).hexdigest(), "media_type": "image/jpeg"},
            ],
        }
    ]
    assert call.request["sampling"] == {"temperature": 0.5}
    assert base64.b64encode(jpeg)[:60].decode() not in json.dumps(call.request)
    assert call.response is not None


async def test_a_store_makes_the_second_look_charge_the_recorded_seconds(
    painted, labelled, tmp_path
) -> None:
    observer = model("offline-observer", store=str(tmp_path))
    message = ChatMessageUser(content=labelled(0.0, painted(RED, "LAMP")))

    first = await observer.generate([message])
    second = await observer.generate([message])

    assert first.metadata is not None
    assert second.metadata is not None
    assert second.metadata["charged_s"] == pytest.approx(first.metadata["charged_s"], abs=1e-4)
    assert second.completion == first.completion


async def test_the_store_is_also_found_by_the_environment(
    painted, labelled, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAKETWO_MEDIA_STORE", str(tmp_path))

    await model("offline-observer").generate([ChatMessageUser(content=labelled(0.0, painted()))])

    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


async def test_the_orchestrator_answers_a_single_turn_by_its_own_eyes(painted, labelled) -> None:
    question = (
        "Question: How many red circles are shown?\nOptions:\nA. 1\nB. 2\nC. 3\n\n"
        "Think, then end with the line FINAL ANSWER: <letter>"
    )
    content = [
        ContentText(text=question),
        *labelled(0.0, painted(RED)),
        *labelled(1.0, painted(RED)),
    ]

    output = await model("offline-orchestrator").generate(
        [ChatMessageUser(content=content)], config=GenerateConfig(temperature=0.0)
    )

    assert output.completion.splitlines()[-1] == "FINAL ANSWER: C"
    assert output.stop_reason == "stop"


async def test_equal_seeds_give_equal_replies_and_seeds_matter() -> None:
    text = "Question: Which word is shown?\nOptions:\nA. EXIT\nB. LAMP\nC. RIVER\nD. STONE\n"

    async def letter(seed: int) -> str:
        config = GenerateConfig(temperature=0.7, seed=seed)
        output = await model("offline-orchestrator").generate(text, config=config)
        found = re.search(r'"answer": "(\w)"', output.completion)
        assert found is not None
        return found.group(1)

    letters = [await letter(seed) for seed in range(12)]

    assert letters == [await letter(seed) for seed in range(12)]
    assert len(set(letters)) > 1


async def test_silence_is_transcribed_to_no_segments() -> None:
    uri = f"data:audio/wav;base64,{base64.b64encode(wav(16_000)).decode()}"
    message = ChatMessageUser(content=[ContentAudio(audio=uri, format="wav")])

    output = await model("offline-transcriber").generate([message])

    record = json.loads(output.completion)
    assert record["segments"] == []
    assert record["source"]


async def test_the_transcriber_wants_exactly_one_sound() -> None:
    with pytest.raises(RequestError, match="one sound a request, found 0"):
        await model("offline-transcriber").generate("hello")


async def test_sound_that_is_no_wav_is_refused() -> None:
    uri = f"data:audio/wav;base64,{base64.b64encode(b'not a sound').decode()}"

    with pytest.raises(DataError, match="11 bytes of audio are not a WAV file"):
        await model("offline-transcriber").generate([
            ChatMessageUser(content=[ContentAudio(audio=uri, format="wav")])
        ])


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (ContentVideo(video="data:video/mp4;base64,AAAA", format="mp4"), "'video'"),
        (ContentAudio(audio="data:audio/wav;base64,AAAA", format="wav"), "'audio'"),
        (
            ContentText(text="", internal={"taketwo_video": {"path": "v.mp4", "sha256": "0"}}),
            "'taketwo_video'",
        ),
    ],
)
async def test_content_that_cannot_be_seen_is_refused_not_dropped(content, kind: str) -> None:
    messages = [ChatMessageSystem(content="s"), ChatMessageUser(content=[content])]

    with pytest.raises(RequestError, match=f"offline-observer cannot take {kind} content"):
        await OfflineModels("offline-observer").generate(messages, [], "none", GenerateConfig())


async def test_paths_and_addresses_are_never_opened() -> None:
    message = ChatMessageUser(content=[ContentImage(image="/etc/hostname")])

    with pytest.raises(RequestError, match="base64 data URIs only, got '/etc/hostname'"):
        await OfflineModels("offline-observer").generate([message], [], "none", GenerateConfig())


def test_an_unknown_model_gets_near_names() -> None:
    with pytest.raises(UnknownName, match="did you mean 'offline-observer'"):
        OfflineModels("offline-observr")


def test_it_stands_on_the_public_interface() -> None:
    api = OfflineModels("offline-observer")

    assert type(api).__mro__[1] is ModelAPI
    assert api.tool_result_images()


async def test_the_event_loop_stays_free_while_frames_are_measured(
    labelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop_moved_on = threading.Event()

    def measured_after_the_loop_moved(*arguments: object) -> Observation:
        assert loop_moved_on.wait(timeout=20)
        return Observation(text="seen", charged_s=0.0)

    monkeypatch.setattr("taketwo.models.provider.observe", measured_after_the_loop_moved)

    async def move_on() -> None:
        loop_moved_on.set()

    message = ChatMessageUser(content=labelled(0.0, b"any bytes"))
    output, _ = await asyncio.gather(model("offline-observer").generate([message]), move_on())

    assert output.completion == "seen"
