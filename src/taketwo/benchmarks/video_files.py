"""Where the video of an id lies in a folder of downloaded videos."""

from __future__ import annotations

from pathlib import Path

from taketwo.errors import InvalidQuestion

__all__ = ["VIDEO_ENDINGS", "video_file"]

VIDEO_ENDINGS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".MP4")


def video_file(root: Path, video_id: str, *, field: str = "video_id") -> Path:
    """Return where a video lies, or where its .mp4 would; an id is a name, never a path.

    The file is `ID.mp4` (or another of `VIDEO_ENDINGS`) in `root`, or in a folder `ID` there.

    Raises
    ------
    InvalidQuestion
        If the id is no name of a file.
    """
    if video_id != Path(video_id).name or video_id in {".", ".."} or "\0" in video_id:
        raise InvalidQuestion(f"field {field!r} is {video_id!r:.60}, which is no name of a video")
    names = [f"{video_id}{ending}" for ending in VIDEO_ENDINGS]
    places = [folder / name for folder in (root, root / video_id) for name in names]
    return next((place for place in places if place.is_file()), places[0])
