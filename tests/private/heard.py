"""A watcher that remembers what it is told."""


class Heard(list):
    """How many batches and rows a pass begins with, then the rows of every batch."""

    def begin(self, batches, rows):
        """Remember both."""
        self.append((batches, rows))

    def advance(self, rows):
        """Remember the rows."""
        self.append(rows)
