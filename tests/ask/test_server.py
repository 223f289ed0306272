# SPDX-License-Identifier: BSD-3-Clause
"""The server against real requests: who may do what, and what is saved."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import httpx
import pytest
import uvicorn
from typer.testing import CliRunner

from tests.ask.conftest import Person, Server, draw_photos, open_client, open_engine
from tests.extended import few
from tiebreak.cli.app import app
from tiebreak.io.answers import read_answers


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server with two people, for tests that leave it as it is."""
    folder = tmp_path_factory.mktemp("ask")
    photos = draw_photos(folder)
    (photos / "evil.md").write_text(
        "<script>alert(1)</script> [x](javascript:alert(2)) ![i](http://e.example/i)",
        encoding="utf-8",
    )
    (folder / "secret.png").write_bytes(b"secret")
    server = Server(folder, photos, "--port", "0", "--raters", "Ada,Bo")
    yield server
    server.kill()


def ask(*words):
    """Run the command until it ends by itself."""
    return CliRunner().invoke(app, ["ask", *map(str, words)], env={"COLUMNS": "500"})


def test_the_page_needs_its_key_and_then_its_cookie(shared):
    bare = open_client(shared.base)
    for path in ("/", "/?key=wrong", "/organizer", "/organizer?key=wrong"):
        page = bare.get(path)
        assert page.status_code == 403 and "needs the whole address" in page.text
    for path in ("/api/state", "/api/board", "/file/0"):
        assert bare.get(path).status_code == 403
    reply = bare.get(shared.links[0])
    cookie = reply.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert bare.get("/").status_code == 200  # the cookie is enough from now on
    # The secret of a rater does not open the page of the organizer, nor the reverse.
    key = shared.links[0].partition("=")[2]
    assert bare.get("/organizer", params={"key": key}).status_code == 403
    assert httpx.get(shared.organizer.replace("/organizer", "/")).status_code == 403


NAMES = (
    "evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1",
    "localhost.evil.example:PORT", "",
)  # fmt: skip


@pytest.mark.parametrize("host", NAMES)
def test_other_names_for_this_machine_are_refused(shared, host):
    """As a foreign page would use that lets its own name point here."""
    name = host.replace("PORT", str(shared.port))
    reply = httpx.get(shared.links[0], headers={"Host": name})
    assert reply.status_code == 421 or (not host and reply.status_code == 400)
    assert "csrf" not in reply.text
    local = {"Host": f"localhost:{shared.port}"}
    assert httpx.get(shared.links[0], headers=local).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": None},
     {"X-CSRF-Token": "0" * 64}, {"X-CSRF-Token": None},
     {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}],
    ids=str,
)  # fmt: skip
def test_answers_come_from_the_page_only(shared, headers):
    ada = Person(shared.links[0])
    state = ada.state()
    reply = ada.answer(state["questions"][0]["number"], **headers)
    assert reply.status_code == 403 and reply.json()["error"]
    assert ada.state()["progress"]["answers"] == state["progress"]["answers"]


def test_the_token_of_somebody_else_is_out_of_date(shared):
    ada, bo = Person(shared.links[0]), Person(shared.links[1])
    number = ada.state()["questions"][0]["number"]
    reply = ada.answer(number, **{"X-CSRF-Token": bo.csrf})
    assert reply.status_code == 403
    assert "now answers as Ada. Reload the page." in reply.json()["error"]
    reply = bo.answer(number)  # asked of Ada
    assert reply.status_code == 409 and "was not asked" in reply.json()["error"]


def test_only_get_and_post_and_small_bodies(shared):
    ada = Person(shared.links[0])
    assert ada.client.get("/api/answer").status_code == 405
    assert ada.client.delete("/").status_code == 405
    assert ada.post("/api/answer", {"question": 1, "x": "y" * 5000}).status_code == 413
    chunks = (b"x" for _ in range(3))
    reply = ada.client.post("/api/answer", content=chunks, headers={"Origin": ada.base})
    assert reply.status_code == 411
    for body in ([], {}, {"question": "1"}, {"question": None, "outcome": "left"}):
        assert ada.post("/api/answer", body).status_code == 400
    number = ada.state()["questions"][0]["number"]
    for outcome in ("up", None, "both_bad"):  # the last was not offered
        assert ada.answer(number, outcome).status_code == 400


