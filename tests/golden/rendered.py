"""What is frozen of an agent: every prompt template and tool text, as one reviewable document.

    .venv/bin/python -m tests.golden.rendered

writes the documents anew after a change that was meant; the difference then shows in review.
"""

from __future__ import annotations

import json
from pathlib import Path

from taketwo.agents.catalog import AGENT_NAMES, agent_spec
from taketwo.tools.catalog import TOOLS

__all__ = ["FOLDER", "documents"]

FOLDER = Path(__file__).parent / "frozen"
_NEEDED = {"command": {"command": ["agent"]}, "http": {"url": "http://agent.example/answer"}}


def documents() -> dict[str, str]:
    """Return the text of every frozen document by its file name."""
    found = {"tools.md": _tools()}
    for name in AGENT_NAMES:
        spec = agent_spec(name)
        options = _NEEDED.get(name, {})
        found[f"{name}.md"] = _agent(name, options)
        for preset in sorted(spec.presets):
            chosen = {**options, **spec.presets[preset].options_for("openai/gpt-4o")}
            found[f"{name}.{preset}.md"] = _agent(name, chosen)
    return found


def _agent(name: str, options: dict[str, object]) -> str:
    spec = agent_spec(name)
    checked = spec.checked(options)
    parts = [f"# {name}", f"Options: {checked.model_dump_json()}"]
    for role, text in sorted(spec.prompts(checked).items()):
        parts += [f"## Prompts of {role}", text.replace("\f", "-- next template --").rstrip()]
    tools = spec.tools(checked)
    if tools:
        parts += ["## Tools", *(_schema(tool.schema()) for tool in tools)]
    return "\n\n".join(parts) + "\n"


def _tools() -> str:
    parts = ["# Tools by name"]
    for name, tool in sorted(TOOLS.items()):
        parts += [f"## {name}", tool.guidance, _schema(tool.schema())]
        for role, text in sorted(tool.prompts.items()):
            parts += [f"Prompt of {role}:", text.replace("\f", "-- next template --").rstrip()]
    return "\n\n".join(parts) + "\n"


def _schema(schema: object) -> str:
    return json.dumps(schema, indent=1, sort_keys=True, ensure_ascii=False)


def main() -> None:
    """Write the documents anew and remove those of agents and presets that are gone."""
    FOLDER.mkdir(exist_ok=True)
    wanted = documents()
    for path in FOLDER.glob("*.md"):
        if path.name not in wanted:
            path.unlink()
    for name, text in wanted.items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
