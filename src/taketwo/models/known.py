"""What an offline model knows when it fills in a form: the conversation read, the options weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from inspect_ai.model import ChatMessage, ChatMessageUser

from taketwo.models.asked import Asked, understand
from taketwo.models.conversation import Conversation, focus_of, read_conversation
from taketwo.models.offline_observer import Measured, sightings
from taketwo.models.option_scores import chances, draw, open_candidates, score_options
from taketwo.models.video_lines import CountLine, TextLine, WordsLine, lines_in

__all__ = ["Known", "known_of", "measured_lines"]

_GO_ON = 0.75  # preference for one more look; the answer's grows from 0.6 to 1 with its lead
_MOST_CERTAIN = 0.95


@dataclass(frozen=True, kw_only=True)
class Known:
    """Everything that the values of a form come from.

    `options` are those of the question, else what an open one could be answered with; `chosen` is
    the index of the one drawn, None where there is none to draw. `target` is what is looked for, in
    words. `said` is all text of the request. A draw that no evidence supports is an even guess. `is_observer` tells the one that looks from the one
    that decides: only what an observer measured itself may stand in its report.
    """

    is_observer: bool
    conversation: Conversation
    asked: Asked
    options: tuple[str, ...]
    scores: tuple[float, ...]
    chosen: int | None
    is_settled: bool
    measured: Measured
    target: str
    said: str
    temperature: float
    rng: np.random.Generator

    @property
    def answer(self) -> str | None:
        """Return the text of the option drawn."""
        return None if self.chosen is None else self.options[self.chosen]

    @property
    def label(self) -> str | None:
        """Return the label of the option drawn; None where the question has no options."""
        if self.chosen is None or not self.conversation.options:
            return None
        return self.conversation.labels[self.chosen]

    @property
    def confidence(self) -> float:
        """Return the share (0..0.95) of the option drawn in the softmax of the scores at temperature 1."""
        if self.chosen is None or not self.is_supported:
            return 0.0
        return min(_MOST_CERTAIN, float(chances(self.scores, 1.0)[self.chosen]))

    @property
    def is_supported(self) -> bool:
        """Return whether the evidence speaks for any option at all."""
        return any(self.scores)

    @property
    def has_evidence(self) -> bool:
        """Return whether anything with a time is known of the video."""
        evidence = self.conversation.evidence
        return bool(evidence.texts or evidence.counts or evidence.speech or evidence.notes)


def measured_lines(measured: Measured) -> list[TextLine | CountLine]:
    """Return what was measured in frames as lines of evidence."""
    lines = lines_in("\n".join(sightings(measured.facts)))
    return [line for line in lines if not isinstance(line, WordsLine)]


def known_of(
    messages: Sequence[ChatMessage],
    measured: Measured,
    *,
    is_observer: bool,
    temperature: float,
    rng: np.random.Generator,
) -> Known:
    """Read `messages`, weigh the options by all evidence, and draw one."""
    target = focus_of(messages)
    conversation = read_conversation(messages, measured_lines(measured), otherwise=target)
    asked = understand(conversation.question)
    options = conversation.options or open_candidates(asked, conversation)
    scores = score_options(asked, conversation, options) if options else ()
    chosen = draw(scores, temperature, rng) if options else None
    settle = draw([0.6 + 0.4 * _lead(scores), _GO_ON], temperature, rng) == 0
    return Known(
        is_observer=is_observer,
        conversation=conversation,
        asked=asked,
        options=tuple(options),
        scores=tuple(scores),
        chosen=chosen,
        is_settled=settle and any(scores),
        measured=measured,
        target=target,
        said="\n\n".join(m.text for m in messages if isinstance(m, ChatMessageUser)),
        temperature=temperature,
        rng=rng,
    )


def _lead(scores: Sequence[float]) -> float:
    ordered = [*sorted(scores, reverse=True), 0.0, 0.0]
    return ordered[0] - ordered[1]
