"""Bytes to text."""

from __future__ import annotations

import codecs
from itertools import pairwise
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ingest.decode import Decoded, Detected, TextDecoder, clean, decode, detect, line_starts
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

FRENCH = "Le château d'été, où l'on gardait les clés dorées, était fermé dès le mois de février.\n" * 3
RUSSIAN = "Ключ от маяка лежит в ящике стола, под старой картой побережья и письмами брата.\n" * 3
CHINESE = "水闸的钥匙放在厨房的铜壶里，每天早上由看门人检查一次。今年的水位比去年高了三尺。\n" * 3
TAIWANESE = "水閘的鑰匙放在廚房的銅壺裡，每天早上由看門人檢查一次。今年的水位比去年高了三尺。\n" * 3
JAPANESE = "灯台の鍵は台所の引き出しの中にあります。毎朝、番人がそれを確かめてから朝食を食べます。\n" * 3
KOREAN = "창고 열쇠는 부엌 서랍 안에 있습니다. 매일 아침 관리인이 열쇠를 확인하고 문을 엽니다.\n" * 3


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
@given(text=st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1))
def test_a_byte_order_mark_decides_and_is_not_text(mark: bytes, encoding: str, text: str) -> None:
    decoded = decode(mark + text.encode(encoding))
    # Files joined by careless tools have several marks: none of them is text.
    assert (decoded.text, decoded.encoding, decoded.confidence) == (text.lstrip("\ufeff"), encoding, 1.0)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda t: t[0] != "\ufeff"))
def test_valid_utf8_is_never_taken_for_anything_else(text: str) -> None:
    decoded = decode(text.encode())
    assert (decoded.text, decoded.encoding, decoded.warnings) == (text, "utf-8", ())


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_controls_become_one_space_each(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        control = before < " " or "\x7f" <= before <= "\x9f"
        assert after == (" " if control and before not in "\t\n\r\f" else before)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_recognised(encoding: str) -> None:
    text = "The heron stands in the reeds.\r\nŁódź\r\n"
    assert decode(text.encode(encoding)).text == text


def test_half_a_character_at_the_end_is_left_out_with_a_warning() -> None:
    decoded = decode(codecs.BOM_UTF16_LE + "odd".encode("utf-16-le") + b"x")
    assert decoded.text == "odd"
    assert "middle of a character" in decoded.warnings[0]


def test_a_few_bad_bytes_touch_nothing_around_them() -> None:
    data = "Die Brücke über den Fluß, das ist ".encode() + b"Ren\xe9\x92s" + " größtes Glück.".encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text == "Die Brücke über den Fluß, das ist René\u2019s größtes Glück."
    assert decoded.warnings == ("2 bytes are not utf-8 and are read as cp1252.",)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (RUSSIAN, "cp866"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (KOREAN, "euc_kr"),
    ],
    ids=lambda value: value if len(value) < 20 else value[:4],
)
def test_legacy_text_is_guessed_and_says_so(text: str, encoding: str) -> None:
    decoded = decode(text.encode(encoding))
    assert decoded.text == text
    assert decoded.confidence < 1


def test_a_declared_encoding_wins_over_guessing_when_it_fits() -> None:
    data = "茶园".encode("gb2312")
    assert decode(data, declared="gb2312").text == "茶园"
    assert decode("naïve".encode(), declared="us-ascii").text == "naïve"
    assert decode(b"plain", declared="no-such-encoding").text == "plain"


def test_a_preallocated_file_keeps_its_words_and_its_offsets() -> None:
    data = b"before" + b"\0" * 10_291 + b"after"
    assert decode(data).text == "before" + " " * 10_291 + "after"


@pytest.mark.parametrize("data", [bytes(range(256)) * 20, b"\x7fELF\2\1\1\0\3\0>\0\1\0\0\0" * 9])
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(ParseFailure) as failure:
        decode(data)
    assert failure.value.status is Status.UNSUPPORTED


@given(st.binary())
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        text = decode(data).text
    except ParseFailure:
        return
    assert text == clean(text)
    text.encode()


