# SPDX-License-Identifier: BSD-3-Clause
"""Examples in the docstrings of public classes and of their methods.

Public classes say that they come from ``tiebreak``, so the collector of doctests takes
their methods for strangers, in the module that defines them and in the package.
"""

import doctest
import inspect

import pytest

from tiebreak.data import OnItems, Orders, Outcome, Pairs

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def documented(cls):
    yield cls
    for member in vars(cls).values():
        function = inspect.unwrap(getattr(member, "__func__", member))
        if inspect.isfunction(function):
            yield function


@pytest.mark.parametrize(
    ("cls", "n_documented"), [(Outcome, 3), (Pairs, 5), (Orders, 4), (OnItems, 1)]
)
def test_examples_run(cls, n_documented):
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    with_examples = 0
    for thing in documented(cls):
        text = inspect.getdoc(thing) or ""
        test = parser.get_doctest(text, {}, thing.__qualname__, None, None)
        with_examples += bool(test.examples)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0
    assert with_examples == n_documented
