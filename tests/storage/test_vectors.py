"""Vectors: only good ones, one for each input, put aside and taken back with their text."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from mindscape_storage import contents, documents, memo, search, vectors
from mindscape_storage.database import Connection
from mindscape_storage.errors import BadVector
from tests.storage.build import ENCODER, STAT, WIDTH, cut, embed, embedded, lines, put, remove, root_of


def live(conn: Connection) -> int:
    return conn.execute("SELECT count(*) FROM vectors").get


def aside(conn: Connection) -> int:
    return conn.execute("SELECT count(*) FROM memo").get


def tiers(conn: Connection) -> list[str | None]:
    return [document.tier for document in documents.list_documents(conn)]


def one_bad(values: NDArray[np.float32], number: float) -> NDArray[np.float32]:
    values[1] = number
    return values


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 0.0, 3e38])
def test_one_bad_vector_and_none_is_stored(conn: Connection, number: float) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    keys = [key for key, _ in vectors.missing_inputs(conn, encoder, 9)]
    good = embedded(["one", "two"])
    if number == 3e38:  # finite, though its square is not in float32
        assert vectors.add_vectors(conn, encoder, keys, one_bad(good, number)) == 2
        return
    with pytest.raises(BadVector):
        vectors.add_vectors(conn, encoder, keys, one_bad(good, number))
    assert live(conn) == 0


@pytest.mark.parametrize("shape", [(2, WIDTH - 1), (2, WIDTH + 1), (2,), (1, WIDTH), (3, WIDTH)])
def test_another_shape_is_refused(conn: Connection, shape: tuple[int, ...]) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    keys = [key for key, _ in vectors.missing_inputs(conn, encoder, 9)]
    with pytest.raises(BadVector):
        vectors.add_vectors(conn, encoder, keys, np.ones(shape, np.float32))
    assert live(conn) == 0


def test_an_unknown_encoder_is_refused(conn: Connection) -> None:
    with pytest.raises(BadVector, match="no encoder 7"):
        vectors.add_vectors(conn, 7, [b"x"], np.ones((1, WIDTH), np.float32))


def test_an_encoder_keeps_its_name_and_width(conn: Connection) -> None:
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    assert vectors.encoder_id(conn, ENCODER, WIDTH) == encoder
    with pytest.raises(BadVector, match="new name"):
        vectors.encoder_id(conn, ENCODER, WIDTH + 1)
    assert [(e.name, e.dimensions) for e in vectors.encoders(conn)] == [(ENCODER, WIDTH)]


def test_unit_vectors_are_kept_bit_for_bit_and_others_scaled(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    keys = [key for key, _ in vectors.missing_inputs(conn, encoder, 9)]
    array = embedded(["one", "two"])
    vectors.add_vectors(conn, encoder, keys, array * np.array([[1], [5]], np.float32))
    stored = vectors.vectors_of(conn, encoder, [1, 2, 3])
    assert stored[1].tobytes() == array[0].tobytes()
    assert np.allclose(stored[2], array[1], atol=1e-6)
    assert sorted(stored) == [1, 2]
    assert vectors.vectors_of(conn, encoder, []) == {}


def test_each_distinct_input_is_asked_for_once_oldest_first(conn: Connection) -> None:
    put(conn, b"/notes/b.md", lines("one", "two", "one"))
    put(conn, b"/notes/a.md", lines("three", "two"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)

    def asked(limit: int, content: int | None = None) -> list[str]:
        return [text for _, text in vectors.missing_inputs(conn, encoder, limit, content)]

    assert asked(9) == ["one", "two", "three"]
    assert asked(2) == ["one", "two"]
    assert asked(9, 2) == ["three", "two"]
    assert asked(0) == []


def test_many_contents_are_all_asked_for(conn: Connection) -> None:
    for number in range(150):
        put(conn, f"/notes/{number}.md".encode(), lines(f"text {number}"))
    assert embed(conn) == 150
    assert embed(conn) == 0
    assert set(tiers(conn)) == {"embedded"}


def test_the_prefix_is_embedded_and_not_part_of_the_text(conn: Connection) -> None:
    (passage,) = lines("1 | 2")
    put(conn, b"/notes/a.md", [passage.__class__(0, 0, 5, "1 | 2", 1, (), "A | B")])
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    assert [text for _, text in vectors.missing_inputs(conn, encoder, 9)] == ["A | B\n1 | 2"]


def test_a_staged_content_is_not_asked_for(conn: Connection) -> None:
    content = contents.begin_content(conn, "sha256:s", "text/plain", "1", text_like=True)
    contents.add_passages(conn, content, lines("staged"))
    assert embed(conn) == 0


def test_a_content_counts_as_embedded_with_its_last_vector(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    for expected in ("searchable", "embedded"):
        (key, text), *_ = vectors.missing_inputs(conn, encoder, 1)
        vectors.add_vectors(conn, encoder, [key], embedded([text]))
        assert tiers(conn) == [expected]
        assert vectors.add_vectors(conn, encoder, [key], embedded([text])) == 0


def test_a_content_of_known_passages_is_embedded_at_once(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    embed(conn)
    put(conn, b"/notes/b.md", lines("two", "one"))
    put(conn, b"/notes/empty.md", [])
    assert tiers(conn) == ["embedded", "embedded", "embedded"]
    assert embed(conn) == 0


def test_an_edit_embeds_only_what_is_new_and_its_return_nothing(conn: Connection) -> None:
    before, after = "a" * 60 + "b" * 12, "a" * 60 + "c" * 12
    put(conn, b"/notes/a.md", cut(before))
    assert embed(conn) == 2
    put(conn, b"/notes/a.md", cut(after))
    assert (live(conn), aside(conn)) == (1, 1)
    assert embed(conn) == 1
    put(conn, b"/notes/a.md", cut(before))
    assert (live(conn), aside(conn), tiers(conn)) == (2, 1, ["embedded"])
    assert embed(conn) == 0


def test_removing_puts_vectors_aside_until_the_text_returns(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    put(conn, b"/notes/b.md", lines("two"))
    embed(conn)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    remove(conn, b"/notes/a.md")
    assert (live(conn), aside(conn)) == (1, 1)
    assert [hit.passage_id for hit in search.nearest(conn, encoder, embedded(["one"])[0], 9)] == [3]
    put(conn, b"/notes/c.md", lines("one"))
    assert (live(conn), aside(conn)) == (2, 0)
    assert tiers(conn) == ["embedded", "embedded"]


def test_forgetting_leaves_nothing_aside(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("one"))
    embed(conn)
    put(conn, b"/notes/a.md", lines("two"))
    documents.remove_documents(conn, [document], forget=True)
    assert (live(conn), aside(conn)) == (0, 0)


def test_a_vector_that_comes_too_late_goes_aside(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("one"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    ((key, text),) = vectors.missing_inputs(conn, encoder, 9)
    documents.remove_documents(conn, [document])
    assert vectors.add_vectors(conn, encoder, [key], embedded([text])) == 0
    assert (live(conn), aside(conn)) == (0, 1)
    put(conn, b"/notes/a.md", lines("one"))
    assert (live(conn), tiers(conn)) == (1, ["embedded"])


def test_inputs_without_a_usable_vector_are_not_asked_for_again(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("good", "importance"))
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    keys = [key for key, _ in vectors.missing_inputs(conn, encoder, 9)]
    vectors.skip_inputs(conn, encoder, [keys[1]], "The model gave no numbers for it.")
    assert [text for _, text in vectors.missing_inputs(conn, encoder, 9)] == ["good"]
    embed(conn)
    assert tiers(conn) == ["embedded"]
    assert len(search.words(conn, "importance", 9)) == 1
    remove(conn, b"/notes/a.md")
    assert conn.execute("SELECT count(*) FROM unembeddable").get == 0


def test_a_new_encoder_embeds_beside_the_old_one_and_then_replaces_it(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two"))
    embed(conn)
    old = vectors.encoder_id(conn, ENCODER, WIDTH)
    assert embed(conn, "better") == 2
    new = vectors.encoder_id(conn, "better", WIDTH)
    assert len(search.nearest(conn, old, embedded(["one"])[0], 9)) == 2
    remove(conn, b"/notes/a.md")
    assert aside(conn) == 4
    put(conn, b"/notes/a.md", lines("one", "two"))
    vectors.retire_encoder(conn, old)
    assert [encoder.id for encoder in vectors.encoders(conn)] == [new]
    assert (live(conn), tiers(conn)) == (2, ["embedded"])
    assert len(search.nearest(conn, new, embedded(["one"])[0], 9)) == 2


def test_retiring_an_encoder_leaves_the_memo_of_others(conn: Connection) -> None:
    for name in ("first", "second"):
        put(conn, b"/notes/a.md", lines("one"))
        embed(conn, name)
    remove(conn, b"/notes/a.md")
    vectors.retire_encoder(conn, 1)
    assert [row[0].split("/")[1] for row in conn.execute("SELECT key FROM memo")] == ["2"]


def test_the_memo_drops_the_oldest_by_age_and_by_size(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("one", "two", "three"))
    embed(conn)
    documents.remove_documents(conn, [document])
    now = conn.execute("SELECT max(unused_since) FROM memo").get
    assert memo.purge_memo(conn, now) == 0
    assert memo.purge_memo(conn, now, max_bytes=2 * WIDTH * 4) == 1
    assert memo.purge_memo(conn, now + memo.KEPT_SECONDS + 1) == 2
    assert aside(conn) == 0


def test_a_document_without_content_has_nothing_to_embed(conn: Connection) -> None:
    documents.upsert_pending(conn, root_of(conn), b"/notes/a.md", "/notes/a.md", STAT)
    assert embed(conn) == 0
