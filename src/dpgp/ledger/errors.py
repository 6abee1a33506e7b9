"""What can be wrong with a ledger."""


class LedgerError(ValueError):
    """A file that is no ledger, was edited, cannot be written, or says something else."""
