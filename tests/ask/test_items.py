# SPDX-License-Identifier: BSD-3-Clause
"""Items in folders, tables and lists, good and bad."""

import base64
import io

import numpy as np
import pytest
from PIL import Image

from tiebreak import Study
from tiebreak.ask.items import draw_thumbnails, read_features, read_items
from tiebreak.io import FileError
from tiebreak.options import RankOptions, ReadOptions
from tiebreak.pipeline.read import read_source


def paint(path, color, size=(8, 6)):
    Image.new("RGB", size, color).save(path)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    (folder / "more").mkdir(parents=True)
    paint(folder / "red.png", "red")
    paint(folder / "more" / "blue.jpg", "blue")
    (folder / "note.md").write_text("*hello*", encoding="utf-8")
    (folder / "song.mp3").write_bytes(b"ID3 any bytes")
    (folder / ".hidden.png").write_bytes(b"x")
    return folder


def test_a_folder_of_images_sounds_and_texts(folder):
    result = read_items(folder)
    kinds = {item.name: item.views[0].kind for item in result.items}
    assert kinds == {
        "red": "image", "more/blue": "image", "note": "markdown", "song": "audio",
    }  # fmt: skip
    assert result.sentences == []


def test_thumbnails_are_small_pictures_of_images_alone(folder):
    paint(folder / "wide.png", "green", (2000, 1000))
    drawn = draw_thumbnails(folder)
    assert set(drawn) == {"red", "more/blue", "wide"}
    start, _, code = drawn["wide"].partition(",")
    assert start == "data:image/jpeg;base64"
    with Image.open(io.BytesIO(base64.b64decode(code))) as image:
        assert image.size == (96, 48)
    answers, labels = folder.with_suffix(".answers.sqlite"), folder / "names.csv"
    with Study(["red", "wide"], path=answers, random_state=0) as study:
        study.tell("red", "wide", "left", rater="Ada")
    labels.write_text("id,label\nred,Red\nwide,Wide\n", encoding="utf-8")
    source = read_source(answers, ReadOptions(labels=labels), RankOptions())
    assert source.pictures["Red"] == drawn["red"]
    assert source.pictures["Wide"] == drawn["wide"]


def test_what_cannot_be_shown_is_left_out_and_named(folder, tmp_path):
    (folder / "broken.png").write_bytes(b"no image")
    (folder / "empty.jpg").write_bytes(b"")
    (folder / "apple.heic").write_bytes(b"data")
    (folder / "table.xlsx").write_bytes(b"data")
    secret = tmp_path / "secret.png"
    paint(secret, "black")
    (folder / "way-out.png").symlink_to(secret)
    result = read_items(folder)
    assert len(result.items) == 4
    text = " ".join(result.sentences)
    assert "4 files left out" in text
    assert "broken.png (the image cannot be read)" in text
    assert "empty.jpg (the file is empty)" in text
    assert "apple.heic (browsers cannot show it; save it as JPEG or PNG)" in text
    assert "1 other file not looked at" in text
    assert "way-out.png (outside the folder)" in text


def test_the_same_content_under_two_names_is_said(folder):
    (folder / "again.png").write_bytes((folder / "red.png").read_bytes())
    [text] = read_items(folder).sentences
    assert "again and red" in text
    assert len(read_items(folder).items) == 5


def test_the_hash_follows_the_content(folder):
    before = {item.name: item.hash for item in read_items(folder).items}
    paint(folder / "red.png", "green")
    after = {item.name: item.hash for item in read_items(folder).items}
    assert {name for name in before if before[name] != after[name]} == {"red"}


def test_equal_stems_keep_their_endings(folder):
    paint(folder / "red.jpg", "white")
    assert {"red.png", "red.jpg"} <= {item.name for item in read_items(folder).items}


def test_a_list_of_texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("Tea\n\n Coffee \nTea\n<b>Milk</b>\n", encoding="utf-8")
    result = read_items(path)
    assert [item.name for item in result.items] == ["Tea", "Coffee", "<b>Milk</b>"]
    assert result.sentences == ["1 line repeated, taken once."]


def test_a_table_of_files(tmp_path, folder):
    path = tmp_path / "photos" / "items.csv"
    path.write_text(
        "name,image\nRot,red.png\nBlau,more/blue.jpg\nNone,gone.png\n"
        "Out,../secret.png\nCode,items.csv\n",
        encoding="utf-8",
    )
    paint(tmp_path / "secret.png", "black")
    result = read_items(path)
    assert [item.name for item in result.items] == ["Rot", "Blau"]
    text = result.sentences[-1]
    assert "gone.png (no such file)" in text
    assert "../secret.png (outside the folder)" in text
    assert "items.csv (no image, sound, video or text)" in text


def test_models_that_answer_prompts_are_shown_with_the_same_prompt(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(
        '{"model": "a", "prompt": "p", "text": "1"}\n'
        '{"model": "b", "prompt": "p", "text": "2"}\n'
        '{"model": "b", "prompt": "q", "text": "3"}\n'
        '{"model": "c", "prompt": "q", "text": "4"}\n',
        encoding="utf-8",
    )
    result = read_items(path)
    assert [item.name for item in result.items] == ["a", "b", "c"]
    assert result.prompts == {"a": ["p"], "b": ["p", "q"], "c": ["q"]}
    assert [view.content for view in result.items[1].views] == ["2", "3"]
    path.write_text(
        '{"model": "a", "prompt": "p", "text": "1"}\n'
        '{"model": "b", "prompt": "q", "text": "2"}\n',
        encoding="utf-8",
    )
    with pytest.raises(FileError, match="no two items have the same prompt"):
        read_items(path)


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("one.txt", "alone\n", "1 item to ask about; expected at least two"),
        ("two.csv", "item,text\na,x\na,y\n", "'a' names two rows"),
        ("no.csv", "size,weight\n1,2\n3,4\n", "no column names items"),
        ("gap.csv", "item,text\na,x\n,y\n", "item"),
        ("link.csv", "name,url\na,javascript:x\nb,https://b.example\n", "1 item"),
    ],
    ids=["one", "twice", "columns", "gap", "link"],
)
def test_a_bad_table_is_refused_in_one_sentence(tmp_path, name, text, expected):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=expected) as error:
        read_items(path)
    assert "\n" not in str(error.value)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileError, match="0 items to ask about"):
        read_items(tmp_path)


def test_features_are_found_by_name(tmp_path):
    path = tmp_path / "features.csv"
    path.write_text("item,size,color\nb,2,red\na,1,blue\nc,5,red\n", encoding="utf-8")
    table = read_features(path, ["a", "b", "c"])
    assert np.unique(table[:, 0]).tolist() == [1, 2, 5] or table.shape[0] == 3
    assert sorted(table.sum(axis=0).tolist())[-1] == 8
    with pytest.raises(FileError, match="no row for 1 item"):
        read_features(path, ["a", "z"])
