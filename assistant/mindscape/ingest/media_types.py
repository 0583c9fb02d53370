"""Which files are read, and by which module of `formats`: tables, nothing else."""

from __future__ import annotations

import re

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
CODE = "text/x-source"
ORG = "text/x-org"
RST = "text/x-rst"
ASCIIDOC = "text/asciidoc"
LATEX = "text/x-tex"
WIKI = "text/x-wiki"
TEXTILE = "text/x-textile"
TYPST = "text/x-typst"
SUBTITLES = "text/vtt"
JSON = "application/json"
YAML = "application/yaml"
TOML = "application/toml"
INI = "text/x-ini"
LOG = "text/x-log"
XML = "application/xml"
FICTIONBOOK = "application/x-fictionbook+xml"
MAIL = "message/rfc822"
MAILBOX = "application/mbox"
OUTLOOK = "application/vnd.ms-outlook"
NOTEBOOK = "application/x-ipynb+json"
CSV = "text/csv"
TSV = "text/tab-separated-values"
PDF = "application/pdf"
EPUB = "application/epub+zip"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
XLSB = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
XLS = "application/vnd.ms-excel"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODG = "application/vnd.oasis.opendocument.graphics"
RTF = "application/rtf"
PNG = "image/png"
JPEG = "image/jpeg"
TIFF = "image/tiff"

PICTURES = (PNG, JPEG, TIFF)
"""Read by OCR only."""

PARSERS = {
    PLAIN: "text",
    MARKDOWN: "markdown",
    HTML: "html",
    CODE: "code",
    ORG: "org",
    RST: "rst",
    ASCIIDOC: "asciidoc",
    LATEX: "latex",
    WIKI: "wiki",
    TEXTILE: "wiki",
    TYPST: "wiki",
    SUBTITLES: "subtitles",
    JSON: "settings",
    YAML: "settings",
    TOML: "settings",
    INI: "settings",
    LOG: "log",
    XML: "xml_file",
    FICTIONBOOK: "fictionbook",
    MAIL: "mail",
    MAILBOX: "mailbox",
    OUTLOOK: "outlook",
    NOTEBOOK: "notebook",
    CSV: "table",
    TSV: "table",
    PDF: "pdf",
    PNG: "picture",
    JPEG: "picture",
    TIFF: "picture",
    EPUB: "epub",
    DOCX: "docx",
    PPTX: "presentation",
    XLSX: "spreadsheet",
    XLSB: "spreadsheet",
    XLS: "spreadsheet",
    ODS: "spreadsheet",
    RTF: "rtf",
    ODT: "opendocument",
    ODP: "opendocument",
    ODG: "opendocument",
}

BY_SIGNATURE = (
    (b"%PDF-", PDF),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"{\\rtf", RTF),
    (b"\x89PNG", PNG),
    (b"\xff\xd8\xff", JPEG),
    (b"II*\0", TIFF),
    (b"MM\0*", TIFF),
    (b"GIF8", "image/gif"),
    (b"\x7fELF", "application/x-executable"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/x-rar-compressed"),
    (b"%!PS-Adobe", "application/postscript"),
)

ARCHIVES = frozenset(
    ("application/zip", "application/gzip", "application/x-7z-compressed", "application/x-rar-compressed")
)

ZIP_MEMBERS = (
    (b"mimetypeapplication/epub+zip", EPUB),
    (b"META-INF/container.xml", EPUB),
    (f"mimetype{ODT}".encode(), ODT),
    (f"mimetype{ODP}".encode(), ODP),
    (f"mimetype{ODG}".encode(), ODG),
    (f"mimetype{ODS}".encode(), ODS),
    (b"word/", DOCX),
    (b"ppt/presentation.xml", PPTX),
    (b"ppt/slides/", PPTX),
    (b"xl/workbook.xml", XLSX),
    (b"xl/worksheets/sheet1.xml", XLSX),
    (b"xl/workbook.bin", XLSB),
    (b".fb2", FICTIONBOOK),
)
"""What the first bytes of a zip archive say it is."""

