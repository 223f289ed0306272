# SPDX-License-Identifier: BSD-3-Clause
"""One or several kernels, as the parameters of a model describe them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tiebreak.kernels import KERNEL_NAMES, KernelFunction, make_kernel

__all__ = ["KernelSpec", "read_kernels"]

_KEYS = ("kernel", "gamma", "degree", "coef0")


@dataclass(frozen=True)
class KernelSpec:
    """A kernel whose gamma may still depend on the items.

    Attributes
    ----------
    kernel : str or callable
        Its form.
    gamma : float or str
        A number, "scale" or "auto".
    degree : int
        Degree of "poly".
    coef0 : float
        Constant of "poly".
    """

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float

    @classmethod
    def read(cls, model: Any, given: Any) -> KernelSpec:
        """Read a name, a callable, or a dict of parameters.

        Parameters
        ----------
        model : estimator
            Its ``gamma``, ``degree`` and ``coef0`` are taken where nothing is given.
        given : str, callable or mapping
            With the keys "kernel", "gamma", "degree" and "coef0".

        Returns
        -------
        KernelSpec
        """
        if not isinstance(given, Mapping):
            given = {"kernel": given}
        if unknown := [key for key in given if key not in _KEYS]:
            raise ValueError(
                f"a kernel is described by {', '.join(map(repr, _KEYS))}, got "
                f"{unknown[0]!r}."
            )
        values = {key: given.get(key, getattr(model, key)) for key in _KEYS}
        kernel = values["kernel"]
        if not callable(kernel) and kernel not in KERNEL_NAMES:
            raise ValueError(
                f"kernel={kernel!r} is not known; expected one of "
                f"{', '.join(map(repr, KERNEL_NAMES))} or a callable kernel(X, Z)."
            )
        return cls(**values)

    def resolve(self, items: Any) -> KernelFunction:
        """Give the kernel, with gamma as a number that suits the items.

        Parameters
        ----------
        items : ndarray or csr_array of shape (n, p)

        Returns
        -------
        KernelFunction
        """
        return make_kernel(
            self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            items=items,
        )

    def at(self, gamma: float) -> KernelFunction:
        """Give the kernel with the gamma that a fit has found.

        Parameters
        ----------
        gamma : float

        Returns
        -------
        KernelFunction
        """
        if callable(self.kernel):
            return KernelFunction(self.kernel)
        return KernelFunction(self.kernel, float(gamma), self.degree, self.coef0)


def read_kernels(model: Any) -> list[KernelSpec]:
    """Read the parameter ``kernel``: one kernel, or a list of several.

    Parameters
    ----------
    model : estimator
        With ``kernel``, ``gamma``, ``degree`` and ``coef0``.

    Returns
    -------
    list of KernelSpec
    """
    given = model.kernel
    several = given if isinstance(given, list | tuple) else [given]
    if not several:
        raise ValueError(
            f"{type(model).__name__} got an empty list of kernels; expected at least "
            "one."
        )
    specs = [KernelSpec.read(model, one) for one in several]
    if len(specs) > 1 and any(spec.kernel == "precomputed" for spec in specs):
        raise ValueError(
            "a precomputed kernel is a matrix instead of features, so there are no "
            "other kernels beside it. Give kernel='precomputed' alone."
        )
    return specs
