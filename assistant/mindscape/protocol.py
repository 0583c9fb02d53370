"""The wire: JSON-RPC 2.0, one UTF-8 JSON object a line, over a Unix socket.

This file is the authoritative description. Version `PROTOCOL` is sent in the `hello` result.
Streams are notifications `{"method": "$/stream", "params": {"id": <request id>, ...}}`; a request
is cancelled by the notification `$/cancel` with `{"id": <request id>}`.

method       params                                            result
hello        -                                                 {"protocol", "version", "pid"}
add          paths: [str] | paths_b64: [base64 of bytes],      {"folders": [...]}
             ocr: bool | null (as it is)
rm           paths | paths_b64, forget: bool                   {"removed": documents}
ls           -                                                 {"documents": [...]}
status       -                                                 the `status` shape
wait         tier, timeout: seconds | null                     the `status` shape; streams {"progress": ...}
subscribe    -                                                 streams {"progress": ...} until cancelled
search       query, k, scope, upto, tag, since                 the `search` shape
get          place                                             the `get` shape
tree         scope, depth, upto                                the `tree` shape
node         id                                                the `tree` shape, with "made_at" and "path"
path         place                                             {"nodes": [...]}, from the library down
range        place | scope and upto, tokens                    {"start", "end", "tokens", "nodes", ...}
ask          question, scope, upto, mode, stream: bool,        the `ask` shape; streams {"stage"}, {"token"}
             conversation: "new" | "last" | "c12" | null
conversations.list    most                                     {"conversations": [...], "total"}, latest first
conversations.get     id, before: ordinal                      {"id", "title", ..., "turns": [...], "earlier"}
conversations.delete  id                                       {"deleted": id}
models.list  -                                                 {"models": [...]}
models.use   name | path of a GGUF file                        the model's row
doctor       repair: bool                                      {"checks": [...]}
shutdown     -                                                 {}
pause        -                                                 {"paused": true}; background work stops
resume       -                                                 {"paused": false}; and goes on

`progress` is {"done", "total", "what"}; that of `wait` has "seconds" too: about how long it takes, or null.
Without `conversation` an answer is not kept. `conversations.get` gives the last 50 turns, or the last before
one, and as `earlier` how many stand before them; a citation that is not `current` is in no document any more.
`coverage.notes` are sentences about what a search left out. An answer that is none (`answered` false) may
list the closest passages as `near`; `status.trouble` says why embedding does not go on, `status.held` why it
waits. `wait` is refused while work is paused. Errors carry `data.exit_code`.
The shapes are in `README.md` ("Scripting"); fields may be added, never renamed.
"""

from __future__ import annotations

import json
from typing import Any, Final, TypedDict, cast

PROTOCOL: Final = 1
MAX_MESSAGE_BYTES: Final = 8 * 1024 * 1024
"""Passed as `limit=` on both ends: asyncio's own 64 KiB would break at the first long answer."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

TIERS: Final = ("searchable", "embedded", "summarised", "recorded", "connected", "refined")
READY_TIERS: Final = (*TIERS[:3], "refined")
"""Those that this version builds."""

Json = dict[str, Any]


class Citation(TypedDict):
    """A quote that supports an answer; `n` is the [n] in the text."""

    n: int
    passage_id: int
    path: str
    start: int
    end: int
    page: str | None
    line: int | None
    heading: list[str]
    quote: str
    supported: bool | None


def encode(message: Json) -> bytes:
    """One line of JSON. Raises ValueError when it would exceed MAX_MESSAGE_BYTES."""
    line = json.dumps(message, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = line.encode("utf-8", "replace") + b"\n"
    if len(data) > MAX_MESSAGE_BYTES:
        raise ValueError(f"a message of {len(data)} bytes is larger than {MAX_MESSAGE_BYTES}")
    return data


def decode(line: bytes) -> Json:
    """Parse one line. Raises ValueError (bad UTF-8 or JSON, or not an object)."""
    value = json.loads(line.decode("utf-8"))
    if not isinstance(value, dict):
        raise ValueError("a message must be a JSON object")
    return cast(Json, value)
