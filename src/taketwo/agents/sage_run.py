"""One question worked on by SAGE: a first look that answers or escalates, then a reasoner in steps.

Every request is made afresh from templates, the question and what is kept; no list of messages lives
longer than the stage or step that it belongs to, so that no prompt can leak from one role or step
into another.
"""

from __future__ import annotations

from dataclasses import replace

from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
)
from pydantic import BaseModel, Field

from taketwo.agents.answer import Answer, parse_answer
from taketwo.agents.conversation import Conversation, Turn
from taketwo.agents.prompt_text import answer_form, filled
from taketwo.agents.sage_history import History
from taketwo.agents.sage_options import SageOptions
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.sampling import times_by_count
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.catalog import tool_guidance
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.sent_media import image_content
from taketwo.tools.structured import read_in_form
from taketwo.tools.toolbox import Toolbox
from taketwo.tools.video_tool import max_side_of

__all__ = ["FIRST_LOOK", "SageRun"]

FIRST_LOOK = "first look: "
"""How the note begins that stands in the log after the last turn of the first look."""

_NO_CONTEXT = "(none was given)"
_MAX_CONTEXT = 8000


class _Note(BaseModel):
    """The note of the first look."""

    video_context: str = Field(min_length=1)
    query_intent: str = ""


class _Verdict(BaseModel):
    verdict: bool


class _Answerable(BaseModel):
    """Whether a reply says that the question can be answered, in the wording of the published form."""

    answerable: bool | _Verdict

    @property
    def is_so(self) -> bool:
        said = self.answerable
        return said.verdict if isinstance(said, _Verdict) else said


