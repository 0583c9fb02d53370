"""llama.cpp behind small objects: a model, a context, a grammar, a call's brakes, a log of why things fail.

A context belongs to one thread, which `generation.Generator` enforces. The model is only read, so that
several contexts, each in its own thread, may share it.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mindscape_models.errors import GenerationError

# GCC's OpenMP spins while it waits. With one other busy process that makes two-thread
# generation forty times slower, so the threads must sleep, and libgomp reads this only once.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

GGUF_MAGIC: Final = b"GGUF"
GGUF_VERSIONS: Final = (2, 3)
LARGE_STEP: Final = 512
"""Prompt tokens given to the library at once, for the best speed."""
_ABORTED: Final = 2
"""What llama_decode returns when the abort callback said stop."""
_PIECE: Final = 256
"""Bytes that hold the text of nearly every token."""
_CHECKED_FIRST: Final = (1, 64)
"""How many of the likeliest tokens are tried against a grammar before the whole vocabulary is."""


class _Log:
    """The library's last words: kept for error messages, never printed."""

    def __init__(self) -> None:
        self.lines: deque[str] = deque(maxlen=400)

    def write(self, _level: int, text: bytes | None, _data: object) -> None:
        self.lines.append((text or b"").decode("utf-8", "replace").rstrip("\n"))

    def reason(self) -> str:
        """The last line that names an error, or an empty string."""
        errors = [line for line in list(self.lines) if "error" in line or "failed" in line]
        return re.sub(r"^[\w:]+: ", "", errors[0]).strip() if errors else ""

    def offloaded(self) -> tuple[int, int]:
        """(layers on the GPU, layers in all) of the model loaded last."""
        found = [m for line in list(self.lines) if (m := re.search(r"offloaded (\d+)/(\d+) layers", line))]
        return (int(found[-1][1]), int(found[-1][2])) if found else (0, 0)


_log = _Log()


@cache
def library() -> ModuleType:
    """The bindings, loaded once and made silent. Raises GenerationError when they are not installed."""
    try:
        import llama_cpp
    except (ImportError, OSError, RuntimeError) as error:
        raise GenerationError(
            f"The library that runs GGUF models could not be loaded ({error}); run `make` again to build it."
        ) from error
    bindings = llama_cpp.llama_cpp
    callback = bindings.llama_log_callback(_log.write)
    bindings.llama_log_set(callback, ctypes.c_void_p(0))
    # The library keeps only a pointer: the callback must live as long as it does.
    library_callbacks.append(callback)
    bindings.llama_backend_init()
    return bindings


library_callbacks: list[object] = []


