# SPDX-License-Identifier: BSD-3-Clause
"""The page in a real browser: mouse, keys, touch, undo, a crash, two people."""

import re

import pytest

from tests.waiting import wait_for
from tiebreak.io.answers import read_answers

axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")


@pytest.fixture
def opened(browser):
    """Open pages, and find out what they complained about."""
    contexts, troubles = [], []

    def open_page(link, **more):
        context = browser.new_context(**more)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on(
            "console", lambda m: troubles.append(m.text) if m.type == "error" else 0
        )
        page.on("request", lambda r: troubles.append(r.url)
                if not r.url.startswith(link.partition("/?")[0]) else 0)  # fmt: skip
        page.goto(link)
        page.wait_for_selector("#left > *")
        return page

    yield open_page
    for context in contexts:
        context.close()
    kept = [
        t for t in troubles if "ERR_CONNECTION" not in t and "Failed to load" not in t
    ]
    assert kept == []


def answered(page, number):
    """Wait until the page says so many answers, and shows the next pair."""
    start = f"{number} answer{'s' * (number != 1)} "
    wait_for(
        lambda: (
            page.inner_text("#progress").startswith(start)
            and page.locator("body[aria-busy]").count() == 0
        )
    )
    page.wait_for_timeout(300)  # a press soon after a new pair is not meant for it


def press(page, key, number):
    page.keyboard.press(key)
    answered(page, number)


def barriers(page):
    answers = axe_module.Axe().run(page).response["violations"]
    return [v["id"] for v in answers if v["impact"] in ("serious", "critical")]


def shown(page):
    """Both items: the next pair may have one of them on the same side."""
    return page.inner_html("#left"), page.inner_html("#right")


def test_a_round_with_mouse_and_keys(serve, photos, opened, tmp_path):
    server = serve(photos, "--port", "0", "--allow-both-bad", "--repeat", "0")
    page = opened(server.links[0], viewport={"width": 1400, "height": 900})
    assert "key=" not in page.url
    answered(page, 0)
    page.click("text=Left is better")
    answered(page, 1)
    page.click("[data-outcome=tie]")
    answered(page, 2)
    press(page, "ArrowRight", 3)
    press(page, "ArrowDown", 4)
    press(page, "ArrowLeft", 5)
    press(page, "b", 6)
    before = shown(page)
    page.keyboard.press("s")
    wait_for(lambda: shown(page) != before)
    answered(page, 6)
    file = tmp_path / "photos.answers.sqlite"
    outcomes = ["left", "tie", "right", "tie", "left", "both_bad", "skip"]
    assert read_answers(file)["outcome"].to_list() == outcomes
    # The ranking is hidden until somebody asks for it.
    assert not page.is_visible("#board")
    page.click("#show")

    def board_is_shown():  # the first look at the answers takes a moment
        page.dblclick("#show")
        page.wait_for_timeout(100)
        return page.locator("#board tbody tr").count() == 6

    wait_for(board_is_shown)
    assert barriers(page) == []
    page.click("#undo")
    wait_for(lambda: shown(page) == before)
    answered(page, 6)
    assert read_answers(file)["outcome"].to_list() == outcomes[:-1]
    assert page.is_disabled("#undo")
    press(page, "ArrowLeft", 7)
    page.reload()
    page.wait_for_selector("#left > *")
    answered(page, 7)
    assert page.evaluate("document.querySelector('#left img').naturalWidth") > 0


def test_a_picture_is_tapped_and_stands_beside_the_ranking(serve, photos, opened):
    server = serve(photos, "--port", "0", "--repeat", "0")
    page = opened(
        server.links[0], viewport={"width": 390, "height": 800}, has_touch=True,
        is_mobile=True,
    )  # fmt: skip
    answered(page, 0)
    # On a phone one picture stands above the other, and both are in sight.
    boxes = [page.locator(f"#{side} img").bounding_box() for side in ("left", "right")]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"]
    assert boxes[1]["y"] + boxes[1]["height"] <= 800
    page.tap("#left img")
    answered(page, 1)
    page.tap("#right img")
    answered(page, 2)
    file = photos.parent / "photos.answers.sqlite"
    assert read_answers(file)["outcome"].to_list() == ["left", "right"]

    def shows_pictures():
        page.dblclick("#show")
        page.wait_for_timeout(200)
        return page.locator("#board tbody img").count() > 1

    wait_for(shows_pictures)
    wide = "images => images.map(image => image.naturalWidth)"
    wait_for(lambda: min(page.locator("#board img").evaluate_all(wide)) > 0)
    assert barriers(page) == []


def test_a_key_that_comes_too_early_is_shown_as_ignored(serve, texts, opened):
    server = serve(texts, "--port", "0", "--repeat", "0")
    page = opened(server.links[0])
    answered(page, 0)
    for _ in range(12):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(100)
    wait_for(lambda: page.locator("body[aria-busy]").count() == 0)
    ignored = int(re.search(r"(\d+) so far", page.inner_text("#ignored"))[1])
    counted = int(re.match(r"\d+", page.inner_text("#progress"))[0])
    assert ignored > 0 and ignored + counted == 12


