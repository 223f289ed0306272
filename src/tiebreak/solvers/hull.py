# SPDX-License-Identifier: BSD-3-Clause
"""Which points of a set are the vertices of its convex hull.

In few dimensions Qhull lists the facets. Their number explodes with the dimension, so
from there on small linear programs decide (Clarkson 1994): a point is in the hull of
the known vertices, or a direction separates it from them, and the point furthest in
that direction is a new vertex. Both work in the space that the points span.
"""

import numpy as np
import scipy.spatial

from tiebreak.data.arrays import Codes, Floats
from tiebreak.solvers.linear_program import LinearProgram

# Beyond this dimension facets cost more than one linear program per point.
_QHULL_DIMENSIONS = 6
# Relative to the size of the set: what is closer to a hull than this is in it.
_TOLERANCE = 1e-9


def hull_vertices(points: Floats) -> Codes:
    """Find the points, all different, that are not in the convex hull of the others.

    Gives ascending row numbers, by Qhull up to six dimensions.
    """
    n = len(points)
    flat = _span(points)
    d = flat.shape[1]
    if d == 0:
        return np.arange(min(n, 1))
    if d == 1:
        return np.unique([flat[:, 0].argmin(), flat[:, 0].argmax()])
    if n <= d + 1:
        return np.arange(n)  # points that span the space are a simplex
    if d <= _QHULL_DIMENSIONS:
        try:
            return np.sort(scipy.spatial.ConvexHull(flat).vertices.astype(np.int64))
        except scipy.spatial.QhullError:
            # Rounding makes facets that Qhull cannot order.
            pass
    return _by_programs(flat)


def _span(points: Floats) -> Floats:
    """Coordinates in the span of the points, at most 1 in size."""
    centered = points - points.mean(axis=0)
    size = np.abs(centered).max(axis=0, initial=0.0)
    centered = centered[:, size > 0.0] / size[size > 0.0]
    if centered.shape[1] == 0:
        return centered
    _, singular, directions = np.linalg.svd(centered, full_matrices=False)
    d = int(np.sum(singular > _TOLERANCE * max(singular[0], 1.0)))
    flat = centered @ directions[:d].T
    return flat / np.abs(flat).max(axis=0)


def _by_programs(points: Floats) -> Codes:
    """Decide by linear programs over directions, which share one basis."""
    # maximize z·(point - z₀)  subject to  z·vertex ≤ z₀ for known vertices, |z| ≤ 1.
    n, d = points.shape
    vertices = {_furthest(points, sign * e) for e in np.eye(d) for sign in (-1.0, 1.0)}
    known = np.zeros(n, dtype=bool)
    known[list(vertices)] = True
    rows = np.column_stack([points[known], -np.ones(known.sum())])
    box = np.append(np.ones(d), d + 1.0)
    lp = LinearProgram(
        np.zeros(d + 1), rows, -np.inf, 0.0, col_lower=-box, col_upper=box
    )
    inside = np.zeros(n, dtype=bool)
    for i in range(n):
        while not (known[i] or inside[i]):
            lp.change_costs(np.append(-points[i], 1.0))
            solution = lp.solve("primal")
            if -solution.objective <= _TOLERANCE:
                inside[i] = True
                break
            vertex = _furthest(points, solution.x[:d])
            if known[vertex]:
                # Rounding hides by how little the point is outside.
                known[i] = True
                vertex = i
            known[vertex] = True
            lp.add_rows(np.append(points[vertex], -1.0)[None, :], -np.inf, 0.0)
    return np.flatnonzero(known)


def _furthest(points: Floats, direction: Floats) -> int:
    """Find the vertex furthest in a direction; of several the last."""
    # Points of a face that is hit flat are compared by coordinates, and the largest in
    # such an order is a vertex.
    reached = points @ direction
    tied = np.flatnonzero(reached >= reached.max() - _TOLERANCE)
    order = np.lexsort(points[tied].T)
    return int(tied[order[-1]])
