# SPDX-License-Identifier: BSD-3-Clause
"""The page as text: what is in it, what is not, and what may run in it."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tests.report.conftest import HOSTILE, board_of, quality_of, result_of
from tiebreak.pipeline.result import who_is_best
from tiebreak.ratings.checks.pairs_report import Finding
from tiebreak.ratings.leaderboard_table import rating_digits
from tiebreak.report import render_report, write_report
from tiebreak.report.tables import format_number
from tiebreak.selection import TuneResult


def change(result, **parts):
    return SimpleNamespace(**(vars(result) | parts))


class Page(HTMLParser):
    """The elements of a page, their attributes, and the text in them."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.texts, self.inside = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag in ("style", "script"):
            self.inside = [tag, dict(attrs)]

    def handle_endtag(self, tag):
        self.inside = []

    def handle_data(self, data):
        self.texts.append((tuple(map(str, self.inside)), data))

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def sections(page):
    return [attributes["id"] for attributes in Page(page).all("section")]


def test_a_full_report_has_all_sections_in_order(plain_page):
    assert sections(plain_page) == [
        *("matrix", "compare", "history", "weights", "quality"),
        *("checks", "made"),
    ]


def test_what_has_no_data_has_no_section(plain_board):
    page = render_report(result_of("Chess", plain_board))
    assert sections(page) == ["made"]
    assert 'id="board"' in page
    assert sections(render_report(result_of("Nothing"))) == ["made"]


def test_the_policy_allows_our_style_and_script_and_nothing_else(hostile_page):
    page = hostile_page
    parsed = Page(page)
    (policy,) = [
        meta["content"]
        for meta in parsed.all("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert "unsafe" not in policy
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"


def test_nothing_is_styled_run_or_fetched_from_elsewhere(hostile_page):
    parsed = Page(hostile_page)
    known = {"style", "script", "svg", "link", "meta"}
    assert known <= {tag for tag, _ in parsed.elements}
    for tag, attributes in parsed.elements:
        assert tag not in ("img", "iframe", "object", "embed", "form", "base")
        for name, value in attributes.items():
            assert name != "style"
            assert name != "src"
            assert not name.startswith("on"), (tag, name)
            if name == "href":
                assert value.startswith(("#", "data:,"))
            if tag == "use":
                assert value.startswith("#")
    assert len(parsed.all("script")) == 2
    assert len(parsed.all("style")) == 1


def test_hostile_names_are_text(hostile_page):
    parsed = Page(hostile_page)
    text = "".join(text for inside, text in parsed.texts if not inside)
    for name in HOSTILE[:4]:
        assert text.count(name) > 3
    assert "\x00" not in text
    assert "\ud800" not in text


def test_ids_are_unique(hostile_page):
    parsed = Page(hostile_page)
    ids = [a["id"] for _, a in parsed.elements if "id" in a]
    assert len(ids) == len(set(ids))
    referred = {a["href"][1:] for _, a in parsed.elements if "#" in a.get("href", "")}
    referred |= {a["list"] for _, a in parsed.elements if "list" in a}
    referred |= {a["for"] for _, a in parsed.elements if "for" in a}
    assert referred <= set(ids)


def block_of(page):
    """Read the JSON of a page."""
    return json.loads(re.search(r'id="data">(.*?)</script>', page)[1])


@pytest.mark.parametrize("n", [5000])
def test_five_thousand_items_are_all_there_in_less_than_a_megabyte(n):
    rng = np.random.default_rng(0)
    rating = np.sort(1500 + 200 * rng.normal(size=n))[::-1]
    board = board_of(
        {
            "rank": np.arange(1, n + 1),
            "item": [f"Somebody Somewhere {k}" for k in range(n)],
            "rating": rating,
            "lower": rating - 40,
            "upper": rating + 40,
            "rank_best": np.maximum(1, np.arange(n) - 300),
            "rank_worst": np.minimum(n, np.arange(n) + 300),
            **{name: rng.integers(0, 90, n) for name in ("wins", "ties", "losses")},
        }
    )
    compare = {"names": board["item"].to_list(), "strengths": rating / 173}
    compare |= {"link": "davidson", "tie": 0.5, "advantage": None, "doubts": None}
    page = render_report(result_of("Many", board, compare=compare))
    assert page.count("<th scope=row>") == n
    assert page.count('class="iv"') == 40  # a script draws the others when asked
    assert len(block_of(page)["compare"]["strengths"]) == n
    assert len(page.encode()) < 1_000_000


def test_the_first_screen_is_the_answer(plain_report, plain_page):
    data, page = plain_report[0], plain_page
    first = page[: page.index("</header>")]
    # The sentence, the contents, and then the table with its pictures.
    parts = [first.index(part) for part in ("item 0 is one of 6.", "<nav", "<table")]
    assert parts == sorted(parts)
    assert first.count("<th scope=row>") == len(data.board)
    assert first.count('class="iv"') == first.count('class="dot"') == len(data.board)
    counted = sum(f.level == "warning" for f in data.checks.findings) + 1
    assert f"{counted} warning" in first


@pytest.mark.parametrize(
    ("best", "rank", "expected"),
    [
        ([1, 0, 0], [1, 2, 3], "Ada is best, with 95 % confidence."),
        ([0, 0, 1], [1, 2, 3], "Cy is best, with 95 % confidence."),
        ([1, 1, 0], [1, 2, 3], "Ada is ahead, but 2 of 3 items could be best"),
        ([1, 1, 1], [1, 1, 3], "2 items share the highest rating; each of the 3"),
        ([None] * 3, [1, 2, 3], "Ada has the highest rating."),
        ([None] * 3, [1, 1, 1], "3 items share the highest rating."),
    ],
)
def test_the_answer_says_how_sure_it_is(plain_board, best, rank, expected):
    board = plain_board.with_columns(
        could_be_best=pl.Series(best).cast(pl.Boolean), rank=pl.Series(rank)
    )
    assert who_is_best(board, 0.95).startswith(expected)
    assert who_is_best(board, 0.95, {"endless"}).startswith("No item is")


def test_rivals_with_few_results_are_named_so(plain_board):
    board = plain_board.with_columns(
        could_be_best=pl.Series([True, True, False]),
        provisional=pl.Series([False, True, False]),
    )
    assert who_is_best(board, 0.95).endswith("the other one has few results.")


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (False, "Ada is best of the 2 items that have enough results, with 95 %"),
        (True, "Ada is ahead, but each of the 2 items that have enough results could"),
    ],
)
def test_items_with_few_results_are_no_rivals(plain_board, second, expected):
    board = plain_board.with_columns(
        could_be_best=pl.Series([True, second, None]),
        placed=pl.Series([True, True, False]),
    )
    assert who_is_best(board, 0.95).startswith(expected)


