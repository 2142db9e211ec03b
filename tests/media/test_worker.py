from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pytest

from taketwo.errors import HarnessError, UnreadableVideo
from taketwo.media.frames import encode_jpeg, frames_at
from taketwo.media.video import probe
from taketwo.media.worker import MediaWorkers, _Task, serve

ANY = Path("any.mp4")


def test_answers_are_those_of_decoding_here(clips: Mapping[str, Path]) -> None:
    path = clips["b-frames.mp4"]
    here = [encode_jpeg(frame.image, 70) for frame in frames_at(path, [0.5, 2.0], max_side=64)]

    with MediaWorkers(size=1, time_limit_s=30) as workers:
        info = workers.probe(path)
        late, early, again = workers.jpegs(path, [2.0, 0.5, 2.0], 64, quality=70)
        sound = workers.audio(path, 0.5, 1.5)

    assert info == probe(path)
    assert [early.jpeg, late.jpeg] == here
    assert again == late
    assert (early.requested_s, early.time_s, early.is_corrupt) == (0.5, pytest.approx(0.5), False)
    assert sound.dtype == np.float32
    assert len(sound) == 16_000


def test_what_is_wrong_with_a_file_comes_back_as_its_own_error(clips: Mapping[str, Path]) -> None:
    with MediaWorkers(time_limit_s=30) as workers:
        with pytest.raises(UnreadableVideo, match=r"missing\.mp4 cannot be read: there is no such"):
            workers.probe(Path("missing.mp4"))
        with pytest.raises(UnreadableVideo, match=r"has no frame at 99\.000 s: it ends at 3\.200"):
            workers.jpegs(clips["no-b-frames.mp4"], [99.0], None)
        with pytest.raises(ValueError, match="max_side is a number of pixels"):
            workers.jpegs(clips["no-b-frames.mp4"], [1.0], -1)
        assert workers.probe(clips["no-b-frames.mp4"]).frames == 96


def test_a_task_beyond_the_limit_is_stopped_and_the_next_one_works(
    clips: Mapping[str, Path],
) -> None:
    with MediaWorkers(time_limit_s=4.0) as workers:
        started = time.monotonic()
        with pytest.raises(
            UnreadableVideo, match=r"any\.mp4 was not decoded: it took longer than 4 s"
        ):
            workers._run(ANY, partial(time.sleep, 120))
        assert time.monotonic() - started < 60
        assert workers.probe(clips["no-b-frames.mp4"]).frames == 96


def test_a_crash_of_the_decoder_names_the_file_and_the_signal(clips: Mapping[str, Path]) -> None:
    with MediaWorkers(time_limit_s=30) as workers:
        with pytest.raises(UnreadableVideo, match=r"any\.mp4 was not decoded.*signal SIGKILL"):
            workers._run(ANY, partial(signal.raise_signal, signal.SIGKILL))
        with pytest.raises(UnreadableVideo, match=r"the decoding process died \(exit status 7\)"):
            workers._run(ANY, partial(os._exit, 7))
        assert workers.probe(clips["no-b-frames.mp4"]).frames == 96


def test_a_fault_of_ours_is_not_blamed_on_the_video() -> None:
    with (
        MediaWorkers(time_limit_s=30) as workers,
        pytest.raises(HarnessError, match=r"decoding any\.mp4 failed by a fault of ours"),
    ):
        workers._run(ANY, partial(os.stat, "/no/such/file/at/all"))


def test_a_process_that_died_between_tasks_is_replaced(clips: Mapping[str, Path]) -> None:
    with MediaWorkers(time_limit_s=30) as workers:
        first = workers._run(ANY, os.getpid)
        assert isinstance(first, int)
        os.kill(first, signal.SIGKILL)
        process = workers._slots[0]._process
        assert process is not None
        process.wait()

        assert workers.probe(clips["no-b-frames.mp4"]).frames == 96
        assert workers._run(ANY, os.getpid) != first


def test_processes_are_renewed_after_some_hundred_tasks() -> None:
    with MediaWorkers(time_limit_s=30) as workers:
        seen = [workers._run(ANY, os.getpid) for _ in range(257)]

    assert len(set(seen[:256])) == 1
    assert seen[256] != seen[0]


def test_threads_share_the_pool_and_get_their_own_answers(clips: Mapping[str, Path]) -> None:
    path = clips["b-frames.mp4"]
    seconds = [0.1 * i for i in range(24)]

    with MediaWorkers(size=2, time_limit_s=30) as workers, ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda s: workers.jpegs(path, [s], 64)[0].requested_s, seconds))
        pids = set(threads.map(lambda _: workers._run(ANY, os.getpid), range(8)))

    assert found == seconds
    assert len(pids) <= 2


async def test_an_event_loop_goes_on_while_a_worker_decodes(clips: Mapping[str, Path]) -> None:
    with MediaWorkers(size=2, time_limit_s=30) as workers:
        infos = await asyncio.gather(
            *(asyncio.to_thread(workers.probe, clips["b-frames.mp4"]) for _ in range(6))
        )

    assert {info.frames for info in infos} == {96}


def test_closing_ends_tasks_of_other_threads() -> None:
    workers = MediaWorkers(size=1, time_limit_s=60)
    workers._run(ANY, os.getpid)
    errors: list[BaseException] = []

    def sleep() -> None:
        try:
            workers._run(ANY, partial(time.sleep, 60))
        except HarnessError as error:
            errors.append(error)

    threads = [threading.Thread(target=sleep) for _ in range(3)]
    for thread in threads:
        thread.start()
    workers.close()
    for thread in threads:
        thread.join(timeout=20)

    assert not any(thread.is_alive() for thread in threads)
    assert [str(error) for error in errors] == [
        "the decoding processes were stopped; make a new MediaWorkers"
    ] * 3
    workers.close()


def test_a_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from taketwo.media.worker import MediaWorkers\n"
        "workers = MediaWorkers(time_limit_s=30)\n"
        "print(workers._run(Path('x'), os.getpid), flush=True)\n"
        "sys.stdin.readline()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and _is_running(child):
        os.sched_yield()
    assert not _is_running(child)


def test_a_worker_sets_an_alarm_of_its_own_for_each_task() -> None:
    ours, theirs = Pipe()
    alarms: list[float] = []
    ours.send(_Task(partial(len, "four"), 10.0))
    ours.send(_Task(partial(int, "no number"), 10.0))
    thread = threading.Thread(target=serve, args=(theirs,), kwargs={"set_alarm": alarms.append})
    thread.start()

    replies = [ours.recv(), ours.recv()]
    ours.close()
    thread.join(timeout=10)

    assert [reply.value for reply in replies] == [4, None]
    assert "invalid literal" in str(replies[1].error)
    assert alarms == [15.0, 0.0, 15.0, 0.0]


def test_the_alarm_ends_a_worker_that_nobody_watches(tmp_path: Path) -> None:
    program = (
        "import time\nfrom taketwo.media import worker\nworker._set_alarm(0.2)\ntime.sleep(60)\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], check=False)

    assert ended.returncode == -signal.SIGALRM


@pytest.mark.parametrize("arguments", [{"size": 0}, {"time_limit_s": 0}])
def test_an_impossible_pool_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"at least 1 process|above 0 s"):
        MediaWorkers(**arguments)


def test_workers_wait_passively_and_never_ask_a_model_hub() -> None:
    with MediaWorkers(time_limit_s=30) as workers:
        found = [
            workers._run(ANY, partial(os.getenv, name))
            for name in ("OMP_WAIT_POLICY", "HF_HUB_OFFLINE")
        ]

    assert found == ["PASSIVE", "1"]


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
