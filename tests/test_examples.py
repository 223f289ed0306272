# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, on their own data and on real ones, and what they claim is true.

What docs/examples.md shows of an example is what it prints, up to rounding.
"""

import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
GALLERY = ROOT / "docs" / "examples.md"
# Examples whose output in the gallery is that on a published set.
PUBLISHED = ("chess", "sushi")
SIMULATED = ("feature_selection", "semi_supervised", "unseen_items")
NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """Hide the published data, those of the user's cache too."""
    monkeypatch.delenv("TIEBREAK_DATA", raising=False)
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path / "nothing"))


@pytest.fixture
def run(capsys, tmp_path):
    """Give a function that runs an example and returns what it says."""

    def say(name: str) -> str:
        runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](tmp_path)
        picture = tmp_path / f"{name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        said = capsys.readouterr().out
        assert said.endswith(f"\nPicture: {picture}\n")
        return said.removesuffix(f"\nPicture: {picture}\n")

    return say


def numbers(said: str, pattern: str) -> list[float]:
    """Find the numbers in the line that starts with a pattern, after it."""
    found = re.search(rf"^\s*{pattern}(.*)$", said, re.MULTILINE)
    assert found, (pattern, said)
    return [float(text.replace(",", "")) for text in re.findall(NUMBER, found[1])]


def shown(name: str) -> str:
    """Take the output of an example from the gallery."""
    text = GALLERY.read_text(encoding="utf-8")
    found = re.search(
        rf"python examples/{name}\.py.*?```text\n(.*?)```", text, re.DOTALL
    )
    assert found, f"docs/examples.md shows no output of {name}"
    return found[1]


def assert_same_output(said: str, expected: str) -> None:
    """Compare word by word; numbers may differ by rounding on another machine."""
    assert re.sub(NUMBER, "#", said).split() == re.sub(NUMBER, "#", expected).split()
    ours, theirs = (
        [float(text.replace(",", "")) for text in re.findall(NUMBER, text)]
        for text in (said, expected)
    )
    assert ours == pytest.approx(theirs, rel=0.02, abs=0.011)


def test_every_example_is_tested_and_in_the_gallery():
    gallery = GALLERY.read_text(encoding="utf-8")
    tested = Path(__file__).read_text(encoding="utf-8")
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert {*PUBLISHED, *SIMULATED} < names
    for name in names:
        assert f"examples/{name}.py" in gallery, name
        assert f'"{name}' in tested or name == "demo", name  # `make demo` has its own


def test_the_pictures_of_the_gallery_exist_and_are_small():
    text = GALLERY.read_text(encoding="utf-8")
    pictures = re.findall(r"\((images/examples/[^)]+)\)", text)
    assert len(pictures) >= len(PUBLISHED) + len(SIMULATED)
    for picture in pictures:
        assert (GALLERY.parent / picture).stat().st_size < 80_000, picture


@pytest.mark.filterwarnings("ignore:10 rows with the same item")
@pytest.mark.extended
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_gallery_shows_what_examples_say_of_published_data(data_dir, run, name):
    said = run(name)
    assert "simulated" not in said
    assert_same_output(said, shown(name))


def test_chess_without_data(no_data, run):
    said = run("chess")
    assert "simulated games" in said
    losses = [numbers(said, name)[-1] for name in ("Glicko ", "baseline")]
    assert losses[0] < losses[1] - 0.1
    assert "what matters most: glicko +" in said


def test_sushi_without_data(no_data, run):
    said = run("sushi")
    assert "simulated lists" in said
    few, many = numbers(said, "from +40 lists:"), numbers(said, "from 1000 lists:")
    # by name, kinds seen, by features
    assert few[2] > few[0] + 0.01
    assert many[0] > few[0] + 0.01 and few[1] < many[1] == 100


@pytest.mark.extended
def test_feature_selection(run):
    said = run("feature_selection")
    four = re.findall(r"feature +(\d+)  weight ([-+][\d.]+) +\(truth ([-+])", said)
    assert {int(j) for j, _, _ in four[:4]} == {3, 11, 20, 34}
    assert all(weight[0] == sign for _, weight, sign in four[:4])
    sparse = numbers(said, r"L1RankerCV, +\d+ features")[0]
    dense = numbers(said, r"RankSVM, +\d+ features")[0]
    assert sparse > dense + 0.02
    assert "<- chosen" in said
    assert_same_output(said, shown("feature_selection"))


