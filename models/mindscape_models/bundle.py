"""Bundles: a folder with `manifest.toml` and the weights it names, checked by hash.

format = 1
name = "all-minilm-l6-v2-w8"      kind = "embedder" | "generator"
licence = "Apache-2.0"            capabilities = ["answer", ...]   jobs measured good enough
[[files]]                         path, sha256, bytes
[provenance]                      where the weights come from, as text
[limits]                          whole numbers, such as context
[quality]                         measured numbers
[encoder]                         embedders only: see `EncoderSettings`
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any, Literal, TypeGuard, cast, get_args

from mindscape_models.errors import BundleError

MANIFEST = "manifest.toml"
FORMAT = 1
Kind = Literal["embedder", "generator"]
Pooling = Literal["mean", "last"]
Mindscape = Literal["none", "residual", "trained"]
Kinds = type[Any] | tuple[type[Any], ...]

_REQUIRED = {"format", "name", "kind", "files", "licence", "provenance"}
_OPTIONAL = {"limits", "capabilities", "quality", "encoder"}


@dataclass(frozen=True, slots=True)
class BundleFile:
    """One file of a bundle. `path` is relative to the folder and never leaves it."""

    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class DecoderSettings:
    """The sequence that a decoder reads (MiA-RAG, Eq. 5), written in its manifest as one string.

    `query_prefix`, then the template `{question} d_q lead-in {mindscape} d_n`, then d_c. The delimiters are
    tokens of the tokeniser, white space in the template counts, and each has its state read: d_q for the
    question alone, d_n for the task `entity`, d_c for the task `passage` and for passages.
    """

    query_delimiter: str
    entity_delimiter: str
    passage_delimiter: str
    """The end of every query and passage, whether or not the tokeniser's own file appends it."""
    after_question: str
    before_mindscape: str
    after_mindscape: str


@dataclass(frozen=True, slots=True)
class EncoderSettings:
    """How an embedder's graph is fed and its states become one vector."""

    graph: str
    tokeniser: str
    pooling: Pooling
    """`mean` of the token states (encoders), or the state of the `last` token (decoders)."""
    dimensions: int
    max_tokens: int
    """Window of the encoder, its special tokens included. A longer text is cut into windows of about
    equal length without overlap, whose token states are averaged together."""
    passage_prefix: str
    query_prefix: str
    mindscape: Mindscape
    """How a query takes a mindscape in: `none` means it does not, `residual` that the model was not
    trained to and needs the question's own state beside it, `trained` that it was. Chosen by measurement."""
    delta: float = 0.5
    """Weight of the question's own state in a query with a mindscape (MiA-RAG, Eq. 11 and Table 7)."""
    mindscape_tokens: int = 1024
    """Tokens of a mindscape that are read; what follows them is left out."""
    decoder: DecoderSettings | None = None
    """With the pooling `last`, and only with it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """A model on disk, as its manifest describes it."""

    folder: Path
    name: str
    kind: Kind
    files: tuple[BundleFile, ...]
    licence: str
    provenance: Mapping[str, str]
    limits: Mapping[str, int]
    capabilities: tuple[str, ...]
    """Jobs this model was measured good enough for."""
    quality: Mapping[str, float]
    encoder: EncoderSettings | None

    @property
    def encoder_name(self) -> str:
        """The bundle's name and a hash of all that a passage's vector depends on.

        A bundle that is rebuilt under its old name so gets vectors of its own. Raises BundleError for a
        generator.
        """
        if self.encoder is None:
            raise BundleError(f"{self.name} is a {self.kind}, not an embedder.")
        hashes = {file.path: file.sha256 for file in self.files}
        passage_side = (
            hashes[self.encoder.graph],
            hashes[self.encoder.tokeniser],
            self.encoder.pooling,
            self.encoder.max_tokens,
            self.encoder.passage_prefix,
            *([self.encoder.decoder.passage_delimiter] if self.encoder.decoder else []),
        )
        return f"{self.name}@{hashlib.sha256(repr(passage_side).encode()).hexdigest()[:12]}"

    def path(self, name: str) -> Path:
        """Absolute path of the file that the manifest lists as `name`."""
        if all(file.path != name for file in self.files):
            raise BundleError(f"The bundle in {self.folder} lists no file {name!r}.")
        return self.folder / name

    def first(self, suffix: str) -> Path:
        """Absolute path of the first listed file that ends with `suffix`, such as `.gguf`."""
        for file in self.files:
            if file.path.endswith(suffix):
                return self.folder / file.path
        raise BundleError(f"The bundle in {self.folder} lists no {suffix} file.")


def shipped_folder() -> Path:
    """The folder of the bundles that are part of the package."""
    return Path(__file__).parent / "bundles"


def find_bundles(*folders: Path, broken: list[BundleError] | None = None) -> list[Bundle]:
    """Every bundle that stands directly inside one of `folders`, sorted by name.

    Earlier folders win over later ones of the same name. Only manifests are read. One that cannot be
    understood is left out and its error appended to `broken`; without such a list it is raised. A folder
    that does not exist holds no bundles.
    """
    found: dict[str, Bundle] = {}
    for folder in folders:
        for manifest in sorted(folder.glob(f"*/{MANIFEST}")):
            try:
                bundle = open_bundle(manifest.parent, verify=False)
            except BundleError as error:
                if broken is None:
                    raise
                broken.append(error)
                continue
            found.setdefault(bundle.name, bundle)
    return [found[name] for name in sorted(found)]


def open_bundle(folder: Path, verify: bool = True) -> Bundle:
    """Read a bundle's manifest and, unless `verify` is false, check each file's size and sha256.

    Raises BundleError with a sentence: manifest missing or malformed, keys missing or unknown, a file
    missing, of another size, or with another hash.
    """
    path = folder / MANIFEST
    try:
        with path.open("rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise BundleError(
            f"There is no readable model in {folder}: {path.name}: {error.strerror}."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BundleError(f"{path} is not valid TOML: {error}. Install the model again.") from error
    bundle = _Manifest(path, table).bundle()
    if verify:
        for file in bundle.files:
            _verify(bundle, file)
    return bundle


def file_sha256(path: Path) -> str:
    """Hex sha256 of a file's bytes."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _verify(bundle: Bundle, file: BundleFile) -> None:
    path = bundle.folder / file.path
    again = f"Install the model {bundle.name} again."
    try:
        size = path.stat().st_size
        if size != file.bytes:
            raise BundleError(f"{path} has {size} bytes where the manifest says {file.bytes}. {again}")
        if file_sha256(path) != file.sha256:
            raise BundleError(f"{path} is not the file its manifest describes (sha256 differs). {again}")
    except OSError as error:
        raise BundleError(f"{path} cannot be read: {error.strerror}. {again}") from error


