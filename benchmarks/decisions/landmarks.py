# SPDX-License-Identifier: BSD-3-Clause
"""How landmarks are chosen: ``python -m benchmarks.decisions.landmarks``.

The part of the diagonal of a Gaussian kernel (gamma = 1 / (p variance)) that 300
landmarks leave, on average over 3000 rows that they were not chosen among. Three rules
choose them among 8000 rows: in proportion to what is left of the diagonal, which is
ours; always where most is left; and at random.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from tiebreak import NystroemMap
from tiebreak.kernels import KernelFunction

N_LANDMARKS = 300


def make_tables(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """11,000 rows of several kinds."""
    centers = 3 * rng.standard_normal((50, 10))
    return {
        "normal, p = 2": rng.standard_normal((11_000, 2)),
        "normal, p = 10": rng.standard_normal((11_000, 10)),
        "normal, p = 50": rng.standard_normal((11_000, 50)),
        "heavy tails (t, 3 degrees of freedom), p = 5": rng.standard_t(3, (11_000, 5)),
        "50 clusters, p = 10": centers[rng.integers(0, 50, 11_000)]
        + 0.5 * rng.standard_normal((11_000, 10)),
    }


def greedy(kernel: KernelFunction, X: np.ndarray) -> np.ndarray:
    """Landmarks where most is left, one at a time."""
    left, chosen = np.ones(len(X)), []
    F = np.empty((N_LANDMARKS, len(X)))
    for r in range(N_LANDMARKS):
        i = int(left.argmax())
        if left[i] <= 1e-6:
            break
        F[r] = kernel.block(X[i : i + 1], X)[0] - F[:r, i] @ F[:r]
        F[r] /= np.sqrt(left[i])
        left = np.maximum(left - F[r] ** 2, 0.0)
        chosen.append(i)
    return X[chosen]


def mean_left(kernel: KernelFunction, landmarks: np.ndarray, X: np.ndarray) -> float:
    """What is left of the diagonal of other rows, on average."""
    inner = kernel.block(landmarks, landmarks)
    inner.flat[:: len(inner) + 1] += 1e-10
    triangle = np.linalg.cholesky(inner)
    features = solve_triangular(triangle, kernel.block(landmarks, X), lower=True)
    return float(1.0 - np.einsum("ij,ij->j", features, features).mean())


def main() -> None:
    """Print a table."""
    rng = np.random.default_rng(0)
    print(f"{'rows':46s} {'ours':>9s} {'largest':>9s} {'random':>9s}")
    for name, table in make_tables(rng).items():
        X, others = table[:8000], table[8000:]
        ours = NystroemMap(n_landmarks=N_LANDMARKS, random_state=0).fit(X)
        kernel = KernelFunction("rbf", ours.gamma_)
        rules = (
            ours.landmarks_,
            greedy(kernel, X),
            X[rng.choice(8000, N_LANDMARKS, replace=False)],
        )
        values = [mean_left(kernel, rule, others) for rule in rules]
        print(f"{name:46s}", *(f"{value:9.2g}" for value in values))


if __name__ == "__main__":
    main()
