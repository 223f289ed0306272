# SPDX-License-Identifier: BSD-3-Clause
"""The page that asks, on this machine: what it serves, and to whom.

Every request passes `guard` first: the Host must be an address of this server, against
DNS rebinding; a POST must come from the page itself (Origin) with its CSRF token, and
is small. All but style and script needs the secret of a rater or the organizer, from
the address and then from a cookie.
"""

import asyncio
import hashlib
import hmac
import ipaddress
import json
import socket
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import h11
import uvicorn
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from uvicorn.protocols.http.h11_impl import H11Protocol

from tiebreak.ask.engine import Engine
from tiebreak.ask.items import MEDIA_TYPES, Items, View
from tiebreak.ask.organizer import overview
from tiebreak.ask.store import Answer, Question, Rater, Refused
from tiebreak.data.threads import one_blas_thread
from tiebreak.io.result import whole_number

MOST_BODY = 4096
MOST_AT_ONCE = 50  # requests of a rater, or of all who have no key
MOST_CONNECTIONS = 500
_SHORT = 80  # characters of texts that are shown large
PATIENCE = 5.0  # seconds within which a request has to arrive
_HERE = Path(__file__).parent
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "media-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _refuse_request(
    request: Request, hosts: Callable[[str], bool]
) -> tuple[int, str] | None:
    """Status and reason, if the page would not send this."""
    host = request.headers.get("host", "")
    if not hosts(host):
        return 421, "This server does not answer under that name."
    if request.headers.get("sec-fetch-site") == "cross-site" and (
        request.headers.get("sec-fetch-mode") != "navigate"
    ):
        return 403, "Other sites cannot use this server."
    if request.method in ("GET", "HEAD"):
        return None
    if request.method != "POST":
        return 405, "Only GET and POST are known here."
    if request.headers.get("origin") != f"{request.url.scheme}://{host}":
        return 403, "Answers are taken from the page itself only."
    size = whole_number(request.headers.get("content-length", ""))
    if "transfer-encoding" in request.headers or size is None:
        return 411, "The length of the request is missing."
    if size > MOST_BODY:
        return 413, f"The request is larger than {MOST_BODY} bytes."
    return None


def allowed_hosts(host: str, port: int) -> Callable[[str], bool]:
    """Values of the header Host that mean this server."""
    names = {"localhost"}
    if host not in ("127.0.0.1", "::1", "localhost"):
        names |= {host.lower(), socket.gethostname().lower()}
        names.add(f"{socket.gethostname().lower().partition('.')[0]}.local")

    def allowed(host_header: str) -> bool:
        name, _, end = host_header.lower().rpartition(":")
        if not name or end != str(port):
            return False
        if name in names:
            return True
        try:
            address = ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        # An address cannot be a name that somebody let point here.
        return address.is_loopback or host not in ("127.0.0.1", "::1", "localhost")

    return allowed


