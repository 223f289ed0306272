# SPDX-License-Identifier: BSD-3-Clause
"""The report in a real browser: it works, and harmful names do no harm."""

import dataclasses
import functools
import http.server
import os
import re
import shutil
import subprocess
import threading

import numpy as np
import polars as pl
import pytest

from tests.extended import few
from tests.pipeline.answers import rank_data
from tests.report.conftest import HOSTILE, report_of
from tiebreak import Glicko, Leaderboard, Pairs, SVMCompare, ThresholdCompare, tune
from tiebreak.data.markup import shorten
from tiebreak.pipeline.comparisons import ComparisonData
from tiebreak.pipeline.report import report_data
from tiebreak.report import CompareData, ReportData, write_report

sync_api = pytest.importorskip("playwright.sync_api", exc_type=ImportError)

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without a sandbox because tests may run as root; the others keep it off the network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSTALL = "apt-get update -q && apt-get install -y -q chromium"


def find_browser():
    found = (shutil.which(name) for name in BROWSERS)
    return next((path for path in found if path), None)


@pytest.fixture(scope="session")
def browser():
    """Start a browser without a window.

    When all tests are to run, Debian's is installed if root may do so.
    """
    path = find_browser()
    may_install = (
        os.environ["TIEBREAK_TESTS"] == "all"
        and hasattr(os, "geteuid")
        and os.geteuid() == 0
        and shutil.which("apt-get")
    )
    if path is None and may_install:
        subprocess.run(INSTALL, shell=True, timeout=600, capture_output=True)
        path = find_browser()
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is on the path")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory, hostile_page, rng_seed):
    """Write the pages to test."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "hostile.html").write_text(hostile_page, encoding="utf-8")
    names = [f"item {i}" for i in (10, 2, 33, 4, 5, 6, 7, 8, 9, 1, 11, 12)]
    for ties in ("davidson", "rao-kupper"):
        data, model = report_of(names, np.random.default_rng(rng_seed), ties=ties)
        write_report(data, folder / f"{ties}.html")
        MODELS[ties] = model
    strengths = np.array([2.0, 1.0, 0.5])
    close = CompareData(["Ada", "Bo", "Cy"], strengths, "threshold", 0.75)
    board = pl.DataFrame(
        {
            "item": ["Ada", "Bo", "Cy"],
            "rating": [2.0, 1.0, 0.5],
            "wins": [7.0, None, 10.0],
            "ties": [0.0, None, 1.5],
            "losses": [1.0, None, 3.0],
        }
    )
    write_report(ReportData("Close", board, compare=close), folder / "threshold.html")
    write_report(glicko_report(np.random.default_rng(rng_seed)), folder / "glicko.html")
    write_report(plane_report(np.random.default_rng(rng_seed)), folder / "plane.html")
    return folder


def glicko_report(rng):
    """Make a report on players of whom some have played often and some hardly."""
    names = np.array(["often", "also often", "seldom", "<i>once</i>"])
    left = np.append(rng.integers(0, 2, 90), [2, 3, 2])
    right = np.append(1 - left[:90], [0, 1, 1])
    y = np.append(rng.integers(-1, 2, 90), [-1, 1, 0])
    model = Glicko(advantage=40.0).fit(Pairs(None, names[left], names[right]), y)
    MODELS["glicko"] = model
    compare = CompareData.from_model(model)
    return ReportData(
        "Glicko", Leaderboard(model).table, history=model.history_, compare=compare
    )


def plane_report(rng):
    """Make a report on items of two features with names, with all that it can have."""
    items, left = rng.normal(size=(9, 2)), rng.integers(0, 8, 200)
    right = (left + rng.integers(1, 8, 200)) % 8
    utility = items[:, 0] - items[:, 1] ** 2
    d = utility[right] - utility[left] + rng.logistic(size=200)
    y = np.where(np.abs(d) < 0.5, 0, np.sign(d)).astype(int)
    names = np.array([f"wine {i}" for i in range(8)] + ["<b>unseen</b>"])
    table = pl.DataFrame(items, schema=["<sweet>", "sour"])
    pairs = Pairs(table, left, right, names=names)
    known = ComparisonData(pairs, y.astype(np.int8), item_names=names)
    found = tune(
        ThresholdCompare(SVMCompare()),
        pairs,
        y,
        {"ranker__C": [0.1, 10.0], "ranker__gamma": [0.1, 1.0]},
        cv=2,
        progress=False,
    )
    answer = rank_data(known, "<plane>", ["Read."], model="logistic")
    answer = dataclasses.replace(answer, tuning=found)
    MODELS["plane"] = answer.choice.model, pairs
    return report_data(answer, "tiebreak rank", "today")


MODELS = {}


@pytest.fixture(scope="session")
def server(folder):
    """Serve the pages on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def visit(browser, folder, server):
    """Open pages, and look for errors and requests at the end."""
    context = browser.new_context()
    troubles, requests = [], []

    def visit(name, *, by_file=False, **media):
        page = context.new_page()
        page.set_viewport_size({"width": 1280, "height": 800})
        page.emulate_media(**media)
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.add_init_script(
            "window.violations = []; document.addEventListener("
            "'securitypolicyviolation', e => violations.push(e.violatedDirective))"
        )
        base = folder.as_uri() if by_file else server
        page.goto(f"{base}/{name}.html")
        assert page.evaluate("violations") == []
        return page

    visit.troubles = troubles
    yield visit
    context.close()
    assert troubles == []
    assert {url for url in requests if not url.startswith("data:")} <= {
        f"{base}/{path.name}"
        for base in (folder.as_uri(), server)
        for path in folder.iterdir()
    }


