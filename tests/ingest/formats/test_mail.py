"""Mails, as programs write them and as nobody does."""

from __future__ import annotations

import base64
import io
from email.message import EmailMessage
from email.policy import SMTP

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.pdfgen.canvas import Canvas
from tests.ingest.formats.made import docx, paragraph, zipped
from tests.ingest.formats.shape import assert_well_formed, parsed, slices

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

HEAD = "From: Ada Mole <ada@example.org>\nDate: Tue, 1 Oct 2024 12:34:56 -0500\nSubject: Cod\n"


def letter(body: str = "Lay the fish on boards.", **headers: str) -> EmailMessage:
    message = EmailMessage(policy=SMTP)
    message["From"] = "Ada Mole <ada@example.org>"
    message["To"] = "Bob Vole <bob@example.org>, c@example.org"
    message["Date"] = "Tue, 01 Oct 2024 12:34:56 -0500"
    message["Subject"] = headers.pop("subject", "How to salt cod")
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(body)
    return message


def pdf(*pages: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=True)
    for page in pages:
        canvas.drawString(72, 700, page)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def failure_of(data: bytes) -> ParseFailure:
    with pytest.raises(ParseFailure) as failure:
        parsed("m.eml", data)
    return failure.value


def multipart(kind: str, *parts: str, head: str = HEAD) -> str:
    body = "".join(f"--B\n{part}\n" for part in parts)
    return f'{head}MIME-Version: 1.0\nContent-Type: multipart/{kind}; boundary="B"\n\n{body}--B--\n'


def test_a_mail_says_who_wrote_what_to_whom_and_when() -> None:
    headers = {"Cc": "Zoë <zoe@example.org>", "Message_ID": "<2@x>", "In_Reply_To": "<1@x>"}
    message = letter(
        "Turn it.\n\n> Lay it.\n> Salt it.\n\nBye https://e.org/cod.", Received="from x", **headers
    )
    result = parsed("m.eml", message.as_bytes())
    assert [(block.kind, result.text[block.start : block.end]) for block in result.blocks] == [
        ("heading", "How to salt cod"),
        (
            "properties",
            "From: Ada Mole <ada@example.org>\nTo: Bob Vole <bob@example.org>, c@example.org\n"
            "Cc: Zoë <zoe@example.org>\nDate: 2024-10-01T12:34:56-05:00\nSubject: How to salt cod",
        ),
        ("paragraph", "Turn it."),
        ("quote", "Lay it.\nSalt it."),
        ("paragraph", "Bye https://e.org/cod."),
    ]
    assert result.title == "How to salt cod"
    assert result.metadata == {
        "author": "Ada Mole <ada@example.org>",
        "date": "2024-10-01T12:34:56-05:00",
        "to": "Bob Vole <bob@example.org>, c@example.org",
        "message_id": "<2@x>",
        "in_reply_to": "<1@x>",
    }
    assert result.links == ("https://e.org/cod",)
    assert not result.text_like


def test_a_mail_without_a_subject_is_called_by_its_sender_and_date() -> None:
    result = parsed("m.eml", letter(subject="").as_bytes())
    assert result.sections[0].heading == "Message from Ada Mole <ada@example.org>, 2024-10-01T12:34:56-05:00"
    assert result.title is None


def test_attachments_are_documents_with_their_own_headings_and_pages() -> None:
    message = letter()
    message.add_attachment(pdf("Page of boards", "Page of salt"), "application", "pdf", filename="plan.pdf")
    word = docx(paragraph("Prices", '<w:pStyle w:val="Heading1"/>') + paragraph("Two pounds."))
    message.add_attachment(word, "application", "octet-stream", filename="prices.docx")
    message.add_attachment("koppar: tjugo", charset="iso-8859-1", filename="blad.txt")
    result = parsed("m.eml", message.as_bytes())
    top = "How to salt cod"
    assert [section.path for section in result.sections if "Prices" not in section.path] == [
        (top,),
        (top, "Attachment: plan.pdf"),
        (top, "Attachment: prices.docx"),
        (top, "Attachment: blad.txt"),
    ]
    assert (top, "Attachment: prices.docx", "Prices") in [section.path for section in result.sections]
    found = [(mark.label, result.text[mark.start :].split("\n")[0]) for mark in result.marks]
    assert found == [("1", "Page of boards"), ("2", "Page of salt"), ("", "Attachment: prices.docx")]
    assert result.text.endswith("koppar: tjugo")


