"""A GGUF model that writes: streams text, stops when told, keeps to a schema, remembers its last prompt."""

from __future__ import annotations

import codecs
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

import psutil

from mindscape_models.bundle import Bundle
from mindscape_models.chat import Template
from mindscape_models.errors import GenerationError
from mindscape_models.native import LARGE_STEP, Context, Control, Grammar, Model

_LARGEST_CONTEXT: Final = 8192
_SMALLEST_CONTEXT: Final = 512
SMALL_STEP: Final = 32
"""Prompt tokens given to the library at once when others must not wait long; nearly as quick for all."""
_KV_SHARE: Final = 0.25
"""Share of the memory now available that a context may take."""
_MEASURED: Final = 64
"""Calls that evaluated at least this many prompt tokens say something about speed."""
_TRIAL: Final = 128
_TRIAL_WRITTEN: Final = 8


@dataclass(frozen=True, slots=True)
class Usage:
    """What one call cost. `evaluated` is what of the prompt was not already known from the call before.

    The seconds are those of the wall, with what a held call waited within its prompt.
    """

    prompt: int = 0
    evaluated: int = 0
    generated: int = 0
    prompt_seconds: float = 0.0
    generation_seconds: float = 0.0
    finish: Literal["running", "stop", "length", "cancelled"] = "running"


@dataclass(frozen=True, slots=True)
class Speed:
    """Tokens a second on this machine."""

    prompt: float
    generation: float


class Generator:
    """One loaded model. Belongs to the thread that opened it; any other thread gets GenerationError."""

    def __init__(self, model: Model, context: int, threads: int, name: str, step: int = LARGE_STEP) -> None:
        self.name = name
        self.context = context
        self.usage = Usage()
        self._model = model
        self._owner = threading.get_ident()
        self._template = Template(model)
        self._native = Context(model, context, threads, step)
        self._known: list[int] = []
        self._turn = 0
        self._closed = False
        self._speed: Speed | None = None

    @property
    def device(self) -> str:
        """Where the layers really are: `cpu`, `gpu`, or `gpu 12/30`."""
        on_gpu, layers = self._model.layers_on_gpu, self._model.layers
        if not on_gpu:
            return "cpu"
        return "gpu" if on_gpu == layers else f"gpu {on_gpu}/{layers}"

    def is_of(self, source: Bundle | Path) -> bool:
        """Whether this is the model whose file is there now."""
        return self._model.is_of(_weights(source))

    def share(self) -> Model:
        """The loaded weights, for another generator; may be called from any thread."""
        return self._model.share()

    def count_tokens(self, text: str) -> int:
        """How many tokens the text is."""
        self._check_owner()
        return len(self._model.tokenize(text, control=False))

    def count_messages(self, messages: Sequence[Mapping[str, str]]) -> int:
        """How many tokens the whole prompt is, with what the chat template adds."""
        self._check_owner()
        return len(self._template.tokens(messages))

    def generate(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
        control: Control | None = None,
    ) -> Iterator[str]:
        """Stream the answer in pieces of whole characters; always the likeliest token, so repeatable.

        With `schema` the text is JSON that obeys it, unless it ends at `max_tokens`. Through
        `control` any thread may end the stream, also during the prompt, or hold it between two steps.
        `usage.finish` says how it ended.
        Raises GenerationError, before the first piece, when the prompt does not fit the context.
        """
        self._check_owner()
        prompt = self._template.tokens(messages)
        if len(prompt) >= self.context:
            raise GenerationError(
                f"The prompt is {len(prompt)} tokens long, and {self.name} has a context of"
                f" {self.context}; give it fewer or shorter passages."
            )
        grammar = self._model.grammar(schema) if schema is not None else None
        self._turn += 1
        return self._stream(self._turn, prompt, max_tokens, grammar, control)

    def generate_json(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        schema: Mapping[str, Any],
        control: Control | None = None,
    ) -> Any:
        """The parsed document. Raises GenerationError when it was cut off before its end."""
        text = "".join(self.generate(messages, max_tokens, schema, control))
        try:
            # Grammars allow raw line ends inside strings; strict JSON does not.
            return json.loads(text, strict=False)
        except ValueError as error:
            raise GenerationError(
                f"{self.name} stopped ({self.usage.finish}) after {self.usage.generated} tokens,"
                " before its JSON was complete."
            ) from error

    def speed(self) -> Speed:
        """Tokens a second on this machine: of the last long call, else of a short trial run now."""
        self._check_owner()
        if self._speed is None:
            self._turn += 1
            self._speed = self._measure()
        return self._speed

    def _measure(self) -> Speed:
        text = "The river rose and the old mill stood empty. " * 16
        tokens = self._model.tokenize(text, control=False)[:_TRIAL]
        self._known = self._known[: self._native.keep(0)]
        began = time.perf_counter()
        self._read(tokens, None)
        prompt = time.perf_counter()
        for token in tokens[:_TRIAL_WRITTEN]:
            self._read([token], None)
        written = time.perf_counter()
        return Speed(len(tokens) / (prompt - began), _TRIAL_WRITTEN / (written - prompt))

    def close(self) -> None:
        """Free the model's memory. A second call does nothing."""
        if self._closed:
            return
        self._check_owner()
        self._closed = True
        self._native.close()
        self._model.close()

    def __enter__(self) -> Generator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stream(
        self,
        turn: int,
        prompt: list[int],
        max_tokens: int,
        grammar: Grammar | None,
        control: Control | None,
    ) -> Iterator[str]:
        self._check_turn(turn)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        try:
            if not self._read_prompt(prompt, control):
                return
            for token in self._tokens(turn, max_tokens, grammar, control):
                if piece := decoder.decode(self._model.piece(token)):
                    yield piece
            if self.usage.finish != "cancelled" and (rest := decoder.decode(b"", final=True)):
                yield rest
        finally:
            if grammar is not None:
                grammar.close()
            self._note_speed()

    def _read_prompt(self, prompt: list[int], control: Control | None) -> bool:
        """Bring the context to the prompt, evaluating only what the call before did not; False: cancelled."""
        shared = _common_prefix(self._known, prompt)
        # The last token is always evaluated: its scores choose the first token of the answer.
        shared = self._native.keep(min(shared, len(prompt) - 1))
        self._known = prompt[:shared]
        self.usage = Usage(prompt=len(prompt), evaluated=len(prompt) - shared)
        began = time.perf_counter()
        finished = self._read(prompt[shared:], control)
        seconds = time.perf_counter() - began
        self.usage = replace(self.usage, prompt_seconds=seconds, evaluated=len(self._known) - shared)
        if not finished:
            self.usage = replace(self.usage, finish="cancelled")
        return finished

    def _tokens(
        self, turn: int, max_tokens: int, grammar: Grammar | None, control: Control | None
    ) -> Iterator[int]:
        """The answer, token by token; says in `usage.finish` why it ended."""
        for count in range(1, max_tokens + 1):
            self._check_turn(turn)
            if control is not None and not control.may_go_on():
                self.usage = replace(self.usage, finish="cancelled")
                return
            began = time.perf_counter()
            token = self._choose(grammar)
            if token is None or self._model.ends(token):
                self.usage = replace(self.usage, finish="stop")
                return
            seconds = self.usage.generation_seconds + time.perf_counter() - began
            self.usage = replace(self.usage, generated=count, generation_seconds=seconds)
            yield token
            self._check_turn(turn)
            if count == max_tokens or len(self._known) >= self.context:
                break
            began = time.perf_counter()
            self._read([token], None)
            seconds = self.usage.generation_seconds + time.perf_counter() - began
            self.usage = replace(self.usage, generation_seconds=seconds)
        self.usage = replace(self.usage, finish="length")

    def _choose(self, grammar: Grammar | None) -> int | None:
        scores = self._native.logits()
        token = int(scores.argmax())
        if not scores[token] > float("-inf"):
            raise GenerationError(f"{self.name} computed no usable scores; its file may be damaged.")
        return token if grammar is None else grammar.choose(scores)

    def _read(self, tokens: Sequence[int], control: Control | None) -> bool:
        known = len(self._known)
        position = 0

        def arrived(count: int) -> None:
            nonlocal position
            self._known.extend(tokens[position : position + count])
            position += count

        finished = False
        try:
            finished = self._native.read(tokens, control, arrived)
        finally:
            if not finished:
                # A stopped batch may have left some of its tokens behind.
                kept = self._native.keep(known + position)
                del self._known[kept:]
        return finished

    def _note_speed(self) -> None:
        used = self.usage
        if used.evaluated >= _MEASURED and used.generated >= _TRIAL_WRITTEN:
            self._speed = Speed(
                used.evaluated / max(used.prompt_seconds, 1e-6),
                used.generated / max(used.generation_seconds, 1e-6),
            )

    def _check_owner(self) -> None:
        if threading.get_ident() != self._owner:
            raise GenerationError(
                f"{self.name} was called from a thread that did not open it; native models have one owner."
            )
        if self._closed:
            raise GenerationError(f"{self.name} is closed.")

    def _check_turn(self, turn: int) -> None:
        self._check_owner()
        if turn != self._turn:
            raise GenerationError(f"This stream of {self.name} ended: a newer call took the model.")