def check_header(path: Path) -> None:
    """Refuse what is plainly not a GGUF model, before native code reads it. Raises GenerationError."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError as error:
        raise GenerationError(f"The model {path} cannot be read: {error.strerror}.") from error
    if head[:4] != GGUF_MAGIC:
        raise GenerationError(f"{path} is not a GGUF model: it does not begin with 'GGUF'. Install it again.")
    version = int.from_bytes(head[4:8], "little")
    if version not in GGUF_VERSIONS:
        raise GenerationError(
            f"{path} is a GGUF file of version {version}, or damaged; versions 2 and 3 can be used."
        )
    tensors = int.from_bytes(head[8:16], "little")
    if len(head) < 24 or not 0 < tensors < 100_000:
        raise GenerationError(f"The model {path} is damaged: its header names {tensors} tensors.")


class Control:
    """What other threads may tell a running call: to stop for good, or to hold still and go on later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._held = self._stopped = False

    @property
    def stopped(self) -> bool:
        """Whether the call is to end."""
        return self._stopped

    def stop(self) -> None:
        """End the call, also one that is held. It cannot be taken back."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def hold(self) -> None:
        """From the next step on, the call computes nothing."""
        self._held = True

    def go_on(self) -> None:
        """Let a held call continue where it is."""
        with self._changed:
            self._held = False
            self._changed.notify_all()

    def may_go_on(self) -> bool:
        """Asked by the call before each step: waits while it is held; False when it was stopped."""
        if self._held:
            with self._changed:
                self._changed.wait_for(lambda: self.stopped or not self._held)
        return not self.stopped


class Model:
    """Weights and vocabulary of one GGUF file."""

    def __init__(self, path: Path) -> None:
        """Load the file. Raises GenerationError when it is damaged, of an unknown kind, or too large."""
        check_header(path)
        self._lib = library()
        self.path = path
        self._file = path.stat()
        self._handle = self._load(-1 if self._lib.llama_supports_gpu_offload() else 0)
        self.layers_on_gpu, self.layers = _log.offloaded()
        self._vocab = self._lib.llama_model_get_vocab(self._handle)
        self.vocabulary = int(self._lib.llama_vocab_n_tokens(self._vocab))
        self.trained_context = int(self._lib.llama_model_n_ctx_train(self._handle))
        self._owners = 1
        self._counting = threading.Lock()

    def is_of(self, path: Path) -> bool:
        """Whether the weights are those of the file that is there now."""
        try:
            file = path.stat()
        except OSError:
            return False
        return os.path.samestat(file, self._file) and file.st_mtime_ns == self._file.st_mtime_ns

    def share(self) -> Model:
        """The same weights for one more owner, in any thread; each owner must `close` them."""
        with self._counting:
            if not self._owners:
                raise GenerationError(f"{self.path.name} is closed.")
            self._owners += 1
        return self

    def _load(self, layers: int) -> Any:
        params = self._lib.llama_model_default_params()
        params.n_gpu_layers = layers
        _log.lines.clear()
        handle = self._lib.llama_model_load_from_file(os.fsencode(self.path), params)
        if handle:
            return handle
        if layers:
            # Not enough memory on the GPU is the usual reason; the CPU can still run it.
            return self._load(0)
        raise GenerationError(
            f"The model {self.path} could not be loaded: {_log.reason() or 'no reason was given'}."
            " If the file is damaged, install it again."
        )

    @property
    def handle(self) -> Any:
        """The native pointer."""
        return self._handle

    @property
    def kv_bytes_per_token(self) -> int:
        """Memory that one token of context takes: float16 keys and values in every layer."""
        lib, handle = self._lib, self._handle
        heads = max(int(lib.llama_model_n_head(handle)), 1)
        architecture = self.metadata("general.architecture")
        width = self.metadata(f"{architecture}.attention.key_length")
        head_width = int(width) if width.isdigit() else int(lib.llama_model_n_embd(handle)) // heads
        kv_heads = int(lib.llama_model_n_head_kv(handle))
        return 2 * 2 * int(lib.llama_model_n_layer(handle)) * kv_heads * head_width

    def metadata(self, key: str) -> str:
        """A metadata value as text, empty when the file has none."""
        size = self._lib.llama_model_meta_val_str(self._handle, key.encode(), None, 0)
        if size < 0:
            return ""
        buffer = ctypes.create_string_buffer(size + 1)
        self._lib.llama_model_meta_val_str(self._handle, key.encode(), buffer, size + 1)
        return buffer.value.decode("utf-8", "replace")

    @property
    def chat_template(self) -> str:
        """The model's own Jinja chat template, empty when it has none."""
        template: bytes | None = self._lib.llama_model_chat_template(self._handle, None)
        return (template or b"").decode("utf-8", "replace")

    def special(self, which: str) -> int | None:
        """The id of the `bos` or `eos` token, or None."""
        token = int(getattr(self._lib, f"llama_vocab_{which}")(self._vocab))
        return None if token < 0 else token

    def special_text(self, which: str) -> str:
        """How a template writes the `bos` or `eos` token."""
        token = self.special(which)
        if token is None:
            return ""
        text: bytes | None = self._lib.llama_vocab_get_text(self._vocab, token)
        return (text or b"").decode("utf-8", "replace")

    @property
    def begins_with_bos(self) -> bool:
        """Whether every prompt must begin with the `bos` token."""
        return bool(self._lib.llama_vocab_get_add_bos(self._vocab)) and self.special("bos") is not None

    def tokenize(self, text: str, *, control: bool) -> list[int]:
        """Token ids of the text; control tokens are recognised in it only when `control` is true."""
        data = text.encode("utf-8", "replace")
        size = len(data) + 8
        tokens = (self._lib.llama_token * size)()
        count = self._lib.llama_tokenize(self._vocab, data, len(data), tokens, size, False, control)
        if count < 0:
            raise GenerationError(f"The model {self.path.name} cannot tokenise a text of {len(data)} bytes.")
        return list(tokens[:count])

    def piece(self, token: int) -> bytes:
        """The bytes of a token; nothing for control tokens. May end inside a UTF-8 sequence."""
        buffer = ctypes.create_string_buffer(_PIECE)
        count = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = self._lib.llama_token_to_piece(self._vocab, token, buffer, len(buffer), 0, False)
        return buffer.raw[:count]

    def ends(self, token: int) -> bool:
        """Whether the token ends a turn or the text."""
        return bool(self._lib.llama_vocab_is_eog(self._vocab, token))

    def grammar(self, schema: Mapping[str, Any]) -> Grammar:
        """A grammar of the JSON documents the schema allows. Raises GenerationError."""
        return Grammar(self._lib, self._vocab, schema)

    def close(self) -> None:
        """Give up one owner's share; the last one frees the weights. An owner closes its context first."""
        with self._counting:
            self._owners -= 1
            last = self._owners == 0
        if last:
            self._lib.llama_model_free(self._handle)
            self._handle = None


