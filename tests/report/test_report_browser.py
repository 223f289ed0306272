# SPDX-License-Identifier: BSD-3-Clause
"""The report in a real browser: it works, and harmful names do no harm."""

import io
import re
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import polars as pl
import pytest

from tests.extended import few
from tests.pipeline.answers import rank_data
from tests.report.conftest import (
    HOSTILE,
    board_of,
    full_report,
    report_of,
    result_of,
)
from tiebreak import Glicko, Leaderboard, Pairs
from tiebreak.data import Comparisons
from tiebreak.data.markup import shorten
from tiebreak.pipeline.result import compare_two
from tiebreak.report import write_report

Axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe


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
    close = compare_of(
        ["Ada", "Bo", "Cy"], np.array([2.0, 1.0, 0.5]), "threshold", 0.75
    )
    board = board_of(
        {
            "item": ["Ada", "Bo", "Cy"],
            "rating": [2.0, 1.0, 0.5],
            "wins": [7.0, None, 10.0],
            "ties": [0.0, None, 1.5],
            "losses": [1.0, None, 3.0],
        }
    )
    write_report(result_of("Close", board, compare=close), folder / "threshold.html")
    write_report(glicko_report(np.random.default_rng(rng_seed)), folder / "glicko.html")
    write_report(plane_report(np.random.default_rng(rng_seed)), folder / "plane.html")
    DATA["full"], MODELS["full"] = full_report(rng_seed)
    write_report(DATA["full"], folder / "full.html")
    write_report(many_report(), folder / "many.html")
    write_report(critical_report(), folder / "critical.html")
    return folder


def critical_report():
    """Make a report with a picture of critical differences, of long names."""
    names = [f"a-long-model-name-with-instructions-{k}-of-70b" for k in "abc"]
    columns = {"item": names, "rating": [1600.0, 1500.0, 1400.0]}
    board = board_of(columns | {"group": ["a", "a b", "b"]})
    source = SimpleNamespace(scores=SimpleNamespace(tolerance=np.empty(0)), pictures={})
    return result_of("Scores", board, source=source, practically_equal=None)


def test_long_names_stay_inside_the_page(visit):
    page = visit("critical")
    box = page.locator("svg.critical").bounding_box()
    for name in page.locator("svg.critical text").all():
        place = name.bounding_box()
        assert box["x"] <= place["x"]
        assert place["x"] + place["width"] <= box["x"] + box["width"]
    page.set_viewport_size({"width": 390, "height": 800})
    marker = page.locator(".part > summary").first.evaluate(
        "part => getComputedStyle(part).listStylePosition"
    )
    assert marker == "inside"  # outside it would be left of the page