def open_generator(
    source: Bundle | Path,
    context: int | None = None,
    threads: int | None = None,
    step: int = LARGE_STEP,
    beside: Generator | None = None,
) -> Generator:
    """Load a bundle, or a GGUF file. Raises GenerationError with a sentence when that is impossible.

    `context` defaults to the model's own, at most 8192 tokens and a quarter of the available memory. The
    prompt is read `step` tokens at a time. The weights are those of `beside` where it is the same model; it
    may belong to another thread, but must not be closed meanwhile.
    """
    path = _weights(source)
    name = path.stem if isinstance(source, Path) else source.name
    model = beside.share() if beside is not None and beside.is_of(source) else Model(path)
    try:
        size = min(context or _LARGEST_CONTEXT, model.trained_context, _affordable_context(model))
        return Generator(model, size, threads or default_threads(), name, step)
    except BaseException:
        model.close()
        raise


def _weights(source: Bundle | Path) -> Path:
    return source if isinstance(source, Path) else source.first(".gguf")


def default_threads() -> int:
    """Cores this process may use; hyper-threads do not help matrix products."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, psutil.cpu_count(logical=False) or allowed))


def _affordable_context(model: Model) -> int:
    affordable = int(psutil.virtual_memory().available * _KV_SHARE) // max(model.kv_bytes_per_token, 1)
    return max(_SMALLEST_CONTEXT, affordable // 256 * 256)


def _common_prefix(known: Sequence[int], prompt: Sequence[int]) -> int:
    for index, (a, b) in enumerate(zip(known, prompt, strict=False)):
        if a != b:
            return index
    return min(len(known), len(prompt))