BY_BEGINNING = (
    (re.compile(rb"(?:\xef\xbb\xbf)?\s{0,99}<\?xml\s"), XML),
    (re.compile(rb"From \S[^\r\n]{0,200}\d:\d\d[^\r\n]{0,60}\r?\n[!-9;-~]{1,60}:"), MAILBOX),
    (
        re.compile(
            rb"(?:(?:return-path|received|delivered-to|envelope-to|x-[\w-]{1,60}|dkim-signature|arc-[\w-]{1,40}"
            rb"|mime-version|message-id|date|from|to|subject):[^\r\n]{0,998}\r?\n"
            rb"(?:[ \t][^\r\n]{0,998}\r?\n){0,50}){3}",
            re.I,
        ),
        MAIL,
    ),
)
"""How files begin whose names say nothing: mail programs keep mailboxes and messages without endings."""

PACKAGES = (EPUB, DOCX, PPTX, XLSX, XLSB, XLS, ODS, ODT, ODP, ODG, OUTLOOK)
"""Types whose own parser tells an encrypted, older or quite other file from a damaged one."""

_EXTENSIONS = {
    PLAIN: "txt text nfo",
    XML: "xml rss atom rdf opml svg dbk docbook jats tei nxml xsd kml gpx plist",
    FICTIONBOOK: "fb2 fbz",
    LOG: "log",
    ORG: "org",
    RST: "rst rest",
    ASCIIDOC: "adoc asciidoc",
    LATEX: "tex latex ltx",
    WIKI: "mediawiki wiki wikitext creole",
    TEXTILE: "textile",
    TYPST: "typ",
    SUBTITLES: "vtt srt sbv ass ssa",
    JSON: "json jsonl ndjson geojson json5 jsonc",
    YAML: "yaml yml",
    TOML: "toml",
    INI: "ini cfg conf properties",
    MARKDOWN: "md markdown mdown mkd mdx qmd rmd",
    HTML: "html htm xhtml xht",
    CODE: (
        "py pyi js mjs cjs ts tsx jsx java kt kts scala c h cc cpp cxx hpp hh cs go rs rb php pl pm lua r jl "
        "swift m mm sh bash zsh fish ps1 sql hs ml mli ex exs erl clj cljs lisp el scm vim nim zig dart f90 "
        "f95 pas asm s v vhd css scss less proto graphql cmake mk gradle groovy tf"
    ),
    MAIL: "eml emlx mht mhtml",
    MAILBOX: "mbox mbx",
    OUTLOOK: "msg oft",
    NOTEBOOK: "ipynb",
    CSV: "csv",
    TSV: "tsv tab",
    PDF: "pdf",
    PNG: "png",
    JPEG: "jpg jpeg",
    TIFF: "tif tiff",
    EPUB: "epub",
    DOCX: "docx docm",
    PPTX: "pptx pptm ppsx ppsm potx potm",
    XLSX: "xlsx xlsm xltx xltm",
    XLSB: "xlsb",
    XLS: "xls xlt",
    ODS: "ods ots fods",
    RTF: "rtf",
    ODT: "odt ott fodt",
    ODP: "odp otp fodp",
    ODG: "odg otg fodg",
}
BY_EXTENSION = {f".{ext}": media for media, exts in _EXTENSIONS.items() for ext in exts.split()}
PICTURE_ENDINGS = tuple(ending for ending, media in BY_EXTENSION.items() if media in PICTURES)

_SAVE_AS = {
    "Word 97-2003 documents": ("DOCX", "doc dot"),
    "PowerPoint 97-2003 presentations": ("PPTX", "ppt pps pot"),
    "Keynote presentations": ("PPTX or PDF", "key"),
    "Pages documents": ("DOCX or PDF", "pages"),
    "Numbers spreadsheets": ("XLSX", "numbers"),
    "OpenOffice.org 1 files": ("ODT, ODS or ODP", "sxw sxc sxi stw"),
    "WordPerfect documents": ("DOCX or PDF", "wpd"),
    "Microsoft Works documents": ("DOCX or PDF", "wps"),
    "Visio and OneNote files": ("PDF", "vsd vsdx one"),
    "XPS documents": ("PDF", "xps oxps"),
    "PostScript files": ("PDF", "ps eps"),
    "Kindle and Microsoft Reader books": ("EPUB", "mobi azw azw3 kfx prc lit"),
    "DjVu files": ("PDF", "djvu djv"),
}
NOT_READ = {
    f".{ext}": f"{kind[0].upper()}{kind[1:]} are not read. Save or convert it to {target} to have it indexed."
    for kind, (target, exts) in _SAVE_AS.items()
    for ext in exts.split()
}
"""Extensions of documents that are not read, each with the sentence that says what to do."""

ALSO_TEXT = (".doc", ".dot", ".wps")
"""Some of them that plain text and web pages have had as well."""
