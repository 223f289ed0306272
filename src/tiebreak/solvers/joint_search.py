# SPDX-License-Identifier: BSD-3-Clause
"""Search for the best columns of several dictionaries, one of each.

For columns with the M × M matrix A and the right side e the gain is eᵀA⁻¹e, see
:mod:`tiebreak.solvers.joint_pursuit`. Off its diagonal A is -c, and it is split by one
of its rows, the others (index o) given:

    eᵀA⁻¹e = e_oᵀA_o⁻¹e_o + (e_v + c·A_o⁻¹e_o)² / (A_vv - c·A_o⁻¹c),

so that all columns of one dictionary are scored at once by products of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tiebreak.data.threads import in_threads
from tiebreak.solvers.pursuit import Dictionary, QuadraticForm, first_best

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Found = tuple[Indices, Floats, float]

# Combinations of columns of three or more dictionaries that are all tried.
ENUMERATED = 200_000
# Columns of one dictionary that are scored against all of another at a time.
_BLOCK = 64
# Combinations whose systems are solved at a time.
_BATCH = 4096
# Rounds over the dictionaries at most; each makes the gain larger, so few are needed.
_ROUNDS = 50


@dataclass(frozen=True, eq=False)
class Candidates:
    """The columns of all dictionaries, and what is known of them before a step.

    Attributes
    ----------
    views : sequence of Dictionary
        M dictionaries of m columns each.
    diagonal : ndarray of shape (M, m)
        A_vv of every column.
    eligible : ndarray of bool of shape (M, m)
        Which columns may be taken.
    agreement : QuadraticForm
        L̄.
    nu : float
        ν.
    others : slice
        The rows of a column that L̄ sees.
    """

    views: Sequence[Dictionary]
    diagonal: Floats
    eligible: NDArray[np.bool_]
    agreement: QuadraticForm
    nu: float
    others: slice

    def coupled(self, v: int, columns: Indices | slice) -> Floats:
        """Give 2ν L̄ k̄ of some columns of a dictionary, at all rows.

        Parameters
        ----------
        v : int
            The dictionary.
        columns : ndarray of int or slice
            Its columns.

        Returns
        -------
        ndarray of shape (n_rows, k)
        """
        values = self.views[v].columns(columns)
        out = np.zeros(values.shape[::-1])
        out[self.others] = (
            2.0
            * self.nu
            * self.agreement.product(np.ascontiguousarray(values[:, self.others].T))
        )
        return out

    def system(self, views: Indices, chosen: Indices) -> Floats:
        """Give A of one column of each of some dictionaries.

        Parameters
        ----------
        views : ndarray of int of shape (k,)
            The dictionaries.
        chosen : ndarray of int of shape (M,)
            The columns, of all dictionaries.

        Returns
        -------
        ndarray of shape (k, k)
        """
        A = np.diag(self.diagonal[views, chosen[views]])
        if self.nu == 0.0:
            return A
        for i, v in enumerate(views):
            pull = self.coupled(v, chosen[v : v + 1])[:, 0]
            for j, u in enumerate(views[:i]):
                column = self.views[u].columns(chosen[u : u + 1])[0]
                A[i, j] = A[j, i] = -(column @ pull)
        return A

    def solve(self, chosen: Indices, e: Floats) -> Found:
        """Solve the system of one column of each dictionary.

        Parameters
        ----------
        chosen : ndarray of int of shape (M,)
            The columns.
        e : ndarray of shape (M, m)
            Right sides of all columns.

        Returns
        -------
        chosen : ndarray of int of shape (M,)
        a : ndarray of shape (M,)
            The multiples.
        gain : float
            eᵀA⁻¹e.
        """
        views = np.arange(len(chosen))
        right = e[views, chosen]
        a: Floats = np.linalg.solve(self.system(views, chosen), right).astype(float)
        return chosen, a, float(right @ a)


class SharedSearch:
    """Columns of the same number in all dictionaries: m candidates.

    Parameters
    ----------
    candidates : Candidates
    """

    def __init__(self, candidates: Candidates) -> None:
        self._candidates = candidates
        views, (M, m) = candidates.views, candidates.diagonal.shape
        self._eligible = np.flatnonzero(candidates.eligible.all(axis=0))
        A = np.zeros((m, M, M))
        A[:, np.arange(M), np.arange(M)] = candidates.diagonal.T

        def couple(start: int) -> None:
            part = slice(start, min(start + _BLOCK, m))
            blocks = [view.columns(part) for view in views]
            for v in range(1, M):
                pull = candidates.coupled(v, part)
                for u in range(v):
                    shared = np.einsum("ij,ji->i", blocks[u], pull)
                    A[part, u, v] = A[part, v, u] = -shared

        if candidates.nu > 0.0:
            in_threads(couple, range(0, m, _BLOCK))
        self._A = A[self._eligible]

    def best(self, e: Floats) -> Found | None:
        """Give columns, multiples and gain of the best candidate, None if none.

        Parameters
        ----------
        e : ndarray of shape (M, m)

        Returns
        -------
        tuple or None
        """
        if len(self._eligible) == 0:
            return None
        right = e[:, self._eligible].T
        a = np.linalg.solve(self._A, right[:, :, None])[:, :, 0]
        gain = np.einsum("ij,ij->i", a, right)
        j = first_best(gain)
        chosen = np.full(len(e), self._eligible[j], dtype=np.intp)
        return chosen, a[j], float(gain[j])


class FreeSearch:
    """A column of each dictionary by itself: m to the power of M candidates.

    All of them are scored for M = 2, and for M > 2 if there are at most
    `ENUMERATED`. Otherwise the search starts with the columns that are best without
    coupling and replaces one after another, the others given, until none can be
    replaced by a better one: the result is best in every single column.

    Parameters
    ----------
    candidates : Candidates
    cache_bytes : float
        Memory for products between the columns of two dictionaries. If those of two
        dictionaries do not fit, they are computed in every step.
    """

    def __init__(self, candidates: Candidates, cache_bytes: float) -> None:
        self._candidates, self._cache_bytes = candidates, cache_bytes
        self._cross: Floats | None = None
        self._tables: dict[tuple[int, int], Floats] = {}

    def best(self, e: Floats) -> Found | None:
        """Give columns, multiples and gain of the best candidate, None if none.

        Parameters
        ----------
        e : ndarray of shape (M, m)

        Returns
        -------
        tuple or None
        """
        candidates = self._candidates
        M, m = e.shape
        if not candidates.eligible.any(axis=1).all():
            return None
        if M == 1 or candidates.nu == 0.0:
            return candidates.solve(self._uncoupled(e), e)
        if M == 2:
            return candidates.solve(self._best_pair(e), e)
        if m**M <= ENUMERATED:
            return candidates.solve(self._best_of_all(e), e)
        return candidates.solve(self._best_by_turns(e), e)

    def _uncoupled(self, e: Floats) -> Indices:
        gain = np.where(
            self._candidates.eligible, e**2 / self._positive_diagonal(), -1.0
        )
        return np.array([first_best(own) for own in gain], dtype=np.intp)

    def _positive_diagonal(self) -> Floats:
        candidates = self._candidates
        return np.where(candidates.eligible, candidates.diagonal, 1.0)

    def _best_pair(self, e: Floats) -> Indices:
        """Score all pairs of columns, blocks of the first against all of the second."""
        eligible, m = self._candidates.eligible, e.shape[1]
        first, second = self._positive_diagonal()
        alone = e[0] ** 2 / first

        def score(part: slice, c: Floats) -> tuple[float, int, int]:
            gain = c * (e[0, part] / first[part])[:, None]
            gain += e[1]
            np.square(gain, out=gain)
            left = c**2
            left /= -first[part, None]
            left += second
            # Columns that are not eligible may leave nothing; they do not count.
            with np.errstate(divide="ignore", invalid="ignore"):
                gain /= left
            gain += alone[part, None]
            gain[~eligible[0, part]] = -1.0
            gain[:, ~eligible[1]] = -1.0
            i, j = np.unravel_index(first_best(gain.ravel()), gain.shape)
            return float(gain[i, j]), part.start + int(i), int(j)

        if 8.0 * m * m > self._cache_bytes:
            parts = _slices(m, self._block_size())
            found = [score(part, self._products(part)) for part in parts]
        else:
            if self._cross is None:
                self._cross = np.empty((m, m))
                for part in _slices(m, self._block_size()):
                    self._cross[part] = self._products(part)
            cross = self._cross
            found = in_threads(
                lambda part: score(part, cross[part]), _slices(m, _BLOCK)
            )
        best = found[first_best(np.array([gain for gain, _, _ in found]))]
        return np.array(best[1:], dtype=np.intp)

    def _block_size(self) -> int:
        """Count the columns whose products with all others fit in a part of memory."""
        view = self._candidates.views[0]
        size = 0.25 * self._cache_bytes / (8 * (view.n_rows + view.n_columns))
        return max(1, min(512, int(size)))

    def _products(self, part: slice) -> Floats:
        """Give c between columns of the first and all of the second dictionary."""
        pull = self._candidates.coupled(0, part)
        return self._candidates.views[1].products(pull).T

    def _table(self, v: int, u: int) -> Floats:
        """Give c between all columns of two dictionaries."""
        if (v, u) not in self._tables:
            pull = self._candidates.coupled(v, slice(None))
            self._tables[v, u] = self._candidates.views[u].products(pull).T
        return self._tables[v, u]

    def _best_of_all(self, e: Floats) -> Indices:
        """Solve the systems of all combinations."""
        eligible, diagonal = self._candidates.eligible, self._candidates.diagonal
        allowed = [np.flatnonzero(own) for own in eligible]
        shape = tuple(len(own) for own in allowed)
        best, found = -1.0, np.zeros(len(e), dtype=np.intp)
        for start in range(0, int(np.prod(shape)), _BATCH):
            stop = min(start + _BATCH, int(np.prod(shape)))
            places = np.unravel_index(np.arange(start, stop), shape)
            chosen = [own[place] for own, place in zip(allowed, places, strict=True)]
            A = np.zeros((stop - start, len(e), len(e)))
            right = np.empty((stop - start, len(e)))
            for v, own in enumerate(chosen):
                right[:, v], A[:, v, v] = e[v, own], diagonal[v, own]
                for u in range(v):
                    A[:, u, v] = A[:, v, u] = -self._table(v, u)[own, chosen[u]]
            a = np.linalg.solve(A, right[:, :, None])[:, :, 0]
            gain = np.einsum("ij,ij->i", a, right)
            if gain.max() > best * (1.0 + 1e-10):
                j = first_best(gain)
                best, found = float(gain[j]), np.array([own[j] for own in chosen])
        return found

    def _best_by_turns(self, e: Floats) -> Indices:
        """Replace one column after another until none can be replaced by a better."""
        candidates, chosen = self._candidates, self._uncoupled(e)
        M, best = len(e), -1.0
        for _ in range(_ROUNDS):
            before = chosen.copy()
            for v in range(M):
                rest = np.array([u for u in range(M) if u != v])
                pull = np.column_stack(
                    [candidates.coupled(u, chosen[u : u + 1])[:, 0] for u in rest]
                )
                c = candidates.views[v].products(pull)
                A = candidates.system(rest, chosen)
                toward = np.linalg.solve(A, np.column_stack([e[rest, chosen[rest]]]))
                through = np.linalg.solve(A, c.T)
                left = candidates.diagonal[v] - np.einsum("ij,ji->i", c, through)
                eligible = candidates.eligible[v]
                left = np.where(eligible, left, 1.0)
                gain = np.where(eligible, (e[v] + c @ toward[:, 0]) ** 2 / left, -1.0)
                total = float(e[rest, chosen[rest]] @ toward[:, 0] + gain.max())
                # A replacement by an equal one could go round for ever.
                if total > best * (1.0 + 1e-12):
                    best, chosen[v] = total, first_best(gain)
            if np.array_equal(before, chosen):
                break
        return chosen


def _slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