def test_quality_is_a_table_in_which_missing_numbers_are_dashes(plain_page):
    assert '<td class="number">60.0\u00a0%</td>' in plain_page
    assert '<td class="number">–</td>' in plain_page


def with_findings(data, *findings, **more):
    findings = tuple(Finding(level, "code", text) for level, text in findings)
    checks = replace(data.checks, findings=findings)
    return render_report(change(data, checks=checks, **more))


def test_checks_are_sorted_and_marked(plain_report):
    found = ("note", "N"), ("problem", "P")
    page = with_findings(plain_report[0], *found, warnings=["W"])
    listed = re.findall(r'<li class="(\w+)"><strong>(\w+)</strong>', page)
    assert listed == [("problem", "Problem"), ("warning", "Warning"), ("note", "Note")]
    assert "1 problem and 1 warning" in page


def graded_report(**more):
    rows = [
        {"model": "model", "accuracy": 0.7, "log_loss": 0.8},
        {"model": "baseline", "accuracy": 0.72, "log_loss": 0.9},
    ]
    content = {
        "weights": [("<size>", -2.0), ("age", 0.5), ("x", 0.1)],
        "quality": quality_of(rows),
        "recognized": ["12 graded rows.", "Model: <logistic>."],
    }
    return render_report(result_of("Graded", **(content | more)))


def test_without_names_the_page_begins_with_what_matters():
    page = graded_report(summary=["Size matters most.", "It was right in 70 %."])
    assert sections(page) == ["weights", "quality", "checks", "made"]
    first = page[: page.index("</header>")]
    assert "Size matters most." in first
    assert "It was right in 70\u00a0%." in first
    assert "&lt;size&gt;" in page and "−2.00" in page
    page = graded_report(weights=None)
    assert sections(page) == ["quality", "checks", "made"]


def test_tuning_is_told():
    grid = [{"C": c, "gamma": g} for c in (1.0, 10.0) for g in (0.1, 1.0)]
    scores = np.array([[-0.4], [-0.3], [-0.25], [-0.5]])
    good = np.ones((4, 1), dtype=bool)
    result = TuneResult.make(grid, scores, good, 2, None, "error")
    page = graded_report(tuning=result, tuning_notes=["<C> is the last value."])
    assert "How the settings were chosen" in page
    assert "&lt;C&gt; is the last value." in page
    (chosen,) = re.findall(r'<tr class="mine">((?:<td.*?</td>)+)</tr>', page)
    assert re.findall(">([^<]+)<", chosen) == ["10", "0.1", "0.2500"]


