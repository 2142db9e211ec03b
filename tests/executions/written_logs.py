"""Writing `.eval` files by hand, byte by byte, so that their reader has an independent opponent."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import zstandard


def zip_bytes(members: Sequence[tuple[str, bytes]], *, directory: bool = True) -> bytes:
    """Return a zip with Zstandard members, with or without its central directory."""
    body, central = b"", b""
    for name, content in members:
        packed = zstandard.ZstdCompressor().compress(content)
        crc, encoded = zlib.crc32(content), name.encode()
        fields = (93, 0, 0, crc, len(packed), len(content), len(encoded), 0)
        offset = len(body)
        body += struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 63, 0, *fields) + encoded + packed
        central += (
            struct.pack("<4sHHHHHHIIIHH", b"PK\x01\x02", 63, 63, 0, *fields)
            + struct.pack("<HHHII", 0, 0, 0, 0, offset)
            + encoded
        )
    if not directory:
        return body
    count = len(members)
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, len(central), len(body), 0)
    return body + central + end


def start_member(**metadata: object) -> tuple[str, bytes]:
    """Return the member with which a log begins."""
    record = {
        "version": 2,
        "eval": {
            "task": "study",
            "created": "2026-01-01T00:00:00+00:00",
            "metadata": {"study": "test", "execution": 1, **metadata},
            "packages": {"inspect_ai": "0.3.285"},
        },
        "plan": {"config": {"cache": False}},
    }
    return "_journal/start.json", json.dumps(record).encode()


def cell_event(**fields: object) -> dict[str, object]:
    """Return the event that ends a cell."""
    data: dict[str, object] = {
        "run_status": "answered",
        "answer": {"status": "answered", "text": "B", "option_index": 1},
        "failure": None,
        "limit": None,
        "latency_s": 1.5,
        "latency_wall_s": 2.5,
        **fields,
    }
    return {"event": "info", "source": "taketwo.cell", "data": data}


def sample_member(
    arm: str,
    question_id: str,
    *,
    execution: int = 1,
    events: Sequence[Mapping[str, object]] | None = None,
    **fields: object,
) -> tuple[str, bytes]:
    """Return the member of one sample; by default a cell that answered."""
    record = {
        "id": f"{arm}:{question_id}",
        "epoch": 1,
        "metadata": {"arm": arm, "question_id": question_id, "execution": execution},
        "started_at": "2026-01-01T00:00:01+00:00",
        "events": [cell_event()] if events is None else list(events),
        **fields,
    }
    return f"samples/{arm}:{question_id}_epoch_1.json", json.dumps(record).encode()


def write_log(path: Path, *members: tuple[str, bytes], directory: bool = True) -> Path:
    """Write a log with `members` after its start."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zip_bytes(members, directory=directory))
    return path
