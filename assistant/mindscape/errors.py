"""Every error a user can see: a sentence, an exit code and a JSON-RPC code.

MindscapeError
    UsageError          wrong arguments, unknown keys                 exit 2
    NotFound            no such document, place, model                exit 1
    DaemonUnreachable   cannot be reached or started                  exit 3
    Refused             understood, and not done, with the reason     exit 4
    Cancelled           the client asked to stop                      exit 4
"""

from __future__ import annotations


class MindscapeError(Exception):
    """Base of all errors shown to a user: `str(error)` is a sentence saying what to do."""

    exit_code = 4
    rpc_code = -32000


class UsageError(MindscapeError):
    """The request itself is wrong."""

    exit_code = 2
    rpc_code = -32602


class NotFound(MindscapeError):
    """What was asked for is not there."""

    exit_code = 1
    rpc_code = -32001


class Refused(MindscapeError):
    """Understood, but not done, for the stated reason."""

    exit_code = 4
    rpc_code = -32002


class DaemonUnreachable(MindscapeError):
    """The daemon is not there and could not be started."""

    exit_code = 3
    rpc_code = -32003


class Cancelled(MindscapeError):
    """The client cancelled the request."""

    exit_code = 4
    rpc_code = -32800
