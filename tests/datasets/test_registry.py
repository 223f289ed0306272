# SPDX-License-Identifier: BSD-3-Clause
"""The registry: complete, frozen, and true of the files at hand."""

import dataclasses
import re
from urllib.parse import urlsplit

import pytest

from tiebreak.datasets import REGISTRY
from tiebreak.datasets.fetching import content_sha256
from tiebreak.datasets.places import package_folder
from tiebreak.datasets.recipes import WORKBOOK_RECIPES

SETS = list(REGISTRY.values())
PUBLISHED = [dataset for dataset in SETS if not dataset.bundled]


def test_the_sets():
    assert list(REGISTRY) == [
        "worldcup2022",
        "football",
        "tennis_atp",
        "chess_kaggle2010",
        "chess_fide2011",
        "lm_arena_140k",
        "llmfao",
        "sushi",
        "jester",
        "uci",
        "lightgbm_rank",
        "mq2008",
    ]
    with pytest.raises(TypeError):
        REGISTRY["mine"] = SETS[0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        SETS[0].terms = "none"


@pytest.mark.parametrize("dataset", SETS, ids=list(REGISTRY))
def test_everything_is_said(dataset):
    assert dataset.rows > 0
    for text in (dataset.what, dataset.terms, dataset.cite):
        assert text.endswith(".")
        assert "\n" not in text
    assert dataset.unit
    assert dataset.license
    assert len({file.name for file in dataset.files}) == len(dataset.files) > 0
    for file in dataset.files:
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert file.size > 0
        folder, _, name = file.name.rpartition("/")
        assert folder == ("" if dataset.bundled else dataset.name)
        assert re.fullmatch(r"[A-Za-z0-9][\w.-]*", name)


@pytest.mark.parametrize("dataset", PUBLISHED, ids=lambda dataset: dataset.name)
def test_how_to_get_it(dataset):
    assert urlsplit(dataset.publisher).scheme in ("http", "https")
    for delivery in dataset.deliveries:
        assert bool(delivery.served) != bool(delivery.by_hand)
        for served in delivery.served:
            assert served.limit > 0
            assert re.fullmatch(r"[0-9a-f]{64}|", served.sha256)
            for url in served.urls:
                parts = urlsplit(url)
                assert parts.scheme == "https"
                assert " " not in url
                if parts.hostname == "raw.githubusercontent.com":
                    assert re.fullmatch(r"[0-9a-f]{12,40}", parts.path.split("/")[3])


def test_workbooks_are_checked_before_they_are_read():
    """The reader does not see every damage, so each of them has a SHA-256."""
    deliveries = [each for dataset in SETS for each in dataset.deliveries]
    of_workbooks = [each for each in deliveries if each.make in WORKBOOK_RECIPES]
    assert len(of_workbooks) == 2
    assert all(served.sha256 for each in of_workbooks for served in each.served)


def test_what_may_not_be_passed_on_comes_from_its_publisher():
    urls = [
        url
        for delivery in REGISTRY["sushi"].deliveries
        for served in delivery.served
        for url in served.urls
    ]
    assert {urlsplit(url).hostname for url in urls} == {"www.kamishima.net"}
    assert "must not" in REGISTRY["sushi"].terms


def test_the_bundled_file():
    (file,) = REGISTRY["worldcup2022"].files
    path = package_folder() / file.name
    assert content_sha256(path) == file.sha256
    assert path.stat().st_size == file.size


@pytest.mark.parametrize("dataset", PUBLISHED, ids=lambda dataset: dataset.name)
def test_the_files_at_hand(dataset, published):
    for file in dataset.files:
        path = published(file.name)
        assert content_sha256(path) == file.sha256, file.name
        assert path.stat().st_size == pytest.approx(file.size, rel=0.05)
