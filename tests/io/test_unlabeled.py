# SPDX-License-Identifier: BSD-3-Clause
"""Files without outcomes: pairs and items that a model is asked about."""

import numpy as np
import pytest

from tiebreak.data.items import as_items
from tiebreak.io import FileError, NeedsAnswer, ReadOptions, Wanted, read_unlabeled
from tiebreak.io.items import find_wanted, fit_numbered


@pytest.fixture
def ask(tmp_path):
    def read(text, wanted=None, **options):
        path = tmp_path / "asked.csv"
        path.write_text(text, encoding="utf-8")
        return read_unlabeled(path, ReadOptions(**options), wanted)

    return read


def said(result):
    return " ".join(result.sentences)


def sides(pairs):
    return [
        (pairs.names[left], pairs.names[right])
        for left, right in zip(pairs.left, pairs.right, strict=True)
    ]


def test_pairs_need_no_outcome_and_keep_every_row(ask):
    result = ask("left,right\nAda,Bo\nBo,Bo\nCy,Ada\n")
    assert len(result.data.y) == 0
    assert sides(result.data.pairs) == [("Ada", "Bo"), ("Bo", "Bo"), ("Cy", "Ada")]
    assert "3 pairs of 3 items." in said(result)
    assert "Not looked at" not in said(result)


def test_who_won_is_not_looked_at_however_wrong_it_is(ask):
    header = "home_team,away_team,home_score,away_score,neutral\n"
    result = ask(header + "A,B,x,1,TRUE\nA,C,,,no\n")
    assert "Not looked at: home_score, away_score." in said(result)
    assert result.data.columns["advantage"].tolist() == [0, 1]
    result = ask("winner,loser\nAda,Bo\n")
    assert sides(result.data.pairs) == [("Ada", "Bo")]
    assert "Not looked at: outcome." in said(ask("left,right,outcome\nAda,Bo,1\n"))


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("left,right\nAda,\n,Bo\n", {}, ["line 2", "line 3", "2 rows"]),
        ("a,b\nAda,Bo\n", {}, ["--left and --right", "'a', 'b'"]),
        ("a,b\nAda,Bo\n", {"left": "a"}, ["give both"]),
        ("a,b\nAda,Bo\n", {"left": "a", "right": "c"}, ["no such column"]),
        ("home,away,neutral\nAda,Bo,maybe\n", {}, ["line 2 ('maybe')"]),
        ("4 1\n0 3 2 0 3\n", {}, ["not orders"]),
        ("1 qid:1 1:2\n", {}, ["not svmlight"]),
    ],
)
def test_pairs_that_are_refused(ask, text, options, words):
    with pytest.raises(FileError) as caught:
        ask(text, **options)
    for word in words:
        assert word in str(caught.value)


def test_two_pairs_of_columns_are_a_question(ask):
    text = "left,right,home,away\na,b,c,d\n"
    with pytest.raises(NeedsAnswer, match=r"--right right .*; or --left home"):
        ask(text)
    assert sides(ask(text, left="home", right="away").data.pairs) == [("c", "d")]


ITEMS = "qid,name,grade,y,color,x\nq,a,3,1,red,5\nr,b,1,2,blue,6\nq,a,0,3,red,7\n"


def test_items_with_the_features_of_the_model_in_its_order(ask):
    wanted = Wanted(3, ("x", "color=red", "color=blue"))
    result = ask(ITEMS, wanted)
    assert np.isnan(result.data.y).all()
    assert result.data.items.feature_names == wanted.names
    assert result.data.items.values.tolist() == [[5, 1, 0], [6, 0, 1], [7, 1, 0]]
    assert result.data.qid.tolist() == ["q", "r", "q"]
    assert result.data.names.tolist() == ["a", "b", "a"]
    assert "ranked within its qid" in said(result)
    assert "the model was not fitted on them: grade, y." in said(result)


def test_a_column_that_the_model_wants_has_no_other_role(ask):
    result = ask("name,group,x\na,1,5\nb,2,6\n", Wanted(2, ("group", "x")))
    assert result.data.qid is None
    assert result.data.items.values.tolist() == [[1, 5], [2, 6]]
    words = ask("name,team,x\na,p,5\nb,q,6\n", Wanted(2, ("team=p", "team=q")))
    assert words.data.names.tolist() == ["a", "b"]
    assert words.data.items.values.tolist() == [[1, 0], [0, 1]]
    given = ask("name,group,x\na,1,5\nb,2,6\n", Wanted(1, ("x",)), query="name")
    assert given.data.qid.tolist() == ["a", "b"]


