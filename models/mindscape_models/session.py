"""ONNX Runtime sessions: threads, the device really used, quiet logs."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from mindscape_models.errors import BundleError

Device = Literal["auto", "cpu"]
Ids = NDArray[np.int64]

_SILENT = 4  # fatal errors only: asking for a provider that cannot load prints on stderr
_CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"
_HEAVY = ("MatMul", "Gemm", "Attention")
_CPU_BATCH = 512
"""Tokens of one call, padding included: what stays in the cache. A question waits for one call at most."""
_CUDA_BATCH = 16_384
_TRIAL = np.ones((1, 8), dtype=np.int64), np.ones((1, 8), dtype=np.int64)
"""Ids and mask of a text to try a graph with."""


class Session:
    """An encoder's or a decoder's graph: token ids go in, one state a token comes out."""

    def __init__(self, graph: Path, threads: int | None = None, device: Device = "auto") -> None:
        ort.set_default_logger_severity(_SILENT)
        threads = threads or available_cores()
        self.device = "cpu"
        if device == "auto" and _cuda_present():
            self._session = create(graph, threads, [_CUDA, _CPU], profile=True)
            # What was asked for is not always what runs: a CUDA library may be missing, or the kernels
            # that do the work (those of integer graphs) may exist for the CPU only.
            if heavy_providers(self._session, self._feeds(*_TRIAL)) == {_CUDA}:
                self.device = "cuda:0"
        if self.device == "cpu":
            self._session = create(graph, threads, [_CPU])
        if unknown := sorted({entry.name for entry in self._session.get_inputs()} - set(_inputs(*_TRIAL))):
            raise BundleError(f"{graph} wants the input {unknown[0]}, which is not made from a text.")
        width = self._session.get_outputs()[0].shape[-1]
        self.width: int | None = width if isinstance(width, int) else None
        """Width of a state, where the graph says it."""
        self.batch_tokens = _CPU_BATCH if self.device == "cpu" else _CUDA_BATCH

    def states(self, ids: Ids, mask: Ids) -> NDArray[np.float32]:
        """Token states (rows, tokens, dimensions) of `ids` (rows, tokens); `mask` is 0 on padding."""
        return np.asarray(self._session.run(None, self._feeds(ids, mask))[0], dtype=np.float32)

    def _feeds(self, ids: Ids, mask: Ids) -> dict[str, Ids]:
        wanted = {entry.name for entry in self._session.get_inputs()}
        return {name: values for name, values in _inputs(ids, mask).items() if name in wanted}


def _inputs(ids: Ids, mask: Ids) -> dict[str, Ids]:
    """All that a graph may ask for."""
    return {
        "input_ids": ids,
        "attention_mask": mask,
        "token_type_ids": np.zeros_like(ids),
        # Counted from the first token that is not padding, so that padding on the left moves nothing.
        "position_ids": np.maximum(mask.cumsum(axis=1) - 1, 0),
    }


def heavy_providers(session: ort.InferenceSession, feeds: dict[str, Ids]) -> set[str]:
    """The providers whose kernels run the matrix products: where the work is really done.

    `session` must come from `create` with `profile=True`; this runs it once and ends the profile.
    """
    session.run(None, feeds)
    profile = Path(session.end_profiling())
    events = json.loads(profile.read_text(encoding="utf-8"))
    profile.unlink()
    profile.parent.rmdir()
    work = [event["args"] for event in events if event.get("cat") == "Node" and "op_name" in event["args"]]
    return {args["provider"] for args in work if any(kind in args["op_name"] for kind in _HEAVY)}


def available_cores() -> int:
    """Cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def create(graph: Path, threads: int, providers: list[str], profile: bool = False) -> ort.InferenceSession:
    """A quiet session on `providers`. Raises BundleError when the graph cannot be loaded."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep: spinning ones take the cores from everything else on the machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _SILENT
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(Path(tempfile.mkdtemp(prefix="mindscape-")) / "profile")
    if _CUDA in providers:
        ort.preload_dlls()  # finds the CUDA libraries that came as wheels
    try:
        return ort.InferenceSession(str(graph), options, providers=providers)
    except Exception as error:  # ONNX Runtime has a class for each failure and no common base
        raise BundleError(f"{graph} is not a model that can be run: {_first_line(error)}.") from error


def _cuda_present() -> bool:
    """Whether a driver is there: the provider list names CUDA on machines without one."""
    if _CUDA not in ort.get_available_providers():
        return False
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".") if str(error) else type(error).__name__