class SageRun:
    """One question being worked on."""

    def __init__(self, options: SageOptions, question: VisibleQuestion, toolbox: Toolbox) -> None:
        self._options = options
        self._question = question
        self._toolbox = toolbox
        working = toolbox.working_tools()
        self._names = tuple(tool.name for tool in working)
        self._guidance = tool_guidance(working)
        self._history = History(options.history_results)
        self._context = ""
        self._said = ""

    async def answer(self) -> Answer:
        """Return the answer, an abstention, or why there is none."""
        try:
            return await self._first_look() or await self._steps()
        except BudgetExhausted as error:
            return Answer(status="limit", text=self._said, limit=error.resource)

    async def _first_look(self) -> Answer | None:
        """Answer from frames over the whole video, or keep a note on it and make the first calls."""
        request = await self._first_request()
        outcome = await self._stage(request, step=0)
        if isinstance(outcome, Turn) and not self._context:
            await self._ask_for_note(request)
        ended = "escalated" if isinstance(outcome, Turn) else outcome.status
        self._toolbox.note(f"{FIRST_LOOK}{ended}")
        if isinstance(outcome, Answer):
            return outcome
        await self._run(outcome, step=0)
        return None

    async def _steps(self) -> Answer:
        """Work through the steps of the reasoner until it answers or something is used up."""
        step = 0
        while True:
            step += 1
            outcome = await self._stage(self._step_request(step), step=step)
            if isinstance(outcome, Answer):
                return outcome
            await self._run(outcome, step=step)

    async def _run(self, turn: Turn, *, step: int) -> None:
        most = self._options.calls_per_turn
        await self._history.run(turn, self._toolbox, step=step, most=most)

    async def _stage(self, request: list[ChatMessage], *, step: int) -> Turn | Answer:
        """Ask until a reply calls tools or answers; return that turn or that answer."""
        conversation = Conversation(self._toolbox, request, form=self._options.call_form)
        asked, was_open = 0, False
        while True:
            spent = self._spent()
            if spent is not None:
                return await self._last_turn(conversation, spent)
            turn = await conversation.turn(tools=self._names)
            self._said = conversation.said
            self._context = self._context or _note_in(turn.text)
            if turn.calls:
                return turn
            answer = self._read(turn)
            # Null in the first look, or "not answerable" beside anything, is asked about once.
            is_open = answer.status == "abstained" and (step == 0 or not _is_settled(turn.text))
            is_to_ask = answer.status == "unparsed" or (is_open and not was_open and self._names)
            if not is_to_ask or asked >= self._options.asks:
                return answer
            asked += 1
            was_open = was_open or is_open
            if turn.malformed is not None:
                await conversation.run(turn)
            else:
                name = "sage_ask_unsettled" if is_open else "sage_ask_again"
                conversation.tell(filled(name, answer_form=answer_form(self._question)))

    def _read(self, turn: Turn) -> Answer:
        """Return the answer of a reply; what tried to call a tool, or says it cannot tell, gives none."""
        if turn.malformed is not None:
            return Answer(status="unparsed", text=turn.text)
        answer = parse_answer(turn.text, self._question)
        if answer.status == "answered" and not _is_settled(turn.text):
            return Answer(status="abstained", text=turn.text, reasoning=answer.reasoning)
        return answer

    def _spent(self) -> str | None:
        """Return what is used up, so that this turn must be the last one."""
        budget = self._toolbox.budget
        for resource in ("turns", "model_calls"):
            if budget.left(resource) == 1:
                return resource
        for resource in ("visible_calls", "primitive_ops"):
            if budget.left(resource) == 0:
                return resource
        return None

    async def _last_turn(self, conversation: Conversation, spent: str) -> Answer:
        """Ask for the best answer without tools; the question has no later turn."""
        form = answer_form(self._question)
        conversation.tell(
            filled("sage_last_turn", resource=spent.replace("_", " "), answer_form=form)
        )
        self._toolbox.note(f"last turn: the budget of {spent} is used up")
        asked = 0
        while True:
            turn = await conversation.turn(tools=self._names, tool_choice="none")
            self._said = conversation.said
            answer = parse_answer(turn.text, self._question)
            budget = self._toolbox.budget
            is_last = 0 in (budget.left("turns"), budget.left("model_calls"))
            is_last = is_last or asked >= self._options.asks
            # A call, made although none can be, would need a result before anything else is said.
            if answer.status != "unparsed" or is_last or turn.output.message.tool_calls:
                break
            asked += 1
            conversation.tell(filled("sage_ask_answer", answer_form=form))
        if answer.status == "unparsed" and turn.wants_tools:
            # The model insisted on a call: nothing of it is an answer.
            return Answer(status="limit", text=self._said, limit=spent, forced=True)
        return replace(answer, forced=True, limit=spent)

    async def _ask_for_note(self, request: list[ChatMessage]) -> None:
        """Ask once for the note that a reply with calls left out, and go on without it otherwise."""
        if self._spent() is None:
            conversation = Conversation(self._toolbox, request, form=self._options.call_form)
            conversation.tell(filled("sage_ask_context"))
            turn = await conversation.turn(tools=self._names, tool_choice="none")
            self._context = _note_in(turn.text)
        if not self._context:
            self._toolbox.note("no note on the video was given")

    async def _first_request(self) -> list[ChatMessage]:
        toolbox = self._toolbox
        wanted = min(self._options.context_frames, max(2, int(toolbox.video.duration_s)))
        left = toolbox.budget.left("frames")
        count = wanted if left is None else min(wanted, int(left))
        if count < 1:
            raise BudgetExhausted("frames", toolbox.budget.used("frames"), 0)
        if count < wanted:
            toolbox.note(f"{count} frames instead of {wanted}: the budget of frames")
        frames = await toolbox.primitives.extract_video_parts(
            times_by_count(0.0, toolbox.video.duration_s, count),
            max_side=max_side_of(self._options.resolution),
        )
        content: list[Content] = []
        for frame in frames:
            content.extend(image_content(frame.time_s, frame.jpeg))
        text = filled(
            "sage_context_question",
            frames=f"{len(frames)} frames",
            question=question_block(self._question),
            facts=self._facts(),
        )
        return self._request("sage_context_system", [*content, ContentText(text=text)])

    def _step_request(self, step: int) -> list[ChatMessage]:
        left = self._toolbox.budget.left("frames")
        most = self._options.media_frames
        pictures = self._history.pictures(most if left is None else min(most, int(left)))
        text = filled(
            "sage_reasoner_step",
            question=question_block(self._question),
            facts=self._facts(),
            context=fence("video_context", self._context[:_MAX_CONTEXT] or _NO_CONTEXT),
            results=self._history.to_text(),
            step=str(step),
            steps=str(self._options.max_steps),
        )
        content: list[Content] = [ContentText(text=text)]
        if pictures:
            content += [ContentText(text="The newest frames among the results:"), *pictures]
        return self._request("sage_reasoner_system", content)

    def _request(self, system: str, content: list[Content]) -> list[ChatMessage]:
        return [
            ChatMessageSystem(
                content=filled(
                    system, tools=self._guidance, answer_form=answer_form(self._question)
                )
            ),
            ChatMessageUser(content=content),
        ]

    def _facts(self) -> str:
        """Return what is known of the video without looking; neither its name nor its hash."""
        video = self._toolbox.video
        has_sound = self._toolbox.context().has_audio
        return "\n".join([
            video_length_line(video.duration_s),
            f"Picture: {video.width} x {video.height} pixels",
            f"Sound: {'yes' if has_sound else 'none'}",
        ])


def _note_in(text: str) -> str:
    """Return the note on the video in a reply, or nothing."""
    note, _ = read_in_form(text, _Note)
    return "" if note is None else note.video_context.strip()


def _is_settled(text: str) -> bool:
    """Return whether a reply does not say that the question cannot be answered yet; `"false"` says so."""
    found, _ = read_in_form(text, _Answerable)
    return found is None or found.is_so
