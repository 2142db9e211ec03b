"""Truths of rendered questions, found again from the question's words and the script's lists.

Deliberately naive and independent of the program language: it reads the text of the question
and walks the script's shapes, signs and utterances.
"""

from __future__ import annotations

import re

from taketwo.benchmarks.question import Question
from taketwo.benchmarks.scene import Section, VideoScript
from taketwo.benchmarks.scene_phrases import TOPICS

COLOURS = "red|green|blue|yellow|orange|purple"


def section_of(script: VideoScript, word: str) -> Section:
    return next(section for section in script.sections if section.word == word)


def seen(script: VideoScript, section: Section, colour: str, shape: str) -> int:
    """Count shapes that are visible in the very middle of a section, flashes left out."""
    middle = (section.start_s + section.end_s) / 2
    return len([
        item
        for item in script.shapes
        if item.colour == colour
        and item.shape == shape
        and item.role != "flash"
        and item.start_s <= middle < item.end_s
    ])


def kind_in(text: str) -> tuple[str, str]:
    found = re.search(rf"({COLOURS}) (circle|square|triangle|star)s?\b", text)
    assert found is not None
    return found[1], found[2]


def words_in(script: VideoScript, text: str) -> list[Section]:
    return [section_of(script, w) for w in re.findall(r"[A-Z]{5,8}", text)]


def topic_section(script: VideoScript, text: str) -> Section:
    named = [t for t in TOPICS if f"talks about {t.literal}" in text]
    named += [t for t in TOPICS if f"talks about {t.paraphrase}" in text]
    return next(section for section in script.sections if section.topic == named[0].key)


def topic_names(key: str) -> set[str]:
    topic = next(topic for topic in TOPICS if topic.key == key)
    return {topic.literal, topic.paraphrase}


def flash_order(script: VideoScript) -> list[str]:
    flashes = sorted((s.start_s, s.colour, s.shape) for s in script.shapes if s.role == "flash")
    return list(dict.fromkeys(f"{colour} {shape}" for _, colour, shape in flashes))


def said(script: VideoScript, beginning: str) -> str:
    return next(u.text for u in script.utterances if u.text.startswith(beginning))


def changed_by(difference: int) -> str:
    if difference == 0:
        return "it stays the same"
    return f"it grows by {difference}" if difference > 0 else f"it falls by {-difference}"


def right_answers(question: Question, script: VideoScript) -> set[str]:
    """Return every text that would be a right answer."""
    text, variant = question.text, question.attributes["variant"]
    for suffix in ("_literal", "_paraphrased"):
        variant = variant.removesuffix(suffix)
    sections = script.sections
    match variant:
        case "count_in_section":
            return {str(seen(script, words_in(script, text)[0], *kind_in(text)))}
        case "count_difference":
            more, fewer = words_in(script, text)
            return {str(seen(script, more, *kind_in(text)) - seen(script, fewer, *kind_in(text)))}
        case "appearances":
            kind = kind_in(text)
            return {str([(s.colour, s.shape) for s in script.shapes].count(kind))}
        case "sign_with_most":
            best = max(seen(script, s, *kind_in(text)) for s in sections)
            return {s.word for s in sections if seen(script, s, *kind_in(text)) == best}
        case "word_after":
            return {sections[sections.index(words_in(script, text)[0]) + 1].word}
        case "word_before":
            return {sections[sections.index(words_in(script, text)[0]) - 1].word}
        case "flash_after":
            listed = re.findall(rf"the ((?:{COLOURS}) \w+)", text)
            order = [name for name in flash_order(script) if name in listed]
            return {f"the {order[order.index(listed[-1]) + 1]}"}
        case "flash_order" | "flash_order_of_all":
            listed = re.findall(rf"(?:{COLOURS}) \w+", text)
            return {", ".join(name for name in flash_order(script) if name in listed)}
        case "code_with_word":
            return {words_in(script, text)[0].code}
        case "word_with_code":
            return {s.word for s in sections if s.code in text}
        case "never_shown":
            shown = {sign.text for sign in script.signs}
            return {option for option in question.options if option not in shown}
        case "count_first_last" | "count_next":
            start, end = words_in(script, text)
            kind = kind_in(text)
            return {changed_by(seen(script, end, *kind) - seen(script, start, *kind))}
        case "star_last":
            return {
                max((s for s in script.shapes if s.shape == "star"), key=lambda s: s.end_s).colour
            }
        case "star_after":
            stars = sorted((s.start_s, s.colour) for s in script.shapes if s.shape == "star")
            colours = [colour for _, colour in stars]
            return {colours[colours.index(text.split()[-1].rstrip("?")) + 1]}
        case "topic_with_sign":
            return topic_names(words_in(script, text)[0].topic)
        case "topic_after":
            return topic_names(sections[sections.index(topic_section(script, text)) + 1].topic)
        case "claimed_number":
            words = said(script, "I can see").split()
            return {str(["two", "three", "four", "five", "six", "seven"].index(words[3]) + 2)}
        case "topic_never_spoken":
            spoken = set().union(*(topic_names(s.topic) for s in sections))
            return {option for option in question.options if option not in spoken}
        case "count_at_topic":
            rest = text.split(", how many")[1]
            return {str(seen(script, topic_section(script, text), *kind_in(rest)))}
        case "code_at_topic":
            return {topic_section(script, text).code}
        case "count_of_called":
            kind = kind_in(said(script, "Please count"))
            return {str(seen(script, words_in(script, text)[0], *kind))}
        case "truth_of_claim":
            claim = next(u for u in script.utterances if u.text.startswith("I can see"))
            section = next(s for s in sections if s.start_s <= claim.start_s < s.end_s)
            return {str(seen(script, section, *kind_in(claim.text)))}
        case "sign_after_topic":
            return {sections[sections.index(topic_section(script, text)) + 1].word}
        case other:
            raise AssertionError(f"no recount for {other}")
