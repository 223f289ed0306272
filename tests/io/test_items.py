# SPDX-License-Identifier: BSD-3-Clause
"""A table of items in a second file: what is joined, what is said, what refused."""

import numpy as np
import polars as pl
import pytest

from tiebreak.io import FileError, ReadOptions, Wanted, read_file

VOTES = "left,right,outcome\nAda,Bo,left\nBo,=cmd,tie\n"
ITEMS = "name,age,color\nBo,2,red\nAda,1.5,blue\n'=cmd,-3,red\nZoe,7,blue\n"


@pytest.fixture
def save(tmp_path):
    def write(text, name="votes.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def join(save):
    def read(items=ITEMS, votes=VOTES, wanted=None, name="items.csv", **options):
        path = save(items, name) if isinstance(items, str) else items
        return read_file(save(votes), ReadOptions(items=path, **options), wanted=wanted)

    return read


@pytest.fixture
def refuse(join):
    def check(items, **options):
        with pytest.raises(FileError) as caught:
            join(items, **options)
        message = str(caught.value)
        assert message.isprintable()
        path, _, reason = message.partition("items.csv: ")
        assert path, message
        return reason

    return check


def said(result):
    return " ".join(result.sentences)


def test_comparisons_get_the_features_of_their_items_by_name(join):
    result = join()
    pairs = result.data.pairs
    assert pairs.names.tolist() == ["Bo", "Ada", "=cmd", "Zoe"]
    assert pairs.feature_names == ("age", "color=blue", "color=red")
    assert pairs.values.tolist() == [[2, 0, 1], [1.5, 1, 0], [-3, 0, 1], [7, 1, 0]]
    assert pairs.names[pairs.left].tolist() == ["Ada", "Bo"]
    assert pairs.names[pairs.right].tolist() == ["Bo", "=cmd"]
    np.testing.assert_array_equal(np.asarray(pairs)[0, :, 0], [1.5, 2])
    assert "items.csv has 4 items, named by name, with 3 features" in said(result)
    assert "color holds words (blue, red) and became 2 columns" in said(result)
    assert "1 item of the table is in no comparison" in said(result)
    assert "'Zoe'" in said(result)


def test_booleans_are_numbers_however_they_are_written(join, tmp_path):
    text = "name,a,b,age\nAda,TRUE,yes,1\nBo,False,no,2\n=cmd,true,no,3\n"
    result = join(text)
    assert result.data.pairs.feature_names == ("age", "a", "b")
    assert result.data.pairs.values.tolist() == [[1, 1, 1], [2, 0, 0], [3, 1, 0]]
    assert "In a, true and false became 1 and 0." in said(result)
    path = tmp_path / "items.parquet"
    pl.DataFrame(
        {"team": ["Ada", "Bo", "=cmd"], "a": [True, False, True], "v": [[1], [2], [3]]}
    ).write_parquet(path)
    result = join(path)
    assert result.data.pairs.values.tolist() == [[1], [0], [1]]
    assert "Left out, because of lists or bytes in them: 'v'." in said(result)


def test_many_words_and_all_different_words_are_left_out_and_it_is_said(join):
    many = [f"i{i}" for i in range(42)]
    votes = "left,right,outcome\n" + "".join(f"i{i},i{i + 1},tie\n" for i in range(41))
    rows = "".join(f"{n},{i % 5},w{i // 2},{n}!\n" for i, n in enumerate(many))
    result = join("item,x,word,note\n" + rows, votes=votes)
    assert result.data.pairs.feature_names == ("x",)
    assert "many different words or empty cells: word, note." in said(result)
    result = join("item,x,note\nAda,1,p\nBo,2,q\n=cmd,3,r\n")
    assert result.data.pairs.feature_names == ("x",)
    assert "many different words or empty cells: note." in said(result)


def test_the_column_that_has_the_compared_names_is_taken(join):
    items = "id,name,x\n1,Ada,5\n2,Bo,6\n3,=cmd,7\n"
    by_name = join(items)
    assert "id numbers the items and is not used as a feature." in said(by_name)
    assert by_name.data.pairs.feature_names == ("x",)
    by_number = join(items, votes="left,right,outcome\n1,2,tie\n3,2,left\n")
    assert by_number.data.pairs.names.tolist() == ["1", "2", "3"]
    assert "named by id" in said(by_number)
    assert by_number.data.pairs.feature_names == ("x",)


def test_a_column_of_items_with_another_name(join, refuse):
    items = "who,x\nAda,1\nBo,2\n=cmd,3\n"
    for column in (None, "WHO"):
        joined = join(items, item_column=column).data.pairs.values
        assert joined.ravel().tolist() == [1, 2, 3]
    assert "no such column. Did you mean 'who'?" in refuse(items, item_column="whoo")
    with pytest.raises(ValueError, match="name its file with --items"):
        ReadOptions(item_column="who")


@pytest.mark.parametrize(
    ("items", "words"),
    [
        ("name,x\nAda,1\nBo,\n=cmd,3\n", ["1 row", "no value in x: line 3"]),
        ("name,x\nAda,1\nBo,nan\n=cmd,inf\n", ["line 3 ('nan')", "line 4 ('inf')"]),
        ("name,x\nAda,1\nBo,two\n=cmd,3\n", ["not finite numbers: line 3 ('two')"]),
        ("name,x,c\nAda,1,r\nBo,2,\n=cmd,3,r\n", ["no value in c: line 3"]),
        ("name,x,c\nAda,1,no\nBo,2,\n=cmd,3,yes\n", ["no value in c: line 3"]),
        (
            "name,x\nAda,1\nBo,2\nAda,1\n=cmd,3\n",
            ["names in name that another row has too: line 2 ('Ada'), line 4 ('Ada')"],
        ),
        ("name,x\nAda,1\n,2\nBo,4\n=cmd,3\n", ["no name in name: line 3"]),
        (
            "name,x\nada,1\nBo,4\n",
            ["no row for 2 items: 'Ada', '=cmd'."],
        ),
        ("name,note\nAda,p\nBo,q\n=cmd,r\n", ["no other column can be used"]),
        ("name,x\nAda,1,1\nBo,4\n", ["line 2 (3)"]),
        ("1 qid:1 1:2\n", ["svmlight", "expected a table of items"]),
        ("", ["the file is empty"]),
    ],
)
def test_tables_that_are_refused(refuse, items, words):
    message = refuse(items)
    for word in words:
        assert word in message


def test_a_table_that_is_not_there(join, tmp_path):
    with pytest.raises(FileError, match=r"nothing.csv: cannot be read: No such file"):
        join(tmp_path / "nothing.csv")


def test_lists_and_scores_of_people_are_joined_too(join):
    items = "item,x\n0,5\n1,6\n2,7\n3,8\n4,9\n"
    orders = join(items, votes="4 1\n0 3 2 0 3\n0 2 1 2\n").data.orders
    assert list(orders) == [["2", "0", "3"], ["1", "2"]]
    assert orders.values.ravel().tolist() == [5, 6, 7, 8, 9]
    panel = join(
        "product,x\nb,1\na,2\n", votes="panelist,product,score\np,a,3\np,b,1\n"
    )
    pairs, [y] = panel.data.pairs, panel.data.y
    assert pairs.names[pairs.left if y < 0 else pairs.right].tolist() == ["a"]
    assert pairs.values.ravel().tolist() == [1, 2]


def test_graded_rows_take_their_features_from_the_table(join, refuse):
    items = "doc,x\nd1,5\nd2,6\nd3,7\n"
    graded = "query,doc,grade\nq,d1,0\nq,d2,2\nr,d2,1\n"
    result = join(items, votes=graded)
    assert result.data.items.values.ravel().tolist() == [5, 6, 6]
    assert result.data.names.tolist() == ["d1", "d2", "d2"]
    assert result.data.y.tolist() == [0, 2, 1]
    message = refuse(items, votes="query,grade,x\nq,0,1\nq,2,1\n")
    assert "no names; name them with --item" in message
    message = refuse(items, votes="1 qid:1 1:2\n0 qid:1 1:3\n")
    assert "have features; leave --items out" in message


def test_the_features_of_a_model_are_asked_for_again(join, refuse):
    wanted = Wanted(3, ("color=red", "age", "color=green"))
    items = "name,extra,age,color\nAda,9,1,red\nBo,9,2,green\n=cmd,9,3,red\n"
    result = join(items, wanted=wanted)
    assert result.data.pairs.feature_names == wanted.names
    assert result.data.pairs.values.tolist() == [[1, 1, 0], [0, 2, 1], [1, 3, 0]]
    assert "the model was not fitted on them: extra." in said(result)
    message = refuse(ITEMS, wanted=wanted)
    assert "words in color that the model was not fitted on: line 3 ('blue')" in message
    message = refuse("name,age\nAda,1\nBo,2\n=cmd,3\n", wanted=wanted)
    assert "2 of the 3 features" in message
    assert "'color=red', 'color=green'" in message
    message = refuse("name,a,b\nAda,1,2\nBo,2,2\n=cmd,3,2\n", wanted=Wanted(3))
    assert "fitted on 3 features without names, but here are 2: a, b" in message


def test_a_flag_that_a_model_wants_may_be_a_number_or_a_word(join, refuse):
    wanted = Wanted(1, ("organic",))
    for values in (["1", "0", "1"], ["true", "False", "true"], ["yes", "no", "YES"]):
        rows = "Ada,{}\nBo,{}\n=cmd,{}\n".format(*values)
        result = join("name,organic\n" + rows, wanted=wanted)
        assert result.data.pairs.values.ravel().tolist() == [1, 0, 1]
    message = refuse("name,organic\nAda,yes\nBo,maybe\n=cmd,no\n", wanted=wanted)
    assert "not finite numbers: line 2 ('yes'), line 3 ('maybe')" in message


def test_names_cannot_break_a_sentence(join, refuse):
    nasty = "\x1b[31mred\x1b[0m"
    votes = f'left,right,outcome\n"{nasty}",Bo,left\n'
    result = join(f'name,x\n"{nasty}",1\nBo,2\n"a\nb",3\n', votes=votes)
    assert all(sentence.isprintable() for sentence in result.sentences)
    assert result.data.pairs.names.tolist() == [nasty, "Bo", "a\nb"]
    assert "'\\x1b[31mred" in refuse("name,x\nAda,1\nBo,2\n", votes=votes)