def test_files_are_served_by_number_and_never_by_path(shared):
    ada = Person(shared.links[0])
    answers = [ada.client.get(f"/file/{k}") for k in range(8)]
    assert [reply.status_code for reply in answers] == [200] * 6 + [404] * 2
    assert {reply.headers["content-type"] for reply in answers[:6]} == {"image/png"}
    assert "sandbox" in answers[0].headers["content-security-policy"]
    for path in ("/file/../secret.png", "/file/..%2Fsecret.png", "/file/secret.png",
                 "/file/-1", "/file/0/../../secret.png", "/assets/../server.py",
                 "/assets/%2e%2e/server.py", "/photos/red.png"):  # fmt: skip
        with socket.create_connection(("127.0.0.1", shared.port)) as raw:
            raw.sendall(
                f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{shared.port}\r\n"
                f"Cookie: tiebreak_ask_{shared.port}={ada.key}\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            reply = b"".join(iter(lambda raw=raw: raw.recv(65536), b""))
        assert reply.split()[1] == b"404", path
        assert b"secret" not in reply.partition(b"\r\n\r\n")[2]


def test_the_policy_allows_nothing_from_elsewhere(shared):
    ada = Person(shared.links[0])
    for path in ("/", "/api/state", "/assets/ask.js", "/nothing"):
        headers = ada.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith(
            "default-src 'none'; script-src 'self'; style-src 'self'"
        )
        assert "unsafe" not in policy and "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "server" not in headers
    page = ada.client.get("/").text
    assert "<style" not in page and "onclick" not in page and "http" not in page


def test_text_of_items_is_no_markup(shared):
    ada, bo = (Person(link) for link in shared.links)
    shown = [q for p in (ada, bo) for q in p.state()["questions"]]
    for _ in range(8):
        if any("alert" in q["left"] + q["right"] for q in shown):
            break
        number = ada.state()["questions"][0]["number"]
        shown = ada.answer(number, "tie").json()["questions"]
    [card] = [q[s] for q in shown for s in ("left", "right") if "alert" in q[s]][:1]
    assert "&lt;script&gt;" in card and "<script" not in card
    assert 'href="javascript' not in card and "<img" not in card


@pytest.mark.extended
def test_all_acknowledged_answers_survive_a_kill(serve, texts, tmp_path):
    server = serve(texts, "--port", "0")
    ada = Person(server.links[0])
    state, sent = ada.state(), []
    for outcome in ("left", "tie", "right", "skip", "left"):
        number = state["questions"][0]["number"]
        state = ada.answer(number, outcome).json()
        sent.append((number, outcome))
    waiting = [question["number"] for question in state["questions"]]
    server.kill()
    server.words[2] = str(server.port)
    server.start()
    assert "4 answers so far" in server.output
    assert server.links[0] == f"{ada.base}/?key={ada.key}"  # tabs go on
    again = ada.state()
    assert [question["number"] for question in again["questions"]] == waiting
    assert ada.answer(*sent[-1]).status_code == 200  # sent twice, counted once
    assert ada.answer(sent[-1][0], "right").status_code == 409
    undone = ada.post("/api/undo", {"question": sent[-1][0]}).json()
    assert undone["questions"][0]["number"] == sent[-1][0]
    ada.answer(sent[-1][0], "tie")
    code, output = server.stop()
    assert code == 0
    assert "4 answers in" in output and "tiebreak rank texts.answers.sqlite" in output
    answers = read_answers(tmp_path / "texts.answers.sqlite")
    assert answers["outcome"].to_list() == ["left", "tie", "right", "skip", "tie"]
    done = ask(texts, "--export", tmp_path / "out.csv")
    assert done.exit_code == 0 and "5 answers" in done.stdout
    assert (tmp_path / "out.csv").read_text("utf-8").count("\n") == 6


@pytest.mark.extended
def test_many_people_at_once_lose_and_double_nothing(serve, texts, tmp_path):
    """For a few seconds; `python -m benchmarks.asking load` does so for a minute."""
    names = [f"p{k}" for k in range(12)]
    server = serve(texts, "--port", "0", "--raters", ",".join(names))
    saved: list[tuple[int, str]] = []

    def answer(link, seed):
        person = Person(link)
        state = person.state()
        for turn in range(12):
            number = state["questions"][0]["number"]
            outcome = ("left", "tie", "right")[(seed + turn) % 3]
            if turn % 3 == 0:  # as after a lost reply
                person.answer(number, outcome)
            state = person.answer(number, outcome).json()
            saved.append((number, outcome))

    threads = [threading.Thread(target=answer, args=(link, k))
               for k, link in enumerate(server.links)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.kill()
    answers = read_answers(tmp_path / "texts.answers.sqlite")
    assert len(saved) == len(dict(saved)) == answers.height == 144
    assert answers["rater"].value_counts()["count"].to_list() == [12] * 12
    assert sorted(answers["outcome"]) == sorted(outcome for _, outcome in saved)


@pytest.mark.extended
def test_everybody_with_the_link_enters_a_name(serve, texts):
    server = serve(texts, "--port", "0", "--raters", "any")
    client = open_client(server.base, headers={"Origin": server.base})
    page = client.get(server.links[0]).text
    form = dict(re.findall(r'name="(key|csrf)" value="([^"]+)"', page))
    assert client.post("/join", data=form | {"name": " "}).status_code == 409
    reply = client.post("/join", data=form | {"name": "<b>Cy</b>"})
    assert reply.status_code == 303
    own = Person(server.base + reply.headers["location"])
    assert "&lt;b&gt;Cy&lt;/b&gt;" in own.client.get("/").text
    assert own.answer(own.state()["questions"][0]["number"]).status_code == 200
    taken = client.post("/join", data=form | {"name": "<B>cy</B>"})
    assert taken.status_code == 409 and "is taken" in taken.text
    wrong = form | {"name": "Di", "csrf": "x"}
    assert client.post("/join", data=wrong).status_code == 403


@pytest.mark.extended
def test_the_organizer_sees_who_answers_how(serve, texts):
    server = serve(texts, "--port", "0", "--raters", "Ada,Bo,Lefty")
    people = [Person(link) for link in server.links]
    votes = defaultdict(dict)  # of a pair: who said last which item is better
    for k, person in enumerate(people):
        state = person.state()
        for _ in range(28):
            question = state["questions"][0]
            sides = [
                int(re.search(r">text (\d)", question[s])[1]) for s in ("left", "right")
            ]
            outcome = "left" if k == 2 or sides[0] > sides[1] else "right"
            better = max(sides) if sides[0] > sides[1] or k < 2 else min(sides)
            votes[frozenset(sides)][k] = better
            body = {
                "question": question["number"],
                "outcome": outcome,
                "seconds": 9 - 4 * k,
            }
            state = person.post("/api/answer", body).json()
    page = httpx.get(server.organizer).text
    assert "84 answers about 8 items" in page
    assert "Krippendorff" in page
    # Sides are drawn at random, and Lefty may agree with the others on every pair.
    disputed = any(len(set(by.values())) > 1 for by in votes.values())
    assert ("Pairs that people disagree about" in page) == disputed
    rows = {name: page.partition(f"<bdi>{name}</bdi>")[2].partition("</tr>")[0]
            for name in ("Ada", "Bo", "Lefty")}  # fmt: skip
    assert "prefers the left side" in rows["Lefty"]
    assert "much faster" in rows["Lefty"]
    # By chance one of them may get better items on one side, once in fifty runs.
    assert "prefers" not in rows["Ada"] or "prefers" not in rows["Bo"]
    board = people[0].client.get("/api/board").json()["board"]
    assert [row["rank"] for row in board] == list(range(1, 9))
    place = {row["item"]: row["rank"] for row in board}
    assert place["text 7"] < place["text 0"]
    assert all(row["lower"] < row["rating"] < row["upper"] for row in board)


@pytest.mark.extended
def test_what_cannot_be_is_one_line(tmp_path, texts, serve):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = ask(texts, "--port", taken.getsockname()[1])
    assert done.exit_code == 4
    assert "Try --port 0" in done.stderr
    for words, expected in [
        ((), "Missing argument 'ITEMS'"),
        ((texts, "--goal", "top:9"), "must be from top:1 to top:7"),
        ((texts, "--repeat", "often"), "Invalid value for '--repeat'"),
        ((texts, "--repeat", "2"), "a share from 0 to 0.5"),
        ((texts, "--items", texts), "texts.txt"),
        ((tmp_path / "none",), "No such file"),
        ((tmp_path / "none.csv", "--export", "x.csv"), "no such file"),
    ]:
        done = ask(*words)
        assert done.exit_code in (2, 3, 4)
        assert expected in " ".join(done.stderr.replace("│", " ").split()), words
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("missing", few(["starlette", "uvicorn"]))
def test_without_the_extra_it_says_how_to_install_it(tmp_path, texts, missing):
    program = (
        f"import sys; sys.modules[{missing!r}] = None\n"  # as an import finds nothing
        "from tiebreak.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "ask", str(texts)], capture_output=True,
        text=True, env={**os.environ, "COLUMNS": "500"},
    )  # fmt: skip
    output = " ".join(done.stderr.replace("│", " ").split())
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert f"the page needs {missing}, which is not installed." in output
    assert 'Run: pip install "tiebreak[ask]"' in output
    assert [path.name for path in tmp_path.iterdir()] == ["texts.txt"]


@pytest.mark.extended
def test_an_open_host_says_what_it_opens(serve, texts):
    server = serve(texts, "--port", "0", "--host", "0.0.0.0")
    assert "opens this page to every machine" in server.output
    assert "without encryption" in server.output
    local = f"http://127.0.0.1:{server.port}"
    key = server.links[0].partition("=")[2]
    assert httpx.get(f"{local}/?key={key}").status_code == 200
    evil = {"Host": f"evil.example:{server.port}"}
    assert httpx.get(f"{local}/?key={key}", headers=evil).status_code == 421


def send_raw(port, *lines, body=b""):
    """What the server says to bytes that no browser would send."""
    head = "\r\n".join([*lines, f"Host: 127.0.0.1:{port}", "", ""]).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=30) as raw:
        raw.sendall(head)
        with suppress(OSError):  # it may have been closed
            for _ in range(50):
                raw.sendall(body)
        reply = b""
        with suppress(ConnectionResetError):
            while part := raw.recv(65536):
                reply += part
    return reply


def test_a_body_without_its_length_is_not_read(shared):
    """A chunked body beside Content-Length: 5 was, without limit and without a key."""
    reply = send_raw(
        shared.port, "POST /join HTTP/1.1", f"Origin: {shared.base}",
        "Content-Length: 5", "Transfer-Encoding: chunked",
        body=b"1000\r\n" + b"x" * 4096 + b"\r\n",
    )  # fmt: skip
    assert reply.split()[1] == b"411"  # and the connection was closed


def test_numbers_and_nesting_that_cannot_be_are_refused(shared):
    ada = Person(shared.links[0])
    headers = {"Origin": ada.base, "X-CSRF-Token": ada.csrf}
    for text in (str(2**63), str(2**70), "9" * 3900, "[" * 3900, '{"a":' * 700):
        for path in ("/api/answer", "/api/undo"):
            body = f'{{"question": {text}, "outcome": "left"}}'
            reply = ada.client.post(path, content=body, headers=headers)
            assert reply.status_code == 400, (path, text[:20])
    assert ada.client.get(f"/file/{'1' * 4400}").status_code == 404
    assert ada.answer(10**15 - 1).status_code == 409
    assert "Traceback" not in (shared.folder / "server.log").read_text("utf-8")


def test_the_cookie_names_the_port(shared):
    cookie = httpx.get(shared.links[0]).headers["set-cookie"]
    assert cookie.startswith(f"tiebreak_ask_{shared.port}=")


def test_a_link_that_took_the_place_of_a_file_is_not_followed(shared):
    ada = Person(shared.links[0])
    photos = sorted((shared.folder / "photos").glob("*.png"))
    assert ada.client.get("/file/0").content == photos[0].read_bytes()
    kept = photos[0].rename(shared.folder / "kept.png")
    photos[0].symlink_to(shared.folder / "secret.png")
    reply = ada.client.get("/file/0")
    photos[0].unlink()
    kept.rename(photos[0])
    assert reply.status_code == 404 and b"secret" not in reply.content


@pytest.fixture
def site(texts):
    """A site in this process."""
    from tiebreak.ask.items import read_items
    from tiebreak.ask.server import Site

    items = read_items(texts)
    with closing(open_engine(items.prompts)) as study:
        yield Site(study, items, "Which?", False, True, 1)


def request_at_once(site, *requests):
    """Replies to requests of a method, a path and more, all under way at once."""
    base = "http://localhost"

    async def send():
        transport = httpx.ASGITransport(site.app(lambda host: True))
        async with httpx.AsyncClient(
            transport=transport, base_url=base, headers={"Origin": base}
        ) as client:
            calls = [client.request(*words, **more) for *words, more in requests]
            return await asyncio.gather(*calls)

    # In a thread of its own: a browser of other tests has a loop in this one.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, send()).result()


def test_of_people_who_join_under_one_name_at_once_one_gets_it(site):
    form = {"name": "Ada", "key": site.join, "csrf": site._token(site.join)}
    replies = request_at_once(site, *[("POST", "/join", {"data": form})] * 5)
    assert sorted(reply.status_code for reply in replies) == [303] + [409] * 4
    assert [rater.name for rater in site.study.store.raters()] == ["Ada"]


def test_nobody_has_many_requests_under_way(site):
    rater = site.study.store.rater("Ada")
    site._raters[rater.token] = rater
    site._busy[rater.token] = site._busy[""] = 50
    ask = [("GET", "/api/state", {"params": {"key": key}})
           for key in (rater.token, "", "made up")]  # fmt: skip
    for reply in request_at_once(site, *ask):  # a key that nobody has counts as none
        assert reply.status_code == 429 and reply.headers["connection"] == "close"
    site._busy.clear()
    assert request_at_once(site, ask[0])[0].status_code == 200
    assert not +site._busy


@pytest.mark.parametrize("sent", few(["GET / HT", "POST /join HTTP/1.1\r\n", ""]))
def test_connections_without_a_whole_request_are_closed(site, monkeypatch, sent):
    """A thousand of them kept everybody out."""
    import tiebreak.ask.server as module

    monkeypatch.setattr(module, "PATIENCE", 0.4)
    monkeypatch.setattr(module, "MOST_CONNECTIONS", 8)
    listening = module.open_socket("127.0.0.1", 0)
    port = listening.getsockname()[1]
    app = site.app(module.allowed_hosts("127.0.0.1", port))
    servers = []
    run = uvicorn.Server.run
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda s, **more: (servers.append(s), run(s, **more))
    )
    thread = threading.Thread(target=module.serve, args=(app, listening), daemon=True)
    thread.start()
    base = f"http://127.0.0.1:{port}"
    if sent.startswith("POST"):  # of the body there is only a part
        sent += (
            f"Host: 127.0.0.1:{port}\r\nOrigin: {base}\r\nContent-Length: 9\r\n\r\nx"
        )
    half = [
        socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(40)
    ]
    for raw in half:
        with suppress(OSError):  # closed already, to make room
            raw.sendall(sent.encode())
    assert httpx.get(base).status_code == 403  # at once
    for raw in half:
        with suppress(ConnectionResetError):
            assert raw.recv(100) == b""
        raw.close()
    servers[0].should_exit = True
    thread.join()


