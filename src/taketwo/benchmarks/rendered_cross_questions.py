"""Questions that need the narrator: spoken cues, and hops between what is said and what is seen."""

from __future__ import annotations

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.rendered_drafts import Draft, Stage
from taketwo.benchmarks.rendered_program import Value
from taketwo.benchmarks.rendered_questions import Writer, count_in, while_sign
from taketwo.benchmarks.scene import Section
from taketwo.benchmarks.scene_phrases import TOPICS, plural_noun

__all__ = ["MULTI_HOP", "SPOKEN_CUE"]


def _keywords(keys: list[str]) -> dict[str, JsonValue]:
    words = {topic.key: list(topic.keywords) for topic in TOPICS}
    return {key: words[key] for key in keys}


def _while_spoken(section: Section, stage: Stage) -> dict[str, JsonValue]:
    return {"op": "while_spoken", "keywords": list(stage.topics[section.topic].keywords)}


def _topic_keys(stage: Stage) -> list[str]:
    order = stage.rng.permutation(len(stage.sections))
    return [stage.sections[int(i)].topic for i in order]


def _names(stage: Stage, keys: list[str], *, is_paraphrased: bool) -> dict[Value, str]:
    return {key: stage.topic_text(key, is_paraphrased=is_paraphrased) for key in keys}


def _wording(is_paraphrased: bool) -> str:
    return "paraphrased" if is_paraphrased else "literal"


def _group_of(text: str) -> tuple[str, str]:
    """Return colour and shape of for instance `red circles` or `3 red circles`."""
    colour, shapes = text.split()[-2:]
    return colour, shapes.removesuffix("s")


# Spoken cues


def _topic_with_sign(stage: Stage) -> Draft:
    section, keys = stage.sections[stage.pick(len(stage.sections))], _topic_keys(stage)
    paraphrased = stage.draw_paraphrased()
    return Draft(
        kind="spoken_cue",
        variant=f"topic_with_sign_{_wording(paraphrased)}",
        text=f"What does the narrator talk about while the sign shows the word {section.word}?",
        program={"op": "topic", "window": while_sign(section), "among": _keywords(sorted(keys))},
        distractors=keys,
        shown_as=_names(stage, keys, is_paraphrased=paraphrased),
        steps=(stage.sign_step(section), stage.hear_step(stage.topic_utterance(section))),
        skills=("listening", "localising"),
        modality="audio_visual",
    )


def _topic_after(stage: Stage) -> Draft:
    keys, at = _topic_keys(stage), stage.pick(len(stage.sections) - 1)
    section, after = stage.sections[at], stage.sections[at + 1]
    paraphrased = stage.draw_paraphrased()
    named = stage.topic_text(section.topic, is_paraphrased=paraphrased)
    return Draft(
        kind="spoken_cue",
        variant=f"topic_after_{_wording(paraphrased)}",
        text=f"The narrator talks about {named}. Which topic comes next?",
        program={
            "op": "topic_after",
            "topic": section.topic,
            "among": _keywords(sorted(keys)),
        },
        distractors=[key for key in keys if key != section.topic],
        shown_as=_names(stage, keys, is_paraphrased=paraphrased),
        steps=(
            stage.hear_step(stage.topic_utterance(section)),
            stage.hear_step(stage.topic_utterance(after)),
        ),
        skills=("listening", "ordering"),
        modality="audio",
    )


def _claimed_number(stage: Stage) -> Draft:
    claim = stage.said("claim")
    section, pair = stage.section_at(claim.start_s), _group_of(claim.about)
    return Draft(
        kind="spoken_cue",
        variant="claimed_number",
        text=f"How many {plural_noun(*pair)} does the narrator say there are, right or wrong?",
        program={"op": "spoken_number", "colour": pair[0], "shape": pair[1]},
        distractors=[stage.count(section, pair), *stage.all_counts(section)],
        steps=(stage.hear_step(claim),),
        skills=("listening", "resolving conflict"),
        modality="audio",
        may_be_open=True,
    )


def _topic_never_spoken(stage: Stage) -> Draft:
    keys = _topic_keys(stage)
    unused = [topic.key for topic in TOPICS if topic.key not in keys]
    missing = unused[stage.pick(len(unused))]
    paraphrased = stage.draw_paraphrased()
    return Draft(
        kind="spoken_cue",
        variant=f"topic_never_spoken_{_wording(paraphrased)}",
        text="About which of these does the narrator say nothing?",
        program={"op": "topic_never_spoken", "among": _keywords(sorted([*keys, missing]))},
        distractors=keys,
        shown_as=_names(stage, [*keys, missing], is_paraphrased=paraphrased),
        steps=tuple(stage.hear_step(stage.topic_utterance(s)) for s in stage.sections),
        skills=("listening", "excluding"),
        modality="audio",
    )


