"""Plan which unlabeled rows to check, and how many.

`evaluate` replaces a known prior and random labeling by evidence, if some rows were checked. `plan`
says which rows tell most about the measures you need, and how wide their intervals will be.
"""

from pueval.audit._combined_probability import combine_probability
from pueval.audit._forecast import ForecastCurve
from pueval.audit._plan import plan
from pueval.audit._plan_result import Plan
from pueval.audit_estimates.audited_rows import AuditedRows

__all__ = ["AuditedRows", "ForecastCurve", "Plan", "combine_probability", "plan"]