class Context:
    """The tokens a model has read and what it remembers of them."""

    def __init__(self, model: Model, tokens: int, threads: int, step: int) -> None:
        """Room for `tokens`, read `step` at a time. Raises GenerationError when the memory cannot be had."""
        self._lib = library()
        self._model = model
        self._step = step
        self._control: Control | None = None
        params = self._lib.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = tokens, step, step
        params.n_threads = params.n_threads_batch = threads
        params.no_perf = True
        _log.lines.clear()
        self._handle = self._lib.llama_init_from_model(model.handle, params)
        if not self._handle:
            raise GenerationError(
                f"There is not enough memory for a context of {tokens} tokens of {model.path.name}"
                f" ({_log.reason() or 'no reason was given'}); close other programs or use a smaller model."
            )
        self._memory = self._lib.llama_get_memory(self._handle)
        self._abort = self._lib.ggml_abort_callback(self._asked_to_stop)
        self._never = self._lib.ggml_abort_callback()

    def _asked_to_stop(self, _data: object) -> bool:
        return self._control is not None and self._control.stopped

    def keep(self, count: int) -> int:
        """Forget all but the first `count` tokens; the number really kept (0 where that cannot be done)."""
        if count and self._lib.llama_memory_seq_rm(self._memory, 0, count, -1):
            return count
        self._lib.llama_memory_clear(self._memory, True)
        return 0

    def read(self, tokens: Sequence[int], control: Control | None, progress: Callable[[int], None]) -> bool:
        """Evaluate the tokens; `progress` is told how many are in. False when `control` stopped it.

        A step that has begun ends even when the call is held: so no token is evaluated twice, and there is
        progress however often it is held.

        Raises GenerationError when the library fails. After False or an error the caller must `keep`.
        """
        self._control = control
        # A callback into Python for each graph node is cheap beside a batch of prompt tokens, not beside one.
        self._lib.llama_set_abort_callback(
            self._handle, self._abort if len(tokens) > 1 else self._never, None
        )
        for start in range(0, len(tokens), self._step):
            if control is not None and not control.may_go_on():
                return False
            part = tokens[start : start + self._step]
            array = (self._lib.llama_token * len(part))(*part)
            code = self._lib.llama_decode(self._handle, self._lib.llama_batch_get_one(array, len(part)))
            if code == _ABORTED:
                return False
            if code != 0:
                raise GenerationError(
                    f"{self._model.path.name} failed while reading the prompt (code {code}: {_log.reason()})."
                )
            progress(len(part))
        return True

    def logits(self) -> NDArray[np.float32]:
        """A view of the scores of the next token, shape (vocabulary,), valid until the next `read`."""
        pointer = self._lib.llama_get_logits_ith(self._handle, -1)
        return np.ctypeslib.as_array(pointer, shape=(self._model.vocabulary,))

    def close(self) -> None:
        """Free the memory."""
        if self._handle:
            self._lib.llama_free(self._handle)
            self._handle = None


class Grammar:
    """Keeps an output inside a JSON schema: the likeliest token first, others only when it is refused."""

    def __init__(self, lib: ModuleType, vocab: Any, schema: Mapping[str, Any]) -> None:
        from llama_cpp.llama_grammar import json_schema_to_gbnf

        self._lib = lib
        try:
            rules = _whole_characters(json_schema_to_gbnf(json.dumps(dict(schema))))
        except (ValueError, KeyError, AssertionError, TypeError, AttributeError) as error:
            raise GenerationError(f"This JSON schema cannot be turned into a grammar: {error}.") from error
        self._handle = lib.llama_sampler_init_grammar(vocab, rules.encode(), b"root")
        if not self._handle:
            raise GenerationError(f"This JSON schema cannot be turned into a grammar: {_log.reason()}.")
        # A stream that is never read to its end must not keep its grammar.
        self.close = weakref.finalize(self, lib.llama_sampler_free, self._handle)

    def choose(self, logits: NDArray[np.float32]) -> int | None:
        """The likeliest token the grammar allows, or None when it allows none."""
        for count in (*_CHECKED_FIRST, len(logits)):
            if (token := self._best_allowed(logits, count)) is not None:
                self._lib.llama_sampler_accept(self._handle, token)
                return token
        return None

    def _best_allowed(self, logits: NDArray[np.float32], count: int) -> int | None:
        count = min(count, len(logits))
        if count == 1:
            ids = np.array([logits.argmax()])
        else:
            ids = np.argpartition(-logits, count - 1)[:count]
            ids = ids[np.lexsort((ids, -logits[ids]))]
        table = np.zeros(count, dtype=[("id", np.int32), ("logit", np.float32), ("p", np.float32)])
        table["id"], table["logit"] = ids, logits[ids]
        entries = table.ctypes.data_as(ctypes.POINTER(self._lib.llama_token_data))
        array = self._lib.llama_token_data_array(data=entries, size=count, selected=-1, sorted=False)
        self._lib.llama_sampler_apply(self._handle, ctypes.byref(array))
        allowed = np.flatnonzero(np.isfinite(table["logit"]))
        return int(table["id"][allowed[0]]) if len(allowed) else None


def _whole_characters(rules: str) -> str:
    """The converter writes characters beyond U+FFFF as two surrogates, which no UTF-8 text can match."""

    def join(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        return f"\\U{0x10000 + ((int(found[1], 16) & 0x3FF) << 10) + (int(found[2], 16) & 0x3FF):08x}"

    return re.sub(r"\\\\|\\u(d[89ab]..)\\u(d[c-f]..)", join, rules)
