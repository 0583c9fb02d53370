"""What the cases of group E say: models, prompts and answers. Most of it is checked next to the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.faults.cases.claims import Claim, elsewhere, plays, says
from tests.faults.cases.scene import Scene

from mindscape.ask.answer import estimate_tokens
from mindscape.ask.citations import CitationStream
from mindscape.ask.followup import messages_for
from mindscape.ask.leaning import Before
from mindscape.ask.repetition import RepetitionGate
from mindscape.errors import MindscapeError
from mindscape_models.chat import Template
from mindscape_models.native import check_header
from mindscape_storage.withheld import REMEMBERED

CHAT = "tests/models/test_generation_chat.py::"
GENERATION = "tests/models/test_generation.py::"
EMBEDDING = "tests/models/test_embedding.py::"
PIPELINE = "tests/ask/test_pipeline.py::"
CITATIONS = "tests/ask/test_citations.py::"


def asked(scene: Scene, question: str) -> Any:
    return scene.daemon.call("ask", question=question, scope=str(scene.root), stream=False)


# --- E01 ---

E01 = "E01-context-overflow"


@says(E01, "{'question': 'Where is the spare fuse kept?'")
def the_right_note_is_quoted(scene: Scene, claim: Claim) -> None:
    answer = asked(scene, claim.value["question"])
    assert [one["path"] for one in answer["citations"]] == [f"{scene.root}/pump23.md"]


@says(E01, "{'question_file': ")
def a_question_of_any_length_is_answered_in_part(scene: Scene, claim: Claim) -> None:
    question = (scene.source / claim.value["question_file"]).read_text("utf-8")
    notes = asked(scene, question)["coverage"]["notes"]
    assert "Only the first 2,000 characters of the question were read." in notes


@says(E01, "{'history_file': ")
def of_a_long_conversation_the_last_turns_are_read(scene: Scene, claim: Claim) -> None:
    history = (scene.source / claim.value["history_file"]).read_text("utf-8")
    turns = [json.loads(line) for line in history.splitlines()]
    said = [turn["content"] for turn in turns if turn["role"] == "user"]
    talk = scene.daemon.call("ask", question=said[0], scope=str(scene.root), conversation="new")[
        "conversation"
    ]
    for question in said[1:]:
        scene.daemon.call("ask", question=question, scope=str(scene.root), conversation=talk, stream=False)
    question = "Where is the spare fuse kept?"
    answer = scene.daemon.call("ask", question=question, scope=str(scene.root), conversation=talk)
    assert [one["path"] for one in answer["citations"]] == [f"{scene.root}/pump23.md"]
    before = [Before(turn["question"]) for turn in scene.daemon.call("conversations.get", id=talk)["turns"]]
    system, user = messages_for("And when?", before[-REMEMBERED:])
    assert system["role"] == "system"
    assert estimate_tokens(user["content"]) < 512
    assert question in user["content"]
    assert said[0][:40] not in user["content"]


elsewhere(
    E01,
    (f"{GENERATION}test_a_prompt_longer_than_the_context_is_refused_with_its_length",),
    "chunks are dropped whole, lowest rank first",
)

# --- E02 ---

E02 = "E02-chat-template"
elsewhere(E02, (f"{CHAT}test_without_a_template_the_turns_are_labelled",), "no-template.gguf: ")
elsewhere(
    E02,
    (f"{CHAT}test_a_template_without_system_turns_puts_it_before_the_question",),
    "jinja-raises-on-system.gguf: ",
)
elsewhere(E02, (f"{CHAT}test_a_model_that_wants_its_first_token_gets_it_once",), "template-adds-bos.gguf: ")
elsewhere(E02, (f"{GENERATION}test_max_tokens_is_a_limit_and_said_so",), "max_tokens is always set")
elsewhere(
    E02,
    (f"{GENERATION}test_control_tokens_in_a_document_are_only_text",),
    "document text containing <|im_end|> is not tokenised to id 4",
)
elsewhere(
    E02,
    (f"{GENERATION}test_the_end_of_a_turn_ends_an_answer_though_another_token_ends_the_text",),
    "chatml-eos-is-not-im_end.gguf: ",
)


class Characters:
    """A model with the template of a file, whose tokens are characters. (The random models of the case end
    llama.cpp: their vocabulary has no bytes.)"""

    begins_with_bos = False

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        key = b"tokenizer.chat_template"
        at = data.index(key) + len(key) + 4  # behind the key stands its type, then the length of the text
        length = int.from_bytes(data[at : at + 8], "little")
        self.chat_template = data[at + 8 : at + 8 + length].decode("utf-8")

    def special(self, which: str) -> int | None:
        return None

    def special_text(self, which: str) -> str:
        return f"<{which}>"

    def tokenize(self, text: str, *, control: bool) -> list[int]:
        return [ord(char) for char in text]


@plays(E02)
def templates(scene: Scene) -> None:
    """What becomes of two turns by the templates that fail or attack."""
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    for name in ("jinja-error.gguf", "jinja-attack.gguf"):
        tokens = Template(Characters(scene.source / name)).tokens(turns)
        scene.seen[name] = "".join(map(chr, tokens))


@says(E02, "jinja-error.gguf: ", "jinja-attack.gguf: ")
def a_broken_template_gives_way_to_plain_labels_and_runs_nothing(scene: Scene, claim: Claim) -> None:
    assert scene.seen[str(claim.name)] == "System: Be brief.\n\nUser: Why?\n\nAssistant:"
    assert not Path("/tmp/bugs-pwned").exists()


# --- E03 ---

E03 = "E03-repetition"


@plays(E03)
def streams(scene: Scene) -> None:
    """Of each stream: what is shown, whether it was stopped, how many repeats were read, what is cited."""
    for name, case in json.loads((scene.source / "streams.json").read_text("utf-8")).items():
        gate, stream, read, shown = RepetitionGate(), CitationStream(3), 0, ""
        for piece in (case["prefix"], case.get("text", "")):
            shown += stream.feed(gate.feed(piece))
        while case["repeat"] and not gate.stopped and read < 1000:
            read += 1
            shown += stream.feed(gate.feed(case["repeat"].replace("{n}", str(read))))
        shown += stream.feed(gate.close()) + stream.close()
        scene.seen[name] = (case, shown, gate.stopped, read, stream.cited)


@says(E03, "loops: ")
def a_loop_is_stopped_soon_and_its_copies_are_not_shown(scene: Scene, claim: Claim) -> None:
    loops = {name: seen for name, seen in scene.seen.items() if seen[0]["repeat"]}
    assert loops
    for name, (case, shown, stopped, read, cited) in loops.items():
        assert stopped, name
        assert read * estimate_tokens(case["repeat"]) <= 200, name
        assert shown.startswith(case["prefix"].strip()), name
        assert len(shown) <= len(case["prefix"]) + 2 * len(case["repeat"]), name
        assert cited == ([1] if "[1]" in case["prefix"] else []), name


@says(E03, "legit_*: ")
def what_repeats_words_on_purpose_is_not_cut(scene: Scene, claim: Claim) -> None:
    fair = {name: seen for name, seen in scene.seen.items() if not seen[0]["repeat"]}
    assert fair
    assert {name: shown for name, (_, shown, *_) in fair.items()} == {
        name: case["text"].strip() for name, (case, *_) in fair.items()
    }


# --- E06 ---

E06 = "E06-bad-vectors"
VECTORS = "tests/storage/test_vectors.py::"
elsewhere(
    E06,
    (f"{VECTORS}test_one_bad_vector_and_none_is_stored", f"{EMBEDDING}test_odd_texts_have_a_finite_vector"),
    "the two healthy texts are stored with vectors",
)
elsewhere(
    E06,
    (f"{VECTORS}test_inputs_without_a_usable_vector_are_not_asked_for_again",),
    *("bad rows: no vector stored", "retry once alone; then not for ever"),
)
elsewhere(
    E06,
    (f"{PIPELINE}test_an_embedder_that_fails_costs_its_leg_only",),
    "query embedding NaN -> keyword-only answer",
)
elsewhere(
    E06,
    (f"{VECTORS}test_another_shape_is_refused", f"{EMBEDDING}test_vectors_are_float32_and_of_unit_length"),
    "start-up self-test embeds a known sentence",
)

# --- E07 ---

E07 = "E07-bad-model-files"
REFUSED = {
    "cut-in-tensors.gguf": "incomplete",
    "cut-in-header.gguf": "install it again",
    "empty.gguf": "not a GGUF model",
    "html-error.gguf": "not a GGUF model",
    "lfs-pointer.gguf": "not a GGUF model",
    "future-version.gguf": "version 99",
    "big-endian.gguf": "versions 2 and 3 can be used",
}


@plays(E07)
def only_a_daemon(scene: Scene) -> None:
    """The files are models, not documents: they are offered to the daemon one by one."""
    scene.start_own(scene.root.with_name("home"))


@says(E07, *(f"{name}: " for name in REFUSED), "no crash/segfault of the daemon")
def a_bad_model_is_refused_with_a_sentence(scene: Scene, claim: Claim) -> None:
    for name, words in REFUSED.items():
        if claim.name in (name, None):
            with pytest.raises(MindscapeError, match=words):
                scene.daemon.call("models.use", path=str(scene.source / name))
    assert scene.daemon.call("status")["models"]["generator"] is not None
    assert [row for row in scene.daemon.call("models.list")["models"] if row["kind"] == "generator"] == []


elsewhere(
    E07,
    ("tests/models/test_bundle.py::test_a_file_with_another_hash_is_refused",),
    *("flipped-bit.gguf: ", "zeros-tail.gguf: "),
)
elsewhere(
    E07,
    (f"{EMBEDDING}test_a_damaged_file_that_is_not_verified_gives_a_sentence",),
    "cut.onnx/html.onnx/tokenizer-cut.json: ",
)
elsewhere(
    E07,
    (f"{GENERATION}test_a_truncated_model_is_a_sentence",),
    "never garbage answers from a cut file",
)


@says(E07, "whole.gguf: ")
def a_whole_file_passes_and_a_model_that_ends_its_process_is_not_kept(scene: Scene, claim: Claim) -> None:
    """Its vocabulary has no bytes, which llama.cpp takes for an error that ends the process."""
    file = scene.source / "whole.gguf"
    check_header(file)
    with pytest.raises(MindscapeError, match="it was not kept"):
        scene.daemon.call("models.use", path=str(file))
    assert "whole" not in [row["name"] for row in scene.daemon.call("models.list")["models"]]


@says(E07, "model.gguf.part: ")
def what_is_still_loading_is_no_model(scene: Scene, claim: Claim) -> None:
    with pytest.raises(MindscapeError, match="not downloaded to its end"):
        scene.daemon.call("models.use", path=str(scene.source / "model.gguf.part"))
    assert [row for row in scene.daemon.call("models.list")["models"] if row["kind"] == "generator"] == []


# --- E08 ---

E08 = "E08-tokenizer-truncation"
elsewhere(
    E08,
    (f"{EMBEDDING}test_truncation_saved_in_a_tokeniser_is_switched_off",),
    "our loader calls no_truncation()/no_padding()",
)
elsewhere(
    E08,
    (f"{EMBEDDING}test_windows_hold_every_token_once_and_are_of_like_length",),
    "texts longer than the model limit are split before",
)
elsewhere(
    E08,
    (f"{EMBEDDING}test_what_stands_late_in_a_text_changes_its_vector",),
    "two texts that differ only after token 128 get different vectors",
)

# --- E10 ---

E10 = "E10-prompt-injection"


@says(E10, "{'q': ")
def an_instruction_in_a_note_changes_nothing(scene: Scene, claim: Claim) -> None:
    answer = asked(scene, claim.value["q"])
    assert answer["answered"]
    quotes = " ".join(one["quote"] for one in answer["citations"])
    assert all(word in quotes for word in claim.value["answer"].split(", "))
    numbers = {one["n"] for one in answer["citations"]}
    assert numbers == set(range(1, len(numbers) + 1))
    refused = claim.value.get("not", "").split(", ")
    assert not any(word in answer["answer"] for word in refused if word)


elsewhere(
    E10,
    (f"{PIPELINE}test_documents_are_data_in_the_prompt",),
    *("file names/titles in the prompt have control", "the delimiter contains a per-request nonce"),
)
elsewhere(
    E10,
    ("tests/test_prompts.py::test_answer_has_its_stable_part_first_and_the_question_after_the_passages",),
    "chunks are separated: ",
)
elsewhere(
    E10,
    ("tests/tui/test_literal.py::test_text_that_looks_like_a_link_cannot_be_clicked",),
    "links/images in answers are not fetched by the TUI",
)

# --- E11 ---

E11 = "E11-citations"


@plays(E11)
def answers(scene: Scene) -> None:
    """What the stream makes of each answer, whole and in the pieces that `|` marks."""
    for line in (scene.source / "answers.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        pieces = case["answer"].split("|") if "chunks" in case["answer"] else [case["answer"]]
        stream = CitationStream(case["sources"])
        shown = "".join([stream.feed(piece) for piece in pieces]) + stream.close()
        scene.seen[case["answer"]] = (stream.cited, case["valid"], shown)


@says(E11, "streamed and final citation lists agree")
def valid_markers_are_kept_and_no_others(scene: Scene, claim: Claim) -> None:
    assert {said: cited for said, (cited, valid, _) in scene.seen.items() if cited != valid} == {}


elsewhere(
    E11,
    (f"{PIPELINE}test_an_answer_nothing_supports_is_labelled_and_followed_by_quotes",),
    "an answer without valid citation is labelled",
)
elsewhere(
    E11,
    (f"{PIPELINE}test_a_source_that_changes_while_answering_is_not_called_supported",),
    "each kept citation's chunk still exists",
)

# --- E14 ---

E14 = "E14-languages"


@says(E14, "{'q': ")
def a_question_is_answered_from_the_note_in_its_language(scene: Scene, claim: Claim) -> None:
    answer = asked(scene, claim.value["q"])
    assert [one["path"] for one in answer["citations"]] == [f"{scene.root}/{claim.value['file']}"]


@says(E14, "{'q': 'Wie hoch ist der Eiffelturm?'")
def what_is_not_there_is_said_in_the_language_of_the_question(scene: Scene, claim: Claim) -> None:
    answer = asked(scene, claim.value["q"])
    assert not answer["answered"]
    assert answer["answer"] == "Das scheint nicht in Ihren Dokumenten zu stehen."


@says(E14, "keyword search alone finds each file for a word of it")
def each_note_is_found_by_its_words(scene: Scene, claim: Claim) -> None:
    for file, text in scene.texts().items():
        words = max(text.split(), key=len)
        assert file in scene.files(words), words
    assert "tr.md" in scene.files("ISKELENIN anahtarı")


elsewhere(
    E14,
    ("tests/tui/test_literal.py::test_every_place_for_text_shows_it_as_it_is",),
    "RTL text is not reversed in the API",
)