class Site:
    """The routes, for one study."""

    def __init__(
        self,
        study: Engine,
        items: Items,
        question: str,
        both_bad: bool,
        may_join: bool,
        port: int,
    ) -> None:
        self.study = study
        self.cookie = f"tiebreak_ask_{port}"  # cookies are for all ports of a machine
        self._views = {(i.name, v.prompt): v for i in items.items for v in i.views}
        contents = {view.content for view in self._views.values()}
        files = sorted(c for c in contents if isinstance(c, Path))
        self._files = {str(number): path for number, path in enumerate(files)}
        self._numbers: dict[str | Path, str] = {p: n for n, p in self._files.items()}
        # One text size for all: that of the longest.
        texts = [str(v.content) for v in self._views.values() if v.kind == "text"]
        self._short = all(len(text) < _SHORT for text in texts)
        self.question, self.both_bad, self.may_join = question, both_bad, may_join
        store = study.store
        self.organizer = store.secret("organizer")
        self.join = store.secret("join")
        self._key = store.secret("csrf").encode()
        self._raters = {rater.token: rater for rater in store.raters()}
        self._templates = Environment(
            loader=FileSystemLoader(_HERE / "templates"), autoescape=True,
            auto_reload=False,
        )  # fmt: skip
        markdown = MarkdownIt("commonmark", {"html": False, "breaks": True})
        self._markdown = markdown.enable(["table", "strikethrough"]).disable("image")
        self._templates.filters["markdown"] = self._markdown.render
        self._card = lru_cache(1000)(self._draw_card)  # of open questions, mostly
        self._busy: Counter[str] = Counter()  # requests under way, by token
        self._waiting: list[tuple[Answer, asyncio.Future[bool | Exception]]] = []
        self._saving: asyncio.Task[None] | None = None

    def app(self, hosts: Callable[[str], bool]) -> Starlette:
        """The application, for requests under some names of this server."""

        async def guard(
            request: Request, call_next: RequestResponseEndpoint
        ) -> Response:
            who = self._secret(request)
            who = who if who in self._raters else ""
            refusal = _refuse_request(request, hosts)
            if refusal is None and self._busy[who] >= MOST_AT_ONCE:
                refusal = 429, "Too many requests at once. Try again."
            if refusal:
                # What else such a request sends is not read.
                response: Response = JSONResponse(
                    {"error": refusal[1]}, refusal[0], {"Connection": "close"}
                )
            else:
                self._busy[who] += 1
                try:
                    response = await call_next(request)
                finally:
                    self._busy[who] -= 1
            for name, value in _HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        routes = [
            Route("/", self._page),
            Route("/organizer", self._organizer_page),
            Route("/join", self._join, methods=["POST"]),
            Mount("/assets", StaticFiles(directory=_HERE / "assets")),
            Route("/file/{number}", self._file),
            Route("/api/state", self._state),
            Route("/api/board", self._board),
            Route("/api/answer", self._answer, methods=["POST"]),
            Route("/api/undo", self._undo, methods=["POST"]),
        ]
        handlers: dict[Any, Any] = {
            Refused: _refused, HTTPException: _http_error, ClientDisconnect: _gone,
        }  # fmt: skip
        return Starlette(
            routes=routes,
            middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)],
            exception_handlers=handlers,
        )

    # Who is it? ----------------------------------------------------------------------

    def _secret(self, request: Request) -> str:
        return request.query_params.get("key") or request.cookies.get(self.cookie, "")

    def _rater(self, request: Request) -> Rater:
        rater = self._raters.get(self._secret(request))
        if rater is None:
            raise HTTPException(
                403, "This page needs the whole address that tiebreak ask printed, "
                "with its key. Copy it again from the terminal or from your invitation."
            )  # fmt: skip
        return rater

    def _token(self, secret: str) -> str:
        return hmac.new(self._key, secret.encode(), hashlib.sha256).hexdigest()

    async def _body(self, request: Request) -> tuple[Rater, dict[str, Any]]:
        rater = self._rater(request)
        token = request.headers.get("x-csrf-token", "")
        if not hmac.compare_digest(token.encode(), self._token(rater.token).encode()):
            raise Refused(
                f"The browser now answers as {rater.name}. Reload the page.",
                403,
            )
        try:
            body = json.loads(await request.body(), parse_int=whole_number)
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("question"), int):
            raise Refused("The request is not understood. Reload the page.", 400)
        return rater, body

    # Pages ---------------------------------------------------------------------------

    def _render(
        self, name: str, secret: str = "", status: int = 200, **more: Any
    ) -> Response:
        page = self._templates.get_template(name).render(question=self.question, **more)
        response = HTMLResponse(page, status)
        if secret:
            response.set_cookie(self.cookie, secret, httponly=True, samesite="strict")
        return response

    def _refuse(self, reason: str) -> Response:
        return self._render("refused.html", status=403, reason=reason)

    async def _page(self, request: Request) -> Response:
        secret = self._secret(request)
        if self.may_join and hmac.compare_digest(secret.encode(), self.join.encode()):
            return self._render("join.html", csrf=self._token(secret), key=secret)
        try:
            rater = self._rater(request)
        except HTTPException as error:
            return self._refuse(error.detail)
        return self._render(
            "ask.html", secret, rater=rater.name, csrf=self._token(secret),
            both_bad=self.both_bad, short=self._short,
        )  # fmt: skip

    async def _join(self, request: Request) -> Response:
        """Take a name, and give it a page."""
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        name = " ".join(form.get("name", "").split())[:60]
        key, csrf = form.get("key", ""), form.get("csrf", "")
        known = hmac.compare_digest(key.encode(), self.join.encode())
        if not (self.may_join and known) or csrf != self._token(key):
            return self._refuse("This link is not known.")
        try:
            if not name:
                raise Refused("Please enter a name.")
            rater = await asyncio.to_thread(self.study.store.rater, name, new=True)
        except Refused as error:
            return self._render(
                "join.html", status=409, csrf=csrf, key=key, reason=str(error)
            )
        self._raters[rater.token] = rater
        # The address is their own link: who closes the tab can come back with it.
        return Response(status_code=303, headers={"Location": f"/?key={rater.token}"})

    async def _organizer_page(self, request: Request) -> Response:
        secret = self._secret(request)
        if not hmac.compare_digest(secret.encode(), self.organizer.encode()):
            return self._refuse(
                "This page is for the organizer, and needs the whole address."
            )
        content = await asyncio.to_thread(overview, self.study)
        base = f"{request.url.scheme}://{request.headers['host']}"
        return self._render("organizer.html", base=base, **content)

    async def _file(self, request: Request) -> Response:
        """Serve a file of the list by its number, and nothing else."""
        self._rater(request)
        path = self._files.get(request.path_params["number"])
        # Resolved again: a link may have taken its place since the start.
        if path is None or path.resolve() != path or not path.is_file():
            raise HTTPException(404, "There is no such file.")
        headers = {
            "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; "
            "sandbox",
            "Cache-Control": "private, max-age=3600",
        }
        return FileResponse(
            path, media_type=MEDIA_TYPES[path.suffix.lower()], headers=headers
        )

    # Questions and answers -----------------------------------------------------------

    def _draw_card(self, view: View) -> str:
        number = self._numbers.get(view.content)
        src = "" if number is None else f"/file/{number}"
        return self._templates.get_template("card.html").render(view=view, src=src)

    def _draw(self, question: Question) -> dict[str, Any]:
        names, prompt = self.study.names, question.prompt
        left = self._views[names[question.left], prompt]
        right = self._views[names[question.right], prompt]
        return {
            "number": question.number,
            "prompt": "" if prompt is None else self._markdown.render(prompt),
            "left": self._card(left),
            "right": self._card(right),
        }

    def _picture(self, row: dict[str, Any]) -> dict[str, str]:
        """Where the picture of an item of the leaderboard is, if it has one."""
        view = self._views.get((row["item"], None))
        if view is None or view.kind != "image":
            return {}
        return {"picture": f"/file/{self._numbers[view.content]}"}

    async def _reply(self, rater: Rater) -> Response:
        study = self.study
        questions = await asyncio.to_thread(study.open_questions, rater)
        state = study.raters[rater.number]
        return JSONResponse(
            {
                "questions": [self._draw(question) for question in questions],
                "last": state.last,
                "done": state.done,
                "progress": asdict(study.progress),
            }
        )

    async def _state(self, request: Request) -> Response:
        return await self._reply(self._rater(request))

    async def _answer(self, request: Request) -> Response:
        rater, body = await self._body(request)
        outcome, seconds = body.get("outcome"), body.get("seconds")
        if outcome == "both_bad" and not self.both_bad:
            raise Refused("Both bad is not among the answers here.", 400)
        if not (isinstance(seconds, int | float) and 0 <= seconds < 1e6):
            seconds = None
        answer = Answer(rater.number, body["question"], str(outcome), seconds)
        saved: asyncio.Future[bool | Exception] = asyncio.Future()
        self._waiting.append((answer, saved))
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save())
        if isinstance(result := await saved, Exception):
            raise result
        return await self._reply(rater)

    async def _save(self) -> None:
        """Save what waits in one commit."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            answers = [answer for answer, _ in batch]
            results = await asyncio.to_thread(self.study.answer, answers)
            for (_, saved), result in zip(batch, results, strict=True):
                if not saved.cancelled():
                    saved.set_result(result)

    async def _undo(self, request: Request) -> Response:
        rater, body = await self._body(request)
        await asyncio.to_thread(self.study.undo, rater, body["question"])
        return await self._reply(rater)

    async def _board(self, request: Request) -> Response:
        self._rater(request)
        board = await asyncio.to_thread(self.study.board)
        return JSONResponse({"board": [row | self._picture(row) for row in board]})


async def _refused(request: Request, error: Refused) -> Response:
    return JSONResponse({"error": str(error)}, error.status)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # which nobody reads


async def _http_error(request: Request, error: HTTPException) -> Response:
    return JSONResponse({"error": error.detail}, error.status_code)


def open_socket(host: str, port: int) -> socket.socket:
    """Listen at an address; refuse a port in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(
            f"Cannot listen at {host}, port {port} ({reason}). Try --port 0."
        ) from None