class _Manifest:
    """Reads one manifest; every complaint names the file and the key."""

    def __init__(self, path: Path, table: dict[str, Any]) -> None:
        self._path = path
        self._table = table

    def bundle(self) -> Bundle:
        table = self._table
        if table.get("format", FORMAT) != FORMAT:
            raise self._error(f"has format {table['format']!r}; this version reads format {FORMAT}")
        self._keys(table, "", _REQUIRED, _OPTIONAL)
        kind = table["kind"]
        if kind not in get_args(Kind):
            raise self._error(f"has kind {kind!r}; known are {', '.join(get_args(Kind))}")
        if (kind == "embedder") != ("encoder" in table):
            raise self._error("must have a table [encoder] if, and only if, its kind is embedder")
        files = self._files(table["files"])
        return Bundle(
            folder=self._path.parent,
            name=self._value(table, "name", str),
            kind=kind,
            files=files,
            licence=self._value(table, "licence", str),
            provenance=self._table_of(str, "provenance"),
            limits=self._table_of(int, "limits"),
            capabilities=self._capabilities(),
            quality=self._table_of((int, float), "quality"),
            encoder=self._encoder({file.path for file in files}) if kind == "embedder" else None,
        )

    def _files(self, entries: object) -> tuple[BundleFile, ...]:
        if not _is_list(entries) or not entries:
            raise self._error("must list its files as [[files]]")
        files: list[BundleFile] = []
        for entry in entries:
            if not _is_table(entry):
                raise self._error("must list its files as [[files]]")
            self._keys(entry, "files.", {"path", "sha256", "bytes"}, set())
            path = self._value(entry, "path", str)
            if not _stays_inside(path):
                raise self._error(f"names the file {path!r}, which is outside its folder")
            sha256 = self._value(entry, "sha256", str).lower()
            files.append(BundleFile(path, sha256, self._value(entry, "bytes", int)))
        return tuple(files)

    def _encoder(self, listed: set[str]) -> EncoderSettings:
        table = self._table["encoder"]
        if not _is_table(table):
            raise self._error("must have [encoder] as a table")
        optional = {field.name for field in fields(EncoderSettings) if field.default is not MISSING}
        required = {field.name for field in fields(EncoderSettings)} - optional
        self._keys(table, "encoder.", required, optional)
        for key in ("graph", "tokeniser"):
            if table[key] not in listed:
                raise self._error(f"has encoder.{key} = {table[key]!r}, which is not among its files")
        for key in ("dimensions", "max_tokens"):
            if self._value(table, key, int) < (8 if key == "max_tokens" else 1):
                raise self._error(f"has encoder.{key} = {table[key]}, which is too small")
        for key, known in (("pooling", get_args(Pooling)), ("mindscape", get_args(Mindscape))):
            if table[key] not in known:
                raise self._error(f"has encoder.{key} = {table[key]!r}; known are {', '.join(known)}")
        for key in ("passage_prefix", "query_prefix"):
            self._value(table, key, str)
        if not 0 <= self._value(table, "delta", (int, float), 0.5) <= 1:
            raise self._error(f"has encoder.delta = {table['delta']}, which is not between 0 and 1")
        if self._value(table, "mindscape_tokens", int, 1) < 1:
            raise self._error(
                f"has encoder.mindscape_tokens = {table['mindscape_tokens']}, which is too small"
            )
        if (table["pooling"] == "last") != ("decoder" in table):
            raise self._error("must have a table [encoder.decoder] if, and only if, its pooling is last")
        settings: dict[str, Any] = {**table, "decoder": self._decoder(table.get("decoder"))}
        return EncoderSettings(**settings)

    def _decoder(self, table: object) -> DecoderSettings | None:
        if table is None:
            return None
        if not _is_table(table):
            raise self._error("must have [encoder.decoder] as a table")
        delimiters = ("query_delimiter", "entity_delimiter", "passage_delimiter")
        self._keys(table, "encoder.decoder.", {"template", *delimiters}, set())
        for key in delimiters:
            if not self._value(table, key, str):
                raise self._error(f"has encoder.decoder.{key} = '', which is not a token")
        query, entity, _ = (re.escape(table[key]) for key in delimiters)
        pattern = rf"\{{question\}}(.*?){query}(.*?)\{{mindscape\}}(.*?){entity}"
        pieces = re.fullmatch(pattern, self._value(table, "template", str), re.DOTALL)
        if pieces is None:
            raise self._error(
                "has an encoder.decoder.template that is not: {question}, query_delimiter, {mindscape}, "
                "entity_delimiter"
            )
        return DecoderSettings(*(table[key] for key in delimiters), *pieces.groups())

    def _capabilities(self) -> tuple[str, ...]:
        jobs = self._table.get("capabilities", [])
        if not _is_list(jobs) or not all(isinstance(job, str) for job in jobs):
            raise self._error("must have capabilities as a list of words")
        return tuple(cast("list[str]", jobs))

    def _table_of(self, kinds: Kinds, key: str) -> dict[str, Any]:
        table = self._table.get(key, {})
        if not _is_table(table) or not all(isinstance(value, kinds) for value in table.values()):
            raise self._error(f"has values in [{key}] of the wrong type")
        return table

    def _value(self, table: dict[str, Any], key: str, kind: Kinds, default: Any = None) -> Any:
        value = table[key] if default is None else table.get(key, default)
        # TOML booleans are Python ints too.
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self._error(f"has {key} = {value!r}, which is not {_NAMES[kind]}")
        return value

    def _keys(self, table: dict[str, Any], where: str, required: set[str], optional: set[str]) -> None:
        missing = sorted(required - table.keys())
        if missing:
            raise self._error(f"lacks the key {where}{missing[0]}")
        unknown = sorted(table.keys() - required - optional)
        if unknown:
            raise self._error(f"has the unknown key {where}{unknown[0]}")

    def _error(self, what: str) -> BundleError:
        return BundleError(f"The manifest {self._path} {what}.")


_NAMES: dict[Kinds, str] = {str: "text", int: "a whole number", (int, float): "a number"}


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _stays_inside(path: str) -> bool:
    parts: Sequence[str] = PurePosixPath(path).parts
    return (
        bool(parts)
        and not path.startswith("/")
        and ".." not in parts
        and "\\" not in path
        and ":" not in path
    )