@pytest.mark.extended
def test_a_second_server_on_one_file_is_refused(serve, texts):
    server = serve(texts, "--port", "0")
    done = ask(texts, "--port", "0")
    assert done.exit_code == 3 and "in use by another study or page" in done.stderr
    server.kill()
    again = serve(texts, "--port", "0")  # a crash leaves no lock
    assert again.links[0].partition("?")[2] == server.links[0].partition("?")[2]


@pytest.mark.extended
def test_a_file_that_somebody_else_prepared_gets_new_links(serve, texts, tmp_path):
    server = serve(texts, "--port", "0")
    assert "new-links" not in server.output
    server.stop()
    file = tmp_path / "texts.answers.sqlite"
    shutil.copy(file, tmp_path / "copy")
    os.replace(tmp_path / "copy", file)
    old = server.links[0].partition("=")[2], server.organizer.partition("=")[2]
    server = serve(texts, "--port", "0")
    assert "they know its links: add --new-links" in server.output
    server.stop()
    server = serve(texts, "--port", "0", "--new-links")
    assert "add --new-links" not in server.output
    assert not any(key in server.output for key in old)
    assert httpx.get(f"{server.base}/?key={old[0]}").status_code == 403
    assert httpx.get(f"{server.base}/organizer?key={old[1]}").status_code == 403