class ImpatientProtocol(H11Protocol):
    """Close connections on which no whole request arrives.

    After a while, or at once if there are many: nobody can keep others out by
    connections that say nothing.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room, and look at the connection from time to time."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            others: Any = (c for c in self.connections if c is not self)
            idle = (c for c in others if c._waits() and not c.transport.is_closing())
            for other in islice(idle, 1):
                other.transport.close()
        self._look(None)

    def _waits(self) -> tuple[object] | None:
        """Return the last request, if the next one is not here yet."""
        return None if self.conn.their_state is h11.DONE else (self.cycle,)

    def _look(self, last: tuple[object] | None) -> None:
        waits = self._waits()
        if waits and waits == last:
            self.transport.close()
        elif not self.transport.is_closing():
            self.loop.call_later(PATIENCE, self._look, waits)


def serve(app: Starlette, listening: socket.socket) -> None:
    """Serve until an interrupt, which is raised again at the end."""
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False,
        ws="none", limit_concurrency=1000, timeout_graceful_shutdown=3,
        http=ImpatientProtocol, timeout_keep_alive=int(PATIENCE),
    )  # fmt: skip
    # Threads of BLAS that wait for each other take the time of those who answer: with
    # 50 people on two cores the median answer took 190 ms instead of 17.
    with one_blas_thread():
        uvicorn.Server(config).run(sockets=[listening])
