from __future__ import annotations

import errno
import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from taketwo.errors import HarnessError
from taketwo.media.store import MediaStore, derived_key, write_atomically

SOURCE = hashlib.sha256(b"video").hexdigest()
KEY = derived_key("ocr/1", SOURCE, side=640)

WRITER = """
import sys
from pathlib import Path
from taketwo.errors import HarnessError
from taketwo.media.store import MediaStore
store, mine, rounds = MediaStore(Path(sys.argv[1])), sys.argv[2].encode(), int(sys.argv[4])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(rounds):
    store.put(sys.argv[3], mine * 200_000, 1.5)
    store.put_image(mine * 1000)
"""


def writer(root: Path, letter: str, rounds: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), letter, KEY, str(rounds)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def start(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    assert process.stdin is not None
    assert process.stdout.readline() == b"ready\n"
    process.stdin.write(b"go\n")
    process.stdin.flush()


def files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_what_was_put_comes_back_with_its_price(tmp_path: Path) -> None:
    store = MediaStore(tmp_path / "media")

    assert store.get(KEY) is None
    store.put(KEY, b"a\nb\x00", 0.25)

    found = store.get(KEY)
    assert found is not None
    assert (found.data, found.seconds, found.freshness) == (b"a\nb\x00", 0.25, "shared")


def test_making_happens_once_and_says_so(tmp_path: Path) -> None:
    store, calls = MediaStore(tmp_path), []

    def make() -> bytes:
        calls.append(1)
        return b"made"

    first, second = store.get_or_make(KEY, make), store.get_or_make(KEY, make)

    assert len(calls) == 1
    assert (first.freshness, second.freshness) == ("fresh", "shared")
    assert first.data == second.data == b"made"
    assert first.seconds == pytest.approx(second.seconds, abs=1e-6)


def test_a_failed_making_leaves_nothing(tmp_path: Path) -> None:
    def make() -> bytes:
        raise OSError("no decoder")

    with pytest.raises(OSError, match="no decoder"):
        MediaStore(tmp_path).get_or_make(KEY, make)

    assert files(tmp_path) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1] + b"?",
        lambda _: b"",
        lambda _: b'{"format": "taketwo.derived-media/1"}\n',
        lambda _: b"[]\n",
        lambda content: content.replace(b"derived-media/1", b"derived-media/9"),
    ],
)
def test_a_damaged_entry_is_absent_and_removed(tmp_path: Path, damage) -> None:
    store = MediaStore(tmp_path)
    store.put(KEY, b"some data", 1.0)
    (path,) = files(tmp_path)
    path.write_bytes(damage(path.read_bytes()))

    assert store.get(KEY) is None
    assert files(tmp_path) == []


def test_images_lie_under_the_hash_of_their_bytes(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)

    sha256 = store.put_image(b"jpeg")

    assert sha256 == hashlib.sha256(b"jpeg").hexdigest()
    assert store.image_path(sha256) == tmp_path / sha256[:2] / f"{sha256}.jpg"
    assert store.image_path(sha256).read_bytes() == b"jpeg"


def test_a_half_image_is_replaced_and_a_whole_one_is_left_alone(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    path = store.image_path(store.put_image(b"jpeg"))
    before = path.stat().st_ino

    store.put_image(b"jpeg")
    assert path.stat().st_ino == before
    path.write_bytes(b"jp")
    store.put_image(b"jpeg")
    assert path.read_bytes() == b"jpeg"


@pytest.mark.parametrize("key", ["", "../../etc/passwd", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_nothing_but_a_hash_becomes_a_path(tmp_path: Path, key: str) -> None:
    store = MediaStore(tmp_path)

    for use in (store.get, store.image_path, lambda k: store.put(k, b"", 0.0)):
        with pytest.raises(ValueError, match="expected a SHA-256 of 64"):
            use(key)


def test_keys_depend_on_kind_source_and_every_parameter_but_not_on_order() -> None:
    same = derived_key("ocr/1", SOURCE, side=640, low=None)
    keys = {
        same,
        derived_key("ocr/2", SOURCE, side=640, low=None),
        derived_key("ocr/1", hashlib.sha256(b"other").hexdigest(), side=640, low=None),
        derived_key("ocr/1", SOURCE, side=640.5, low=None),
        derived_key("ocr/1", SOURCE, side="640", low=None),
        derived_key("ocr/1", SOURCE, side=640),
    }

    assert len(keys) == 6
    assert derived_key("ocr/1", SOURCE, low=None, side=640) == same
    with pytest.raises(ValueError, match="expected a SHA-256"):
        derived_key("ocr/1", "video.mp4")


def test_a_failed_write_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "file"
    write_atomically(path, b"old")

    with pytest.raises(TypeError):
        write_atomically(path, "not bytes")  # type: ignore[arg-type]

    assert path.read_bytes() == b"old"
    assert files(tmp_path) == [path]


def test_concurrent_writers_never_show_a_mixed_or_half_entry(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    writers = [writer(tmp_path, letter, 25) for letter in "ab"]
    seen = set()
    for process in writers:
        start(process)
    while any(process.poll() is None for process in writers):
        found = store.get(KEY)
        if found is not None:
            assert found.data in {b"a" * 200_000, b"b" * 200_000}
            seen.add(found.data[:1])
    for process in writers:
        process.communicate()

    assert [process.returncode for process in writers] == [0, 0]
    assert seen
    assert store.get(KEY) is not None
    assert not [path for path in files(tmp_path) if path.suffix == ".tmp"]


def test_a_writer_killed_at_any_moment_leaves_a_whole_entry(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    store.put(KEY, b"first", 1.0)
    image = hashlib.sha256(b"c" * 1000).hexdigest()
    for reads in (0, 1, 7, 40):
        process = writer(tmp_path, "c", 1_000_000)
        start(process)
        for _ in range(reads):
            assert store.get(KEY) is not None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()

        found = store.get(KEY)
        assert found is not None
        assert found.data in {b"first", b"c" * 200_000}
        path = store.image_path(image)
        assert not path.exists() or path.read_bytes() == b"c" * 1000


def test_what_cannot_be_written_is_a_fault_of_the_machine_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "taken").write_bytes(b"a file, no folder")

    with pytest.raises(HarnessError, match=r"taken/x\.bin: cannot be written \(.+, 3 bytes\)"):
        write_atomically(tmp_path / "taken" / "x.bin", b"abc")


def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.bin"
    write_atomically(path, b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("taketwo.media.store.os.fsync", full)

    with pytest.raises(HarnessError, match="No space left on device"):
        write_atomically(path, b"new")

    assert [(entry.name, entry.read_bytes()) for entry in tmp_path.iterdir()] == [("x.bin", b"old")]
