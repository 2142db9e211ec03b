"""What was really sent to a model, and its hashes.

The engine logs the configuration that was asked for; a provider may drop or rename parts of it.
The captured request is what counts. Left out of it are the seed, which differs by design, and what
a client adds for transport (request ids, headers, the caller's account).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.executions.log_json import Json, plain_json

__all__ = ["MEDIA_REMOVED", "RequestIdentity", "identity_of_request"]

MEDIA_REMOVED = "<base64-data-removed>"
"""What inspect_ai's providers put into the captured request instead of an image."""

_SEEDS = frozenset({"seed", "random_seed", "randomSeed"})
_TRANSPORT = frozenset({
    "extra_headers",
    "headers",
    "http_options",
    "httpOptions",
    "idempotency_key",
    "request_id",
    "safety_identifier",
    "stream",
    "stream_options",
    "timeout",
    "user",
})
_MESSAGES = ("messages", "contents", "input", "inputs")
_TOOLS = ("tools", "functions")
_SYSTEM = ("system", "instructions", "system_instruction", "systemInstruction")
_SYSTEM_ROLES = frozenset({"system", "developer"})
_NESTED = (
    "config",
    "generation_config",
    "generationConfig",
    "extra_body",
    "sampling",
    "parameters",
    "options",
)
_NOT_SAMPLING = frozenset({"model", *_MESSAGES, *_TOOLS, *_SYSTEM, *_NESTED})


@dataclass(frozen=True, kw_only=True)
class RequestIdentity:
    """The hashes of a request.

    `request_sha256` covers everything, together with the ordered hashes of the media; it is None
    where the media in the request and those that the call recorded differ in number. `sampling`
    is every parameter that is neither message, tool, system prompt nor model name.
    """

    request_sha256: str | None
    system_sha256: str
    tools_sha256: str
    sampling: Mapping[str, JsonValue]
    media_in_request: int


def identity_of_request(request: Json, media_sha256: Sequence[str]) -> RequestIdentity:
    """Return the hashes of a captured request and of the media that went with it."""
    cleaned = cast("dict[str, JsonValue]", plain_json(_cleaned(request)))
    media = _media_in(cleaned)
    is_consistent = media in (0, len(media_sha256))
    return RequestIdentity(
        request_sha256=(
            sha256_of({"request": cleaned, "media": list(media_sha256)}) if is_consistent else None
        ),
        system_sha256=sha256_of(_system_of(cleaned)),
        tools_sha256=sha256_of([_named(cleaned, name) for name in _TOOLS]),
        sampling=_sampling_of(cleaned),
        media_in_request=media,
    )


def _cleaned(value: object, *, is_top: bool = True) -> object:
    """Return `value` without seeds and transport, which occur at the top and in nested settings."""
    if not isinstance(value, Mapping):
        return value
    record = cast("Json", value)
    kept = {name: item for name, item in record.items() if name not in _SEEDS | _TRANSPORT}
    if is_top:
        for name in _NESTED:
            if name in kept:
                kept[name] = _cleaned(kept[name], is_top=False)
    return kept


def _named(request: Mapping[str, JsonValue], name: str) -> JsonValue:
    """Return the part called `name`, at the top or in a nested block of settings."""
    if name in request:
        return request[name]
    for block in _NESTED:
        nested = request.get(block)
        if isinstance(nested, Mapping) and name in nested:
            return nested[name]
    return None


def _system_of(request: Mapping[str, JsonValue]) -> JsonValue:
    parts: list[JsonValue] = [_named(request, name) for name in _SYSTEM]
    for name in _MESSAGES:
        messages = request.get(name)
        if isinstance(messages, list):
            parts.extend(
                message.get("content")
                for message in messages
                if isinstance(message, Mapping) and message.get("role") in _SYSTEM_ROLES
            )
    return [part for part in parts if part is not None]


def _sampling_of(request: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    sampling = {name: value for name, value in request.items() if name not in _NOT_SAMPLING}
    for block in _NESTED:
        nested = request.get(block)
        if isinstance(nested, Mapping):
            sampling |= {
                f"{block}.{name}": value
                for name, value in nested.items()
                if name not in _NOT_SAMPLING
            }
    return {name: value for name, value in sampling.items() if value is not None}


def _media_in(value: JsonValue) -> int:
    """Return how many media the captured request stands for."""
    if isinstance(value, str):
        return int(MEDIA_REMOVED in value)
    if isinstance(value, Mapping):
        if set(value) == {"sha256"}:
            return 1
        return sum(_media_in(item) for item in value.values())
    if isinstance(value, Sequence):
        return sum(_media_in(item) for item in value)
    return 0
