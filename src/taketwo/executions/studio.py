"""What the cells of one process share: decoding processes, stores of media, and how many run at once.

Only media that are the same for everybody are shared. Replies of models and tools never are, nor
what the web returns: `web` is where cells search and read, each for itself.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from pathlib import Path

import anyio
import anyio.to_thread

from taketwo.errors import UnreadableVideo
from taketwo.executions.manifest import VIDEO_MISSING, VIDEO_UNREADABLE
from taketwo.executions.plan import Plan, PlannedQuestion
from taketwo.executions.planned_web import opened_web
from taketwo.executions.schedule import Cell
from taketwo.media.store import MediaStore
from taketwo.media.video import VideoInfo
from taketwo.media.worker import MediaWorkers
from taketwo.tools.primitives import CellMedia
from taketwo.tools.video_index_store import IndexLocks

__all__ = ["Studio", "VideoLost"]

_WORKERS = 2
_WORKER_LIMIT_S = 120.0


class VideoLost(UnreadableVideo):
    """The video of a cell is gone, or gives nothing; `cause` says which."""

    def __init__(self, cause: str, message: str) -> None:
        super().__init__(message)
        self.cause = cause


class Studio:
    """Where the cells of one process get their media.

    Parameters
    ----------
    plan
        The plan of the study; its `cells` is how many cells run at once, also where the engine
        would start more.
    folder
        The study's folder; pictures go to `frames/` and other derived media to `media/`.
    on_pause
        Told the id of a cell whose clock stops (True) or goes on (False), see `cell_index`.
    """

    def __init__(
        self, plan: Plan, folder: Path, on_pause: Callable[[str, bool], None] | None = None
    ) -> None:
        self.folder = folder
        self.index_locks = IndexLocks()
        self._on_pause = on_pause
        self.web = opened_web(plan, folder)
        self.cells = anyio.CapacityLimiter(plan.cells)
        self._slots = anyio.CapacityLimiter(_WORKERS)
        self._frames = MediaStore(folder / "frames")
        self._derived = MediaStore(folder / "media")
        self._workers = MediaWorkers(size=_WORKERS, time_limit_s=_WORKER_LIMIT_S)
        self._videos: dict[Path, VideoInfo] = {}
        atexit.register(self._workers.close)

    @property
    def derived_folder(self) -> Path:
        """Return where derived media lie."""
        return self.folder / "media"

    def tell_pause(self, arm: str, question_id: str, is_paused: bool) -> None:
        """Say that the clock of a cell stops or goes on."""
        if self._on_pause is not None:
            self._on_pause(Cell(arm=arm, question_id=question_id).sample_id, is_paused)

    def close(self) -> None:
        """Stop the decoding processes."""
        atexit.unregister(self._workers.close)
        self._workers.close()

    async def media_of(self, planned: PlannedQuestion) -> CellMedia:
        """Return the media of a question's cells.

        Raises
        ------
        VideoLost
            If the video file is gone or cannot be opened.
        """
        path = self._resolved(planned.question.video_path)
        if not path.is_file():
            raise VideoLost(VIDEO_MISSING, f"{path}: there is no such video any more")
        info = self._videos.get(path)
        if info is None:
            try:
                info = await anyio.to_thread.run_sync(
                    self._workers.probe, path, limiter=self._slots
                )
            except UnreadableVideo as error:
                raise VideoLost(VIDEO_UNREADABLE, str(error)) from error
            self._videos[path] = info
        subtitles = planned.question.subtitles_path
        return CellMedia(
            path=path,
            info=info,
            workers=self._workers,
            frames=self._frames,
            derived=self._derived,
            slots=self._slots,
            subtitles=None if subtitles is None else self._resolved(subtitles),
        )

    def _resolved(self, written: str) -> Path:
        return Path(written) if Path(written).is_absolute() else self.folder / written
