"""A run folder of AgentVidBench with one question, as its own code writes it: literal records."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

QUESTION: dict[str, Any] = {
    "question_id": 9001,
    "title": "Lemon slices before 0:45",
    "video_path": "videos/video901.mp4",
    "transcript_path": "transcripts/video901.srt",
    "question_text": "In the kitchen clip, how many slices does the cook cut from the yellow lemon "
    "before the on-screen timer first reads 0:45? Do not count slices cut from the "
    "green lime.",
    "options": [
        {"letter": "A", "text": "0"},
        {"letter": "B", "text": "1"},
        {"letter": "C", "text": "2"},
        {"letter": "D", "text": "3"},
        {"letter": "E", "text": "4"},
        {"letter": "F", "text": "5"},
        {"letter": "G", "text": "6"},
        {"letter": "H", "text": "7"},
        {"letter": "I", "text": "8"},
        {"letter": "J", "text": "9"},
        {"letter": "K", "text": "10"},
        {"letter": "L", "text": "11"},
        {"letter": "M", "text": "12"},
        {"letter": "N", "text": "13"},
        {"letter": "O", "text": "14"},
        {"letter": "P", "text": "15"},
        {"letter": "Q", "text": "16"},
        {"letter": "R", "text": "17"},
        {"letter": "S", "text": "18"},
        {"letter": "T", "text": "19"},
        {"letter": "U", "text": "20"},
        {"letter": "V", "text": "21"},
        {"letter": "W", "text": "22"},
        {"letter": "X", "text": "23"},
        {"letter": "Y", "text": "24"},
        {"letter": "Z", "text": "25+"},
    ],
    "options_type": "numeric",
    "answer": "F",
    "answer_explanation": "The timer shows 0:45 at about 62 s. Up to then the knife separates five "
    "lemon slices; the two slices at 40-44 s come from the lime and are "
    "excluded.",
    "milestones": [
        {
            "id": "M1",
            "type": "temporal_localization",
            "description": "Locate the moment when the on-screen timer first reads 0:45.",
        },
        {
            "id": "M2",
            "type": "visual_recognition",
            "description": "Tell the yellow lemon apart from the green lime on the board.",
        },
        {
            "id": "M3",
            "type": "counting",
            "description": "Count the lemon slices cut before the cutoff; the count is 5.",
        },
        {
            "id": "M4",
            "type": "exclusion_check",
            "description": "Confirm that slices cut from the lime are left out of the count.",
        },
    ],
    "ecom_required": True,
    "categories": ["counting", "temporal", "ocr_text"],
    "skills": [
        "conditional_counting",
        "event_localization",
        "numeric_value_extraction",
        "attribute_state_recognition",
    ],
    "difficulty": "hard",
    "trajectory": {
        "steps": [
            {
                "tool": "scan",
                "args": {"fps": 1},
                "thought": "Find the timer.",
                "observation": "Timer overlay top right, 0:45 near 62 s.",
            },
            {
                "tool": "recount",
                "args": {"start": 0, "end": 62, "fps": 5},
                "thought": "Count lemon cuts only.",
                "observation": "5 lemon slices, 2 lime slices.",
            },
        ],
        "final_answer": "F",
    },
}
FILM: dict[str, Any] = {
    "file_name": "videos/video901.mp4",
    "title": "Two citrus garnishes",
    "duration": "1:35",
    "genre": "Cooking/Food",
    "length_category": "short",
    "license": "CC BY 4.0",
    "source": "Self Recorded",
    "author": "Example Kitchen",
    "url": "",
}
NORMALIZED: dict[str, Any] = {
    "schema_version": "1.1",
    "question_id": 9001,
    "method": "ours",
    "model": "gemini-2.5-pro",
    "question_text": "In the kitchen clip, how many slices does the cook cut from the yellow lemon "
    "before the on-screen timer first reads 0:45? Do not count slices cut from the "
    "green lime.",
    "elapsed_seconds": 31.882,
    "tokens": {
        "prompt_tokens": 47120,
        "candidates_tokens": 655,
        "thoughts_tokens": 2210,
        "tool_use_tokens": 0,
        "cached_tokens": 0,
        "total_tokens": 49985,
        "calls": 4,
        "retries": 0,
        "retry_wait_seconds": 0.0,
    },
    "metrics": {
        "n_steps": 8,
        "n_tool_calls": 2,
        "n_observe": 0,
        "n_plans": 0,
        "n_reflects": 0,
        "n_rounds": 2,
        "n_replans": 0,
        "total_observation_chars": 591,
    },
    "steps": [
        {
            "step_id": 1,
            "phase": "thinking",
            "method_native_type": "thinking",
            "data": {
                "text": "[PRE-ACTION] PLAN: read the transcript for cues. REASONING: speech "
                "may mark the switch from lemon to lime."
            },
        },
        {
            "step_id": 2,
            "phase": "tool_call",
            "method_native_type": "tool_call",
            "data": {"tool": "get_transcript", "arguments": {}},
        },
        {
            "step_id": 3,
            "phase": "tool_result",
            "method_native_type": "tool_result",
            "data": {
                "tool": "get_transcript",
                "success": True,
                "result_text": "{\n"
                '  "qid": 9001,\n'
                '  "window": {\n'
                '    "start_time": null,\n'
                '    "end_time": null\n'
                "  },\n"
                '  "segment_count": 2,\n'
                '  "segments": [\n'
                "    {\n"
                '      "start": 3.0,\n'
                '      "end": 5.5,\n'
                '      "text": "Let\'s start with the lemon."\n'
                "    },\n"
                "    {\n"
                '      "start": 39.2,\n'
                '      "end": 41.0,\n'
                '      "text": "Now a bit of lime."\n'
                "    }\n"
                "  ]\n"
                "}",
            },
            "elapsed_seconds": 0.002,
            "tokens": {
                "prompt_tokens": 0,
                "candidates_tokens": 0,
                "thoughts_tokens": 0,
                "tool_use_tokens": 0,
                "cached_tokens": 0,
                "total_tokens": 0,
                "calls": 0,
                "retries": 0,
                "retry_wait_seconds": 0.0,
            },
        },
        {
            "step_id": 4,
            "phase": "thinking",
            "method_native_type": "thinking",
            "data": {
                "text": "[PRE-ACTION] PLAN: count lemon cuts from 0 to 65 s. REASONING: the "
                "lime is announced at 39 s, so later cuts need care."
            },
        },
        {
            "step_id": 5,
            "phase": "tool_call",
            "method_native_type": "tool_call",
            "data": {
                "tool": "analyze_video",
                "arguments": {
                    "start_time": 0,
                    "end_time": 65,
                    "fps": 3,
                    "focus": "Count slices cut from the yellow lemon and note "
                    "when the timer first reads 0:45",
                    "resolution": "medium",
                },
            },
        },
        {
            "step_id": 6,
            "phase": "tool_result",
            "method_native_type": "tool_result",
            "data": {
                "tool": "analyze_video",
                "success": True,
                "result_text": "**Focus Answer:** 4 lemon slices are cut before the timer "
                "reads 0:45.\n"
                "\n"
                "**Observations:** At 62s the overlay first reads 0:45. "
                "Lemon cuts at 12s, 19s, 27s and 55s. Cuts at 40s and 43s "
                "are on a green fruit.\n"
                "\n"
                "**Coverage:** partial\n"
                "\n"
                "**Uncertainty:** A hand hides the board from 30s to 36s.",
                "fps": 3,
                "time_range": [0, 65],
                "tokens_used": 41230,
                "coverage": "partial",
                "suggested_answer": "4 lemon slices are cut before the timer reads 0:45.",
            },
            "elapsed_seconds": 18.417,
            "tokens": {
                "prompt_tokens": 39800,
                "candidates_tokens": 310,
                "thoughts_tokens": 1120,
                "tool_use_tokens": 0,
                "cached_tokens": 0,
                "total_tokens": 41230,
                "calls": 1,
                "retries": 0,
                "retry_wait_seconds": 0.0,
            },
        },
        {
            "step_id": 7,
            "phase": "thinking",
            "method_native_type": "thinking",
            "data": {
                "text": "[RESPONSE] PLAN: answer. REASONING: four lemon cuts were listed "
                "before 62 s.\n"
                "```json\n"
                '{"answer": "E", "reasoning": "4 lemon cuts before the timer reads '
                '0:45; lime cuts excluded"}\n'
                "```"
            },
        },
        {
            "step_id": 8,
            "phase": "answer",
            "method_native_type": "answer",
            "data": {
                "letter": "E",
                "reasoning": "4 lemon cuts before the timer reads 0:45; lime cuts excluded",
            },
        },
    ],
}
PROGRESS: dict[str, Any] = {
    "question_id": 9001,
    "video_path": "videos/video901.mp4",
    "gcs_uri": "gs://example-bucket/agentvidbench/videos/video901.mp4",
    "elapsed_seconds": 31.9,
    "tokens": {
        "prompt_tokens": 47120,
        "candidates_tokens": 655,
        "thoughts_tokens": 2210,
        "tool_use_tokens": 0,
        "cached_tokens": 0,
        "total_tokens": 49985,
        "calls": 4,
        "retries": 0,
        "retry_wait_seconds": 0.0,
    },
}
SINGLE_TURN_PROGRESS: dict[str, Any] = {
    "question_id": 9001,
    "video_path": "videos/video901.mp4",
    "elapsed_seconds": 22.4,
    "fps_used": 1,
    "frames_sampled": 50,
    "max_frames_cap": 50,
    "video_duration": 95.0,
    "effective_fps": 0.5263,
    "response_text": "The overlay reads 0:45 near the one-minute mark; I see five lemon slices by "
    "then.\n"
    "FINAL ANSWER: F",
    "tokens": {
        "prompt_tokens": 5210,
        "candidates_tokens": 190,
        "total_tokens": 5400,
        "calls": 1,
        "frames_sampled": 50,
        "cached_tokens": 0,
    },
}
INFERENCE_SUMMARY: dict[str, Any] = {
    "experiment": "ours",
    "model": "gemini-2.5-pro",
    "tag": "run1",
    "total": 1,
    "errored": 0,
    "total_wall_time": 33.0,
    "results": [
        {
            "question_id": 9001,
            "video_path": "videos/video901.mp4",
            "gcs_uri": "gs://example-bucket/agentvidbench/videos/video901.mp4",
            "elapsed_seconds": 31.9,
            "tokens": {
                "prompt_tokens": 47120,
                "candidates_tokens": 655,
                "thoughts_tokens": 2210,
                "tool_use_tokens": 0,
                "cached_tokens": 0,
                "total_tokens": 49985,
                "calls": 4,
                "retries": 0,
                "retry_wait_seconds": 0.0,
            },
        }
    ],
}
JUDGE_REPLY: dict[str, Any] = {
    "process_scores": {
        "task_understanding": 2,
        "gt_evidence_coverage": 1,
        "evidence_grounding": 0,
        "evidence_completeness": 1,
        "reasoning_faithfulness": 2,
    },
    "axis_rationales": {
        "P1": "Cutoff and lime exclusion are both stated.",
        "P2": "M1, M2 acquired; M3 wrong; M4 only in part.",
        "P3": "Claims 4 slices where the milestone says 5.",
        "P4": "SWEEP=YES - the hidden 30-36 s stretch was never re-inspected.",
        "P5": "The answer follows from the claimed count.",
    },
    "milestone_coverage": [
        {
            "milestone_id": "M1",
            "status": "covered",
            "evidence_in_prediction": "overlay first reads 0:45 at 62s",
        },
        {
            "milestone_id": "M2",
            "status": "covered",
            "evidence_in_prediction": "cuts at 40s and 43s are on a green fruit",
        },
        {"milestone_id": "M3", "status": "incorrect", "evidence_in_prediction": "4 lemon slices"},
        {
            "milestone_id": "M4",
            "status": "partial",
            "evidence_in_prediction": "lime cuts noted but not re-checked",
        },
    ],
    "failure_tags": ["counting_error", "insufficient_full_video_scan"],
    "summary": "Right window and exclusion, but one lemon slice hidden by the hand was missed.",
}
JUDGE: dict[str, Any] = {
    "question_id": 9001,
    "framework": "ours",
    "judge_model": "claude-opus-4-7",
    "elapsed_s": 9.31,
    "accuracy": {"gold": "F", "pred": "E", "correct": False},
    "process": {
        "scores": {"P1": 2, "P2": 1, "P3": 0, "P4": 1, "P5": 2},
        "traj": 0.6,
        "mc_rate": 0.625,
        "rationales": {
            "P1": "Cutoff and lime exclusion are both stated.",
            "P2": "M1, M2 acquired; M3 wrong; M4 only in part.",
            "P3": "Claims 4 slices where the milestone says 5.",
            "P4": "SWEEP=YES - the hidden 30-36 s stretch was never re-inspected.",
            "P5": "The answer follows from the claimed count.",
        },
        "milestones": [
            {"id": "M1", "status": "covered", "evidence": "overlay first reads 0:45 at 62s"},
            {
                "id": "M2",
                "status": "covered",
                "evidence": "cuts at 40s and 43s are on a green fruit",
            },
            {"id": "M3", "status": "incorrect", "evidence": "4 lemon slices"},
            {"id": "M4", "status": "partial", "evidence": "lime cuts noted but not re-checked"},
        ],
        "failure_tags": ["counting_error", "insufficient_full_video_scan"],
        "summary": "Right window and exclusion, but one lemon slice hidden by the hand was missed.",
    },
}
LETTERS: dict[str, Any] = {
    "_meta": {
        "qid": 9001,
        "framework": "ours",
        "n_runs": 8,
        "model_used": "gemini-2.5-flash",
        "elapsed_seconds": 1.9,
    },
    "votes": ["E", "E", "E", "E", "E", "E", "E", None],
    "majority_letter": "E",
    "agreement": 1.0,
    "n_null": 1,
    "raw_output_excerpt": "...last 600 characters of the judge text...",
    "raw_output_hash": "0f3a5c7e9b1d2468",
}
RESULTS: dict[str, Any] = {
    "question_id": 9001,
    "framework": "ours",
    "model": "gemini-2.5-pro",
    "accuracy": {"gold": "F", "pred": "E", "correct": False},
    "process": {
        "scores": {"P1": 2, "P2": 1, "P3": 0, "P4": 1, "P5": 2},
        "traj": 0.6,
        "mc_rate": 0.625,
        "rationales": {
            "P1": "Cutoff and lime exclusion are both stated.",
            "P2": "M1, M2 acquired; M3 wrong; M4 only in part.",
            "P3": "Claims 4 slices where the milestone says 5.",
            "P4": "SWEEP=YES - the hidden 30-36 s stretch was never re-inspected.",
            "P5": "The answer follows from the claimed count.",
        },
        "milestones": [
            {"id": "M1", "status": "covered", "evidence": "overlay first reads 0:45 at 62s"},
            {
                "id": "M2",
                "status": "covered",
                "evidence": "cuts at 40s and 43s are on a green fruit",
            },
            {"id": "M3", "status": "incorrect", "evidence": "4 lemon slices"},
            {"id": "M4", "status": "partial", "evidence": "lime cuts noted but not re-checked"},
        ],
        "failure_tags": ["counting_error", "insufficient_full_video_scan"],
        "summary": "Right window and exclusion, but one lemon slice hidden by the hand was missed.",
    },
    "judge_model": "claude-opus-4-7",
    "letter_extraction": {"majority": "E", "agreement": 1.0, "n_null": 1},
    "elapsed_s": 11.24,
}
SUMMARY: dict[str, Any] = {
    "experiment": "ours",
    "model": "gemini-2.5-pro",
    "tag": "run1",
    "n": 1,
    "n_correct": 0,
    "accuracy": 0.0,
    "process_means": {"P1": 2, "P2": 1, "P3": 0, "P4": 1, "P5": 2, "traj": 0.6, "mc_rate": 0.625},
    "by_difficulty": {
        "hard": {
            "n": 1,
            "n_correct": 0,
            "accuracy": 0.0,
            "process_means": {
                "P1": 2,
                "P2": 1,
                "P3": 0,
                "P4": 1,
                "P5": 2,
                "traj": 0.6,
                "mc_rate": 0.625,
            },
        }
    },
    "by_category": {
        "counting": {
            "n": 1,
            "n_correct": 0,
            "accuracy": 0.0,
            "process_means": {
                "P1": 2,
                "P2": 1,
                "P3": 0,
                "P4": 1,
                "P5": 2,
                "traj": 0.6,
                "mc_rate": 0.625,
            },
        }
    },
    "by_skill": {
        "conditional_counting": {
            "n": 1,
            "n_correct": 0,
            "accuracy": 0.0,
            "process_means": {
                "P1": 2,
                "P2": 1,
                "P3": 0,
                "P4": 1,
                "P5": 2,
                "traj": 0.6,
                "mc_rate": 0.625,
            },
        }
    },
}
ANCHORED_REPLY: dict[str, Any] = {
    "process_scores": {
        "task_understanding": 2,
        "gt_evidence_coverage": 2,
        "evidence_grounding": 2,
        "evidence_completeness": None,
        "reasoning_faithfulness": 1,
    },
    "axis_rationales": {
        "P1": "ok",
        "P2": "all covered",
        "P3": "values match",
        "P4": "ANCHORED - not applicable",
        "P5": "one small leap",
    },
    "milestone_coverage": [
        {"milestone_id": "M1", "status": "covered", "evidence_in_prediction": "x"},
        {"milestone_id": "M2", "status": "covered", "evidence_in_prediction": "y"},
        {"milestone_id": "M3", "status": "partial", "evidence_in_prediction": "z"},
    ],
    "failure_tags": [],
    "summary": "Anchored question, sound run.",
}

SINGLE_TURN_TEXT = str(SINGLE_TURN_PROGRESS["response_text"])


def write_json(path: Path, record: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), "utf-8")
    return path


def write_text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def changed(record: Mapping[str, Any], *, number: int, **fields: Any) -> dict[str, Any]:
    """Return a copy of a record about another question, with other fields."""
    found = copy.deepcopy(dict(record))
    if "_meta" in found:
        found["_meta"]["qid"] = number
    else:
        found["question_id"] = number
    return {**found, **fields}


def write_dataset(folder: Path, *numbers: int) -> Path:
    """Write the data set's folder with the question once for each number; there are no videos."""
    lines = [json.dumps(changed(QUESTION, number=number)) for number in numbers or (9001,)]
    write_text(folder / "questions.jsonl", "\n".join(lines) + "\n")
    write_text(folder / "videos.jsonl", json.dumps(FILM) + "\n")
    return folder


