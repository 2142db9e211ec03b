"""The model behind a judge: opened once, asked without any cache, its replies cleaned."""

from __future__ import annotations

import re
from typing import Any, cast

from inspect_ai.model import GenerateConfig, Model, get_model

from taketwo.errors import RequestError
from taketwo.executions.plan import ModelSpec
from taketwo.tools.clean_replies import with_clean_replies
from taketwo.tools.role_model import client_args

__all__ = ["open_judge"]

_MARKUP = re.compile(r"\[/?[a-z ]+\]")


def open_judge(
    spec: ModelSpec,
    *,
    connections: int,
    retries: int,
    timeout_s: int,
    max_tokens: int | None = None,
) -> Model:
    """Return the judge's model at temperature 0; `timeout_s` seconds are allowed to one attempt.

    Raises
    ------
    RequestError
        If its provider cannot be set up: a key or a package is missing, an argument is unknown.
    """
    config = GenerateConfig(
        temperature=0.0,
        max_tokens=max_tokens,
        max_retries=retries,
        attempt_timeout=timeout_s,
        max_connections=connections,
        adaptive_connections=False,
        cache=False,
        cache_prompt=False,
    )
    args = {**client_args(spec.name.partition("/")[0]), **dict(spec.args)}
    try:
        model = get_model(
            spec.name, base_url=spec.base_url, config=config, **cast("dict[str, Any]", args)
        )
    except Exception as error:
        told = " ".join(_MARKUP.sub("", str(error)).split())[:500]
        raise RequestError(
            f"the judge {spec.name!r} cannot be asked: {told or type(error).__name__}; nothing was "
            "spent. Set what is missing and score again: labels that are there are kept"
        ) from error
    return with_clean_replies(model)
