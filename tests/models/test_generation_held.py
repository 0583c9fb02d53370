"""A generator beside another: with the same weights, held at any moment, and nothing computed twice."""

from __future__ import annotations

import shutil
import threading
from collections import abc
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from mindscape_models.catalogue import installed_folder
from mindscape_models.errors import GenerationError
from mindscape_models.generation import SMALL_STEP, Generator, open_generator
from mindscape_models.native import Control

STARTER = installed_folder() / "smollm2-135m-instruct"

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(not STARTER.exists(), reason="the starter generator is not installed: run `make`"),
]

STORY = "The lighthouse of Vell was built in 1821 by Anna Kerr. Gulls nest under its lamp. " * 8
LONG = [{"role": "user", "content": f"{STORY}\n\nTell the story of the lighthouse."}]
SHORT = [{"role": "user", "content": "Count from one to twenty in words."}]
WRITTEN = 16


class HeldAt(Control):
    """Holds its call before the steps with these numbers, and counts the steps."""

    def __init__(self, *steps: int) -> None:
        super().__init__()
        self._hold_before = set(steps)
        self.steps = 0
        self.held = threading.Semaphore(0)
        """Released each time the call is about to stand still."""

    def may_go_on(self) -> bool:
        if self.steps in self._hold_before:
            self._hold_before.remove(self.steps)
            self.hold()
            self.held.release()
        goes_on = super().may_go_on()
        self.steps += goes_on
        return goes_on


class Background:
    """A generator in a thread of its own that reads in small steps."""

    def __init__(self, owner: ThreadPoolExecutor, generator: Generator) -> None:
        self.generator = generator
        self._owner = owner

    def write(self, control: Control, max_tokens: int = WRITTEN) -> Future[str]:
        return self._owner.submit(lambda: "".join(self.generator.generate(LONG, max_tokens, control=control)))


@contextmanager
def opened_beside(interactive: Generator) -> abc.Generator[Background]:
    with ThreadPoolExecutor(1) as owner:
        opening = owner.submit(lambda: open_generator(weights(), 1024, step=SMALL_STEP, beside=interactive))
        generator = opening.result()
        yield Background(owner, generator)
        owner.submit(generator.close).result()


def weights() -> Path:
    return next(STARTER.glob("*.gguf"))


@pytest.fixture(scope="module")
def interactive() -> Iterator[Generator]:
    with open_generator(weights(), context=1024) as opened:
        yield opened


@pytest.fixture
def background(interactive: Generator) -> Iterator[Background]:
    with opened_beside(interactive) as it:
        yield it


def test_held_in_its_prompt_and_in_its_text_it_writes_the_same_and_repeats_no_step(
    interactive: Generator, background: Background
) -> None:
    undisturbed = HeldAt()
    with opened_beside(interactive) as other:
        wanted = other.write(undisturbed).result()
        usage = other.generator.usage
    in_prompt = -(-usage.evaluated // SMALL_STEP)
    assert in_prompt >= 5
    # A step for each batch of the prompt, and one before each token of the text.
    assert undisturbed.steps == in_prompt + usage.generated
    answer = "".join(interactive.generate(SHORT, 8))
    control = HeldAt(0, 3, in_prompt, in_prompt + 5)
    written = background.write(control)
    for steps in (0, 3, in_prompt, in_prompt + 5):
        assert control.held.acquire(timeout=60)
        assert "".join(interactive.generate(SHORT, 8)) == answer
        # Every step asks before it begins, so that it stands still while it waits for the answer.
        assert control.steps == steps
        assert not written.done()
        control.go_on()
    assert written.result() == wanted
    assert control.steps == undisturbed.steps
    assert background.generator.usage.evaluated == usage.evaluated


def test_two_contexts_of_one_model_write_at_the_same_time_as_they_do_alone(
    interactive: Generator, background: Background
) -> None:
    alone = background.write(Control()).result()
    answer = "".join(interactive.generate(SHORT, 48))
    written = background.write(Control())
    assert "".join(interactive.generate(SHORT, 48)) == answer
    assert written.result() == alone


@pytest.mark.parametrize("step", [2, 12])
def test_a_held_call_that_is_stopped_ends(background: Background, step: int) -> None:
    control = HeldAt(step)
    written = background.write(control)
    assert control.held.acquire(timeout=60)
    control.stop()
    written.result(timeout=60)
    assert background.generator.usage.finish == "cancelled"
    assert control.steps == step


def test_held_again_and_again_it_still_comes_to_its_end(background: Background) -> None:
    class AlwaysHeld(Control):
        def may_go_on(self) -> bool:
            self.hold()
            threading.Thread(target=self.go_on).start()
            return super().may_go_on()

    assert background.write(AlwaysHeld(), 4).result(timeout=120)


def test_the_weights_live_as_long_as_one_of_their_generators() -> None:
    first = open_generator(weights(), 512)
    wanted = "".join(first.generate(SHORT, 4))
    second = open_generator(weights(), 512, beside=first)
    first.close()
    assert "".join(second.generate(SHORT, 4)) == wanted
    second.close()
    with pytest.raises(GenerationError, match="closed"):
        second.share()


def test_a_file_that_took_the_place_of_the_model_is_another_model(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.symlink_to(weights())
    with open_generator(file, 512) as opened:
        assert opened.is_of(file)
        assert opened.is_of(weights())
        file.unlink()
        assert not opened.is_of(file)
        shutil.copyfile(weights(), file)
        assert not opened.is_of(file)
        with open_generator(file, 512, beside=opened) as other:
            assert other.is_of(file)
