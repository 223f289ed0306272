# SPDX-License-Identifier: BSD-3-Clause
"""Approximate features of a kernel, for linear models of many items."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from tiebreak.data.arrays import Codes, Floats
from tiebreak.data.items import ItemTable, as_items
from tiebreak.data.orders import Orders
from tiebreak.data.parameters import COUNT, Values, check_parameters
from tiebreak.data.threads import in_threads, one_blas_thread
from tiebreak.data.validation import check_features, is_pairs, remember_features
from tiebreak.kernels.cholesky import (
    PivotedFactor,
    factor_kernel,
    refuse_indefinite,
    refuse_infinite,
)
from tiebreak.kernels.functions import Gamma, Kernel, KernelFunction, Table, make_kernel
from tiebreak.kernels.rows import FunctionKernel

# Landmarks are chosen among so many rows, or some for each landmark, and the result is
# tried on as many others.
_CANDIDATES = 10_000
_CANDIDATES_PER_LANDMARK = 4
# Rounding leaves this much of a diagonal; smaller tolerances would factor the noise.
_SMALLEST_TOL = 1e-12
# Rows that go through the map at a time: their kernel values stay in the cache.
_CHUNK = 512


@dataclass(eq=False, repr=False)
class NystroemMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Approximate features of a kernel: φ(x)·φ(z) ≈ k(x, z).

    Some training rows become landmarks l₁ … l_m. With K the kernel between them and
    K = T Tᵀ its Cholesky factor, ::

        φ(x) = T⁻¹ (k(l₁, x), …, k(l_m, x)),

    so that φ(x)·φ(z) = k(x, z) whenever x or z is a landmark, and for all training rows
    if m is the rank of their kernel matrix. A linear model on these features
    approximates the kernel model.

    Landmarks are the pivots of a Cholesky factorization of the kernel matrix, drawn in
    proportion to k(x, x) - ‖φ(x)‖². That costs O(n m²) for n rows; of more than 10,000
    (or 4 per landmark) a sample is used.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf"} or callable, default="rbf"
        As in :class:`SVMCompare`.
    gamma, degree, coef0
        As in :class:`SVMCompare`.
    n_landmarks : int, default=300
        Largest number m of landmarks and features.
    tol : float, default=1e-6
        Stop when ``error_`` is this small; at least 1e-12.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    landmarks_ : ndarray or csr_array of shape (m, n_features)
        The landmarks.
    landmark_indices_ : ndarray of int of shape (m,)
        Their rows in the training table; of equal rows the first.
    projection_ : ndarray of shape (m, m)
        T⁻ᵀ: the features are the kernel values against the landmarks times this.
    error_ : float
        The largest k(x, x) - ‖φ(x)‖², relative to the largest k(x, x), of the distinct
        training rows; if they were sampled, of the sample and of as many others. It
        bounds the error of their kernel matrix, relative to its largest entry.
    mean_error_ : float
        The sum of k(x, x) - ‖φ(x)‖² over these rows, relative to that of k(x, x).
    gamma_, n_features_in_ : float, int
        The gamma used, and the number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if any.

    References
    ----------
    Williams and Seeger, "Using the Nyström method to speed up kernel machines", 2001.
    Chen, Epperly, Tropp and Webber, "Randomly pivoted Cholesky", 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from tiebreak import NystroemMap, RankSVM
    >>> X = np.linspace(0, 5, 200)[:, None]
    >>> y = -np.abs(X.ravel() - 2.5).round()
    >>> features = NystroemMap(gamma=1.0, n_landmarks=20, random_state=0)
    >>> model = make_pipeline(features, RankSVM(kernel="linear", loss="squared_hinge"))
    >>> model.fit(X, y).score(X, y) > 0.99
    True
    >>> model[0].error_ < 1e-4
    True
    """

    __module__ = "tiebreak"  # where users find it

    _parameters: ClassVar = {
        "n_landmarks": COUNT,
        "tol": Values(f"a number from {_SMALLEST_TOL:g} to 1", _SMALLEST_TOL, 1.0),
    }
    _fitted_arrays: ClassVar = {
        "landmarks_": "m p",
        "landmark_indices_": "m: index",
        "projection_": "m *",
    }

    kernel: Kernel = "rbf"
    _: KW_ONLY
    gamma: Gamma = "scale"
    degree: int = 3
    coef0: float = 0.0
    n_landmarks: int = 300
    tol: float = 1e-6
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            The training rows. Equal rows count once.
        y : ignored
            For the interface of scikit-learn.

        Returns
        -------
        Self
        """
        check_parameters(self)
        if self.kernel == "precomputed":
            raise ValueError(
                "NystroemMap got kernel='precomputed'; expected 'linear', 'poly', "
                "'rbf' or a callable. Models take a precomputed kernel as it is."
            )
        items = _read_items(X)
        remember_features(self, items)
        table, inverse = items.unique()
        function = make_kernel(self, table.values)
        self.gamma_ = function.gamma
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        chosen, others = self._sample(table.n_items, rng)
        values = table.values[chosen]
        diagonal = _check_diagonal(function.diagonal(values))
        factor = self._factor(function, values, diagonal, rng)
        self.landmarks_ = values[factor.pivots]
        first = np.full(table.n_items, items.n_items)
        np.minimum.at(first, inverse, np.arange(items.n_items))
        self.landmark_indices_ = first[chosen[factor.pivots]]
        triangle = factor.triangle
        block = function.block(self.landmarks_, self.landmarks_)
        if np.abs(block - triangle @ triangle.T).max() > 1e-6 * np.abs(block).max():
            refuse_indefinite("it is not the product of its features")
        unit = np.eye(len(triangle))
        self.projection_ = solve_triangular(triangle, unit, lower=True, trans="T")
        n_unseen = table.n_items - len(chosen)
        self._measure(function, factor.left, diagonal, table.values[others], n_unseen)
        return self

    def transform(self, X: Any) -> Floats:
        """Give the features of items.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n, n_features)
            Items.

        Returns
        -------
        ndarray of shape (n, m)
            φ(x) of every row; equal rows have equal features, to the last bit.
        """
        check_is_fitted(self)
        table = _read_items(X)
        check_features(self, table)
        # Sums of products can depend on where in the table a row stands.
        distinct, inverse = table.unique()
        function = KernelFunction(self.kernel, self.gamma_, self.degree, self.coef0)
        features = self._map(function, distinct.values)
        return features if distinct is table else features[inverse]

    @property
    def _n_features_out(self) -> int:
        return self.projection_.shape[1]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _sample(self, n: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Choose rows for the landmarks, and as many others to try them on."""
        size = max(_CANDIDATES, _CANDIDATES_PER_LANDMARK * int(self.n_landmarks))
        if n <= size:
            return np.arange(n), np.arange(0)
        drawn = rng.choice(n, min(2 * size, n), replace=False)
        return np.sort(drawn[:size]), np.sort(drawn[size:])

    def _factor(
        self, function: KernelFunction, values: Table, diagonal: Floats, rng: Any
    ) -> PivotedFactor:
        kernel = FunctionKernel(function, values)
        with one_blas_thread():
            return factor_kernel(
                lambda index: kernel.block(index, np.float64),
                diagonal,
                tol=self.tol,
                max_pivots=int(self.n_landmarks),
                all_or_nothing=False,
                rng=rng,
            )

    def _map(self, function: KernelFunction, values: Table) -> Floats:
        out = np.empty((values.shape[0], len(self.projection_)))

        def fill(start: int) -> None:
            block = function.block(values[start : start + _CHUNK], self.landmarks_)
            np.matmul(block, self.projection_, out=out[start : start + _CHUNK])

        in_threads(fill, range(0, len(out), _CHUNK))
        return out

    def _measure(
        self,
        function: KernelFunction,
        left: Floats,
        diagonal: Floats,
        others: Table,
        n_unseen: int,
    ) -> None:
        """Set the errors, from the rows used and some others."""
        largest, worst = diagonal.max(), left.max()
        missing, total = left.sum(), diagonal.sum()
        if others.shape[0]:
            diagonal = _check_diagonal(function.diagonal(others))
            features = self._map(function, others)
            left = diagonal - np.einsum("ij,ij->i", features, features)
            largest = max(largest, diagonal.max())
            if left.min() < -1e-6 * largest:
                refuse_indefinite("it is smaller than the product of its features")
            left = np.maximum(left, 0.0)
            worst = max(worst, left.max())
            missing += n_unseen * left.mean()
            total += n_unseen * diagonal.mean()
        self.error_ = float(worst / largest)
        self.mean_error_ = float(missing / total)


def _read_items(X: Any) -> ItemTable:
    if is_pairs(X) or isinstance(X, Orders):
        raise TypeError(
            f"NystroemMap maps a table of items, got {type(X).__name__}. In a Pipeline "
            "of comparisons or ranked lists use OnItems(NystroemMap(...))."
        )
    return as_items(X, name="X")


def _check_diagonal(diagonal: Floats) -> Floats:
    """Refuse k(x, x) that are infinite, or zero throughout."""
    if not np.isfinite(diagonal).all():
        refuse_infinite()
    if diagonal.max() == 0 == diagonal.min():
        raise ValueError(
            "the kernel of every item with itself is zero, so there is no feature. "
            "Are all features zero? Try kernel='rbf', or 'poly' with coef0 > 0."
        )
    return diagonal