def test_all_texts_of_a_study_have_one_size(serve, opened, tmp_path):
    long = tmp_path / "long.txt"
    words = "many words " * 300
    long.write_text(f"short\nalso {words}\n{words}", encoding="utf-8")
    for name, short in (("long.txt", False), ("texts.txt", True)):
        (tmp_path / "texts.txt").write_text("a\nb\nc", encoding="utf-8")
        small = {"width": 390, "height": 700}
        page = opened(serve(name, "--port", "0").links[0], viewport=small)
        assert barriers(page) == []  # the keyboard reaches what scrolls
        assert page.locator("#cards.short").count() == short
        sizes = page.locator("#cards .text").evaluate_all(
            "all => all.map(one => getComputedStyle(one).fontSize)"
        )
        assert len(set(sizes)) == 1


@pytest.mark.extended
def test_a_phone_in_two_hands(serve, photos, opened):
    server = serve(photos, "--port", "0")
    for scheme in ("light", "dark"):
        page = opened(
            server.links[0], viewport={"width": 390, "height": 800}, has_touch=True,
            is_mobile=True, color_scheme=scheme,
        )  # fmt: skip
        first = int(re.match(r"\d+", page.inner_text("#progress"))[0])
        page.wait_for_timeout(300)
        page.tap("[data-outcome=left]")
        answered(page, first + 1)
        page.tap("[data-outcome=tie]")
        answered(page, first + 2)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390
        for button in page.locator("#buttons button").all():
            box = button.bounding_box()
            assert box["height"] >= 44 and box["y"] + box["height"] <= 800
        assert barriers(page) == []


@pytest.mark.extended
def test_the_page_survives_a_crash_of_the_server(serve, texts, opened, tmp_path):
    server = serve(texts, "--port", "0", "--repeat", "0")
    page = opened(server.links[0])
    answered(page, 0)
    press(page, "ArrowLeft", 1)
    press(page, "ArrowDown", 2)
    server.kill()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("text=Your answer is kept here")
    server.words[2] = str(server.port)
    server.start()
    answered(page, 3)
    assert not page.is_visible("#notice")
    press(page, "ArrowLeft", 4)
    file = tmp_path / "texts.answers.sqlite"
    assert read_answers(file)["outcome"].to_list() == ["left", "tie", "right", "left"]


@pytest.mark.extended
def test_two_people_at_once_and_a_stale_tab(serve, texts, opened, tmp_path):
    server = serve(texts, "--port", "0", "--raters", "Ada,Bo", "--repeat", "0")
    ada, bo = (opened(link) for link in server.links)
    answered(ada, 0)
    assert "Ada" in ada.inner_text(".who")
    second = ada.context.new_page()
    second.goto(server.base)
    second.wait_for_selector("#left > *")
    press(ada, "ArrowLeft", 1)
    press(bo, "ArrowRight", 2)
    second.wait_for_timeout(300)
    second.keyboard.press("ArrowRight")  # the pair that the first tab answered
    second.wait_for_selector("text=answered already")
    second.reload()
    answered(second, 2)
    press(second, "ArrowDown", 3)
    answers = read_answers(tmp_path / "texts.answers.sqlite")
    assert answers.select("rater", "outcome").rows() == [
        ("Ada", "left"), ("Bo", "right"), ("Ada", "tie"),
    ]  # fmt: skip
    organizer = ada.context.new_page()
    organizer.goto(server.organizer)
    assert "3 answers about 8 items" in organizer.inner_text("main")
    assert barriers(organizer) == []


@pytest.mark.extended
def test_texts_with_prompts_and_broken_images(serve, opened, tmp_path):
    (tmp_path / "models.csv").write_text(
        'prompt,model,markdown\np <b>1</b>,a,"*x* <img src=x onerror=alert(1)>"\n'
        "p <b>1</b>,b,y\n",
        encoding="utf-8",
    )
    server = serve("models.csv", "--port", "0")
    page = opened(server.links[0])
    assert page.inner_text("#prompt") == "p <b>1</b>"
    cards = page.inner_text("#left") + page.inner_text("#right")
    assert "<img src=x onerror=alert(1)>" in cards
    assert page.locator("#cards em").count() == 1
    page.wait_for_timeout(300)
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("text=You have answered every pair")


@pytest.mark.extended
def test_an_image_that_is_gone_can_be_skipped(serve, photos, opened):
    server = serve(photos, "--port", "0")
    for path in photos.iterdir():
        path.unlink()
    page = opened(server.links[0])
    page.wait_for_selector("text=cannot be shown")
    page.wait_for_timeout(300)
    page.keyboard.press("s")
    wait_for(lambda: page.is_enabled("#undo"))