def test_lines_end_at_lf_cr_and_crlf_only() -> None:
    text = "a\nb\r\nc\rd\u2028e\x0cf\x85g"
    assert [text[start : start + 1] for start in line_starts(text)] == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-16-le", "utf-32-be", "shift_jis", "gb18030", "iso2022_jp"]
)
@given(cuts=st.lists(st.integers(0, 400)), tail=st.binary(max_size=3))
def test_chunks_cut_anywhere_decode_to_the_same_text(encoding: str, cuts: list[int], tail: bytes) -> None:
    data = ("灯台 key\x00\x07\r\n" * 9).encode(encoding) + b"\xff\xd8" + "終".encode(encoding) + tail
    detected = Detected(encoding, 1.0)
    whole = TextDecoder(detected)
    text = whole.feed(data, final=True)
    pieces = TextDecoder(detected)
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    fed = [pieces.feed(data[start:end]) for start, end in pairwise(edges)]
    assert "".join([*fed, pieces.feed(b"", final=True)]) == text
    assert pieces.warnings == whole.warnings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "shift_jis", "cp1251"])
def test_the_beginning_of_a_file_tells_as_much_as_all_of_it(encoding: str) -> None:
    text = JAPANESE if encoding in ("utf-8", "shift_jis") else RUSSIAN
    data = (text * 9).encode(encoding)
    for end in range(400, 404):
        assert detect(data[:end], whole=False).encoding == detect(data).encoding


def test_lone_halves_of_utf16_pairs_become_one_mark_each() -> None:
    data = codecs.BOM_UTF16_LE + "a\ud83d b\ude00".encode("utf-16-le", "surrogatepass")
    decoded = decode(data)
    assert decoded.text == "a\ufffd b\ufffd"
    assert "2 characters are not utf-16-le" in decoded.warnings[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_no_text_starts_with_a_byte_order_mark(encoding: str) -> None:
    assert decode("\ufeff\ufeffnote".encode(encoding)).text == "note"


@given(st.text(st.characters(max_codepoint=0x3FF), max_size=40))
def test_cleaning_turns_controls_into_spaces_and_nothing_else(text: str) -> None:
    kept = "\t\n\f\r"
    expected = [" " if category(one) == "Cc" and one not in kept else one for one in text]
    assert clean(text) == "".join(expected)


@pytest.mark.parametrize("declared", ["zip", "bz2", "hex", "rot13", "punycode", "idna", "no such", "a\0b"])
def test_a_declared_codec_that_is_no_encoding_is_not_used(declared: str) -> None:
    assert decode(b"plain words", declared) == Decoded("plain words", "utf-8", 1.0)


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (RUSSIAN, "cp1251", "iso-8859-1"),
        (RUSSIAN, "koi8_r", "windows-1251"),
        (CHINESE, "gb18030", "iso-8859-1"),
        (JAPANESE, "shift_jis", "windows-1252"),
        (FRENCH, "utf-8", "iso-8859-1"),
        (CHINESE, "utf-8", "gb2312"),
        (JAPANESE, "utf-8", "shift_jis"),
    ],
)
def test_a_declared_encoding_that_is_wrong_does_not_win(text: str, encoding: str, declared: str) -> None:
    assert decode(text.encode(encoding), declared).text == text
    page = f'<meta charset="{declared}"><p>{text}'
    assert decode(page.encode(encoding), declared).text == page


@pytest.mark.parametrize(
    ("text", "encoding", "declared"),
    [
        (FRENCH, "iso8859-1", "ISO-8859-1"),
        (FRENCH, "mac_roman", "x-mac-roman"),
        ("€ “quoted” – naïve café, déjà vu.", "cp1252", "latin1"),
        ("Zażółć gęślą jaźń.", "iso8859-2", "iso-8859-2"),
        ("שלום עולם וברכה לכל", "iso8859-8", "iso-8859-8-i"),
        (JAPANESE, "cp932", "x-sjis"),
        (KOREAN, "cp949", "ks_c_5601-1987"),
        ("สวัสดีชาวโลกทุกคน", "cp874", "windows-874"),
    ],
)
def test_a_declared_encoding_is_known_by_the_names_that_files_use(
    text: str, encoding: str, declared: str
) -> None:
    decoded = decode(text.encode(encoding), declared)
    assert (decoded.text, decoded.confidence, decoded.warnings) == (text, 1.0, ())


