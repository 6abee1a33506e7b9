"""A budget that outlives a fit: a file of what was spent on the same people, in any process."""

from dpgp.ledger.ledger import Ledger
from dpgp.ledger.records import LedgerError
from dpgp.privacy.books import BudgetError

__all__ = ["BudgetError", "Ledger", "LedgerError"]
