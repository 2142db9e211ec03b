"""What a cell runs through besides the plan."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from pathlib import Path

from taketwo.executions.environment import code_sha256, package_versions, source_sha256


def _sources(root: Path) -> Path:
    for name, text in {
        "__init__.py": "",
        "agents/react.py": "TURNS = 20\n",
        "agents/prompts/system.txt": "Look at the video.",
        "report/html.py": "TITLE = 'Report'\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_one_character_of_a_source_or_a_prompt_changes_the_hash(tmp_path: Path) -> None:
    root = _sources(tmp_path)
    first = code_sha256(root)
    (root / "agents/prompts/system.txt").write_text("Look at the video!")
    second = code_sha256(root)
    (root / "agents/react.py").write_text("TURNS = 21\n")

    assert len({first, second, code_sha256(root)}) == 3


def test_a_moved_file_changes_the_hash(tmp_path: Path) -> None:
    root = _sources(tmp_path)
    before = code_sha256(root)
    (root / "tools").mkdir()
    (root / "agents/react.py").rename(root / "tools/react.py")

    assert code_sha256(root) != before


def test_pages_compiled_and_hidden_files_do_not_count(tmp_path: Path) -> None:
    root = _sources(tmp_path)
    before = code_sha256(root)
    (root / "report/html.py").write_text("TITLE = 'Another report'\n")
    (root / "agents/__pycache__").mkdir()
    (root / "agents/__pycache__/react.cpython-311.pyc").write_bytes(b"\0")
    (root / "agents/.cache").write_text("x")

    assert code_sha256(root) == before


def test_the_imported_package_has_a_hash_that_stays() -> None:
    assert code_sha256() == code_sha256()
    assert len(code_sha256()) == 64


def test_versions_are_those_that_are_installed() -> None:
    versions = package_versions(["taketwo/offline-observer"])

    assert versions["python"] == platform.python_version()
    assert versions["numpy"] == importlib.metadata.version("numpy")
    assert versions["inspect_ai"] == importlib.metadata.version("inspect_ai")
    assert "pytest" not in versions
    assert "xllamacpp" not in versions


def test_a_provider_adds_the_package_that_talks_to_it() -> None:
    assert package_versions(["llama/model.gguf"])["xllamacpp"] == importlib.metadata.version(
        "xllamacpp"
    )


def test_a_package_that_is_not_installed_is_left_out() -> None:
    assert "no-such-provider" not in package_versions(["no-such-provider/model"])


def test_the_source_of_a_module_is_hashed_by_its_bytes() -> None:
    expected = hashlib.sha256(Path(hashlib.__file__).read_bytes()).hexdigest()

    assert source_sha256("hashlib") == expected
    assert source_sha256("no_such_module_anywhere") is None
    assert source_sha256("sys") is None
