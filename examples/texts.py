# SPDX-License-Identifier: BSD-3-Clause
"""Which of two answers is better: texts, ties and folds of unseen prompts.

Invented answers to invented prompts, compared two at a time under the same prompt.
TF-IDF makes numbers of texts; any array of embeddings, one row per text, takes its
place. Run it with ``python examples/texts.py``.
"""

import sys
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline as in_sequence

from tiebreak import LogisticCompare, NystroemMap, OnItems, Pairs, make_pipeline, tune
from tiebreak.metrics import comparison_accuracy, comparison_log_loss

N_PROMPTS, N_ANSWERS = 150, 5
GOOD = ["example", "because", "step", "first", "source", "check", "clearly", "result"]
BAD = ["maybe", "whatever", "sorry", "cannot", "simply", "unclear", "guess", "stuff"]
WORTH = dict.fromkeys(GOOD, 0.45) | dict.fromkeys(BAD, -0.45)


def simulate() -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Draw answers, comparisons of answers to the same prompt, and the prompts."""
    rng = np.random.default_rng(0)
    texts, worth = [], []
    for prompt in range(N_PROMPTS):
        topic = [f"topic{prompt}word{k}" for k in range(8)]
        for _ in range(N_ANSWERS):
            words = rng.choice([*WORTH, *topic], rng.integers(8, 25)).tolist()
            texts.append(" ".join(words))
            worth.append(sum(WORTH.get(word, 0.0) for word in words))
    rows = np.arange(len(texts)).reshape(N_PROMPTS, N_ANSWERS)
    left, right = np.concatenate([list(combinations(row, 2)) for row in rows]).T
    noisy = np.subtract.outer(worth, worth)[right, left]
    noisy += rng.logistic(size=len(left))
    y = np.where(np.abs(noisy) < 0.8, 0, np.sign(noisy)).astype(int)
    return Pairs(texts, left, right), y, left // N_ANSWERS


def held_out(model, X, y, prompt) -> np.ndarray:
    """Give P(left), P(tie), P(right) of each row by a model without its prompt."""
    folds = GroupKFold(5)
    return cross_val_predict(
        model, X, y, groups=prompt, cv=folds, method="predict_proba"
    )


def main(folder: Path | None = None) -> dict[str, float]:
    """Print what models say of prompts that they have not seen; folder is not used."""
    pairs, y, prompt = simulate()
    print(
        f"{len(y):,} comparisons of {pairs.n_items} answers, {np.mean(y == 0):.0%} tied"
    )

    words = OnItems(TfidfVectorizer())
    linear = make_pipeline(words, LogisticCompare())
    folds = list(GroupKFold(5).split(pairs, y, prompt))
    alphas = {"logisticcompare__alpha": [0.3, 1.0, 3.0]}
    linear = tune(linear, pairs, y, alphas, cv=folds, scoring="log_loss")
    linear = linear.best_estimator_
    # As embeddings are: few dense numbers for each text, here of all texts.
    embed = in_sequence(TfidfVectorizer(), TruncatedSVD(60, random_state=0))
    vectors = pairs.with_items(embed.fit_transform(pairs.raw))
    curved = make_pipeline(
        OnItems(NystroemMap(gamma=0.5, n_landmarks=200, random_state=0)),
        LogisticCompare(),
    )
    dense = make_pipeline(LogisticCompare())
    head = LogisticRegression(max_iter=1000)  # three classes, no utility
    differences = vectors.values[pairs.right] - vectors.values[pairs.left]

    losses = {}
    print(f"\nalpha {linear[-1].alpha} chosen for TF-IDF")
    print("\nprompts held out                        accuracy   log loss")
    for name, model, X in (
        ("TF-IDF, LogisticCompare", linear, pairs),
        ("vectors, LogisticCompare", dense, vectors),
        ("vectors, NystroemMap", curved, vectors),
        ("vectors, three-class head", head, differences),
    ):
        proba = held_out(model, X, y, prompt)
        losses[name] = comparison_log_loss(y, proba)
        right = comparison_accuracy(y, proba.argmax(axis=1) - 1)
        print(f"  {name:36s}    {right:.3f}      {losses[name]:.3f}")
        if model is linear:
            sure = proba[:, 0] > 0.6
            said = proba[sure, 0].mean(), np.mean(y[sure] == -1)
    print("\nTF-IDF says left with {:.0%} where left is better in {:.0%}".format(*said))
    best = linear.fit(pairs, y).order(["first check the source", "maybe some stuff"])[0]
    print(f"Better of two new answers: number {best + 1}")
    return losses


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
