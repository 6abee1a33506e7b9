"""A budget that outlives a fit: a file of what was spent on the same people, in any process."""

from typing import TYPE_CHECKING

from dpgp.package import lazy_names

if TYPE_CHECKING:
    from dpgp.ledger.ledger import Ledger
    from dpgp.ledger.records import LedgerError
    from dpgp.privacy.books import BudgetError

__all__ = ["BudgetError", "Ledger", "LedgerError"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "BudgetError": "dpgp.privacy.books",
        "Ledger": "dpgp.ledger.ledger",
        "LedgerError": "dpgp.ledger.records",
    },
)
