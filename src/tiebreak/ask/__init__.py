# SPDX-License-Identifier: BSD-3-Clause
"""Ask people for comparisons: a study (the engine), and a local page, its client.

The engine is `study`, `choose`, `beliefs` and `store`; it imports nothing of the page.
"""
