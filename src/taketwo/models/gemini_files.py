"""Uploads to the Gemini Files API without blocking the event loop."""

from __future__ import annotations

import mimetypes
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import anyio
import httpx
from pydantic import JsonValue

from taketwo.errors import UnreadableVideo
from taketwo.models.native_video import ReplyError, VideoReference, reply_record

__all__ = ["GeminiFiles", "UploadedFile"]

_CHUNK_BYTES = 8 * 2**20  # a multiple of the 256 KiB that the API asks for
_KEEP_S = 40 * 3600.0  # uploads are deleted after 48 hours


@dataclass(frozen=True, kw_only=True)
class UploadedFile:
    """A file that is ready to be referred to, and when it was uploaded (monotonic seconds)."""

    uri: str
    mime_type: str
    uploaded_at_s: float


class GeminiFiles:
    """Uploads each video once, by the hash of its bytes, and waits until it can be used.

    Parameters
    ----------
    client
        An HTTP client with base address and key header set.
    poll_s
        Seconds between two looks at the state of an upload.
    ready_within_s
        Seconds after which an upload that is still being processed counts as failed.
    """

    def __init__(
        self, client: httpx.AsyncClient, poll_s: float = 2.0, ready_within_s: float = 600.0
    ) -> None:
        self._client = client
        self._poll_s = poll_s
        self._ready_within_s = ready_within_s
        self._uploads: dict[str, UploadedFile] = {}
        self._locks: dict[str, anyio.Lock] = {}

    async def ready(self, video: VideoReference) -> UploadedFile:
        """Return the upload of `video`, made now where there is none or the old one nears its end.

        Raises
        ------
        UnreadableVideo
            If there is no such file, or the service cannot process it.
        ReplyError, httpx.TransportError
            If the service fails.
        """
        lock = self._locks.setdefault(video.sha256, anyio.Lock())
        async with lock:
            known = self._uploads.get(video.sha256)
            if known is None or time.monotonic() - known.uploaded_at_s > _KEEP_S:
                known = await self._upload(video)
                self._uploads[video.sha256] = known
            return known

    async def _upload(self, video: VideoReference) -> UploadedFile:
        path = anyio.Path(video.path)
        if not await path.is_file():
            raise UnreadableVideo(f"cannot upload {str(video.path)!r}: there is no such file")
        size = (await path.stat()).st_size
        mime_type = mimetypes.guess_type(video.path.name)[0] or "video/mp4"
        started = await self._client.post(
            "/upload/v1beta/files",
            headers={
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(size),
                "X-Goog-Upload-Header-Content-Type": mime_type,
            },
            json={"file": {"display_name": video.sha256[:32]}},
        )
        if not started.is_success:
            reply_record(started, "Gemini")
        address = started.headers.get("x-goog-upload-url")
        if not address:
            raise ReplyError(
                "Gemini started an upload without saying where to", started.status_code
            )
        record = await self._send(path, size, address)
        file = cast("Mapping[str, JsonValue]", record.get("file") or {})
        return await self._until_active(file, mime_type)

    async def _send(self, path: anyio.Path, size: int, address: str) -> dict[str, JsonValue]:
        offset = 0
        async with await path.open("rb") as handle:
            while True:
                chunk = await handle.read(_CHUNK_BYTES)
                is_last = offset + len(chunk) >= size or not chunk
                reply = await self._client.post(
                    address,
                    headers={
                        "X-Goog-Upload-Offset": str(offset),
                        "X-Goog-Upload-Command": "upload, finalize" if is_last else "upload",
                    },
                    content=chunk,
                )
                if is_last:
                    return reply_record(reply, "Gemini")
                if not reply.is_success:
                    reply_record(reply, "Gemini")
                offset += len(chunk)

    async def _until_active(self, file: Mapping[str, JsonValue], mime_type: str) -> UploadedFile:
        deadline_s = time.monotonic() + self._ready_within_s
        while True:
            name, uri, state = file.get("name"), file.get("uri"), file.get("state")
            if not isinstance(name, str) or not isinstance(uri, str):
                raise ReplyError(f"Gemini took an upload but named no file: {sorted(file)}", 200)
            if state == "ACTIVE":
                return UploadedFile(uri=uri, mime_type=mime_type, uploaded_at_s=time.monotonic())
            if state == "FAILED":
                raise UnreadableVideo(f"Gemini could not process the upload {name!r}")
            if time.monotonic() > deadline_s:
                raise ReplyError(
                    f"the upload {name!r} is still {state!r} after {self._ready_within_s:g} s", 504
                )
            await anyio.sleep(self._poll_s)
            file = reply_record(await self._client.get(f"/v1beta/{name}"), "Gemini")
