"""Optional: reads pictures of text with rapidocr, by the models in its own wheel; nothing is ever fetched."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape.ingest.parsed import ReadLine

Picture = NDArray[np.uint8]
"""Height x width x 3, blue first."""
Recogniser = Callable[[Picture], list[ReadLine]]
"""Finds the lines of a picture; coordinates in its pixels."""

VERSION = "ocr"
"""Part of a content's identity where OCR has read some of it: raise it when it would read another text."""
DOTS_PER_INCH = 200
MAX_SIDE = 2600
"""Pixels: a page of A4 at DOTS_PER_INCH has 2340; of a larger page the letters are smaller."""
MIN_CONFIDENCE = 0.65
"""Lines that were read with less are left out: below it stand smudges, drawings and half words."""
_DETECTOR_SIDE = 1600
"""Lines are found in a smaller copy (which halves the memory) and read in the full picture."""
_GOOD = 0.8
"""Mean confidence below which a page is tried upside down."""
_MODELS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}


@dataclass(frozen=True, slots=True)
class _Reading:
    lines: list[ReadLine]

    @property
    def confidence(self) -> float:
        letters = sum(len(line.text) for line in self.lines)
        return sum(line.confidence * len(line.text) for line in self.lines) / letters if letters else 0.0


def installed() -> bool:
    """Whether the optional package is there."""
    importlib.invalidate_caches()
    return importlib.util.find_spec("rapidocr") is not None


def how_to_install() -> str:
    """A sentence for those who ask for OCR without having it."""
    return f"OCR is not installed. Install it with: {sys.executable} -m pip install 'rapidocr>=3.10'"


def missing() -> str:
    """A sentence for files that nobody can read any more."""
    return f"The folder asks for OCR. {how_to_install()}, then add the folder with --ocr again."


def read(picture: Picture, recognise: Recogniser) -> tuple[ReadLine, ...]:
    """The lines of a page, top down, upright or turned by a quarter or a half; doubtful ones are left out.

    Coordinates in pixels of the picture as it is when its text is upright.
    """
    best = _Reading(recognise(picture))
    if _is_sideways(best.lines):
        best = max(_turned(picture, 1, recognise), _turned(picture, 3, recognise), key=_worth)
    elif best.lines and best.confidence < _GOOD:
        best = max(best, _turned(picture, 2, recognise), key=_worth)
    return tuple(line for line in best.lines if line.confidence >= MIN_CONFIDENCE and line.text.strip())


def _turned(picture: Picture, quarters: int, recognise: Recogniser) -> _Reading:
    return _Reading(recognise(np.ascontiguousarray(np.rot90(picture, quarters))))


def _worth(reading: _Reading) -> float:
    """Some letters look much the same upside down: the surer reading is right, not the longer one."""
    return sum(len(line.text) for line in reading.lines) * reading.confidence**4


def _is_sideways(lines: Sequence[ReadLine]) -> bool:
    long = [line for line in lines if len(line.text) > 3]
    tall = sum(line.y1 - line.y0 > 1.5 * (line.x1 - line.x0) for line in long)
    return tall * 2 > len(long)


@cache
def recogniser() -> Recogniser:
    """The models, loaded once in a process: about 0.7 GB of memory and 1.6 GB of address space at work."""
    engine = _engine()

    def recognise(picture: Picture) -> list[ReadLine]:
        found = engine(picture, use_cls=False)
        if found.txts is None:
            return []
        lines: list[ReadLine] = []
        for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True):
            x0, y0 = map(float, box.min(axis=0))
            x1, y1 = map(float, box.max(axis=0))
            lines.append(ReadLine(text, x0, y0, x1, y1, float(score)))
        return sorted(lines, key=lambda line: line.y0)

    return recognise


def _engine() -> Any:
    module = importlib.import_module("rapidocr")
    folder = Path(str(module.__file__)).parent / "models"
    # Named as files, the models are opened and never looked for elsewhere. One thread each: the daemon
    # runs as many workers as there is room for.
    return module.RapidOCR(
        params={f"{part}.model_path": str(folder / name) for part, name in _MODELS.items()}
        | {
            "Global.log_level": "critical",
            "Global.max_side_len": MAX_SIDE,
            "Global.text_score": 0.0,
            "Det.limit_type": "max",
            "Det.limit_side_len": _DETECTOR_SIDE,
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