def test_the_policy_stops_what_is_not_ours(visit):
    page = visit("hostile")
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.wait_for_function("violations.length > 0")
    assert page.evaluate("violations") == ["style-src-attr"]
    (message,) = visit.troubles  # Chromium also says so on the console
    assert "Content Security Policy" in message
    visit.troubles.clear()


def column(page, number):
    return page.eval_on_selector_all(
        f"#board tbody tr > :nth-child({number + 1})",
        "cells => cells.map(c => [c.textContent, c.dataset.v])",
    )


@pytest.mark.extended
@pytest.mark.parametrize("by_file", few([False, True]))
def test_every_column_sorts_both_ways(visit, by_file):
    page = visit("davidson", by_file=by_file)
    heads = page.locator("#board thead th")
    assert heads.count() == 9
    for number in range(heads.count()):
        head = heads.nth(number)
        for _ in range(2):
            head.locator("button").click()
            cells = column(page, number)
            values = [float(v) if v is not None else text for text, v in cells]
            if number == 1:
                values = [int(text.split()[1]) for text in values]
            down = head.get_attribute("aria-sort") == "descending"
            assert values == sorted(values, reverse=down)
        assert page.locator("#board th[aria-sort=none]").count() == 8


@pytest.mark.extended
def test_what_has_no_number_comes_last_in_both_directions(visit):
    page = visit("threshold")
    won = page.get_by_role("button", name="Won")
    for expected in (["10", "7", "–"], ["7", "10", "–"]):
        won.click()
        assert [text for text, _ in column(page, 3)] == expected


@pytest.mark.extended
def test_sorting_by_keyboard(visit):
    page = visit("davidson")
    page.locator("#board thead button").nth(2).focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Space")
    head = page.locator("#board thead th").nth(2)
    assert head.get_attribute("aria-sort") == "ascending"
    ratings = [float(v) for _, v in column(page, 2)]
    assert ratings == sorted(ratings)


@pytest.mark.extended
def test_search_finds_items(visit):
    page = visit("davidson")
    page.get_by_label("Search items").fill("ITEM 1")
    shown = page.locator("#board tbody tr:visible .item").all_text_contents()
    assert sorted(shown) == ["item 1", "item 10", "item 11", "item 12"]
    assert page.locator("#found").text_content() == "4 of 12 items"
    page.get_by_label("Search items").fill("<img")
    assert page.locator("#board tbody tr:visible").count() == 0
    page.get_by_label("Search items").fill("")
    assert page.locator("#board tbody tr:visible").count() == 12