def test_items_of_a_model_without_names_of_features(ask):
    result = ask("grade,x,y\n1,5,6\n2,7,8\n", Wanted(2))
    assert result.data.items.values.tolist() == [[5, 6], [7, 8]]
    assert "Not looked at: grade." in said(result)
    with pytest.raises(FileError, match="fitted on 3 features without names"):
        ask("grade,x,y\n1,5,6\n2,7,8\n", Wanted(3))


def test_items_that_are_refused(ask):
    wanted = Wanted(2, ("x", "color=red"))
    with pytest.raises(FileError, match=r"no value in x: line 3.*line 2 \('blue'\)"):
        ask("x,color\n1,blue\n,red\n", wanted)
    with pytest.raises(FileError, match=r"1 of the 2 features .* cannot be found: 'x'"):
        ask("z,color\n1,red\n", wanted)
    with pytest.raises(FileError, match=r"name two items, but the model .* --items"):
        ask("left,right,x\na,b,1\n", wanted)
    both = ask("left,right,x,color\na,b,1,red\n", wanted)
    assert both.data.items.values.tolist() == [[1, 1]]


def test_items_may_be_looked_up_in_a_table_of_items(ask, tmp_path):
    table = tmp_path / "items.csv"
    table.write_text("doc,x\nd1,5\nd2,6\n")
    wanted = Wanted(1, ("x",))
    result = ask("query,doc\nq,d2\nr,d2\nq,d1\n", wanted, items=table)
    assert result.data.items.values.ravel().tolist() == [6, 6, 5]
    assert result.data.qid.tolist() == ["q", "r", "q"]
    pairs = ask("left,right\nd2,d1\n", wanted, items=table).data.pairs
    assert np.asarray(pairs).ravel().tolist() == [6, 5]
    with pytest.raises(FileError, match=r"items.csv: the table has no row for 1 item"):
        ask("left,right\nd2,d3\n", wanted, items=table)
    with pytest.raises(FileError, match="Name it with --item"):
        ask("query,what\nq,d2\n", wanted, items=table)


def test_svmlight_features_that_no_line_has_are_zero(ask):
    names = tuple(f"feature {j}" for j in range(1, 5))
    result = ask("2 qid:3 1:0.5 3:2\n0 qid:4 2:1\n", Wanted(4, names))
    assert result.data.qid.tolist() == [3, 4]
    assert result.data.items.values.tolist() == [[0.5, 0, 2, 0], [0, 1, 0, 0]]
    assert result.data.items.feature_names == names
    assert "The grades are not looked at." in said(result)
    fewer = ask("2 qid:3 1:0.5 3:2\n0 qid:4 2:1\n", Wanted(1, ("feature 2",)))
    assert fewer.data.items.values.tolist() == [[0], [1]]
    assert "2 features not used" in said(fewer)
    with pytest.raises(FileError, match="cannot be found: 'age'"):
        ask("2 qid:3 1:0.5\n", Wanted(2, ("feature 1", "age")))
    with pytest.raises(FileError, match="2 features, but the model was fitted on 1"):
        ask("2 qid:3 2:0.5\n", Wanted(1))
    with pytest.raises(FileError, match="no named columns"):
        ask("2 qid:3 2:0.5\n", Wanted(2), query="q")


def test_sparse_features_stay_sparse(tmp_path):
    import scipy.sparse as sp

    items = as_items(sp.csr_array(np.array([[0, 2.0], [3, 0]])))
    fitted = fit_numbered(tmp_path, items, Wanted(3), [])
    assert fitted.is_sparse
    assert fitted.dense().tolist() == [[0, 2, 0], [3, 0, 0]]


def test_equal_signs_in_names_of_columns_and_in_words():
    places = find_wanted(["a", "a=b", "c"], ("a=b=c", "a=x=y", "c==", "d=1", "a=b"))
    assert [tuple(place) for place in places] == [
        ("a=b=c", "a=b", "c"),
        ("a=x=y", "a", "x=y"),
        ("c==", "c", "="),
        ("a=b", "a=b", None),
    ]