def test_what_cannot_be_read_is_said_and_stops_nothing() -> None:
    message = letter()
    message.add_attachment(b"\x89PNG\r\n", "image", "png", filename="a.png")
    message.add_attachment(b"\x89PNG\r\n", "image", "png", filename="b.png")
    message.add_attachment(b"not a pdf", "application", "pdf", filename="plan.pdf")
    message.add_attachment(zipped({"x": "y"}), "application", "zip", filename="all.zip")
    message.add_attachment(b"", "text", "plain", filename="none.txt")
    message.add_attachment(b"BEGIN:VCARD\nEND:VCARD\n", "text", "vcard", filename="bob.vcf")
    result = parsed("m.eml", message.as_bytes())
    assert result.text.endswith("Lay the fish on boards.")
    assert len(result.warnings) == 5
    assert "2 attachments are pictures and hold no text." in result.warnings
    for name in ("plan.pdf", "all.zip", "none.txt", "bob.vcf"):
        assert any(said.startswith(f"The attachment {name} was not read: ") for said in result.warnings)


def test_a_mail_in_a_mail_is_a_section_below_and_parts_in_parts_end_somewhere() -> None:
    inner = letter("Innermost words.", subject="Level 9")
    for level in range(8, 0, -1):
        outer = letter(f"Words {level}.", subject=f"Level {level}")
        outer.add_attachment(inner)
        inner = outer
    result = parsed("m.eml", inner.as_bytes())
    assert result.sections[-1].path == tuple(f"Level {level}" for level in range(1, 10))
    assert result.text.endswith("Innermost words.")
    packed = letter("Innermost words.").as_bytes()
    for _ in range(7):
        outer = letter("Words.")
        outer.add_attachment(packed, "application", "octet-stream", filename="m.eml")
        packed = outer.as_bytes()
    result = parsed("m.eml", packed)
    assert result.text.count("Words.") == 6
    assert any("up to 5 deep" in said for said in result.warnings)


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("The plain words.", "The plain words."),
        ("", "The rich words."),
        ("Your mail client does not support HTML.", "The rich words."),
        ("View this email in your browser: https://e.org", "The rich words."),
    ],
)
def test_the_plain_text_is_read_unless_it_only_stands_in_for_the_html(plain: str, shown: str) -> None:
    message = letter(plain)
    message.add_alternative(
        "<html><head><title>t</title><style>p{}</style></head><body><h1>Boards</h1>"
        '<div style="display:none">noise</div><p>The rich words.</p>' + "<p>More of them.</p>" * 9,
        subtype="html",
    )
    result = parsed("m.eml", message.as_bytes())
    assert shown in result.text
    assert "noise" not in result.text
    assert ("The plain words." in result.text) != ("The rich words." in result.text)
    if shown == "The rich words.":
        assert result.sections[-1].path == ("How to salt cod", "Boards")


def test_what_is_attached_inside_one_alternative_is_not_lost() -> None:
    rich = 'Content-Type: multipart/mixed; boundary="C"\n\n--C\nContent-Type: text/html\n\n<p>Rich.\n'
    rich += "--C\nContent-Type: text/plain; name=list.txt\n\nfive boards\n--C--\n"
    mail = multipart("alternative", "Content-Type: text/plain\n\nPlain words.\n", rich)
    result = parsed("m.eml", mail)
    assert result.text.endswith("Plain words.\n\nAttachment: list.txt\n\nfive boards")
    assert "Rich" not in result.text


@pytest.mark.parametrize(
    ("charset", "body", "expected"),
    [
        ("koi8-r", "Соль и треска".encode("koi8-r"), "Соль и треска"),
        ("unknown-8bit", "Соль и треска".encode(), "Соль и треска"),
        ("us-ascii", "café".encode(), "café"),
        ("utf-8", "Łódź, zażółć gęślą jaźń w naszym domu".encode("cp1250"), None),
        ("ks_c_5601-1987", "똠방각하".encode("cp949"), "똠방각하"),
        ("iso-2022-jp", "塩と魚".encode("iso2022_jp"), "塩と魚"),
        ("zip", b"plain words", "plain words"),
        ("punycode", b"plain words", "plain words"),
    ],
)
def test_charsets_are_believed_where_they_fit(charset: str, body: bytes, expected: str | None) -> None:
    head = f"{HEAD}Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n".encode()
    result = parsed("m.eml", head + body)
    if expected:
        assert result.text.endswith(expected)
    else:
        assert any("guessed" in said for said in result.warnings)