@pytest.mark.parametrize("ties", few(["davidson", "rao-kupper"]))
@pytest.mark.parametrize("advantage", few([1.0, 0.0]))
def test_comparing_two_agrees_with_the_model(visit, ties, advantage):
    page = visit(ties)
    if advantage:
        page.get_by_label("Left has the advantage").check()
    model = MODELS[ties]
    for left, right in [("item 9", "item 33"), ("item 12", "item 10")]:
        page.get_by_label("Left", exact=True).fill(left)
        page.get_by_label("Right", exact=True).fill(right)
        shown = page.locator("#chances strong").all_text_contents()
        chances = [float(text.removesuffix(" %")) / 100 for text in shown]
        pair = Pairs(None, [left], [right])
        expected = model.predict_proba(pair, advantage=advantage)[0]
        np.testing.assert_allclose(chances, expected, atol=0.0005001)
        widths = page.eval_on_selector_all(
            "#odds rect", "parts => parts.map(p => p.width.baseVal.value / 300)"
        )
        np.testing.assert_allclose(widths, expected, atol=1e-5)
        verdict = page.locator("#verdict").text_content()
        winner = [left, None, right][int(np.argmax(expected))]
        assert (winner or "A tie") in verdict


def chances(page, left, right):
    """Ask the page, and take the numbers with all their digits."""
    page.get_by_label("Left", exact=True).fill(left)
    page.get_by_label("Right", exact=True).fill(right)
    widths = page.locator("#odds rect").evaluate_all(
        "parts => parts.map(p => p.getAttribute('width'))"
    )
    return np.array(widths, dtype=float) / 300


@pytest.mark.extended
@pytest.mark.parametrize("advantage", [0.0, 40.0])
def test_comparing_two_knows_how_little_is_known(visit, advantage):
    page = visit("glicko")
    if advantage:
        page.get_by_label("Left has the advantage").check()
    model = MODELS["glicko"]
    for left, right in [
        ("often", "also often"),
        ("seldom", "often"),
        ("<i>once</i>", "seldom"),
    ]:
        expected = model.predict_proba(
            Pairs(None, [left], [right]), advantage=advantage
        )
        np.testing.assert_allclose(chances(page, left, right), expected[0], atol=1e-6)


@pytest.mark.extended
def test_comparing_two_that_are_known_by_features(visit):
    page = visit("plane")
    model, pairs = MODELS["plane"]
    for i, j in [(0, 1), (5, 8), (8, 2)]:  # 8 was never compared
        pair = Pairs(pairs.items, [i], [j], names=pairs.names)
        expected = model.predict_proba(pair)[0]
        found = chances(page, str(pairs.names[i]), str(pairs.names[j]))
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.extended
def test_items_of_two_features_have_level_curves_and_a_leaderboard(visit):
    page = visit("plane")
    curves = page.get_by_role("img", name="Level curves")
    assert curves.is_visible()
    assert curves.locator("path").count() > 10
    texts = curves.locator("text").all_text_contents()
    assert {"<sweet>", "sour", "what was compared", "what was learned"} <= set(texts)
    assert page.locator("#board .item").count() == 9
    page.get_by_label("Search items").fill("unseen")
    (row,) = page.locator("#board tbody tr:visible").all()
    assert "<b>unseen</b>" in row.text_content()
    assert row.locator("td").nth(2).text_content() == "0"  # it has won nothing
    tuning = page.locator("#tuning")
    assert "4 combinations of settings were tried" in tuning.text_content()
    hovers = tuning.locator("svg g > title").all_text_contents()
    assert len([text for text in hovers if "gamma = " in text]) == 4
    assert "Read." in page.locator("#checks").text_content()


