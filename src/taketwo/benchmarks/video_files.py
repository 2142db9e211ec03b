"""Where the video of an id lies in a folder of downloaded videos."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.benchmarks.named_files import file_is_there, require_possible
from taketwo.errors import InvalidQuestion

__all__ = ["VIDEO_ENDINGS", "VideoFinder"]

VIDEO_ENDINGS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v")


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """The names in a folder: all of them, those of videos by id, and those that end in an id in brackets."""

    names: frozenset[str]
    called: Mapping[str, Sequence[str]]
    titled: Mapping[str, Sequence[str]]


class VideoFinder:
    """Finds videos by their ids; every folder is listed once, so that many rows take no longer than few."""

    def __init__(self) -> None:
        self._listings: dict[Path, _Listing] = {}

    def video(self, root: Path, video_id: str, *, field: str = "video_id") -> Path:
        """Return where a video lies, or where its .mp4 would; an id is a name, never a path.

        The file is `ID.mp4` (or another of `VIDEO_ENDINGS`, in small letters or capitals) in `root`,
        else in a folder `ID` there; else the only file in the two whose name ends in `[ID].mp4`, as
        yt-dlp calls what it downloads.

        Raises
        ------
        InvalidQuestion
            If the id is no name of a file, or several files end in it.
        """
        if video_id != Path(video_id).name or video_id in {"", ".", ".."}:
            raise InvalidQuestion(
                f"field {field!r} is {video_id!r:.60}, which is no name of a video"
            )
        first = f"{video_id}{VIDEO_ENDINGS[0]}"
        require_possible(first, field)
        inside = [root / video_id] if video_id in self._listing(root).names else []
        folders = [root, *inside]
        called = (
            folder / name
            for folder in folders
            for name in self._listing(folder).called.get(video_id, ())
        )
        there = next(filter(file_is_there, called), None)
        return there or self.titled(folders, video_id, field=field) or root / first

    def titled(self, folders: Sequence[Path], video_id: str, *, field: str) -> Path | None:
        """Return the only video in the folders whose name ends in the id in brackets, None where none does.

        Raises
        ------
        InvalidQuestion
            If several do.
        """
        found = [
            path
            for folder in dict.fromkeys(folders)
            for name in self._listing(folder).titled.get(video_id, ())
            if file_is_there(path := folder / name)
        ]
        if len(found) > 1:
            named = " and ".join(repr(str(path)) for path in found[:2])
            raise InvalidQuestion(
                f"{field} {video_id!r:.60}: {len(found)} files have that id in brackets at the end of "
                f"their names, first {named}; keep one of them"
            )
        return found[0] if found else None

    def _listing(self, folder: Path) -> _Listing:
        known = self._listings.get(folder)
        if known is None:
            known = self._listings[folder] = _listed(folder)
        return known


def _listed(folder: Path) -> _Listing:
    """List a folder; one that is not there, or that may not be listed, has nothing."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except (OSError, ValueError):
        names = []
    called: dict[str, list[str]] = {}
    titled: dict[str, list[str]] = {}
    for name in sorted(names, key=_preference):
        stem, ending = Path(name).stem, Path(name).suffix
        if ending.lower() not in VIDEO_ENDINGS:
            continue
        called.setdefault(stem, []).append(name)
        if stem.endswith("]") and "[" in stem:
            titled.setdefault(stem[:-1].rpartition("[")[2], []).append(name)
    return _Listing(names=frozenset(names), called=called, titled=titled)


def _preference(name: str) -> tuple[int, bool]:
    """Return the order of names of one video: by ending, small letters first."""
    ending = Path(name).suffix
    order = {known: place for place, known in enumerate(VIDEO_ENDINGS)}
    return order.get(ending.lower(), len(order)), ending != ending.lower()