def test_transfer_encodings_are_undone_also_where_they_are_named_wrongly() -> None:
    def said(encoding: str, body: str) -> str:
        mail = (
            f"{HEAD}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: {encoding}\n\n{body}"
        )
        return parsed("m.eml", mail).text.split("Subject: Cod")[1].strip()

    encoded = base64.encodebytes("Fünf Bretter.".encode()).decode()
    assert said("base64", encoded) == "Fünf Bretter."
    assert said(" BASE64 ;", encoded.strip("=\n")) == "Fünf Bretter."
    assert said("base64", "Lay the fish on boards.") == "Lay the fish on boards."
    assert said("quoted-printable", "F=C3=BCnf=\n Bretter=2E") == "Fünf Bretter."
    assert said("x-uuencode", "begin 644 a.txt\n$86)C9```\nend\n") == "abcd"
    assert said("8bit", "Fünf Bretter.") == "Fünf Bretter."


def test_encrypted_mail_is_protected_and_an_encrypted_part_is_said() -> None:
    sealed = "Content-Type: application/octet-stream\n\n-----BEGIN PGP MESSAGE-----"
    version = "Content-Type: application/pgp-encrypted\n\nVersion: 1"
    assert failure_of(multipart("encrypted", version, sealed).encode()).status is Status.PROTECTED
    smime = f"{HEAD}Content-Type: application/pkcs7-mime; smime-type=enveloped-data\n\nMIAG"
    assert failure_of(smime.encode()).status is Status.PROTECTED
    inline = "-----BEGIN PGP MESSAGE-----\n\nhQEMA\n-----END PGP MESSAGE-----\n"
    assert failure_of(f"{HEAD}\n{inline}".encode()).status is Status.PROTECTED
    result = parsed("m.eml", f"{HEAD}\nRead this:\n\n{inline}")
    assert result.text.endswith("Read this:")
    assert result.warnings == ("1 part of the mail is encrypted and was not read.",)


def test_a_signed_mail_is_read_without_its_signature() -> None:
    seal = "Content-Type: application/pgp-signature; name=signature.asc\n\n-----BEGIN PGP SIGNATURE-----"
    result = parsed("m.eml", multipart("signed", "Content-Type: text/plain\n\nSigned words.", seal))
    assert result.text.endswith("Signed words.")
    assert result.warnings == ()
    clear = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSigned words.\n"
    clear += "-----BEGIN PGP SIGNATURE-----\n\niQ\n-----END PGP SIGNATURE-----\n"
    assert parsed("m.eml", f"{HEAD}\n{clear}").text.endswith("Cod\n\nSigned words.")


def test_a_report_and_a_digest_are_read_in_order() -> None:
    fields = "Reporting-MTA: dns; mx\n\nFinal-Recipient: bob\nStatus: 5.1.1"
    status = f"Content-Type: message/delivery-status\n\n{fields}\n"
    report = parsed("m.eml", multipart("report", "Content-Type: text/plain\n\nNot delivered.", status))
    assert report.text.endswith(f"Not delivered.\n\n{fields}")
    digest = parsed("m.eml", multipart("digest", "\nSubject: One\n\nFirst.", "\nSubject: Two\n\nSecond."))
    assert [section.path for section in digest.sections] == [("Cod",), ("Cod", "One"), ("Cod", "Two")]


def test_an_invitation_says_what_when_and_where() -> None:
    event = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Salting\\, again\nDTSTART;TZID=Europe/Oslo:20241001T090000\n"
    )
    event += "DTEND:20241001T100000Z\nLOCATION:Cedar\n  shed\nEND:VEVENT\nEND:VCALENDAR\n"
    parts = (
        f"Content-Type: text/calendar\n\n{event}",
        f"Content-Type: application/ics; name=i.ics\n\n{event}",
    )
    result = parsed("m.eml", multipart("mixed", "Content-Type: text/plain\n\nCome!", *parts))
    assert slices(result, "properties")[1:] == [
        "Event: Salting, again\nStart: 2024-10-01 09:00 (Europe/Oslo)\nEnd: 2024-10-01 10:00 UTC\n"
        "Place: Cedar shed"
    ]


def test_a_saved_page_is_read_and_its_styles_are_not() -> None:
    page = 'Content-Type: text/html\nContent-Location: https://e.org\n\n<h1>Cod</h1><p class="a">Salt it.</p>'
    style = "Content-Type: text/css\nContent-Location: https://e.org/a.css\n\n.a { color: red }"
    result = parsed("page.mht", multipart("related", page, style))
    assert result.text.endswith("Cod\n\nSalt it.")


