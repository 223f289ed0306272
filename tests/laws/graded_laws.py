# SPDX-License-Identifier: BSD-3-Clause
"""The laws that every model of graded items obeys, one function each.

A law is ``check_something(make, data)``: ``make()`` gives a new, unfitted model and
``data`` is a :class:`~tests.laws.graded_same.GradedData`. Its docstring states the
law. ``graded_cases.py`` says which laws do not apply to a model, and why;
``test_graded_broken.py`` shows for every law a model that breaks it.
"""

from __future__ import annotations

from tests.laws import graded_fitting, graded_invariance, graded_predicting

__all__ = ["LAWS"]

LAWS = {
    name.removeprefix("check_"): law
    for module in (graded_fitting, graded_invariance, graded_predicting)
    for name, law in vars(module).items()
    if name.startswith("check_")
}
