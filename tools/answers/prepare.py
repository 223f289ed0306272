# SPDX-License-Identifier: BSD-3-Clause
"""Write the files that are asked about, from the published sets and the tests.

    python -m tools.answers.prepare INPUTS REPOSITORY DATA

Done once, with the oldest version that is compared; ``questions.txt`` beside this file
is copied too.
"""

import gzip
import itertools
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file, load_svmlight_file


def prepare(folder, repo, data):
    """Copy and cut the files that are asked about."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("questions.txt"), folder)
    shapes = repo / "tests" / "io" / "shapes"
    for kind, source in (("shapes", shapes), ("refused", shapes / "refused")):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for file in source.iterdir():
            if file.is_file() and file.name != "wines.csv":
                shutil.copy(file, folder / kind)
    shutil.copy(shapes / "wines.csv", folder)
    for file in (repo / "src" / "tiebreak" / "datasets").glob("*.csv"):
        shutil.copy(file, folder)
    shutil.copy(data / "uci" / "pyrimidines.csv", folder)

    def write(table, name):
        table.to_csv(folder / name, index=False)

    arena = pd.read_csv(data / "lm_arena_140k" / "battles.csv.gz")
    busy = arena["model_a"].value_counts().index[:15]
    arena = arena[arena["model_a"].isin(busy) & arena["model_b"].isin(busy)]
    arena = arena[arena["model_a"] != arena["model_b"]]
    write(arena[:1500], "arena.csv")
    write(arena[1500:1800], "arena_later.csv")
    write(arena[1800:1850][["model_a", "model_b"]], "arena_new.csv")
    football = pd.read_csv(data / "football" / "results.csv.gz")
    cups = football["tournament"].isin(["UEFA Euro", "Copa América"])
    football = football[cups & (football["date"] > "1996")]
    write(football, "football.csv")
    write(football[football["date"] < "2016"], "football_old.csv")
    chess = pd.read_csv(data / "chess_kaggle2010" / "games.csv.gz")
    chess = chess[chess["month"] <= 20]
    busy = pd.concat([chess["white"], chess["black"]]).value_counts().index[:40]
    write(chess[chess["white"].isin(busy) & chess["black"].isin(busy)], "chess.csv")
    llmfao = pd.read_csv(data / "llmfao" / "llmfao.csv")
    workers = llmfao["worker"].value_counts().index[:12]
    busy = pd.concat([llmfao["left"], llmfao["right"]]).value_counts().index[:25]
    kept = llmfao["worker"].isin(workers) & llmfao["left"].isin(busy)
    write(llmfao[kept & llmfao["right"].isin(busy)], "llmfao.csv")
    tennis = pd.read_csv(data / "tennis_atp" / "atp_matches_1991_2024.csv.gz")
    tennis = tennis[
        (tennis["tourney_level"] == "G") & (tennis["tourney_date"] > 20230000)
    ]
    columns = ["tourney_date", "winner_id", "loser_id", "surface"]
    write(tennis[columns], "tennis.csv")
    columns = ["item", "style", "major", "minor", "oiliness", "eaten", "price", "sold"]
    sushi = pd.read_csv(data / "sushi" / "sushi3.idata", sep="\t", header=None)
    sushi = sushi.drop(columns=0).set_axis(columns, axis=1)
    write(sushi, "sushi_items.csv")
    lines = (data / "sushi" / "sushi3b.5000.10.order").read_text().splitlines()[1:61]
    orders = [[int(i) for i in line.split()[2:]] for line in lines]
    rows = [
        (p, sushi["item"][i], 10 - n)
        for p, o in enumerate(orders)
        for n, i in enumerate(o)
    ]
    write(pd.DataFrame(rows, columns=["person", "item", "grade"]), "sushi_b.csv")
    turned = itertools.cycle([False, True, True])
    rows = [
        (b, a, "right") if next(turned) else (a, b, "left")
        for order in orders
        for a, b in itertools.pairwise(sushi["item"][order[::2]])
    ]
    write(pd.DataFrame(rows, columns=["left", "right", "winner"]), "sushi_pairs.csv")
    names = [
        "ebi",
        "anago",
        "maguro",
        "ika",
        "uni",
        "ikura",
        "tamago",
        "toro",
        "tekka_maki",
        "kappa_maki",
    ]
    lines = (data / "sushi" / "sushi3a.5000.10.order").read_text().splitlines()[1:121]
    head = ["# FILE NAME: sushi_a.soc", "# NUMBER ALTERNATIVES: 10"]
    head += [f"# ALTERNATIVE NAME {i}: {name}" for i, name in enumerate(names, 1)]
    lists = ["1: " + ",".join(str(int(i) + 1) for i in w.split()[2:]) for w in lines]
    (folder / "sushi_a.soc").write_text("\n".join([*head, *lists]) + "\n")
    jokes = np.load(data / "jester" / "jester1_ratings.npz")["ratings"][:40, :20]
    rows = [
        (f"u{u}", f"joke {j}", jokes[u, j] / 100) for u, j in np.argwhere(jokes > -999)
    ]
    write(pd.DataFrame(rows, columns=["person", "item", "grade"]), "jester.csv")
    with gzip.open(data / "mq2008" / "fold1_test.txt.gz", "rt") as file:
        rows = file.readlines()
    queries = list(dict.fromkeys(row.split()[1] for row in rows))[:14]
    text = "".join(row for row in rows if row.split()[1] in queries)
    (folder / "mq2008.svmlight").write_text(text)
    with gzip.open(data / "lightgbm_rank" / "rank.train.gz") as file:
        X, y = load_svmlight_file(file)
    sizes = np.loadtxt(data / "lightgbm_rank" / "rank.train.query", dtype=int)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    kept = qid < 10
    file = str(folder / "lightgbm.svmlight")
    dump_svmlight_file(X[kept], y[kept], file, query_id=qid[kept], zero_based=False)
    prepare_models(folder)


def prepare_models(folder):
    """Write the same data as arrays, which the models are fitted on."""
    for kind in ("pairs", "graded"):
        (folder / kind).mkdir(exist_ok=True)
    word = {"left": -1, "right": 1, "model_a": -1, "model_b": 1}

    def votes(name, left, right, outcome, **columns):
        t = pd.read_csv(folder / f"{name}.csv")
        code, names = pd.factorize(pd.concat([t[left], t[right]]).astype(str))
        arrays = {k: np.asarray(f(t)) for k, f in columns.items()}
        arrays |= {
            "names": np.array(names.tolist()),
            "y": np.asarray(outcome(t)).astype(int),
        }
        return {**arrays, "left": code[: len(t)], "right": code[len(t) :]}

    def said(t):
        return [word.get(value, 0) for value in t["winner"]]

    sushi = pd.read_csv(folder / "sushi_items.csv").set_index("item")
    pairs = {
        "sushi": votes("sushi_pairs", "left", "right", said),
        "worldcup": votes(
            "worldcup2022",
            "left",
            "right",
            lambda t: np.sign(t["right_goals"] - t["left_goals"]),
        ),
        "football": votes(
            "football",
            "home_team",
            "away_team",
            lambda t: np.sign(t["away_score"] - t["home_score"]),
            period=lambda t: t["date"].str[:4].astype(int),
            advantage=lambda t: 1 - t["neutral"].astype(int),
        ),
        "chess": votes(
            "chess",
            "white",
            "black",
            lambda t: 1 - 2 * t["score"],
            period=lambda t: t["month"],
        ),
        "llmfao": votes("llmfao", "left", "right", said, rater=lambda t: t["worker"]),
        "arena": votes(
            "arena",
            "model_a",
            "model_b",
            said,
            both_bad=lambda t: t["winner"] == "both_bad",
            context=lambda t: t[["math", "creativity"]].astype(float),
        ),
    }
    pairs["sushi"]["items"] = sushi.loc[pairs["sushi"]["names"]].to_numpy(float)
    drugs = pd.read_csv(folder / "pyrimidines.csv").to_numpy()
    X, activity = drugs[:, :-1], drugs[:, -1]
    left = np.random.default_rng(0).integers(len(X), size=150)
    right = (left + 1 + np.arange(150) % 70) % len(X)
    apart = activity[right] - activity[left]
    y = np.where(np.abs(apart) < 0.05, 0, np.sign(apart)).astype(int)
    names = np.array([f"drug {i}" for i in range(len(X))])
    pairs["pyrimidines"] = {
        "items": X,
        "names": names,
        "left": left,
        "right": right,
        "y": y,
    }
    graded = {
        "pyrimidines": {"items": X, "y": activity, "qid": np.zeros(len(X), dtype=int)}
    }
    for name in ("mq2008", "lightgbm"):
        table, y, qid = load_svmlight_file(
            str(folder / f"{name}.svmlight"), query_id=True
        )
        graded[name] = {"items": table.toarray(), "y": y, "qid": qid}
    lines = (folder / "sushi_a.soc").read_text().splitlines()
    orders = [
        line.split(":")[1].split(",") for line in lines if not line.startswith("#")
    ]
    graded["sushi_a"] = {"orders": np.array(orders, dtype=int) - 1}
    people = pd.read_csv(folder / "sushi_b.csv").groupby("person", sort=False)["item"]
    orders = [sushi.index.get_indexer(items) for _, items in people]
    used = np.unique(orders)
    graded["sushi_b"] = {
        "orders": np.searchsorted(used, orders),
        "items": sushi.to_numpy(float)[used],
    }
    for kind, sets in (("pairs", pairs), ("graded", graded)):
        for name, arrays in sets.items():
            np.savez_compressed(folder / kind / f"{name}.npz", **arrays)


prepare(*map(Path, sys.argv[1:]))
