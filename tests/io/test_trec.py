# SPDX-License-Identifier: BSD-3-Clause
"""Runs and qrels of TREC, beside pytrec_eval, on which ir_measures rests."""

import numpy as np
import pytest

from tests.oracles.trec_plain import measures
from tiebreak.io import FileError, read_trec, trec_metrics, write_trec

QRELS = {"q1": {"d1": 2, "d2": 0, "d3": 1, "d4": 0}, "q2": {"d1": 0, "d2": 1, "d5": 3}}
RUN = {
    "q1": {"d1": 0.3, "d2": 0.9, "d3": 0.5, "d4": 0.1},
    "q2": {"d1": 0.8, "d2": 0.4, "d5": 0.6},
}


def test_the_numbers_of_pytrec_eval():
    # pytrec_eval 0.5; those of ndcg@10 with the exponential gain: ranx 0.3.21.
    one, two = trec_metrics(QRELS, RUN).rows()
    assert one == pytest.approx(["q1", *[0.61991] * 2, 0.58333, 0.5], abs=1e-5)
    assert two == pytest.approx(["q2", *[0.65900] * 2, 0.58333, 0.5], abs=1e-5)
    exponential = trec_metrics(QRELS, RUN, gain="exp")["ndcg@10"].mean()
    assert exponential == pytest.approx(0.61558, abs=1e-5)


def random_run(rng):
    """Judgments and a run with ties, unjudged and unretrieved documents."""
    qrels, run = {}, {}
    for query in map(str, range(rng.integers(1, 4))):
        names = [f"d{j}" for j in range(rng.integers(1, 30))]
        grades = [0, 0, 0, 1, 2, 3]
        judged = {d: int(rng.choice(grades)) for d in names if rng.random() < 0.7}
        found = [d for d in [*names, "x1", "x2"] if rng.random() < 0.8] or ["x1"]
        qrels[query] = judged or {"d0": 1}
        run[query] = {d: float(rng.integers(0, 8)) / 4 for d in found}
    return qrels, run


def test_a_thousand_random_runs_are_those_of_the_plain_loop(rng):
    """Which gives the numbers of pytrec_eval above, too."""
    plain = [measures(QRELS[query], RUN[query], 10) for query in ("q1", "q2")]
    assert plain[0] == pytest.approx([0.61991, 0.61991, 0.58333, 0.5], abs=1e-5)
    assert plain[1] == pytest.approx([0.65900, 0.65900, 0.58333, 0.5], abs=1e-5)
    for _ in range(1000):
        qrels, run = random_run(rng)
        rows = trec_metrics(qrels, run, k=5).rows()
        assert [row[0] for row in rows] == sorted(qrels)
        for query, *ours in rows:
            expected = measures(qrels[query], run[query], 5)
            assert ours == pytest.approx(expected, abs=1e-12)


def test_a_thousand_random_runs_in_pytrec_eval(rng):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    measures = {"ndcg": "ndcg", "ndcg@10": "ndcg_cut_10", "map": "map"}
    measures["mrr"] = "recip_rank"
    for _ in range(1000):
        qrels, run = random_run(rng)
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(measures.values()))
        theirs = evaluator.evaluate(run)
        for row in trec_metrics(qrels, run).to_dicts():
            for ours, name in measures.items():
                assert row[ours] == pytest.approx(theirs[row["query"]][name], abs=1e-12)


def test_files_are_read_as_they_were_written(tmp_path):
    qid, document, y, utility = zip(
        *(
            (query, name, QRELS[query][name], RUN[query][name])
            for query in QRELS
            for name in QRELS[query]
        ),
        strict=True,
    )
    write_trec(tmp_path / "qrels", qid, document, y=y)
    write_trec(tmp_path / "run", qid, document, utility=utility, tag="ours")
    assert read_trec(tmp_path / "qrels") == QRELS
    assert read_trec(tmp_path / "run") == RUN
    first = (tmp_path / "run").read_text().splitlines()[0]
    assert first == "q1 Q0 d2 1 0.9 ours"
    for text in ("q1 0 d1\n", "q1 0 d1 high\n", "q1 0 d1 1\nq1 0 d1 2\n"):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(FileError, match=r"line \d: expected 4 fields"):
            read_trec(tmp_path / "bad")
    with pytest.raises(ValueError, match="no blanks"):
        write_trec(tmp_path / "bad", ["q"], ["a b"], y=np.ones(1))
    with pytest.raises(ValueError, match="Give utility for a run"):
        write_trec(tmp_path / "bad", ["q"], ["a"])
