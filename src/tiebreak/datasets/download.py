# SPDX-License-Identifier: BSD-3-Clause
"""Downloading one thing to one file, believing nothing that is served.

Only ``https`` is spoken, also after a redirection; ``http`` is allowed to this machine
itself. What arrives is counted, measured against what was announced, and compared with
the SHA-256 that is expected.
"""

from __future__ import annotations

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any
from urllib.parse import urljoin, urlsplit

from tiebreak.datasets.catalog import Served

Progress = Callable[[str, int, int | None], None]
"""Is told the address, the bytes so far, and how many there will be, if known."""

TIMEOUT = 30.0
"""Seconds without a byte after which a server is given up."""

CONNECT_TIMEOUT = 10.0
"""Seconds after which a server that does not pick up is given up."""

_BLOCK = 1 << 16
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")


class NotServed(Exception):  # noqa: N818 - what was expected is not there
    """Nothing usable was served; the message says why, for every address tried."""


def download(served: Served, target: Path, progress: Progress | None = None) -> None:
    """Download to a file.

    Parameters
    ----------
    served : Served
        What to download. Its addresses are tried in turn.
    target : Path
        The file to be written. It is left incomplete if anything fails.
    progress : callable, optional
        Is told how far the download is.

    Raises
    ------
    NotServed
        If no address serves what is expected.
    OSError
        If the file cannot be written.
    """
    reasons = []
    for url in served.urls:
        try:
            _download(url, served, target, progress)
        except NotServed as reason:
            reasons.append(str(reason))
        else:
            return
    raise NotServed("; ".join(reasons))


def _download(
    url: str, served: Served, target: Path, progress: Progress | None
) -> None:
    refusal = _refusal(url)
    if refusal:
        raise NotServed(f"{url} {refusal}")
    digest = hashlib.sha256()
    done = 0
    with _open(url) as response, target.open("wb") as file:
        total = _announced(url, response, served.limit)
        while block := _read(url, response, done, total):
            done += len(block)
            if done > served.limit:
                raise _too_large(url, served.limit)
            digest.update(block)
            file.write(block)
            if progress is not None:
                progress(url, done, total)
    if total is not None and done != total:
        raise _broken_off(url, done, total)
    if served.sha256 and digest.hexdigest() != served.sha256:
        raise NotServed(
            f"{url} serves something else: its SHA-256 is {digest.hexdigest()}, "
            f"expected {served.sha256}"
        )


def _refusal(url: str) -> str:
    """Say why an address is not asked, or nothing."""
    parts = urlsplit(url)
    if parts.scheme == "https":
        return ""
    if parts.scheme == "http" and parts.hostname in _THIS_MACHINE:
        return ""
    return "is not asked, because its address does not begin with https"


class _OnlyEncrypted(urllib.request.HTTPRedirectHandler):
    """Follows a redirection only to where it would have gone in the first place."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        newurl = urljoin(req.full_url, newurl)
        if refusal := _refusal(newurl):
            raise NotServed(f"{req.full_url} redirects to {newurl}, which {refusal}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _NoConnectionError(TimeoutError):
    """Nobody picked up."""


class _Impatient(http.client.HTTPConnection):
    """Waits less for a connection than for an answer: without a network, not long."""

    def connect(self) -> None:
        patience, self.timeout = self.timeout, CONNECT_TIMEOUT
        try:
            super().connect()
        except TimeoutError:
            raise _NoConnectionError(
                f"no connection within {CONNECT_TIMEOUT:g} seconds"
            ) from None
        self.timeout = patience
        self.sock.settimeout(patience)


class _ImpatientSecure(_Impatient, http.client.HTTPSConnection):
    """The same, encrypted."""


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Impatient, req)


class _Secure(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_ImpatientSecure, req)


def _open(url: str) -> Any:
    opener = urllib.request.build_opener(_OnlyEncrypted, _Plain, _Secure)
    request = urllib.request.Request(url, headers={"User-Agent": "tiebreak"})
    try:
        return opener.open(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        reason = " ".join(str(error.reason).split())  # of several lines after circles
        with error:
            raise NotServed(
                f"{url} answers {error.code} {reason} instead of the file"
            ) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(url, error) from error


def _read(url: str, response: Any, done: int, total: int | None) -> bytes:
    try:
        return bytes(response.read(_BLOCK))
    except http.client.IncompleteRead:
        raise _broken_off(url, done, total) from None
    except (OSError, http.client.HTTPException) as error:
        raise NotServed(
            f"{url} breaks off after {done:,} bytes ({_why(error)})"
        ) from error


def _announced(url: str, response: Any, limit: int) -> int | None:
    """Give the number of bytes that the server announces."""
    length = response.headers.get("Content-Length", "")
    if not length.isdigit():
        return None
    if int(length) > limit:
        raise _too_large(url, limit)
    return int(length)


def _broken_off(url: str, done: int, total: int | None) -> NotServed:
    of = "" if total is None else f" of {total:,}"
    return NotServed(f"{url} breaks off after {done:,}{of} bytes")


def _too_large(url: str, limit: int) -> NotServed:
    return NotServed(f"{url} serves more than the {limit:,} bytes that are expected")


def _unreachable(url: str, error: Exception) -> NotServed:
    return NotServed(f"{url} cannot be reached ({_why(error)})")


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", error)  # a URLError carries another error
    if isinstance(reason, _NoConnectionError):
        return str(reason)
    if isinstance(reason, TimeoutError):
        return f"no answer within {TIMEOUT:g} seconds"
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
