# SPDX-License-Identifier: BSD-3-Clause
"""How the size is counted, and that the project stays as small as it was made."""

from tools.size import ROOT, count_module, count_packages, count_words, total

TEXT = '''"""One.

Two."""

# why
x = 1  # one


def f():
    """Return a text that is no docstring."""
    return """

    """
'''
# Who adds to the project says so here.
MOST_CODE, MOST_TOKENS, MOST_WORDS_OF_DOCSTRINGS = 41_000, 254_000, 70_000
MOST_CODE_OF_TESTS, MOST_WORDS_OF_DOCS = 40_000, 65_000


def test_every_line_is_of_one_kind():
    assert count_module(TEXT) == {
        "files": 1,
        "lines": 13,
        "docstring": 4,
        "comment": 1,
        "blank": 4,
        "code": 4,
        "tokens": 7,  # x = 1, def f, return, the text
        "words": 9,
    }


def test_other_line_breaks_change_no_tokens():
    one, other = "f(a, b, c=1)\n", "f(\n    a,\n    b,\n    c=1,\n)\n"
    assert count_module(one)["tokens"] == count_module(other)["tokens"] == 6


def test_a_text_with_values_is_one_token_in_every_python():
    assert count_module("f'{a} and {f(b)!r:>{c}}'\n")["tokens"] == 1


def test_the_package_is_no_larger_than_it_was_made():
    counts = total(count_packages())
    assert counts["code"] <= MOST_CODE
    assert counts["tokens"] <= MOST_TOKENS
    assert counts["words"] <= MOST_WORDS_OF_DOCSTRINGS


def test_tests_and_docs_are_no_larger_than_they_were_made():
    assert total(count_packages(ROOT / "tests"))["code"] <= MOST_CODE_OF_TESTS
    assert count_words(ROOT / "docs") <= MOST_WORDS_OF_DOCS
