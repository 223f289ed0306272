# SPDX-License-Identifier: BSD-3-Clause
"""What the compiled kernels do, as plain loops with the same arguments."""

import math
from itertools import combinations

import numpy as np

NEW_GROUP = 2  # a slot that begins a group, as in the potentials


def add_partner_rows_naive(
    nodes,
    order,
    bound,
    X,
    spare,
    out,
):
    """Do what ``add_partner_rows`` does by visiting every pair of partners."""
    for lo, mid, _, level in nodes:
        halves = order[level + 1]
        for worse in range(lo, mid):
            for better in range(mid, bound[level, worse]):
                out[halves[worse]] += X[halves[better]]
                out[halves[better]] += X[halves[worse]]


def add_partner_sums_naive(
    nodes,
    first,
    last,
    order,
    bound,
    x,
    spare,
    over_worse,
    over_better,
):
    """Do what ``add_partner_sums`` does by visiting every pair of partners."""
    for t in range(first, last):
        lo, mid, _, level = nodes[t]
        halves = order[level + 1]
        for worse in range(lo, mid):
            for better in range(mid, bound[level, worse]):
                over_better[halves[worse]] += x[halves[better]]
                over_worse[halves[better]] += x[halves[worse]]


def split_nodes_naive(
    nodes,
    first,
    last,
    order,
    bound,
    u,
    spare,
):
    """Do what ``split_nodes`` does by testing every pair of every node."""
    for t in range(first, last):
        lo, mid, hi, level = nodes[t]
        here = order[level, lo:hi].copy()
        upper = here >= mid
        order[level + 1, lo:hi] = np.concatenate([here[~upper], here[upper]])
        u[lo:hi] = np.concatenate([u[lo:hi][~upper], u[lo:hi][upper]])
        partner = u[mid:hi, None] < u[None, lo:mid] + 1.0
        bound[level, lo:mid] = mid + partner.sum(axis=0)
        bound[level, mid:hi] = mid - partner.sum(axis=1)


def sort_groups_naive(
    order,
    u,
    starts,
    first,
    last,
    spare,
):
    """Do what ``sort_groups`` does with NumPy's sort."""
    for group in range(first, last):
        here = order[starts[group] : starts[group + 1]]
        here[:] = here[np.argsort(u[here], kind="stable")]


def add_exponential_sums_naive(
    out,
    u,
    log_weight,
    x,
    runs,
    first_run,
):
    """Do what ``add_exponential_sums`` does by visiting every pair."""
    for group in range(len(first_run) - 1):
        start = runs[first_run[group]]
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                for j in range(start, runs[run]):
                    power = log_weight[i] + log_weight[j] + u[j] - u[i]
                    out[i] += math.exp(power) * x[j]


def largest_power_naive(u, log_weight, runs, first_run):
    """Do what ``largest_power`` does by visiting every pair."""
    found = -math.inf
    for group in range(len(first_run) - 1):
        start = runs[first_run[group]]
        for run in range(first_run[group], first_run[group + 1]):
            for i in range(runs[run], runs[run + 1]):
                for j in range(start, runs[run]):
                    power = log_weight[i] + log_weight[j] - (u[i] - u[j])
                    found = max(found, power)
    return found


def add_shares_naive(
    as_better,
    as_worse,
    up,
    down,
    item,
    step,
):
    """Do what ``add_shares`` does by visiting every two slots."""
    group, run = np.cumsum(step[:-1] == NEW_GROUP), np.cumsum(step[:-1] > 0)
    total = 0.0
    for b in range(len(item)):
        for c in range(b):
            if group[b] == group[c] and run[b] > run[c]:
                as_better[item[b]] += down[b] * up[c]
                as_worse[item[c]] += down[b] * up[c]
                total += down[b] * up[c]
    return total


def add_list_matrices_naive(
    flat,
    ends,
    indptr,
    weight,
    sizes,
    x,
    hessian,
    diagonal,
    squares,
):
    """Do what ``add_list_matrices`` does, one direction of the whole at a time."""
    for row in range(len(weight)):
        arrays = flat, ends, indptr[row : row + 2], np.ones(1), sizes
        for c in range(len(x)):
            gradient, curved = np.zeros((2, len(x)))
            add_choices_naive(*arrays, x, np.eye(len(x))[c], gradient, curved)
            hessian[:, c] += weight[row] * curved
            diagonal[c] += weight[row] * curved[c]
            squares[:, c] += weight[row] * gradient * gradient[c]


def add_choices_naive(
    flat,
    ends,
    indptr,
    weight,
    sizes,
    x,
    v,
    gradient,
    curved,
):
    """Do what ``add_choices`` does by listing every set that could be chosen."""
    n_items, value = len(x) - len(sizes) + 1, 0.0

    def describe(chosen):
        row = np.zeros(len(x))
        row[list(chosen)] = 1.0 / len(chosen)
        if len(chosen) > 1:
            row[n_items + sizes.tolist().index(len(chosen)) - 1] = 1.0
        return row

    for row, w in enumerate(weight):
        for i in range(indptr[row], indptr[row + 1]):
            if ends[i] == 0:
                continue
            left = flat[i : indptr[row + 1]].tolist()
            sets = [s for k in sizes.tolist() for s in combinations(left, k)]
            rows = np.array([describe(s) for s in sets])
            share = np.exp(rows @ x - (rows @ x).max())
            share /= share.sum()
            chosen = describe(tuple(flat[i : ends[i]].tolist()))
            mean = share @ rows
            value += w * (np.logaddexp.reduce(rows @ x) - chosen @ x)
            gradient += w * (mean - chosen)
            curved += w * (share * (rows @ v) @ rows - (mean @ v) * mean)
    return value
