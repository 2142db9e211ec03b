"""Search by meaning: static word embeddings of the package wordllama, on the CPU.

The vector of a text is the mean of the vectors of its tokens, of 256 dimensions; texts are compared
by cosine. The weights lie in the package and are used only if their bytes are the ones whose hashes
are pinned here; nothing is downloaded. Static embeddings know no order of words and no negation.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import HarnessError
from taketwo.media.video import file_sha256

__all__ = ["EmbeddingSearch", "embeddings_identity", "embeddings_problem"]

_PACKAGE = "wordllama"
_DIMENSIONS = 256
_FILES = {
    "weights/l2_supercat_256.safetensors": (
        "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
    ),
    "tokenizers/l2_supercat_tokenizer_config.json": (
        "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68"
    ),
}
_INSTALL = "install the extra: pip install 'taketwo[embeddings]'"


@cache
def embeddings_problem() -> str | None:
    """Return why there are no embeddings, with what to do; None where there are."""
    folder = _folder()
    if folder is None:
        return f"the package {_PACKAGE} is not installed; {_INSTALL}"
    for name, sha256 in _FILES.items():
        path = folder / name
        if not path.is_file():
            return f"{path} is not there; {_INSTALL}"
        if file_sha256(path) != sha256:
            return f"{path} is not the file that is known here by its hash; {_INSTALL}"
    return None


def embeddings_identity() -> str:
    """Return what determines the vectors: package, version, weights, tokenizer.

    Raises
    ------
    HarnessError
        If the package is not installed, or its weights are not the pinned ones.
    """
    _require()
    weights, tokenizer = (sha256[:12] for sha256 in _FILES.values())
    return (
        f"{_PACKAGE} {version(_PACKAGE)}, l2_supercat {_DIMENSIONS}, weights {weights}, "
        f"tokenizer {tokenizer}, mean of tokens, cosine"
    )


class EmbeddingSearch:
    """Cosine between the vectors of a query and of the texts; equal texts have equal vectors.

    Raises
    ------
    HarnessError
        If the package is not installed, or its weights are not the pinned ones.
    """

    label = "by meaning (embeddings of wordllama)"

    def __init__(self, texts: Sequence[str]) -> None:
        self._model = _model()
        distinct = list(dict.fromkeys(texts))
        place = {text: number for number, text in enumerate(distinct)}
        self._rows = np.array([place[text] for text in texts], dtype=np.intp)
        self._vectors = self._unit(distinct)

    def scores(self, query: str) -> NDArray[np.float64]:
        """Return the cosine of each text, -1 to 1; 0 where a text or the query has no words."""
        (vector,) = self._unit([query])
        return (self._vectors @ vector)[self._rows]

    def _unit(self, texts: Sequence[str]) -> NDArray[np.float64]:
        vectors = np.zeros((len(texts), _DIMENSIONS))
        written = [number for number, text in enumerate(texts) if text.strip()]
        if written:
            vectors[written] = self._model.embed([texts[number] for number in written])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


class _Model(Protocol):
    """The package's model, whose own types are incomplete."""

    def embed(self, texts: list[str]) -> NDArray[np.float32]: ...


def _folder() -> Path | None:
    spec = find_spec(_PACKAGE)
    return None if spec is None or spec.origin is None else Path(spec.origin).parent


def _require() -> Path:
    problem = embeddings_problem()
    folder = _folder()
    if problem is not None or folder is None:
        raise HarnessError(f"search by embeddings cannot be done: {problem}")
    return folder


@cache
def _model() -> _Model:
    folder = _require()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with _logging_left_alone():
        from wordllama import WordLlama  # an extra, and slow to import

        # The loader looks for the tokenizer in another folder than the package ships it in, unless
        # the package's own folder is its cache.
        return cast("_Model", WordLlama.load(cache_dir=folder, disable_download=True))


@contextmanager
def _logging_left_alone() -> Generator[None]:
    """Undo what the package does to the logging of the whole process when it is imported."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
