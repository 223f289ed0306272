# SPDX-License-Identifier: BSD-3-Clause
"""Ask people for comparisons: a study (the engine), and a local page, its client.

The engine (`study`, `choose`, `beliefs`, `store`) imports nothing of the page.
"""
