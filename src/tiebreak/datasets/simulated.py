# SPDX-License-Identifier: BSD-3-Clause
"""Simulated comparisons, by a squared norm or a linear utility, and simulated orders.

Pairs are drawn in batches until there are exactly as many ties and non-ties as wanted.
A difference of exactly the threshold is a tie.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from tiebreak.data import Orders, Pairs

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

# A difference of utilities beyond this is not a tie.
_THRESHOLD = 1.0
# No difference of separable pairs is closer than this to the threshold.
_MARGIN = 0.2
# Label of a drawn pair that belongs to neither class and is thrown away.
_NEITHER = 2
# Drawing stops after this many pairs (plus so many per wanted pair): a class rarer
# than about 1 in 2000 is taken for a mistake in the parameters.
_PATIENCE, _PATIENCE_PER_PAIR = 1_000_000, 2_000
# Numbers held by one batch of drawn pairs, about 16 MB.
_BATCH_VALUES = 2**21


def _squared_norm(X: ArrayLike, norm: float, informative: int) -> Floats:
    """The utility r(x) = ‖x‖² of the first `informative` coordinates."""
    x = np.asarray(X, dtype=np.float64)[:, :informative]
    return np.linalg.norm(x, norm, axis=1) ** 2


def make_norms(
    n_pairs: int,
    *,
    norm: float = 2,
    tie_share: float = 0.5,
    noise: float = 0.25,
    offset: float | tuple[float, float] = 0.5,
    n_features: int = 2,
    informative: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulate comparisons of points by a squared norm, with noisy labels.

    The simulation of Venuto et al., "Support vector comparison machines". Items x are
    uniform on [-2, 2]ᵖ, their opponents x′ = x + δ with independent offsets δ, and the
    outcome is ::

        y = t₁(r(x′) - r(x) + ε),    r(x) = ‖x‖ⱼ²,    ε ~ N(0, noise²),

    where t₁(d) is 0 if ``|d| ≤ 1``, and the sign of d otherwise. Exactly
    ``round(tie_share * n_pairs)`` pairs are ties; the rows are shuffled.

    Parameters
    ----------
    n_pairs : int
        Number of comparisons, at least 1.
    norm : {1, 2, numpy.inf}, default=2
        The norm j of the true utility.
    tie_share : float in [0, 1], default=0.5
        Share of ties.
    noise : float, default=0.25
        Standard deviation of the label noise.
    offset : float or (low, high), default=0.5
        Standard deviation of normal offsets, or the ends of uniform ones.
    n_features : int, default=2
        Number p of coordinates.
    informative : int, optional
        Number of leading coordinates that enter the norm; all by default.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; a Generator is advanced.

    Returns
    -------
    Bunch
        ``pairs`` over ``2 * n_pairs`` items: pair i compares rows i and n_pairs + i;
        ``y``, with noise; ``utility``: the true utility, a function of a table of
        items; ``threshold``: 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.datasets import make_norms
    >>> data = make_norms(100, norm=1, random_state=0)
    >>> data.pairs
    Pairs(100 comparisons of 200 items, 2 features)
    >>> int(np.sum(data.y == 0))
    50
    """
    informative = n_features if informative is None else informative
    _check(norm in (1, 2, np.inf), "norm", "1, 2 or numpy.inf", norm)
    _check(0 <= tie_share <= 1, "tie_share", "a share from 0 to 1", tie_share)
    utility = partial(_squared_norm, norm=norm, informative=informative)
    rng = np.random.default_rng(random_state)

    def draw(n: int) -> tuple[Floats, Floats, NDArray[np.int8]]:
        left = rng.uniform(-2.0, 2.0, (n, n_features))
        if isinstance(offset, tuple):
            right = left + rng.uniform(*offset, (n, n_features))
        else:
            right = left + rng.normal(0.0, offset, (n, n_features))
        difference = utility(right) - utility(left) + rng.normal(0.0, noise, n)
        return left, right, _threshold_outcome(difference)

    pairs, y = _collect_pairs(draw, n_pairs, tie_share, n_features, rng)
    return Bunch(pairs=pairs, y=y, utility=utility, threshold=_THRESHOLD)