def glicko_report(rng):
    """Make a report on players of whom some have played often and some hardly."""
    names = np.array(["often", "also often", "seldom", "<i>once</i>"])
    left = np.append(rng.integers(0, 2, 90), [2, 3, 2])
    right = np.append(1 - left[:90], [0, 1, 1])
    y = np.append(rng.integers(-1, 2, 90), [-1, 1, 0])
    model = Glicko(advantage=40.0).fit(Pairs(None, names[left], names[right]), y)
    MODELS["glicko"] = model
    return result_of(
        "Glicko",
        Leaderboard(model).table,
        history=(model.history_, ""),
        compare=compare_two(model),
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
    known = Comparisons(pairs, y.astype(np.int8))
    answer = rank_data(known, "<plane>", ["Read."], model="logistic-compare", tune=True)
    return replace(answer, command="tiebreak rank")


def many_report(n=5000):
    """Make a report on thousands of items."""
    rating = 2000.0 - np.arange(n) / 5
    names = [f"player {(7919 * k) % n}" for k in range(n)]
    columns = {"rank": np.arange(1, n + 1), "item": names, "rating": rating}
    columns |= {"lower": rating - 40, "upper": rating + 40}
    columns |= {"wins": np.arange(n), "ties": [0] * n, "losses": [1] * n}
    compare = compare_of(names, rating / 173, "davidson", 0.5)
    return result_of("Many", board_of(columns), compare=compare)


def compare_of(names, strengths, link, tie):
    """Make what compares two items."""
    found = {"names": names, "strengths": strengths, "link": link, "tie": tie}
    return found | {"advantage": None, "doubts": None}


MODELS, DATA = {}, {}


@pytest.fixture
def visit(browser, folder):
    """Open pages, and look for errors and requests at the end."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    troubles, requests = [], []

    def visit(name, **media):
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
        page.goto(f"{folder.as_uri()}/{name}.html")
        assert page.evaluate("violations") == []
        return page

    visit.troubles = troubles
    yield visit
    context.close()
    assert troubles == []
    assert {url for url in requests if not url.startswith("data:")} <= {
        path.as_uri() for path in folder.iterdir()
    }


def test_the_policy_stops_what_is_not_ours(visit):
    page = visit("hostile")
    page.evaluate("document.body.setAttribute('style', 'color: red')")
    page.wait_for_function("violations.length > 0")
    assert page.evaluate("violations") == ["style-src-attr"]
    (message,) = visit.troubles  # Chromium also says so on the console
    assert "Content Security Policy" in message
    visit.troubles.clear()


def names_in(page, selector):
    return page.locator(f"{selector} bdi").all_text_contents()


def column(page, key):
    heads = page.locator("#board thead tr > *")
    keys = heads.evaluate_all("heads => heads.map(head => head.dataset.key)")
    return page.eval_on_selector_all(
        f"#board tbody tr > :nth-child({keys.index(key) + 1})",
        "cells => cells.map(c => c.textContent.trim())",
    )


def number(text):
    return float(text.replace(",", "").replace("−", "-"))


def test_every_number_is_that_of_the_data(visit):
    page, board = visit("full"), DATA["full"].board
    assert names_in(page, "#board tbody") == board["item"].to_list()
    counts = [column(page, key) for key in ("wins", "ties", "losses")]
    for key, shown in zip(("wins", "ties", "losses"), counts, strict=True):
        assert [number(text) for text in shown] == board[key].to_list()
    votes = [number(text) for text in column(page, "votes")]
    assert votes == (board["wins"] + board["ties"] + board["losses"]).to_list()
    for place, row in enumerate(board.iter_rows(named=True)):
        assert number(column(page, "rating")[place]) == round(row["rating"])
        interval = f"{row['lower']:.0f} to {row['upper']:.0f}"
        assert column(page, "interval")[place] == interval
        best, worst = row["rank_best"], row["rank_worst"]
        ranks = str(best) if best == worst else f"{best}–{worst}"
        assert column(page, "ranks")[place] == ranks
    # Where dots and lines stand is linear in the rating.
    dots = page.locator("#board .dot").evaluate_all(
        "dots => dots.map(dot => parseFloat(dot.getAttribute('d').slice(1)))"
    )
    fitted = np.polyfit(board["rating"].to_numpy(), dots, 1)
    np.testing.assert_allclose(
        np.polyval(fitted, board["rating"].to_numpy()), dots, atol=3.0
    )


def texts(page, selector):
    return [text.strip() for text in page.locator(selector).all_text_contents()]


@pytest.mark.extended
def test_numbers_of_other_sections_are_those_of_the_data(visit):
    page, data = visit("full"), DATA["full"]
    shown = texts(page, "#effects .row .value")
    for text, row in zip(shown, data.effects.to_dicts(), strict=True):
        assert number(text.split()[0]) == round(row["points"])
        p = float(text.rpartition("p ")[2].lstrip("=< "))
        assert p == row["p_value"] or row["p_value"] < p == 1e-4
    cells = texts(page, "#moves td")
    ranks = [(int(a), int(b)) for a, b in zip(cells[::4], cells[1::4], strict=True)]
    moved = data.moves.filter(pl.col("moved") != 0)
    assert ranks == moved.select("rank", "rank_without").rows()
    for item, claim in zip(
        page.locator(".claim").all(), data.audit["claims"], strict=True
    ):
        votes, choices, _ = texts(item, "dd")
        fewest, held = claim["removal"]["votes"], claim["choices"]
        reverse = claim["reversal"]["votes"]
        if fewest is None:
            assert votes == "none found"
        else:
            assert votes.startswith(f"{fewest} removed ({100 * fewest / 600:.3g} %")
            assert votes.endswith(f" of all), {reverse} reversed")
        assert f"holds under {held['holds']} of {held['of']}" in choices
        assert all(name in choices for name in held["broken_by"])
    rows = [texts(page, f"#judges .row .{part}") for part in ("name", "value")]
    assert rows == [
        ["<b>Ann</b> 400 votes; tie 10\u00a0%, left 52\u00a0%", "Bob 12 votes"],
        ["81 77 to 85", "– unclear"],
    ]
    wanted = ["60.0\u00a0%", "0.9000", "–", "–"]
    assert texts(page, "#quality tbody td")[:4] == wanted
    weights = sorted(data.weights, key=lambda pair: -abs(pair[1]))
    names, values = (
        texts(page, f"#weights figure.dots >> nth=0 >> .{part}")
        for part in ("name", "value")
    )
    assert [(name, number(v)) for name, v in zip(names, values, strict=True)] == weights


def test_the_page_draws_what_the_server_drew(visit, browser, folder):
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(f"{folder.as_uri()}/full.html")
    page = visit("full")
    shapes = "paths => paths.map(path => path.getAttribute('d'))"
    for selector in ("#board .dot", "#board .iv"):
        drawn = plain.locator(selector).evaluate_all(shapes)
        again = page.locator(selector).evaluate_all(shapes)
        assert len(drawn) == len(again) > 3
        numbers = [[float(x) for x in re.findall(r"[\d.]+", d)] for d in drawn]
        others = [[float(x) for x in re.findall(r"[\d.]+", d)] for d in again]
        # The script reads ratings from the table, which rounds them.
        np.testing.assert_allclose(numbers, others, atol=4.0)
    classes = "rows => rows.map(row => row.className)"
    marks = [
        one.locator("#board tbody tr").evaluate_all(classes) for one in (plain, page)
    ]
    assert marks[0] == marks[1]
    assert "best first" in marks[0]
    assert plain.locator("#search").is_hidden()
    assert plain.locator("#board tbody tr").count() == 12
    assert plain.locator("details[data-category]").count() == 2
    context.close()


@pytest.mark.extended
def test_every_column_sorts_both_ways(visit):
    page = visit("full")
    heads = page.locator("#board thead tr > *")
    keys = heads.evaluate_all("heads => heads.map(head => head.dataset.key)")
    for place, key in enumerate(keys):
        if key in (None, "group", "interval", "ranks", "votes"):
            continue
        for _ in range(2):
            heads.nth(place).locator("button").click()
            values = column(page, key)
            down = heads.nth(place).get_attribute("aria-sort") == "descending"
            if key == "item":
                values = [int(text.split()[1]) for text in values]
            else:
                values = [number(text) for text in values]
            assert values == sorted(values, reverse=down)
        assert page.locator("#board th[aria-sort=none]").count() == len(keys) - 2


def test_search_filters_plot_and_table(visit):
    page = visit("full")
    page.get_by_label("Find").fill("ITEM 1")
    assert sorted(names_in(page, "#board tbody")) == ["item 1", "item 10", "item 11"]
    assert page.locator("#found").text_content() == "3 of 12 items"
    page.get_by_label("Find").fill("<img")
    assert names_in(page, "#board tbody") == []
    page.get_by_label("Find").fill("")
    assert len(names_in(page, "#board tbody")) == 12


@pytest.mark.extended
def test_a_pinned_item_fades_those_like_it(visit):
    page, board = visit("full"), DATA["full"].board
    letters = {row["item"]: set(row["group"].split()) for row in board.to_dicts()}
    name = board["item"][4]
    page.locator("#board").get_by_text(name, exact=True).click()
    faded = page.locator("#board .faded bdi").all_text_contents()
    like = [x for x in letters if x != name and letters[x] & letters[name]]
    assert sorted(faded) == sorted(like) != []
    assert f"{len(like)} other" in page.locator("#pinned").text_content()
    assert page.url.endswith("#item=item%20" + name.split()[1])
    assert page.locator("#board tr.pinned bdi").all_text_contents() == [name]
    # The details stand below the row.
    after = page.locator("#board tr.pinned + tr.details")
    wins = f"{board['wins'][4]:.0f} won"
    assert wins in after.text_content()
    assert page.locator("#versus .pinned th").all_text_contents() == [name]
    page.get_by_role("button", name="Unpin").click()
    assert page.locator(".faded, .pinned, .details").count() == 0
    assert "#" not in page.url
    # Again from a link, and by keyboard.
    page.goto(page.url + "#item=item%203")
    assert page.locator("#board .pinned bdi").all_text_contents() == ["item 3"]
    page.locator("#board th a").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator("#board .pinned bdi").all_text_contents() == [board["item"][1]]
    assert page.locator("#board .pinned a").get_attribute("aria-expanded") == "true"
    page.keyboard.press("Escape")
    assert page.locator("#pinned").count() == 0


@pytest.mark.extended
def test_a_category_is_switched_to(visit):
    page, boards = visit("full"), DATA["full"].categories
    for name, board in boards.items():
        page.get_by_role("button", name=name, exact=True).click()
        assert page.locator(".standfirst").text_content() == f"{name}: Best in {name}."
        assert page.locator(".kicker").text_content() == "12 comparisons"
        assert names_in(page, "#board tbody") == board["item"].to_list()
        shown = [number(text) for text in column(page, "rating")]
        assert shown == [round(value) for value in board["rating"]]
    page.get_by_role("button", name="All", exact=True).click()
    whole = DATA["full"].board["item"].to_list()
    assert names_in(page, "#board tbody") == whole
    assert page.locator(".standfirst").text_content() == "item 0 is best."
    assert "A <note>." in page.locator("#categories").text_content()


def copied(page, form):
    page.get_by_role("button", name=form, exact=True).click()
    page.locator("#copied", has_text=f"rows as {form}.").wait_for()
    return page.evaluate("navigator.clipboard.readText()")


def test_the_table_is_copied(visit):
    page, board = visit("full"), DATA["full"].board
    lines = copied(page, "Markdown").splitlines()
    assert lines[0].startswith("| Rank | Item | Rating |")
    assert len(lines) == 2 + len(board)
    assert f"| 1 | {board['item'][0]} | {board['rating'][0]:.0f} |" in lines[2]
    table = pl.read_csv(io.StringIO(copied(page, "CSV")))
    assert table["Item"].to_list() == board["item"].to_list()
    assert table["Won"].to_list() == board["wins"].to_list()


def test_hostile_names_are_copied_as_text(visit):
    page = visit("hostile")
    markdown = copied(page, "Markdown")
    for line in markdown.splitlines()[2:]:
        assert not re.search(r"(?<!\\)[<>`*\[\]]", line)
        assert len(re.findall(r"(?<!\\)\|", line)) == markdown.splitlines()[0].count(
            "|"
        )
    table = pl.read_csv(io.StringIO(copied(page, "CSV")))
    names = table["Item"].to_list()
    assert "'" + HOSTILE[7] in names
    assert HOSTILE[2] in names


@pytest.mark.extended
@pytest.mark.parametrize(
    "mode", few(["Difference", "Observed", "Expected by the model"])
)
def test_who_beats_whom_is_observed_or_expected(visit, mode):
    page, matrix, model = visit("full"), DATA["full"].matrix, MODELS["full"]
    page.get_by_role("button", name=mode).click()
    names = names_in(page, "#versus tbody")
    assert names == matrix.items.tolist()
    cells = page.locator("#versus tbody tr").evaluate_all(
        "rows => rows.map(r => [...r.cells].slice(1).map(c => c.textContent.trim()))"
    )
    k = len(names)
    left, right = np.repeat(names, k), np.tile(names, k)
    proba = model.predict_proba(Pairs(None, left, right), advantage=0.0)
    expected = (proba[:, 0] + proba[:, 1] / 2).reshape(k, k)
    observed = matrix.points
    wanted = {"Observed": observed, "Difference": observed - expected}
    wanted = wanted.get(mode, expected)
    met = np.isfinite(observed) & ~np.eye(k, dtype=bool)
    shown = [[number(t.lstrip("+")) if t else np.nan for t in row] for row in cells]
    np.testing.assert_array_equal(np.isfinite(shown), met)
    np.testing.assert_allclose(np.array(shown)[met], 100 * wanted[met], atol=0.501)
    if mode != "Observed":
        return
    page.locator("#versus thead button").nth(3).click()
    ordered = names_in(page, "#versus tbody")
    shares = [observed[names.index(name), 3] for name in ordered if name != names[3]]
    known = [share for share in shares if np.isfinite(share)]
    assert known == sorted(known, reverse=True)
    page.locator("#versus tbody td").first.focus()
    page.keyboard.press("ArrowRight")
    told = page.locator("#cell").text_content()
    assert "% of the points" in told or told == "These two never met."


@pytest.mark.extended
@pytest.mark.parametrize("name", few(["davidson", "rao-kupper", "glicko"]))
@pytest.mark.parametrize("checked", few([True, False]))
def test_comparing_two_agrees_with_the_model(visit, name, checked):
    page, model = visit(name), MODELS[name]
    # Glicko was given an advantage of 40 points; the others learned that of 1.
    advantage = (40.0 if name == "glicko" else 1.0) * checked
    if checked:
        page.get_by_label("Left has the advantage").check()
    items = model.items_.tolist()
    for left, right in [(items[0], items[1]), (items[3], items[2])]:
        page.get_by_label("Left", exact=True).fill(left)
        page.get_by_label("Right", exact=True).fill(right)
        pair = Pairs(None, [left], [right])
        expected = model.predict_proba(pair, advantage=advantage)[0]
        shown = page.locator("#chances strong").all_text_contents()
        chances = [float(text.removesuffix(" %")) / 100 for text in shown]
        np.testing.assert_allclose(chances, expected, atol=0.0005001)
        widths = page.eval_on_selector_all(
            "#odds rect", "parts => parts.map(p => p.getAttribute('width') / 300)"
        )
        np.testing.assert_allclose(widths, expected, atol=1e-5)
        winner = [left, "A tie", right][int(np.argmax(expected))]
        assert winner in page.locator("#verdict").text_content()


@pytest.mark.extended
def test_a_threshold_gives_outcomes_only(visit):
    page = visit("threshold")
    verdict = page.locator("#verdict")
    assert "Ada\u2069 is better" in verdict.text_content()
    page.get_by_label("Left", exact=True).fill("Cy")
    assert "a tie" in verdict.text_content()
    assert page.locator("#chances strong").count() == 0
    assert not page.locator("#odds").is_visible()


@pytest.mark.extended
def test_items_with_features_have_a_leaderboard(visit):
    page = visit("plane")
    assert page.locator("#board tbody tr").count() == 9
    page.get_by_label("Find").fill("unseen")
    (row,) = page.locator("#board tbody tr").all()
    assert "<b>unseen</b>" in row.text_content()
    assert column(page, "wins") == ["0"]
    assert "the choice is marked" in page.locator("#tuning").text_content()
    assert "Read." in page.locator("#checks").text_content()


def test_harmful_names_appear_as_text(visit):
    page = visit("hostile")
    mark = "\ufffd"  # for marks that turn the direction of text
    expected = sorted(shorten(name).replace("\u202e", mark) for name in HOSTILE)
    assert sorted(names_in(page, "#board tbody")) == expected
    in_charts = page.locator("svg text").all_text_contents()
    assert any(shorten(HOSTILE[0], 24) in text for text in in_charts)
    page.get_by_label("Left", exact=True).fill(HOSTILE[2])
    page.get_by_label("Right", exact=True).fill(HOSTILE[0])
    chances = page.locator("#chances").text_content() or ""
    assert f"\u2068{HOSTILE[2]}\u2069 wins" in chances
    page.locator("#board").get_by_text(HOSTILE[0]).click()
    assert HOSTILE[0] in page.locator("#pinned").text_content()
    page.locator("#versus tbody td").nth(1).hover()
    assert page.locator("img, iframe, form, [onerror], [onload]").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("bdi").count() > 30
    assert page.evaluate("document.querySelectorAll('bdi > *').length") == 0


@pytest.mark.extended
def test_five_thousand_items_are_paged_and_found(visit):
    page = visit("many")
    assert page.locator("#board tbody tr").count() == 40
    page.get_by_role("button", name="Show 100 more").click()
    assert page.locator("#board tbody tr .dot").count() == 140
    assert "140 of 5,000" in page.locator("#more").text_content()
    page.get_by_label("Find").fill("player 4999")
    assert names_in(page, "#board tbody") == ["player 4999"]
    page.get_by_label("Find").fill("")
    page.get_by_role("button", name="Won").click()
    assert column(page, "wins")[:2] == ["4,999", "4,998"]
    page.goto(page.url + "#item=player%2017")
    assert page.locator("#board .pinned bdi").all_text_contents() == ["player 17"]
    # No sort or search touches more nodes than the page shows.
    assert page.evaluate("document.querySelectorAll('*').length") < 12_000


@pytest.mark.parametrize("scheme", few(["light", "dark"]))
@pytest.mark.parametrize("width", few([390, 1400, 800]))
@pytest.mark.parametrize("name", few(["full", "hostile", "plane", "glicko", "many"]))
def test_it_fits_and_can_be_used_by_everybody(visit, name, width, scheme):
    page = visit(name, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.evaluate(
        "document.querySelectorAll('details').forEach(d => { d.open = true; })"
    )
    if page.locator("#board th a").count():
        page.locator("#board th a").nth(1).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []


@pytest.mark.parametrize("width", [390, 1400])
def test_a_line_has_one_name(visit, width):
    page = visit("full")
    page.set_viewport_size({"width": width, "height": 800})
    seen = "[...name.children].filter(part => part.checkVisibility()).length"
    names = page.locator("#history text.end")
    counts = names.evaluate_all(f"names => names.map(name => {seen})")
    assert counts and set(counts) == {1}


def test_fifty_items_are_short_on_a_phone(visit, folder, rng_seed):
    names = [f"a model with a name {k}" for k in range(50)]
    data, _ = report_of(names, np.random.default_rng(rng_seed), n=2000)
    write_report(data, folder / "fifty.html")
    page = visit("full")
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(f"{folder.as_uri()}/fifty.html")
    assert page.evaluate("document.documentElement.scrollHeight") <= 6000
    assert page.locator("#board tbody tr:visible").count() == 50
    assert not page.locator("#versus").is_visible()
    page.locator("nav a[href='#matrix']").click()
    page.locator("#versus").wait_for()


def test_two_items_are_compared_as_versus_does(visit):
    page, pairs = visit("full"), DATA["full"].differences
    between = page.locator("#between")
    for row in (pairs.row(0, named=True), pairs.row(40, named=True)):
        for turned in (False, True):
            left, right = [row["item"], row["other"]][:: -1 if turned else 1]
            page.get_by_label("Left", exact=True).fill(left)
            page.get_by_label("Right", exact=True).fill(right)
            text = between.text_content().replace("\u2068", "").replace("\u2069", "")
            gap = (-1 if turned else 1) * row["difference"]
            shown = float(re.search(r"([+−][\d.]+) points", text)[1].replace("−", "-"))
            assert abs(shown - gap) <= 0.51
            better, worse = (left, right) if gap > 0 else (right, left)
            sure = row["p_value"] < 0.05
            assert (f"{better} is better than {worse}" in text) == sure
            assert ("do not separate" in text) != sure
            won = row["lost" if turned else "won"]
            assert f"{left} won {won:.0f}, tied {row['tied']:.0f}" in text


def test_every_chart_is_saved_as_svg_with_its_source(visit):
    page = visit("full")
    charts = page.locator("[data-chart]")
    names = charts.evaluate_all("all => all.map(one => one.dataset.chart)")
    wanted = {"leaderboard", "categories", "results", "history", "calibration"}
    assert wanted | {"weights", "effects", "judges", "choices"} <= set(names)
    for place, name in enumerate(names):
        if place % 8 == 0:  # Chromium asks before the eleventh file of a page
            page = visit("full")
            charts = page.locator("[data-chart]")
            page.evaluate(
                "document.querySelectorAll('details').forEach(d => { d.open = true; })"
            )
        with page.expect_download(timeout=60_000) as waiting:
            charts.nth(place).locator("button.svg").click()
        assert waiting.value.suggested_filename == f"{name}.svg"
        root = ElementTree.parse(waiting.value.path()).getroot()
        tags = [node.tag.rpartition("}")[2] for node in root.iter()]
        assert set(tags) <= {"svg", "rect", "path", "circle", "text"}
        said = [node.text for node in root.iter() if node.tag.endswith("text")]
        assert said[-1].startswith("Everything; tiebreak ")
        if name == "leaderboard":
            assert set(DATA["full"].board["item"]) <= set(said)
            lines = [node.get("d") for node in root.iter() if node.get("d")]
            assert len(lines) > 2 * len(DATA["full"].board)


def test_everything_can_be_reached_by_keyboard(visit):
    page = visit("full")
    wanted = page.evaluate(
        "[...document.querySelectorAll('a, button, input, summary, [tabindex]')]"
        ".filter(e => e.tabIndex >= 0 && e.checkVisibility() && !e.disabled)"
        ".map((e, i) => { e.dataset.stop = i; return i; }).length"
    )
    reached = set()
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.stop"))
    assert len(reached - {None}) == wanted > 60
    unnamed = page.eval_on_selector_all(
        "input", "inputs => inputs.filter(i => !i.labels.length).length"
    )
    assert unnamed == 0


@pytest.mark.extended
@pytest.mark.parametrize("size", few(["A4", "Letter"]))
def test_a_print_has_every_row_and_no_controls(visit, tmp_path, size):
    page = visit("full", media="print")
    for hidden in ("#search", "#compare", "nav", ".copies"):
        assert not page.locator(hidden).first.is_visible()
    assert page.locator("#board tbody tr:visible").count() == 12
    printed = page.pdf(format=size)
    assert printed.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) > 2
