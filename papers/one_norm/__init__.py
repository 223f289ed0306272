# SPDX-License-Identifier: BSD-3-Clause
"""Nan, Chen, Dang and Wilkins, "Learning to rank using 1-norm regularization"."""
