"""Whether a model's provider exists, found out without making the model."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.metadata import entry_points

from inspect_ai.util import registry_create

__all__ = ["OFFLINE_MODELS", "PROVIDERS", "provider_problem"]

_OWN = ("gemini-video", "llama", "taketwo", "vllm-video")
_DOCUMENTED = (
    "anthropic",
    "azureai",
    "bedrock",
    "cloudflare",
    "deepseek",
    "fireworks",
    "google",
    "grok",
    "groq",
    "hf",
    "hf-inference-providers",
    "litellm-proxy",
    "llama-cpp-python",
    "meta",
    "mistral",
    "mockllm",
    "moonshot",
    "nnterp",
    "none",
    "ollama",
    "openai",
    "openai-api",
    "openai-api-completions",
    "openrouter",
    "perplexity",
    "sagemaker",
    "sambanova",
    "sglang",
    "together",
    "transformer_lens",
    "vllm",
    "vllm-completions",
)
OFFLINE_MODELS: tuple[str, ...] = (
    "offline-judge",
    "offline-observer",
    "offline-orchestrator",
    "offline-transcriber",
)
"""The models of the provider `taketwo`, which must be named here since no stage imports them."""

PROVIDERS: tuple[str, ...] = tuple(sorted({*_OWN, *_DOCUMENTED}))
"""Providers of Take Two and of inspect_ai; installed extensions may add others."""


def provider_problem(model: str) -> str | None:
    """Return what is wrong with the provider of `model` (`provider/model`); None where it is known.

    Only names are looked up: no key is needed, nothing is loaded or asked.
    """
    provider, _, name = model.partition("/")
    if provider == "taketwo" and name not in OFFLINE_MODELS:
        near_names = get_close_matches(name, OFFLINE_MODELS, n=1, cutoff=0.5)
        hint = f"did you mean 'taketwo/{near_names[0]}'? " if near_names else ""
        return (
            f"there is no offline model {name!r}: {hint}known are "
            f"{', '.join(f'taketwo/{known}' for known in OFFLINE_MODELS)}"
        )
    if provider in PROVIDERS or _is_registered(provider) or _is_of_an_extension(provider):
        return None
    near = get_close_matches(provider, PROVIDERS, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(map(repr, near))}? " if near else ""
    return (
        f"no model provider is called {provider!r}: {hint}known are {', '.join(PROVIDERS)}; "
        "install the package that brings another one"
    )


def _is_registered(name: str) -> bool:
    """Return whether the engine knows a provider of that name.

    It is asked for one without saying which model, which it refuses with TypeError where it knows
    the provider (ImportError where that lacks a package), and LookupError where it does not.
    """
    try:
        registry_create("modelapi", name)
    except LookupError:
        return False
    except (TypeError, ImportError):
        return True
    return True


def _is_of_an_extension(name: str) -> bool:
    """Return whether an installed extension of the engine brings the provider."""
    for entry in entry_points(group="inspect_ai"):
        package = entry.dist.name if entry.dist is not None else entry.name
        if package in {"taketwo", "inspect_ai", "inspect-ai"}:
            continue
        entry.load()
        if _is_registered(f"{package}/{name}"):
            return True
    return False