@pytest.mark.parametrize("first", ["utf-8", "cp1252"])
def test_a_file_of_two_halves_is_read_in_the_encoding_of_each(first: str) -> None:
    second = "cp1252" if first == "utf-8" else "utf-8"
    decoded = decode(FRENCH.encode(first) + FRENCH.encode(second))
    assert decoded.text == FRENCH * 2
    count = sum(character > "\x7f" for character in FRENCH)
    assert decoded.warnings == (f"{count} bytes are not utf-8 and are read as cp1252.",)
    assert decoded.confidence < 1


def test_the_odd_bytes_of_another_script_are_read_in_its_own_encoding() -> None:
    decoded = decode((RUSSIAN * 2).encode() + RUSSIAN.encode("cp1251"))
    assert decoded.text == RUSSIAN * 3


def test_bytes_that_are_no_letters_become_one_mark_each() -> None:
    text = "Die Brücke führt über den Fluß. "
    decoded = decode((text * 9).encode() + b"ab\xffcd\xfe\xff. " + text.encode())
    assert decoded.text == text * 9 + "ab\ufffdcd\ufffd\ufffd. " + text
    assert decoded.warnings == ("3 bytes are not utf-8 and are shown as \ufffd.",)


def test_text_encoded_twice_is_left_as_it_is() -> None:
    twice = FRENCH.encode().decode("latin-1")
    assert decode(twice.encode()).text == clean(twice)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", [JAPANESE, CHINESE, KOREAN, RUSSIAN, "👩🏽 emoji 🇩🇪🇩🇪 only 😀😀😀\n"])
def test_wide_text_of_any_script_is_recognised_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text
    assert decode(text.encode(encoding) + bytes(800)).text.rstrip(" ") == text


def test_ascii_with_a_stray_nul_is_not_wide() -> None:
    assert decode(b"one line of words, and more\0and more\n" * 20).text == (
        "one line of words, and more and more\n" * 20
    )


def test_a_mark_inside_the_text_stays_where_it_is() -> None:
    assert decode("a\ufeffb".encode()).text == "a\ufeffb"


@pytest.mark.parametrize("encoding", ["hz", "iso2022_kr", "utf-7"])
def test_letters_written_in_ascii_are_read(encoding: str) -> None:
    text = KOREAN if encoding == "iso2022_kr" else CHINESE
    decoded = decode(text.encode(encoding))
    assert (decoded.text, decoded.confidence) == (text, 0.9)


@pytest.mark.parametrize(
    "data", [b"2+2=4 and C++11-14", b"\x1b[31mred\x1b[0m", b"~{ and ~} alone", b"a+b-c+abc-"]
)
def test_plain_ascii_is_never_taken_for_letters(data: bytes) -> None:
    assert decode(data).encoding == "utf-8"


def test_two_letters_that_are_valid_utf8_by_chance_are_read_with_their_word() -> None:
    assert "чё".encode("koi8_r").decode("utf-8")
    data = (RUSSIAN * 9).encode() + ("Ключ хранит учёный, а не сторож. " * 9).encode("koi8_r")
    assert decode(data).text == RUSSIAN * 9 + "Ключ хранит учёный, а не сторож. " * 9


@pytest.mark.parametrize("letter", ["é", "à", "ç", "œ", "ü"])
def test_one_odd_byte_beside_good_letters_touches_none_of_them(letter: str) -> None:
    text = FRENCH + f"x é{letter}é y ê{letter} z {letter}ê.\n"
    at = text.index(f"é{letter}é") + 1
    assert decode(text[:at].encode() + letter.encode("cp1252") + text[at + 1 :].encode()).text == text
