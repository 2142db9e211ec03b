"""Settings of the H.264 encoder with which equal pictures give equal bytes."""

from __future__ import annotations

__all__ = ["h264_options"]


def h264_options(*, quality: int, preset: str = "veryfast") -> dict[str, str]:
    """Return the options of a ``libx264`` stream whose bytes depend on its pictures alone.

    Parameters
    ----------
    quality
        The encoder's constant rate factor (0 lossless to 51).
    preset
        One of the encoder's presets, ``ultrafast`` to ``veryslow``.

    Notes
    -----
    Bytes are sent to models and hashed, so they must not differ from run to run. One thread: how
    many there are decides how the encoder divides its work. No macroblock tree: on processors
    with AVX-512 the build of x264 inside PyAV 18.1 (core 165) gives other bytes for equal
    pictures, depending on what lies in the process's memory; with it off they agree.
    """
    return {
        "crf": str(quality),
        "preset": preset,
        "threads": "1",
        "x264-params": "mbtree=0",
    }