def test_a_finding_says_what_was_found_and_then_what_to_do(plain_report):
    text = "Two items never met. Compare them."
    page = with_findings(plain_report[0], ("problem", text))
    assert re.search(r"<b><span[^>]*>Two items never met\.</span></b><p>", page)
    assert "Compare them." in page


def test_a_report_is_written_whole(tmp_path, plain_board, monkeypatch):
    path = tmp_path / "report.html"
    data = result_of("Chess", plain_board)
    write_report(data, path)
    page = path.read_text("utf-8")
    assert page == render_report(data)
    monkeypatch.setattr("os.replace", _full_disk)
    with pytest.raises(OSError, match="full"):
        write_report(result_of("Other", plain_board), path)
    assert path.read_text("utf-8") == page
    assert list(tmp_path.iterdir()) == [path]


def _full_disk(*_):
    raise OSError("the disk is full")


def test_ratings_are_written_with_enough_digits():
    for values, digits in (([1500, 1600], 0), ([0, 20], 1), ([-1, 1], 2), ([7, 7], 0)):
        board = pl.DataFrame({"rating": pl.Series(values, dtype=pl.Float64)})
        assert rating_digits(board) == digits
        wide = board.with_columns(lower=pl.lit(0.0), upper=pl.lit(99.0))
        assert rating_digits(wide) == 0


def test_numbers_in_words():
    assert format_number(-0.001, 2) == "0.00"
    assert format_number(-1.5, 1) == "−1.5"
    assert format_number(float("inf"), 1) == "∞"
    assert format_number(float("nan"), 1) == "–"


def bars(page):
    found = re.findall(r'class="iv" d="M([\d.]+) 10H([\d.]+)"', page)
    return [(float(start), float(end)) for start, end in found]


def test_no_interval_is_cut_in_silence():
    """One long interval does not make dots of the others, and an arrow says so."""
    columns = {"item": ["a", "b", "c"], "rating": [200.0, 100.0, 0.0]}
    ends = {"lower": [190.0, 90.0, -5000.0], "upper": [210.0, 110.0, 390.0]}
    page = render_report(result_of("x", board_of(columns | ends)))
    # The axis reaches 200 points below the ratings, 390, and 2 % more.
    at = lambda value: (value + 211.8) / 613.6 * 1000  # noqa: E731
    expected = [(at(190), at(210)), (at(90), at(110)), (0.0, at(390))]
    np.testing.assert_allclose(bars(page), expected, atol=0.06)
    assert page.count('class="open" d="M12 4L0 10') == 1
    assert '<span id="open">' in page
    ends["lower"][2] = -150.0
    page = render_report(result_of("x", board_of(columns | ends)))
    assert 'class="open"' not in page
    assert '<span id="open" hidden>' in page


def test_letters_of_more_than_26_groups_are_left_out(plain_board):
    letters = [" ".join(letter * k for letter in "abcdefghi") for k in (1, 2, 3)]
    board = plain_board.with_columns(group=pl.Series(letters))
    assert ">Group<" not in render_report(result_of("x", board))
    board = board.with_columns(group=pl.Series(["a", "a b", "b"]))
    assert ">Group<" in render_report(result_of("x", board))


def test_marks_are_of_the_leader_rivals_and_provisional(plain_board):
    board = plain_board.with_columns(
        could_be_best=pl.Series([True, True, False]),
        provisional=pl.Series([False, True, True]),
    )
    page = render_report(result_of("x", board))
    rows = re.findall(r'<tr class="([a-z ]+)"><td>', page)
    assert rows == ["best first", "provisional best", "provisional"]


def test_pictures_stand_beside_their_items(plain_board):
    picture = "data:image/jpeg;base64,AAAA"
    source = SimpleNamespace(scores=None, pictures={"Bo": picture})
    page = render_report(result_of("x", plain_board, source=source))
    assert page.count("<img") == 1
    assert f'<img src="{picture}" alt=""><bdi>Bo</bdi>' in page


def test_the_table_is_there_for_a_paper(plain_page, plain_report):
    for rule in ("toprule", "midrule", "bottomrule"):
        assert f"\\{rule}" in plain_page
    assert f"1 &amp; {plain_report[0].board['item'][0]} &amp;" in plain_page
