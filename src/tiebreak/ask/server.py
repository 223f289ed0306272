# SPDX-License-Identifier: BSD-3-Clause
"""The page that asks, on this machine: what it serves, and to whom.

Every request passes `guard` first: the Host must be an address of this server, against
DNS rebinding; a POST must come from the page itself (Origin) with its CSRF token, and
is small. All but style and script needs the secret of a rater or the organizer, which
comes once in the address and then in a cookie that no other site can use. Files are
served by their number in the list of items.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import json
import socket
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tiebreak.ask.items import MEDIA_TYPES, Items, View
from tiebreak.ask.organizer import overview
from tiebreak.ask.store import Question, Rater, Refused
from tiebreak.ask.study import Answer, Study
from tiebreak.data.threads import one_blas_thread

COOKIE = "tiebreak_ask"
MOST_BODY = 4096
MOST_RATERS = 1000
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
    size = request.headers.get("content-length", "")
    if not size.isdecimal():
        return 411, "The length of the request is missing."
    if int(size) > MOST_BODY:
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
        self, study: Study, items: Items, question: str, both_bad: bool, may_join: bool
    ) -> None:
        self.study = study
        self._views = {(i.name, v.prompt): v for i in items.items for v in i.views}
        contents = {view.content for view in self._views.values()}
        self._files = sorted(c for c in contents if isinstance(c, Path))
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
        self._waiting: list[tuple[Answer, asyncio.Future[bool | Refused]]] = []
        self._saving: asyncio.Task[None] | None = None

    def app(self, hosts: Callable[[str], bool]) -> Starlette:
        """The application, for requests under some names of this server."""

        async def guard(
            request: Request, call_next: RequestResponseEndpoint
        ) -> Response:
            if refusal := _refuse_request(request, hosts):
                response: Response = JSONResponse({"error": refusal[1]}, refusal[0])
            else:
                response = await call_next(request)
            for name, value in _HEADERS.items():
                response.headers.setdefault(name, value)
            return response

        routes = [
            Route("/", self._page),
            Route("/organizer", self._organizer_page),
            Route("/join", self._join, methods=["POST"]),
            Mount("/assets", StaticFiles(directory=_HERE / "assets")),
            Route("/file/{number:int}", self._file),
            Route("/api/state", self._state),
            Route("/api/board", self._board),
            Route("/api/answer", self._answer, methods=["POST"]),
            Route("/api/undo", self._undo, methods=["POST"]),
        ]
        return Starlette(
            routes=routes,
            middleware=[Middleware(BaseHTTPMiddleware, dispatch=guard)],
            exception_handlers={Refused: _refused, HTTPException: _http_error},  # type: ignore[dict-item]
        )

    # Who is it? ----------------------------------------------------------------------

    def _secret(self, request: Request) -> str:
        return request.query_params.get("key") or request.cookies.get(COOKIE, "")

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
            body = json.loads(await request.body())
        except ValueError:
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
            response.set_cookie(COOKIE, secret, httponly=True, samesite="strict")
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
            both_bad=self.both_bad,
        )  # fmt: skip

    async def _join(self, request: Request) -> Response:
        """Take a name, and give it a page."""
        form = dict(parse_qsl((await request.body()).decode("utf-8", "replace")))
        name = " ".join(form.get("name", "").split())[:60]
        key, csrf = form.get("key", ""), form.get("csrf", "")
        known = hmac.compare_digest(key.encode(), self.join.encode())
        if not (self.may_join and known) or csrf != self._token(key):
            return self._refuse("This link is not known.")
        raters = self.study.store.raters()
        taken = name.casefold() in {rater.name.casefold() for rater in raters}
        if not name or taken or len(raters) >= MOST_RATERS:
            reason = "Please enter a name."
            if taken:
                reason = f"{name} is taken. Open your own link, or change the name."
            elif name:
                reason = "No more people can take part."
            return self._render(
                "join.html", status=409, csrf=csrf, key=key, reason=reason
            )
        rater = await asyncio.to_thread(self.study.store.rater, name)
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
        number = request.path_params["number"]
        if number >= len(self._files) or not self._files[number].is_file():
            raise HTTPException(404, "There is no such file.")
        path = self._files[number]
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
        src = ""
        if isinstance(view.content, Path):
            src = f"/file/{self._files.index(view.content)}"
        return self._templates.get_template("card.html").render(view=view, src=src)

    def _draw(self, question: Question) -> dict[str, Any]:
        names, prompt = self.study.names, question.prompt
        left = self._views[names[question.left], prompt]
        right = self._views[names[question.right], prompt]
        return {
            "number": question.number,
            "prompt": "" if prompt is None else self._markdown.render(prompt),
            "wide": {left.kind, right.kind} <= {"text", "markdown", "link"},
            "left": self._card(left),
            "right": self._card(right),
        }

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
        saved: asyncio.Future[bool | Refused] = asyncio.Future()
        self._waiting.append((answer, saved))
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self._save())
        if isinstance(result := await saved, Refused):
            raise result
        return await self._reply(rater)

    async def _save(self) -> None:
        """Save what waits in one commit."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                results = await asyncio.to_thread(
                    self.study.answer, [answer for answer, _ in batch]
                )
            except Exception as error:
                for _, saved in batch:
                    saved.set_exception(error)
            else:
                for (_, saved), result in zip(batch, results, strict=True):
                    if not saved.cancelled():
                        saved.set_result(result)

    async def _undo(self, request: Request) -> Response:
        rater, body = await self._body(request)
        await asyncio.to_thread(self.study.undo, rater, body["question"])
        return await self._reply(rater)

    async def _board(self, request: Request) -> Response:
        self._rater(request)
        return JSONResponse({"board": await asyncio.to_thread(self.study.board)})


async def _refused(request: Request, error: Refused) -> Response:
    return JSONResponse({"error": str(error)}, error.status)


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


def serve(app: Starlette, listening: socket.socket) -> None:
    """Serve until an interrupt, which is raised again at the end."""
    config = uvicorn.Config(
        app, log_level="error", access_log=False, lifespan="off", server_header=False,
        ws="none", timeout_keep_alive=30, limit_concurrency=1000,
        timeout_graceful_shutdown=3,
    )  # fmt: skip
    # Threads of BLAS that wait for each other take the time of those who answer: with
    # 50 people on two cores the median answer took 190 ms instead of 17.
    with one_blas_thread():
        uvicorn.Server(config).run(sockets=[listening])
