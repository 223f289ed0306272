# SPDX-License-Identifier: BSD-3-Clause
"""The laws that every model of comparisons obeys, one function each.

A law is ``check_something(make, data)``: ``make()`` gives a new, unfitted model and
``data`` is a :class:`~tests.laws.same.Data`. Its docstring states the law. It raises
AssertionError if the model breaks it. ``cases.py`` says which laws do not apply to a
model, and why; ``test_broken.py`` shows for every law a model that breaks it.
"""

from __future__ import annotations

from tests.laws import fitting, invariance, predicting

__all__ = ["LAWS"]

LAWS = {
    name.removeprefix("check_"): law
    for module in (fitting, invariance, predicting)
    for name, law in vars(module).items()
    if name.startswith("check_")
}