# Several hops


def _count_at_topic(stage: Stage) -> Draft:
    section, pair = stage.sections[stage.pick(len(stage.sections))], stage.pick_group()
    paraphrased = stage.draw_paraphrased()
    named = stage.topic_text(section.topic, is_paraphrased=paraphrased)
    return Draft(
        kind="multi_hop",
        variant=f"count_at_topic_{_wording(paraphrased)}",
        text=f"While the narrator talks about {named}, how many {plural_noun(*pair)} are visible?",
        program=count_in({"op": "section_of", "window": _while_spoken(section, stage)}, pair),
        distractors=stage.all_counts(section),
        steps=(
            stage.hear_step(stage.topic_utterance(section)),
            stage.count_step(section, pair),
        ),
        skills=("listening", "counting"),
        modality="audio_visual",
    )


def _code_at_topic(stage: Stage) -> Draft:
    section = stage.sections[stage.pick(len(stage.sections))]
    paraphrased = stage.draw_paraphrased()
    named = stage.topic_text(section.topic, is_paraphrased=paraphrased)
    return Draft(
        kind="multi_hop",
        variant=f"code_at_topic_{_wording(paraphrased)}",
        text=f"Which code belongs to the sign under which the narrator talks about {named}?",
        program={
            "op": "code",
            "window": {"op": "section_of", "window": _while_spoken(section, stage)},
        },
        distractors=[other.code for other in stage.sections],
        steps=(
            stage.hear_step(stage.topic_utterance(section)),
            stage.sign_step(section),
            stage.code_step(section),
        ),
        skills=("listening", "reading"),
        modality="audio_visual",
        may_be_open=True,
    )


def _count_of_called(stage: Stage) -> Draft:
    call = stage.said("count_cue")
    section, pair = stage.sections[stage.pick(len(stage.sections))], _group_of(call.about)
    kinds = [list(group) for group in stage.groups]
    return Draft(
        kind="multi_hop",
        variant="count_of_called",
        text=(
            "The narrator asks to count one kind of shape. How many of that kind are on screen "
            f"while the sign shows {section.word}?"
        ),
        program={"op": "count_called", "among": kinds, "window": while_sign(section)},
        distractors=stage.all_counts(section),
        steps=(
            stage.hear_step(call),
            stage.sign_step(section),
            stage.count_step(section, pair),
        ),
        skills=("listening", "counting"),
        modality="audio_visual",
    )


def _truth_of_claim(stage: Stage) -> Draft:
    claim = stage.said("claim")
    section, pair = stage.section_at(claim.start_s), _group_of(claim.about)
    return Draft(
        kind="multi_hop",
        variant="truth_of_claim",
        text=(
            f"The narrator says how many {plural_noun(*pair)} there are, and is wrong. How many "
            "are really on screen at that moment?"
        ),
        program=count_in(
            {
                "op": "section_of",
                "window": {"op": "while_claimed", "colour": pair[0], "shape": pair[1]},
            },
            pair,
        ),
        distractors=[int(claim.about.split()[0]), *stage.all_counts(section)],
        steps=(stage.hear_step(claim), stage.count_step(section, pair)),
        skills=("listening", "counting", "resolving conflict"),
        modality="audio_visual",
    )


def _sign_after_topic(stage: Stage) -> Draft:
    at = stage.pick(len(stage.sections) - 1)
    section, after = stage.sections[at], stage.sections[at + 1]
    paraphrased = stage.draw_paraphrased()
    named = stage.topic_text(section.topic, is_paraphrased=paraphrased)
    return Draft(
        kind="multi_hop",
        variant=f"sign_after_topic_{_wording(paraphrased)}",
        text=f"The narrator talks about {named}. Which word does the next sign show?",
        program={
            "op": "word",
            "window": {"op": "next_section", "window": _while_spoken(section, stage)},
        },
        distractors=[other.word for other in stage.sections],
        steps=(stage.hear_step(stage.topic_utterance(section)), stage.sign_step(after)),
        skills=("listening", "ordering"),
        modality="audio_visual",
        may_be_open=True,
    )


SPOKEN_CUE: tuple[Writer, ...] = (
    _topic_with_sign,
    _claimed_number,
    _topic_after,
    _topic_never_spoken,
)
MULTI_HOP: tuple[Writer, ...] = (
    _count_at_topic,
    _code_at_topic,
    _truth_of_claim,
    _sign_after_topic,
    _count_of_called,
)
