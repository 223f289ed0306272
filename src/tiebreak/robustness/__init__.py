# SPDX-License-Identifier: BSD-3-Clause
"""Which claims survive: the fewest votes, other choices of analysis, and chance."""

from tiebreak.robustness.audit import Audit, ClaimAudit, Found, audit_pairs
from tiebreak.robustness.claims import Claim

__all__ = ["Audit", "Claim", "ClaimAudit", "Found", "audit_pairs"]
