"""The model behind a judge: opened once, asked without any cache, its replies cleaned."""

from __future__ import annotations

from typing import Any, cast

from inspect_ai.model import GenerateConfig, Model, get_model

from taketwo.executions.plan import ModelSpec
from taketwo.tools.clean_replies import with_clean_replies

__all__ = ["open_judge"]


def open_judge(
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None = None,
) -> Model:
    """Return the judge's model at temperature 0; `timeout_s` seconds are allowed to one request."""
    config = GenerateConfig(
        temperature=0.0,
        max_tokens=max_tokens,
        max_retries=retries,
        timeout=timeout_s,
        max_connections=connections,
        cache=False,
        cache_prompt=False,
    )
    return with_clean_replies(
        get_model(
            spec.name,
            base_url=spec.base_url,
            config=config,
            **cast("dict[str, Any]", dict(spec.args)),
        )
    )
