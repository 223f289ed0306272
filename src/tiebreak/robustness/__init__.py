# SPDX-License-Identifier: BSD-3-Clause
"""Which claims survive: the fewest votes, other choices of analysis, and chance."""

from tiebreak.robustness.claim_audit import (
    Audit,
    ClaimAudit,
    FewestChanges,
    audit_pairs,
)
from tiebreak.robustness.claims import Claim

__all__ = ["Audit", "Claim", "ClaimAudit", "FewestChanges", "audit_pairs"]
