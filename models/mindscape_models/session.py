"""ONNX Runtime sessions: threads, the device really used, quiet logs."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from mindscape_models.errors import BundleError

Device = Literal["auto", "cpu"]

_SILENT = 4  # fatal errors only: asking for a provider that cannot load prints on stderr
_CPU = "CPUExecutionProvider"
_CUDA = "CUDAExecutionProvider"


class Session:
    """An encoder graph with inputs of token ids and an output of one state a token."""

    def __init__(self, graph: Path, threads: int | None = None, device: Device = "auto") -> None:
        ort.set_default_logger_severity(_SILENT)
        wanted = _CUDA if device == "auto" and _cuda_present() else _CPU
        options = _options(threads or available_cores())
        try:
            self._session = ort.InferenceSession(str(graph), options, providers=_providers(wanted))
        except Exception as error:  # ONNX Runtime has a class for each failure and no common base
            raise BundleError(f"{graph} is not a model that can be run: {_first_line(error)}.") from error
        # What was asked for is not always what runs: a CUDA library may be missing.
        used = self._session.get_providers()
        self.device = "cuda:0" if wanted == _CUDA and _CUDA in used else "cpu"
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def states(self, ids: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float32]:
        """Token states (rows, tokens, dimensions) of `ids` (rows, tokens); `mask` is 0 on padding."""
        feeds = {"input_ids": ids, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feeds["token_type_ids"] = np.zeros_like(ids)
        return np.asarray(self._session.run(None, feeds)[0], dtype=np.float32)


def available_cores() -> int:
    """Cores this process may run on."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _options(threads: int) -> Any:
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Waiting threads sleep: spinning ones take the cores from everything else on the machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = _SILENT
    return options


def _providers(wanted: str) -> list[str]:
    if wanted == _CPU:
        return [_CPU]
    ort.preload_dlls()  # finds the CUDA libraries that came as wheels
    return [_CUDA, _CPU]


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