@pytest.mark.extended
def test_semi_supervised(run):
    said = run("semi_supervised")
    alone = numbers(said, "RankingPursuit, scored items only")[0]
    by_nu = dict(
        (nu, numbers(said, rf"CoRankingPursuit, nu = {nu} +")) for nu in ("0", "0.1")
    )
    assert by_nu["0.1"][0] > by_nu["0"][0] + 0.02 > alone
    assert by_nu["0.1"][1] > by_nu["0"][1]  # and the views agree more
    assert_same_output(said, shown("semi_supervised"))


def test_texts(capsys):
    losses = runpy.run_path(str(EXAMPLES / "texts.py"))["main"]()
    said = capsys.readouterr().out
    text = (ROOT / "docs" / "texts.md").read_text(encoding="utf-8")
    assert_same_output(said, re.search(r"```text\n(.*?)```", text, re.DOTALL)[1])
    head = losses.pop("vectors, three-class head")
    assert max(losses.values()) < head
    stated, true = numbers(said, "TF-IDF says left with")
    assert abs(stated - true) < 5
    assert said.endswith("new answers: number 1\n")


def test_unseen_items(run):
    said = run("unseen_items")
    (by_name,) = numbers(said, "BradleyTerry, by name")[:1]
    seen, new = numbers(said, "SVMCompare, features")
    always = numbers(said, "always the same")
    assert seen < by_name + 0.02 and seen < new < always[1] - 0.1
    assert "were not in the training comparisons" in said
    assert_same_output(said, shown("unseen_items"))


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_many_files(capsys, tmp_path):
    pytest.importorskip("distributed", reason="needs the dask extra")
    found = runpy.run_path(str(EXAMPLES / "many_files.py"))["main"](tmp_path)
    assert_same_output(capsys.readouterr().out, shown("many_files"))
    assert found["same"] == 1.0


@pytest.mark.extended
def test_the_ordering_example_has_theirs_beside_ours(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    example = runpy.run_path(str(EXAMPLES / "ordering.py"))
    example["main"](1, 2, 30)
    said = capsys.readouterr().out
    for words in ("li/num", "nl/bin", "Order SVM", "0.982", "ERR"):
        assert words in said


NOTEBOOKS = ("votes", "sport", "search", "panel")


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_hold_no_outputs(name):
    text = (EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8")
    cells = [c for c in json.loads(text)["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 3
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells)


def loss(names, model):
    return names["scores"].table.filter(model=model)["log_loss"].item()


# What the words of a notebook say, of the names that it leaves.
CLAIMED = {
    "votes": lambda names: names["judges"].table["verdict"].is_not_null().any(),
    "sport": lambda names: loss(names, "Bradley-Terry") < loss(names, "baseline") - 0.1,
    "search": lambda names: names["value"]["Gaussian"] > names["value"]["linear"],
    "panel": lambda names: names["result"].table["item"][0] in names["wines"][:3],
}


@pytest.mark.extended
@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(name, tmp_path, monkeypatch, no_data):
    monkeypatch.chdir(tmp_path)
    text, names = (EXAMPLES / f"{name}.ipynb").read_text(encoding="utf-8"), {}
    for cell in json.loads(text)["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert CLAIMED[name](names)


@pytest.mark.extended
def test_the_demo_says_who_is_best_and_writes_its_report(tmp_path):
    for name in ("examples", "src"):
        (tmp_path / name).symlink_to(ROOT / name)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    recipe = re.search(r"^demo:.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)[1]
    lines = [line.strip().removeprefix("@") for line in recipe.splitlines()]
    for line in lines:
        words = shlex.split(line.replace("$(PY)", sys.executable))
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    made = {path.name for path in (tmp_path / "tiebreak-demo").iterdir()}
    assert made == {"level_curves.png", "report.html"}
    said = " ".join(done.stdout.split())
    assert "Argentina is ahead" in said and "64 matches" in said
    assert "Direction" not in said and "and 288 more teams" in said  # the leaderboard
    ours, base = map(float, re.findall(r"is (\d\.\d+)[;.]", said))
    assert ours < base - 0.1
    wrong = [float(text) for text in re.findall(r"wrong in ([\d.]+)%", said)]
    assert len(wrong) == 3 and min(wrong) == wrong[2]
    assert said.endswith("Report: tiebreak-demo/report.html")
