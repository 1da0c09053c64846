"""One file per query family: from a checked query to what the stages need to know of it.

In: a `model.Query`. Out: a `Plan`, plain numbers and text only. A family may not know how stages run or travel.
"""

from vedette.families.plan import Plan, plan_query, plan_reverse

__all__ = ["Plan", "plan_query", "plan_reverse"]
