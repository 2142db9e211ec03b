"""A small language for the questions of the rendered videos, and what executes it.

A program says how the answer follows from what is seen and heard. Executed over the scene script
it gives the truth; executed over perceived facts it gives the answer of an observer who reasons
without fault from what perception delivers (`scores.perception_bound`).

Programs are JSON objects with a key `op`. Windows (stretches of time) are
`while_sign(text)`, `while_spoken(keywords)`, `while_claimed(colour, shape)`, `section_of(window)`
and `next_section(window)`; all other operations give a number, a text, or null where the evidence has none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from statistics import mode
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.rendered_evidence import Evidence, Program, Windows, plain, spoken_words
from taketwo.benchmarks.scene_phrases import NUMBER_WORDS, plural_noun

__all__ = ["Value", "run_program"]

Value = int | str | None

_CODE = re.compile(r"[A-Z]{2}[0-9]{2}")


def run_program(program: Program, evidence: Evidence) -> Value:
    """Return the value of a program over evidence; None where the evidence does not say.

    Raises
    ------
    ValueError
        The program has an operation that the language does not know.
    """
    return _Run(evidence).value(program)


class _Run:
    """One execution over one body of evidence."""

    def __init__(self, evidence: Evidence) -> None:
        self._looks = evidence.looks
        self._heard = evidence.heard
        self._windows = Windows(evidence)

    def value(self, program: Program) -> Value:
        operation = getattr(self, f"_op_{program['op']}", None)
        if operation is None:
            raise ValueError(f"unknown operation {program['op']!r} in a question's program")
        return cast("Value", operation(program))

    # Numbers

    def _op_count(self, program: Program) -> Value:
        """Return how many shapes of a kind are visible in most looks of a window."""
        key = (str(program["colour"]), str(program["shape"]))
        seen = [
            look.counts.get(key, 0)
            for look in self._windows.looks_in(self._windows.of(program["window"]))
        ]
        return mode(seen) if seen else None

    def _op_minus(self, program: Program) -> Value:
        left = self.value(cast("Program", program["left"]))
        right = self.value(cast("Program", program["right"]))
        return left - right if isinstance(left, int) and isinstance(right, int) else None

    def _op_appearances(self, program: Program) -> Value:
        """Return how many separate times a kind of shape comes into view."""
        key = (str(program["colour"]), str(program["shape"]))
        visible = [look.counts.get(key, 0) > 0 for look in self._looks]
        return sum(
            now and not before for before, now in zip([False, *visible], visible, strict=False)
        )

    def _op_count_called(self, program: Program) -> Value:
        """Return how many there are of the kind of shape that the narrator asks to count."""
        for colour, shape in cast("Sequence[Sequence[str]]", program["among"]):
            wanted = {"count", colour, f"{shape}s"}
            if any(wanted <= spoken_words(heard.text) for heard in self._heard):
                return self._op_count({**program, "colour": colour, "shape": shape})
        return None

    def _op_spoken_number(self, program: Program) -> Value:
        """Return the number that the narrator claims of shapes of a kind."""
        wanted = {str(program["colour"]), f"{program['shape']}s", "see"}
        for heard in self._heard:
            for sentence in re.split(r"[.?!]", heard.text):
                words = spoken_words(sentence)
                if wanted <= words:
                    for number, word in enumerate(NUMBER_WORDS, start=1):
                        if word in words or str(number) in words:
                            return number
        return None

    # Words and codes on signs

    def _op_word(self, program: Program) -> Value:
        at = self._windows.section_number(self._windows.of(program["window"]))
        return None if at is None else self._windows.sections()[at][0]

    def _op_word_before(self, program: Program) -> Value:
        at = self._windows.section_number(self._windows.of(program["window"]))
        return None if not at else self._windows.sections()[at - 1][0]

    def _op_code(self, program: Program) -> Value:
        codes = Counter(
            text
            for look in self._windows.looks_in(self._windows.of(program["window"]))
            for text in map(plain, look.texts)
            if _CODE.fullmatch(text)
        )
        return codes.most_common(1)[0][0] if codes else None

    def _op_never_shown(self, program: Program) -> Value:
        """Return the word among some that resembles least what is ever on screen."""
        shown = {plain(text) for look in self._looks for text in look.texts}
        words = cast("Sequence[str]", program["among"])

        def likeness(word: str) -> float:
            return max((SequenceMatcher(None, word, s).ratio() for s in shown), default=0.0)

        return min(words, key=likeness)

    def _op_word_with_most(self, program: Program) -> Value:
        counts = {
            word: self._op_count({**program, "window": {"op": "while_sign", "text": word}}) or 0
            for word, _ in self._windows.sections()
        }
        return max(counts, key=lambda word: cast("int", counts[word])) if counts else None

    # Single shapes

    def _op_pair_after(self, program: Program) -> Value:
        """Return which kind of shape, among some, comes first into view right after another."""
        order = self._first_appearances(program)
        wanted = str(program["pair"])
        if wanted not in order[:-1]:
            return None
        return order[order.index(wanted) + 1]

    def _op_pair_order(self, program: Program) -> Value:
        """Return the order in which kinds of shapes come first into view, separated by commas."""
        return ", ".join(self._first_appearances(program)) or None

    def _first_appearances(self, program: Program) -> list[str]:
        pairs = [
            tuple(cast("Sequence[str]", p)) for p in cast("Sequence[JsonValue]", program["among"])
        ]
        first: dict[str, float] = {}
        for look in self._looks:
            for colour, shape in pairs:
                if look.counts.get((colour, shape), 0) > 0:
                    first.setdefault(plural_noun(colour, shape, 1), look.time_s)
        return sorted(first, key=lambda pair: first[pair])

    def _star_colours(self) -> list[str]:
        """Return the colours of the star in the order in which they come, each once."""
        counts: Counter[str] = Counter()
        for look in self._looks:
            counts.update({c for (c, shape), n in look.counts.items() if shape == "star" and n})
        return list(counts)

    def _op_star_colour(self, program: Program) -> Value:
        colours = self._star_colours()
        n = cast("int", program["n"])
        return colours[n] if -len(colours) <= n < len(colours) else None

    def _op_star_colour_after(self, program: Program) -> Value:
        colours, wanted = self._star_colours(), str(program["colour"])
        return colours[colours.index(wanted) + 1] if wanted in colours[:-1] else None

    # Speech

    def _op_topic(self, program: Program) -> Value:
        """Return which topic, by its keywords, is spoken about in a window."""
        window = self._windows.of(program["window"])
        if window is None:
            return None
        overlaps: Counter[str] = Counter()
        for topic, keywords in cast("Mapping[str, Sequence[str]]", program["among"]).items():
            for heard in self._heard:
                if spoken_words(heard.text) & set(keywords):
                    shared = min(heard.end_s, window.end_s) - max(heard.start_s, window.start_s)
                    overlaps[topic] = max(overlaps[topic], round(1000 * shared))
        best = overlaps.most_common(1)
        return best[0][0] if best and best[0][1] > 0 else None

    def _op_topic_after(self, program: Program) -> Value:
        """Return which topic is spoken about right after another."""
        among = cast("Mapping[str, Sequence[str]]", program["among"])
        order = self._topics_in_order(among)
        wanted = str(program["topic"])
        return order[order.index(wanted) + 1] if wanted in order[:-1] else None

    def _op_topic_never_spoken(self, program: Program) -> Value:
        among = cast("Mapping[str, Sequence[str]]", program["among"])
        heard = self._topics_in_order(among)
        missing = [topic for topic in among if topic not in heard]
        return missing[0] if len(missing) == 1 else None

    def _topics_in_order(self, among: Mapping[str, Sequence[str]]) -> list[str]:
        starts: dict[str, tuple[float, int]] = {}
        for heard in self._heard:
            words = re.findall(r"[a-z0-9]+", heard.text.lower())
            for topic, keywords in among.items():
                places = [words.index(word) for word in keywords if word in words]
                if places:
                    starts.setdefault(topic, (heard.start_s, min(places)))
        return sorted(starts, key=lambda topic: starts[topic])
