"""Other names of our tools: those of SAGE's released code and of the papers, understood at call time.

They are never shown. A call by one of them is executed, checked and recorded under our own name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

__all__ = ["ALIASES", "canonical_name"]

ALIASES: Mapping[str, str] = MappingProxyType({
    "unified_web_search": "web_search",
    "parse_web_data": "parse_website",
    "verbal_transcript": "transcribe_speech",
    "identify_timestamps_visually": "ground_event",
    "extract_parts_from_timestamp": "extract_video_parts",
    "perform_reasoning": "analyze",
    "WebSearch": "web_search",
    "ParseWebsite": "parse_website",
    "TranscribeSpeech": "transcribe_speech",
    "GroundEvent": "ground_event",
    "ExtractVideoParts": "extract_video_parts",
    "Analyze": "analyze",
    "_extract_visual_and_verbal_details": "visual_verbal",
    "_transcribe_topic_related_speech": "topic_speech",
    "_reason_over_visual_details": "visual_detail",
    "_aggregate_evidence_for_multiple_choice": "mcq_evidence",
    "_identify_and_describe_event": "event_detail",
    "VisualVerbal": "visual_verbal",
    "TopicSpeech": "topic_speech",
    "VisualDetail": "visual_detail",
    "McqEvidence": "mcq_evidence",
    "EventDetail": "event_detail",
})
"""Our name by another one."""


def canonical_name(name: str, known: Collection[str]) -> str:
    """Return the name under which `known` tools have the one that `name` means.

    A tool that is itself called `name` comes first; a name that nobody knows is returned as it is.
    """
    if name in known:
        return name
    meant = ALIASES.get(name.strip())
    return meant if meant is not None and meant in known else name