def test_apple_mail_counts_the_bytes_of_a_message_and_adds_notes_that_are_not_read() -> None:
    mail = f"{HEAD}\nWords.\n".encode()
    result = parsed("m.emlx", b"%d       \n%s<?xml version='1.0'?><plist>noise</plist>" % (len(mail), mail))
    assert result.text.endswith("Words.")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-8-sig"])
def test_a_mail_saved_in_another_encoding_is_read(encoding: str) -> None:
    mail = f"{HEAD}Content-Type: text/plain; charset=utf-8\n\nFünf Bretter in der Halle."
    assert parsed("m.eml", mail.encode(encoding)).text.endswith("Fünf Bretter in der Halle.")


def test_a_file_without_headers_is_text() -> None:
    result = parsed("m.eml", "Note: this is no header\nof a mail, just words.\n\nMore words.")
    assert result.text == "Note: this is no header\nof a mail, just words.\n\nMore words."
    assert "no headers" in result.warnings[0]
    assert failure_of(b" \n \r\n").status is Status.EMPTY
    assert failure_of(bytes(range(256)) * 20).status is Status.UNSUPPORTED


def test_several_messages_saved_as_one_are_all_read() -> None:
    mail = f"From ada Tue Oct  1 12:34:56 2024\n{HEAD}\nWords.\n\n"
    assert parsed("m.eml", mail * 2).text.count("Words.") == 2
    assert len(parsed("m.eml", mail).sections) == 1


def test_a_boundary_that_never_closes_or_never_comes_loses_no_words() -> None:
    mail = multipart(
        "mixed", "Content-Type: text/plain\n\nFirst words.", "Content-Type: text/plain\n\nLast words."
    )
    assert parsed("m.eml", mail.removesuffix("--B--\n")).text.endswith("First words.\n\nLast words.")
    never = f"{HEAD}Content-Type: multipart/mixed; boundary=Z\n\nThe only words."
    assert parsed("m.eml", never).text.endswith("The only words.")
    assert parsed("m.eml", never.replace("; boundary=Z", "")).text.endswith("The only words.")


def test_hostile_sizes_are_read_or_refused() -> None:
    nested = HEAD + "".join(
        f'Content-Type: multipart/mixed; boundary="b{level}"\n\n--b{level}\n' for level in range(10_000)
    )
    assert failure_of(nested.encode()).status is Status.TOO_LARGE
    many = multipart("mixed", *["Content-Type: text/plain\n\nx"] * 10_001)
    assert failure_of(many.encode()).status is Status.TOO_LARGE
    headers = HEAD + "".join(f"X-{number}: noise\n" for number in range(100_000))
    assert parsed("m.eml", f"{headers}\nWords.").text.endswith("Cod\n\nWords.")
    long = f"{HEAD}To: {'a@example.org, ' * 700_000}\nContent-Type: text/plain{'; a=b' * 2_000_000}\n\nWords."
    result = parsed("m.eml", long)
    assert result.text.endswith("Words.")
    assert len(result.text) < 5_000


def test_an_attached_bomb_stops_at_its_own_limits() -> None:
    message = letter()
    message.add_attachment(
        docx("<w:p>" + " " * (33 << 20) + "</w:p>"), "application", "octet-stream", filename="bomb.docx"
    )
    result = parsed("m.eml", message.as_bytes())
    assert result.text.endswith("Lay the fish on boards.")
    assert "The attachment bomb.docx was not read: " in result.warnings[0]


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_damage_of_a_mail_is_survived(data: st.DataObject) -> None:
    message = letter("Plain words.\n\n> quoted\n", subject="Cod für Zoë")
    message.add_alternative("<h1>Rich</h1><p>words</p>", subtype="html")
    message.add_attachment("five boards", filename="list.txt")
    message.add_attachment(letter("Inner words."))
    raw = bytearray(message.as_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(8, len(raw) - 1))
        piece = data.draw(
            st.one_of(st.binary(max_size=8), st.sampled_from([b"\n", b"--", b"=?x?q?", b';;"', b"\0"]))
        )
        raw[at : at + data.draw(st.integers(0, 40))] = piece
    try:
        assert_well_formed(parsed("m.eml", bytes(raw)))
    except ParseFailure as failure:
        if failure.status not in (Status.EMPTY, Status.TOO_LARGE, Status.PROTECTED):
            raise
