"""The members of an `.eval` file, also of one that was cut off while it was written.

An `.eval` file is a zip whose members are compressed with Zstandard (method 93), which the
standard library of Python 3.11 can list but not decompress. A complete file is read through its
central directory. A file without one (the process or the machine died) is scanned from the start:
every member that is whole, by its checksum, is used, and the first that is not ends the scan.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

import zstandard

from taketwo.errors import ForeignLog

__all__ = ["LogFile", "open_log_file"]

_STORED, _DEFLATED, _ZSTANDARD = 0, 8, 93
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_LOCAL_SIGNATURE = b"PK\x03\x04"
_DESCRIPTOR_SIGNATURE = b"PK\x07\x08"
_SIZE_ELSEWHERE = 0xFFFFFFFF
_HAS_DESCRIPTOR = 0x08


@dataclass(frozen=True, kw_only=True)
class _Member:
    name: str
    method: int
    start: int
    end: int
    crc: int


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """An opened log: its bytes, its members by name, and whether it was closed properly.

    Of several members with one name the last is the valid one, as in the engine's own reader.
    """

    path: Path
    data: bytes
    members: dict[str, _Member]
    is_cut_off: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the members, in the order in which they were written."""
        ordered = sorted(self.members.values(), key=lambda member: member.start)
        return tuple(member.name for member in ordered)

    def read(self, name: str) -> bytes:
        """Return the decompressed bytes of a member.

        Raises
        ------
        ForeignLog
            If there is no such member, its compression is unknown, or its checksum is wrong.
        """
        member = self.members.get(name)
        if member is None:
            raise ForeignLog(f"{self.path}: no member {name!r} among {len(self.members)}")
        content = _decompressed(self.data[member.start : member.end], member.method)
        if content is None or zlib.crc32(content.data) != member.crc:
            raise ForeignLog(
                f"{self.path}: member {name!r} is damaged (compression {member.method}, "
                f"{member.end - member.start} bytes); restore the file, or delete it and run again"
            )
        return content.data


def open_log_file(path: Path) -> LogFile:
    """Open an `.eval` file, complete or cut off.

    Raises
    ------
    ForeignLog
        If the file is missing, or no zip at all.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ForeignLog(f"{path}: the log cannot be read ({error.strerror})") from error
    try:
        members, is_cut_off = _listed(data), False
    except (zipfile.BadZipFile, struct.error):
        members, is_cut_off = _scanned(data), True
    if is_cut_off and not _LOCAL_SIGNATURE.startswith(data[:4]):
        raise ForeignLog(
            f"{path}: not an .eval log: it starts with {data[:4]!r}, a log with {_LOCAL_SIGNATURE!r}"
        )
    return LogFile(path=path, data=data, members=members, is_cut_off=is_cut_off)


def _listed(data: bytes) -> dict[str, _Member]:
    members: dict[str, _Member] = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            header = _LOCAL_HEADER.unpack_from(data, info.header_offset)
            start = info.header_offset + _LOCAL_HEADER.size + header[9] + header[10]
            members[info.filename] = _Member(
                name=info.filename,
                method=info.compress_type,
                start=start,
                end=start + info.compress_size,
                crc=info.CRC,
            )
    return members


def _scanned(data: bytes) -> dict[str, _Member]:
    members: dict[str, _Member] = {}
    position = 0
    while data.startswith(_LOCAL_SIGNATURE, position):
        found = _member_at(data, position)
        if found is None:
            break
        member, position = found
        members[member.name] = member
    return members


def _member_at(data: bytes, position: int) -> tuple[_Member, int] | None:
    """Return the whole member at `position` and where the next one starts."""
    if position + _LOCAL_HEADER.size > len(data):
        return None
    header = _LOCAL_HEADER.unpack_from(data, position)
    flags, method, crc, size = header[2], header[3], header[6], header[7]
    name_start = position + _LOCAL_HEADER.size
    start = name_start + header[9] + header[10]
    if start > len(data):
        return None
    name = data[name_start : name_start + header[9]].decode("utf-8", "replace")
    has_descriptor = bool(flags & _HAS_DESCRIPTOR)
    if size == _SIZE_ELSEWHERE:
        size = _zip64_size(data[name_start + header[9] : start], has_both=header[8] == size)
    end = len(data) if has_descriptor else start + size
    if end > len(data):
        return None
    content = _decompressed(data[start:end], method)
    if content is None:
        return None
    following = end
    if has_descriptor:
        end = start + content.consumed
        signed = data.startswith(_DESCRIPTOR_SIGNATURE, end)
        at = end + (4 if signed else 0)
        if at + 12 > len(data):
            return None
        (crc,) = struct.unpack_from("<I", data, at)
        following = data.find(b"PK", at + 12, at + 24)
        following = len(data) if following < 0 else following
    if zlib.crc32(content.data) != crc:
        return None
    return _Member(name=name, method=method, start=start, end=end, crc=crc), following


def _zip64_size(extra: bytes, *, has_both: bool) -> int:
    """Return the compressed size out of the zip64 field of a local header; 0 where there is none."""
    position = 0
    while position + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, position)
        if kind == 1:
            at = position + 4 + (8 if has_both else 0)
            return int(struct.unpack_from("<Q", extra, at)[0]) if at + 8 <= len(extra) else 0
        position += 4 + length
    return 0


@dataclass(frozen=True)
class _Content:
    data: bytes
    consumed: int


def _decompressed(data: bytes, method: int) -> _Content | None:
    """Return what `data` holds and how many of its bytes that took; None where it is not whole."""
    if method == _STORED:
        return _Content(data, len(data))
    try:
        if method == _ZSTANDARD:
            reader = zstandard.ZstdDecompressor().decompressobj()
            content = reader.decompress(data)
        elif method == _DEFLATED:
            reader = zlib.decompressobj(-zlib.MAX_WBITS)
            content = reader.decompress(data)
        else:
            return None
    except (zstandard.ZstdError, zlib.error):
        return None
    return _Content(content, len(data) - len(reader.unused_data)) if reader.eof else None