def write_run(
    folder: Path,
    *,
    tag: str = "run1",
    model: str = "gemini-2.5-pro",
    method: str = "ours",
    numbers: tuple[int, ...] = (9001,),
    with_evaluation: bool = True,
    total: int | None = None,
) -> Path:
    """Write a run of the agent with steps; the canonical text is written here by hand."""
    root = folder / f"{method}_{model.replace('/', '_')}_{tag}"
    results = []
    for number in numbers:
        progress = changed(PROGRESS, number=number)
        results.append(progress)
        steps = changed(NORMALIZED, number=number, method=method, model=model)
        write_json(root / f"inference/progress/question{number}.json", progress)
        write_json(root / f"inference/outputs/question{number}.normalized.json", steps)
        write_text(root / f"inference/trajectories/question{number}.txt", canonical(steps))
        if with_evaluation:
            for kind, record in (("judge", JUDGE), ("results", RESULTS), ("letters", LETTERS)):
                content = changed(record, number=number)
                write_json(root / f"evaluation/{kind}/question{number}.json", content)
    write_json(
        root / "inference/summary.json",
        {
            "experiment": method,
            "model": model,
            "tag": tag,
            "total": len(numbers) if total is None else total,
            "errored": 0,
            "total_wall_time": 33.0,
            "results": results,
        },
    )
    return root


def canonical(steps: Mapping[str, Any]) -> str:
    """Return the text that the reference hands to its judge."""
    metrics = steps["metrics"]
    head = (
        f"=== {steps['method']} trajectory (model={steps['model']}, qid={steps['question_id']}) ===\n"
        f"\nQuestion: {steps['question_text']}\n\n"
        f"Metrics: n_steps={metrics['n_steps']} n_tool_calls={metrics['n_tool_calls']} "
        f"n_observe={metrics['n_observe']} n_rounds={metrics['n_rounds']}\n\n"
    )
    body = "".join(
        f"[Step {place}]\n{json.dumps(step, indent=2, ensure_ascii=False)}\n"
        for place, step in enumerate(steps["steps"], start=1)
    )
    return head + body
