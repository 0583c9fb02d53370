"""Messages to tokens: the model's own template, with the contents kept inert."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from jinja2 import TemplateError

from mindscape_models.errors import GenerationError

log = logging.getLogger(__name__)

_ROLES = ("system", "user", "assistant")
_TEMPLATE_FAILURES = (TemplateError, ValueError, TypeError, LookupError, AttributeError)


Message = Mapping[str, str]
"""One turn of a conversation: `role` (system, user or assistant) and `content`."""


class Tokenizer(Protocol):
    """What this module needs of a model."""

    @property
    def chat_template(self) -> str: ...  # noqa: D102
    @property
    def begins_with_bos(self) -> bool: ...  # noqa: D102
    def special(self, which: str) -> int | None: ...  # noqa: D102
    def special_text(self, which: str) -> str: ...  # noqa: D102
    def tokenize(self, text: str, *, control: bool) -> list[int]: ...  # noqa: D102


class Template:
    """A model's chat template, or a plain one when it has none, or one that cannot be used."""

    def __init__(self, model: Tokenizer) -> None:
        self._model = model
        self._render = _compile(model)

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        """Token ids of the whole conversation, ready for the assistant's turn.

        The template sees placeholders instead of the contents. Its own text is tokenised with
        control tokens, the contents without, so a document that holds "<|im_end|>" ends nothing.
        """
        for message in messages:
            if message["role"] not in _ROLES:
                raise GenerationError(f"A message has the unknown role {message['role']!r}.")
        try:
            parts = self._parts(messages)
        except GenerationError as error:
            log.warning("%s Its turns are labelled with plain words instead.", error)
            self._render = _plain
            parts = self._parts(messages)
        tokens = [
            token for text, control in parts if text for token in self._model.tokenize(text, control=control)
        ]
        bos = self._model.special("bos")
        if self._model.begins_with_bos and bos is not None and tokens[:1] != [bos]:
            tokens.insert(0, bos)
        return tokens

    def _parts(self, messages: Sequence[Message]) -> list[tuple[str, bool]]:
        marks = [f"content{secrets.token_hex(8)}" for _ in messages]
        holders = [{"role": m["role"], "content": mark} for m, mark in zip(messages, marks, strict=True)]
        text = self._fill(holders)
        if any(mark not in text for mark in marks):
            text = self._fill(_without_system(holders))
        contents = {mark: m["content"].strip() for m, mark in zip(messages, marks, strict=True)}
        if missing := [i for i, mark in enumerate(marks) if mark not in text]:
            raise GenerationError(f"The model's chat template leaves out message {missing[0] + 1}.")
        return _move_spaces(_split(text, contents))

    def _fill(self, messages: Sequence[Message]) -> str:
        try:
            return self._render(messages)
        except _TEMPLATE_FAILURES as error:
            # Some templates refuse a system turn; the instructions then go into the first user turn.
            merged = _without_system(messages)
            if merged == messages:
                raise GenerationError(f"The model's chat template failed: {error}.") from error
            return self._fill(merged)


def _compile(model: Tokenizer) -> Any:
    if not model.chat_template:
        return _plain
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    try:
        formatter = Jinja2ChatFormatter(
            template=model.chat_template,
            eos_token=model.special_text("eos"),
            bos_token=model.special_text("bos"),
        )
    except TemplateError as error:
        log.warning(
            "The chat template cannot be read: %s. Turns are labelled with plain words instead.", error
        )
        return _plain

    def render(messages: Sequence[Message]) -> str:
        # Templates of models that think aloud leave the thinking out; the others ignore this.
        return str(formatter(messages=list(messages), enable_thinking=False).prompt)  # pyright: ignore[reportArgumentType]

    return render


def _plain(messages: Sequence[Message]) -> str:
    turns = [f"{m['role'].capitalize()}: {m['content']}\n\n" for m in messages]
    return "".join(turns) + "Assistant:"


def _without_system(messages: Sequence[Message]) -> Sequence[Message]:
    """The same turns with the system's text at the head of the first user turn."""
    system = [m["content"] for m in messages if m["role"] == "system"]
    rest = [m for m in messages if m["role"] != "system"]
    if not system or not rest:
        return messages
    head = {"role": rest[0]["role"], "content": "\n\n".join([*system, rest[0]["content"]])}
    return [head, *rest[1:]]


def _split(text: str, contents: dict[str, str]) -> list[tuple[str, bool]]:
    """(text, may hold control tokens) pieces: the template's own text true, contents false."""
    parts = [(text, True)]
    for mark, content in contents.items():
        divided: list[tuple[str, bool]] = []
        for piece, own in parts:
            if not own:
                divided.append((piece, own))
                continue
            head, *tails = piece.split(mark)
            divided.append((head, True))
            for tail in tails:
                divided += [(content, False), (tail, True)]
        parts = divided
    return parts


def _move_spaces(parts: list[tuple[str, bool]]) -> list[tuple[str, bool]]:
    """Blanks that a template puts before a content belong to the content's first word when tokenising."""
    moved: list[tuple[str, bool]] = []
    for text, own in parts:
        if not own and moved and moved[-1][1] and text:
            before = moved[-1][0]
            kept = before.rstrip(" ")
            moved[-1] = (kept, True)
            text = before[len(kept) :] + text
        moved.append((text, own))
    return moved