def make_separable(
    n_pairs: int = 40,
    *,
    n_features: int = 2,
    scale: Sequence[float] | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulate comparisons that a linear utility separates with a margin.

    As in figure 2 of Venuto et al., "Support vector comparison machines". Items are x =
    s ⊙ z with z uniform on [-2, 2]ᵖ, opponents x′ = s ⊙ (z + δ) with standard normal
    offsets δ, and the utility is r(x) = w·x with w = v ⊘ s, where v has a random
    direction and length 3/2 (⊙ and ⊘ multiply and divide feature by feature). With d =
    w·(x′ - x), outcomes are ::

        y = 0        where |d| ≤ 0.8,
        y = sign d   where |d| ≥ 1.2,

    and pairs between the two are dropped. Half of the pairs are ties, and the rows are
    shuffled.

    Parameters
    ----------
    n_pairs, n_features : int, default=40, 2
        Numbers of comparisons, at least 1, and of features, p.
    scale : array-like of shape (n_features,), optional
        Positive factors s of the features; all 1 by default.
    random_state : int, numpy.random.Generator or None, default=None
        Seed; another `scale` only rescales the features.

    Returns
    -------
    Bunch
        ``pairs`` and ``y`` as in `make_norms`; ``w``: the true weights; ``threshold``
        and ``margin``: 1 and 0.2.

    Examples
    --------
    >>> import numpy as np
    >>> from tiebreak.datasets import make_separable
    >>> data = make_separable(20, scale=(1, 100), random_state=0)
    >>> left, right = np.moveaxis(np.asarray(data.pairs), 1, 0)
    >>> gap = np.abs((right - left) @ data.w)
    >>> bool(np.all(gap[data.y == 0] < 0.81)), bool(np.all(gap[data.y != 0] > 1.19))
    (True, True)
    """
    factors = np.ones(n_features) if scale is None else np.asarray(scale, np.float64)
    _check(np.all(factors > 0), "scale", "positive", scale)
    rng = np.random.default_rng(random_state)
    direction = rng.normal(size=n_features)
    v = 1.5 * direction / np.linalg.norm(direction)

    def draw(n: int) -> tuple[Floats, Floats, NDArray[np.int8]]:
        left = rng.uniform(-2.0, 2.0, (n, n_features))
        right = left + rng.normal(size=(n, n_features))
        difference = (right - left) @ v
        label = _threshold_outcome(difference)
        label[np.abs(np.abs(difference) - _THRESHOLD) < _MARGIN] = _NEITHER
        return left * factors, right * factors, label

    pairs, y = _collect_pairs(draw, n_pairs, 0.5, n_features, rng)
    return Bunch(pairs=pairs, y=y, w=v / factors, threshold=_THRESHOLD, margin=_MARGIN)


def _check(valid: bool | np.bool_, name: str, expected: str, got: object) -> None:
    if not valid:
        raise ValueError(f"{name} must be {expected}, got {got!r}.")


def _threshold_outcome(difference: Floats) -> NDArray[np.int8]:
    """Outcomes (n,) of int8 from differences r(right) - r(left)."""
    different = np.abs(difference) > _THRESHOLD
    return np.where(different, np.sign(difference), 0.0).astype(np.int8)


def _collect_pairs(
    draw: Callable[[int], tuple[Floats, Floats, NDArray[np.int8]]],
    n_pairs: int,
    tie_share: float,
    n_features: int,
    rng: np.random.Generator,
) -> tuple[Pairs, NDArray[np.int8]]:
    """Draw until there are enough ties and others; pairs of i and n + i, and y."""
    n_ties = round(tie_share * n_pairs)
    missing = [n_ties, n_pairs - n_ties]
    allowance = _PATIENCE + _PATIENCE_PER_PAIR * n_pairs
    largest = max(1, _BATCH_VALUES // (2 * n_features))
    kept: list[tuple[Floats, Floats, NDArray[np.int8]]] = []
    drawn, size = 0, min(largest, 4 * n_pairs + 64)
    while sum(missing) > 0:
        if drawn >= allowance:
            raise ValueError(
                f"{missing[0]} ties and {missing[1]} other pairs are missing: they are "
                "too rare. Try another offset, noise or tie_share."
            )
        left, right, label = draw(size)
        for k, member in enumerate((label == 0, np.abs(label) == 1)):
            rows = np.flatnonzero(member)[: missing[k]]
            kept.append((left[rows], right[rows], label[rows]))
            missing[k] -= len(rows)
        drawn += size
        size = min(largest, 2 * size)
    left, right, y = (np.concatenate(part) for part in zip(*kept, strict=True))
    shuffled = rng.permutation(n_pairs)
    items = np.concatenate([left[shuffled], right[shuffled]])
    first = np.arange(n_pairs)
    return Pairs(items, first, n_pairs + first), y[shuffled]


def _polynomial(X: ArrayLike, weights: Floats, degree: int) -> Floats:
    """The utility r(x) = (1 + w·x)^degree."""
    return (1.0 + np.asarray(X, dtype=np.float64) @ weights) ** degree


def make_orders(
    n_orders: int = 300,
    length: int = 10,
    *,
    n_items: int = 1000,
    attributes: str = "numeric",
    degree: int = 1,
    n_swaps: float = 0.0,
    attribute_noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> Bunch:
    """Simulate orders by the utility (1 + w·x)^degree, with two kinds of noise.

    The artificial data of Kamishima, Kazawa and Akaho, "Supervised ordering: an
    empirical survey". Each list holds `length` different items, chosen at random, by
    r(x) = (1 + Σ_l w_l x_l)^degree, w_l ~ N(0, 1), of the attributes without noise.

    Parameters
    ----------
    n_orders, length, n_items : int, default=300, 10, 1000
        Numbers of lists, of items in each (at least 2), and of all items.
    attributes : {"numeric", "binary"}, default="numeric"
        5 standard normal attributes, or 15 of 0 and 1 such that all items differ.
    degree : int, default=1
        1 for a linear utility, 2 or 3 in the survey for others.
    n_swaps : float, default=0.0
        Mean number of swaps of random neighbors in a list: 2.3 is two, and a third one
        with probability 0.3.
    attribute_noise : float, default=0.0
        Standard deviation of the normal factors, with mean 1, of numeric attributes:
        0.4 is the survey's 40 %. Probability that a binary one is inverted.
    random_state : int, numpy.random.Generator or None, default=None
        As in `make_norms`.

    Returns
    -------
    Bunch
        ``orders``: noisy lists of items with noisy attributes; ``exact``: the same
        lists in the order of the true utility; ``attributes`` without noise;
        ``utility``: the true utility, a function of a table of attributes.

    Examples
    --------
    >>> from tiebreak.datasets import make_orders
    >>> data = make_orders(50, 6, n_items=40, n_swaps=2, random_state=0)
    >>> data.orders
    Orders(50 lists of 40 items, 5 features)
    >>> best = data.exact.flat[data.exact.indptr[:-1]]
    >>> worst = data.exact.flat[data.exact.indptr[1:] - 1]
    >>> utility = data.utility(data.attributes)
    >>> bool((utility[best] > utility[worst]).all())
    True
    """
    is_binary = attributes == "binary"
    known = is_binary or attributes == "numeric"
    _check(known, "attributes", "'numeric' or 'binary'", attributes)
    _check(2 <= length <= n_items, "length", f"from 2 to n_items={n_items}", length)
    rng = np.random.default_rng(random_state)
    if is_binary:
        number = rng.choice(2**15, n_items, replace=False)
        X = (number[:, None] >> np.arange(15) & 1).astype(np.float64)
    else:
        X = rng.normal(size=(n_items, 5))
    weights = rng.normal(size=X.shape[1:])
    utility = partial(_polynomial, weights=weights, degree=degree)
    listed = np.array([rng.permutation(n_items)[:length] for _ in range(n_orders)])
    best_first = np.argsort(-utility(X)[listed], axis=1, kind="stable")
    exact = np.take_along_axis(listed, best_first, axis=1)
    # The whole swaps, and one more with the probability of the rest.
    counts = math.floor(n_swaps) + (rng.random(n_orders) < n_swaps % 1)
    noisy, starts = exact.copy(), length * np.arange(n_orders)
    for swap in range(int(counts.max(initial=0))):
        swap_once(noisy.reshape(-1), starts[counts > swap], length, rng)
    if is_binary:
        seen = np.abs(X - (rng.random(X.shape) < attribute_noise))
    else:
        seen = X * rng.normal(1.0, attribute_noise, X.shape)
    return Bunch(
        orders=Orders(seen, noisy),
        exact=Orders(seen, exact),
        attributes=X,
        utility=utility,
    )


def swap_once(
    flat: Codes, starts: Codes, length: int, rng: np.random.Generator
) -> tuple[Codes, Codes]:
    """Swap one pair of neighbors in every order at `starts`; return both items."""
    place = starts + rng.integers(0, length - 1, len(starts))
    first, second = flat[place], flat[place + 1]
    flat[place], flat[place + 1] = second, first
    return first, second
