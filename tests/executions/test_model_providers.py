"""Providers are known or not by their name alone."""

from __future__ import annotations

import pytest
from inspect_ai.model import modelapi

from taketwo.executions.model_providers import PROVIDERS, provider_problem


@pytest.mark.parametrize(
    "model",
    ["taketwo/offline-observer", "openai/gpt-4o", "hf/org/name", "gemini-video/x", "none/none"],
)
def test_providers_of_the_package_and_of_the_engine_are_known(model: str) -> None:
    assert provider_problem(model) is None


def test_every_listed_provider_is_one_that_the_engine_finds() -> None:
    from inspect_ai.util import registry_create

    for name in set(PROVIDERS) - {"gemini-video", "llama", "taketwo", "vllm-video"}:
        try:
            registry_create("modelapi", name)
        except LookupError:
            pytest.fail(f"{name} is listed but unknown to the engine")
        except Exception:  # noqa: BLE001, S112 the provider refuses to be made of nothing
            continue


def test_an_unknown_provider_is_told_with_near_names() -> None:
    problem = provider_problem("taketo/offline-observer")

    assert problem is not None
    assert problem.startswith(
        "no model provider is called 'taketo': did you mean 'taketwo'? known are "
    )
    assert problem.endswith("install the package that brings another one")


def test_a_provider_that_a_module_registered_is_known() -> None:
    class Refusing:
        def __init__(self, model_name: str) -> None:
            raise AssertionError(f"made {model_name}")

    @modelapi(name="registered-here")
    def registered_here() -> type[Refusing]:  # pyright: ignore[reportUnusedFunction]
        return Refusing

    assert provider_problem("registered-here/any") is None
    assert provider_problem("registered-nowhere/any") is not None