@pytest.mark.extended
def test_comparing_explains_what_it_cannot_do(visit):
    page = visit("davidson")
    page.get_by_label("Left", exact=True).fill("<b>nobody</b>")
    assert "there is no \u2068<b>nobody</b>" in page.locator("#verdict").text_content()
    assert page.locator("#chances strong").count() == 0
    page.get_by_label("Left", exact=True).fill("item 1")
    page.get_by_label("Right", exact=True).fill("item 1")
    assert page.locator("#verdict").text_content() == "Choose two different items."


@pytest.mark.extended
def test_a_threshold_gives_outcomes_only(visit):
    page = visit("threshold")
    verdict = page.locator("#verdict")
    assert "Ada\u2069 is better" in verdict.text_content()
    page.get_by_label("Left", exact=True).fill("Cy")
    assert "a tie" in verdict.text_content()
    assert page.locator("#chances strong").count() == 0
    assert not page.locator("#odds").is_visible()


@pytest.mark.parametrize("by_file", few([True, False]))
def test_harmful_names_appear_as_text(visit, by_file):
    page = visit("hostile", by_file=by_file)
    shown = page.locator("#board .item bdi").all_text_contents()
    assert sorted(shown) == sorted(shorten(name) for name in HOSTILE)
    whole = page.locator("#board .item bdi[title]").evaluate_all(
        "names => names.map(name => name.title)"
    )
    assert HOSTILE[6] in whole
    in_charts = page.locator("svg.chart text").all_text_contents()
    for name in HOSTILE[:4]:
        assert any(name in text for text in in_charts)
    page.get_by_label("Left", exact=True).fill(HOSTILE[2])
    page.get_by_label("Right", exact=True).fill(HOSTILE[0])
    assert f"\u2068{HOSTILE[2]}\u2069 wins" in (
        page.locator("#chances").text_content() or ""
    )
    assert page.locator("img, iframe, form, [onerror], [onload]").count() == 0
    assert page.locator("script").count() == 2
    hovers = page.locator("#matrix svg g > title").all_text_contents()
    assert len(hovers) > 50
    assert any(HOSTILE[0] in text and " won, " in text for text in hovers)


@pytest.mark.extended
@pytest.mark.parametrize(
    "name", ["hostile", "davidson", "threshold", "plane", "glicko"]
)
def test_nothing_is_wider_than_the_window(visit, name):
    page = visit(name)
    if name == "hostile":
        page.get_by_label("Left", exact=True).fill(shorten(HOSTILE[6], 80))
        assert "long long" in page.locator("#chances").text_content()
    for width in (1280, 768, 375, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def luminance(color):
    red, green, blue = (int(part) / 255 for part in re.findall(r"\d+", color)[:3])
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (red, green, blue)
    ]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.extended
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_light_and_dark(visit, scheme):
    page = visit("davidson", color_scheme=scheme)
    behind = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (luminance(behind) < 0.2) == (scheme == "dark")
    places = {
        "body": "color",
        "figcaption": "color",
        "#history svg text.f-ink": "fill",
        "a": "color",
        ".findings .warning strong": "color",
    }
    for selector, name in places.items():
        color = page.locator(selector).first.evaluate(
            f"element => getComputedStyle(element).{name}"
        )
        bright, dim = sorted([luminance(color), luminance(behind)], reverse=True)
        assert (bright + 0.05) / (dim + 0.05) > 4.5, selector


@pytest.mark.extended
def test_everything_can_be_reached_by_keyboard(visit):
    page = visit("davidson")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate("document.activeElement.id || document.activeElement.tagName")
        )
    assert {"A", "BUTTON", "search", "left", "right", "advantage"} <= reached
    unnamed = page.eval_on_selector_all(
        "input", "inputs => inputs.filter(i => !i.labels.length).length"
    )
    assert unnamed == 0


@pytest.mark.extended
def test_a_print_has_every_row_and_no_controls(visit):
    page = visit("davidson", media="print")
    assert not page.locator("#search").is_visible()
    assert not page.locator("#compare").is_visible()
    assert page.locator("#board tbody tr:visible").count() == 12
    assert page.locator(".tall").evaluate("box => box.scrollHeight <= box.clientHeight")
